package catalog

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
)

var updateGolden = flag.Bool("update-golden", false, "write testdata/golden anew: for a new version of the format or a new variant only")

// splitMix is SplitMix64 of i, which is the same everywhere.
func splitMix(i uint64) uint64 {
	x := (i + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mixed are n hashes.
func mixed(n int) []uint64 {
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = splitMix(uint64(i))
	}
	return hs
}

// testHash is a hash by the given name: FNV-1a and the seed, as good as any here.
type testHash struct {
	name string
	seed uint64
}

func (h testHash) Name() string { return h.name }
func (h testHash) Seed() uint64 { return h.seed }
func (h testHash) Sum64(key []byte) uint64 {
	x := uint64(14695981039346656037) ^ h.seed
	for _, b := range key {
		x = (x ^ uint64(b)) * 1099511628211
	}
	return x
}
func (h testHash) SumMany(dst []uint64, keys [][]byte) {
	for i, k := range keys {
		dst[i] = h.Sum64(k)
	}
}

// small are the variants that can be saved, each as a filter of a few keys.
func small(t testing.TB, keys int) iter.Seq2[filters.Variant, filters.Saver] {
	return func(yield func(filters.Variant, filters.Saver) bool) {
		for _, v := range Variants() {
			q, err := v.Build(filters.Target{N: uint64(keys), P: 0.03}, mixed(keys))
			if errors.Is(err, filters.ErrParam) { // fingerprints of 4 bits keep no such rate
				q, err = v.Build(filters.Target{N: uint64(keys), P: 0.5}, mixed(keys))
			}
			if err != nil {
				t.Fatalf("%v: %v", v, err)
			}
			// TestConcurrentIsSavedAsPlain tests those.
			if _, ok := q.(filters.Concurrent); ok && !strings.HasPrefix(v.String(), "sharded") {
				continue
			}
			if s, ok := q.(filters.Saver); ok && !yield(v, s) {
				return
			}
		}
	}
}

// file is what a filter is saved as.
func file(t testing.TB, s io.WriterTo) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo = %d, %v; %d bytes came", n, err, b.Len())
	}
	return b.Bytes()
}

// zero is an empty filter of the type of s. Sharded filters are not read by their
// type, which does not know the family inside: Read stands in for it.
func zero(s any) encoding.BinaryUnmarshaler {
	if f, ok := reflect.New(reflect.TypeOf(s).Elem()).Interface().(encoding.BinaryUnmarshaler); ok {
		return f
	}
	return &anyFilter{}
}

// anyFilter is a filter of whatever family.
type anyFilter struct{ filters.Filter }

func (f *anyFilter) UnmarshalBinary(b []byte) error {
	q, err := envelope.Unmarshal(b, decode)
	if err == nil {
		f.Filter = q.(filters.Filter)
	}
	return err
}

// headerSize is the length of the header as the description of the format says.
func headerSize(b []byte) int {
	words := int(binary.LittleEndian.Uint32(b[12:]))
	return (116 + 8*words + 63) / 64 * 64
}

// repair sets the length of the payload and both checksums to what they should be,
// after the description of the format, where there is a header.
func repair(b []byte) {
	if len(b) < 128 || binary.LittleEndian.Uint32(b[12:]) > 8192 || headerSize(b) > len(b) {
		return
	}
	size := headerSize(b)
	c := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint64(b[32:], uint64(len(b)-size))
	binary.LittleEndian.PutUint32(b[40:], crc32.Checksum(b[size:], c))
	binary.LittleEndian.PutUint32(b[size-4:], crc32.Checksum(b[:size-4], c))
}

// golden is where the file of a variant is kept.
func golden(v filters.Variant) string {
	return filepath.Join("testdata", "golden", strings.NewReplacer("(", "-", ")", "", ",", "-").Replace(v.String())+".filter")
}

// The files on record, written on amd64, are what every platform writes, and
// reads: the format is fixed. A change needs a new version.
func TestB24_GoldenFiles(t *testing.T) {
	if *updateGolden {
		if err := os.MkdirAll(filepath.Dir(golden(Variants()[0])), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for v, s := range small(t, 100) {
		var b bytes.Buffer
		if _, err := (filters.Keyed{Filter: s.(filters.Querier), Hash: testHash{"test", 7}}).WriteTo(&b); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		if *updateGolden {
			if err := os.WriteFile(golden(v), b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden(v))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%v is saved in %d bytes that differ from the %d of %s", v, b.Len(), len(want), golden(v))
		}
		q, info, err := Read(bytes.NewReader(want))
		if err != nil {
			t.Errorf("%s: %v", golden(v), err)
			continue
		}
		for _, h := range mixed(100) {
			if !q.Contains(h) {
				t.Errorf("%s has lost %#x", golden(v), h)
			}
		}
		if info.Hash != "test" || info.Seed != 7 || info.CheckHash(testHash{"test", 7}) != nil || info.Size() != uint64(len(want)) || !strings.HasPrefix(v.String(), info.Family) {
			t.Errorf("%s: %+v", golden(v), info)
		}
		// The variant that the header shows builds a filter of this very geometry.
		again, err := info.Variant.Build(filters.Target{N: 100, BitsPerKey: float64(q.SizeBits()) / 100}, nil)
		if err != nil {
			t.Errorf("%v from the header of %v: %v", info.Variant, v, err)
		} else if info.Family != "scalable" && info.Family != "sharded" && again.SizeBits() != q.SizeBits() {
			t.Errorf("%v from the header of %v has %d bits, not %d", info.Variant, v, again.SizeBits(), q.SizeBits())
		}
		n++
	}
	if n < 20 {
		t.Errorf("%d variants can be saved", n)
	}
}

// A filter for several goroutines is saved as the plain one it is a view of.
func TestConcurrentIsSavedAsPlain(t *testing.T) {
	for _, name := range []string{"standard", "blocked", "blocked(layout=split)"} {
		plain, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		atomic, err := With(plain, "adds", "atomic")
		if err != nil {
			t.Fatal(err)
		}
		var files [2][]byte
		for i, v := range []filters.Variant{plain, atomic} {
			q, err := v.Build(filters.Target{N: 1000, P: 0.01}, mixed(1000))
			if err != nil {
				t.Fatal(err)
			}
			files[i] = file(t, q.(filters.Saver))
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("%v and %v are saved as different files", plain, atomic)
		}
	}
}

// E01: a reader takes the bytes of its filter and not one more: m = 958,506 bits
// with a record behind (bits-and-blooms/bloom issue 85), and two filters in a row.
// At the end of the stream it says io.EOF.
func TestE01_ReadsItsOwnBytes(t *testing.T) {
	for _, name := range []string{"standard(sizing=textbook)", "blocked", "counting", "scalable", "cuckoo", "sharded(3,cuckoo(f=12,b=4))"} {
		v, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		var stream bytes.Buffer
		var wrote [2]int64
		for i := range wrote {
			q, err := v.Build(filters.Target{N: 100_000, P: 0.01}, mixed(1000*(i+1)))
			if err != nil {
				t.Fatal(err)
			}
			if name == "standard(sizing=textbook)" && q.SizeBits() != 958_506 {
				t.Fatalf("m = %d", q.SizeBits())
			}
			if wrote[i], err = q.(filters.Saver).WriteTo(&stream); err != nil {
				t.Fatal(err)
			}
		}
		stream.WriteString("1234")
		all := stream.Bytes()
		for _, r := range []io.Reader{bytes.NewReader(all), struct{ io.Reader }{bytes.NewReader(all)}, iotestOneByte{bytes.NewReader(all)}} {
			for i := range wrote {
				q, info, err := Read(r)
				if err != nil {
					t.Fatalf("%s, filter %d: %v", name, i, err)
				}
				if int64(info.Size()) != wrote[i] {
					t.Errorf("%s: WriteTo returned %d, and the file has %d", name, wrote[i], info.Size())
				}
				for _, h := range mixed(1000 * (i + 1)) {
					if !q.Contains(h) {
						t.Fatalf("%s, filter %d has lost %#x", name, i, h)
					}
				}
			}
			rest, err := io.ReadAll(r)
			if err != nil || string(rest) != "1234" {
				t.Errorf("%s: %q is left behind the filters (%v)", name, rest, err)
			}
			if _, _, err := Read(r); !errors.Is(err, io.EOF) || !errors.Is(err, filters.ErrCorrupt) {
				t.Errorf("%s, at the end: %v", name, err)
			}
		}
	}
}

// iotestOneByte delivers a byte at a time for a while, as slow connections do.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 997)]) }

// spent is the memory that f allocates, in bytes.
func spent(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// E02: a header that promises petabytes, or the 131129665872044490 bits of
// bits-and-blooms/bitset PR 41, over a stream that ends, costs less than 1 MiB and
// is refused in words.
func TestE02_LengthsAreNotTrusted(t *testing.T) {
	tried := 0
	check := func(what string, b []byte, whole bool) {
		t.Helper()
		tried++
		for _, r := range []io.Reader{bytes.NewReader(b), struct{ io.Reader }{bytes.NewReader(b)}} {
			var err error
			cost := spent(func() { _, _, err = Read(r) })
			if err == nil && !whole || cost > 1<<20 {
				t.Errorf("%s: %v, after %d bytes", what, err, cost)
			}
		}
	}
	for v, s := range small(t, 100) {
		whole := file(t, s)
		head := headerSize(whole)
		seal := func(b []byte) []byte {
			size := headerSize(b)
			binary.LittleEndian.PutUint32(b[size-4:], crc32.Checksum(b[:size-4], crc32.MakeTable(crc32.Castagnoli)))
			return b
		}
		for _, big := range []uint64{1 << 20, 1 << 32, 1 << 40, 1 << 45, 131129665872044490, 1 << 63, math.MaxUint64} {
			b := bytes.Clone(whole)
			binary.LittleEndian.PutUint64(b[32:], big)
			check(fmt.Sprintf("%v: payload of %d bytes", v, big), seal(b), false)
			for words := range binary.LittleEndian.Uint32(b[12:]) {
				b := bytes.Clone(whole)
				binary.LittleEndian.PutUint64(b[112+8*words:], big)
				// Some numbers do not tell the size, and the filter is another one.
				check(fmt.Sprintf("%v: geometry word %d is %d", v, words, big), seal(b), true)
				// And the length that goes with it, where the word is the size.
				for _, unit := range []uint64{big / 8, big * 8, big * 16, big * 32, big * 64} {
					b := bytes.Clone(b)
					binary.LittleEndian.PutUint64(b[32:], unit/64*64)
					check(fmt.Sprintf("%v: geometry word %d is %d in %d bytes", v, words, big, unit), seal(b)[:head], false)
				}
			}
		}
		for _, words := range []uint32{0, 4096, 8192, 8193, math.MaxUint32} {
			b := bytes.Clone(whole)
			binary.LittleEndian.PutUint32(b[12:], words)
			check(fmt.Sprintf("%v: %d geometry words", v, words), b, false)
			if words <= 8192 {
				b = append(b, make([]byte, 8*8192)...)
				check(fmt.Sprintf("%v: %d geometry words under a checksum", v, words), seal(b), false)
			}
		}
	}
	t.Logf("%d hostile headers, each refused or a filter within 1 MiB", tried)
}

// E05: a filter declared and read into is whole: it answers, takes keys, and is
// written again.
func TestE05_ReadIntoZeroValue(t *testing.T) {
	for v, s := range small(t, 100) {
		b := file(t, s)
		f := zero(s)
		if err := f.UnmarshalBinary(b); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		g := f.(filters.Filter)
		h := splitMix(1 << 40)
		if err := g.Add(h); err != nil && !errors.Is(err, filters.ErrFull) {
			t.Errorf("%v: Add after reading: %v", v, err)
		} else if err == nil && !g.Contains(h) {
			t.Errorf("%v: a key added after reading is lost", v)
		}
		for _, h := range mixed(100) {
			if !g.Contains(h) {
				t.Errorf("%v: %#x is lost", v, h)
			}
		}
	}
}

// E06: what a filter writes it reads, and writes again to the byte, for tables from
// a line up, empty, half full, full and overfull.
func TestE06_OwnOutputIsTaken(t *testing.T) {
	for _, v := range Variants() {
		for _, n := range []int{1, 10, 1000} {
			for _, p := range []float64{0.5, 0.01, 1e-6} {
				for _, load := range []int{0, n / 2, n} {
					q, err := v.Build(filters.Target{N: uint64(n), P: p}, mixed(load))
					if errors.Is(err, filters.ErrParam) {
						continue // some variants keep no such rate
					}
					s, ok := q.(filters.Saver)
					if err != nil || !ok {
						continue
					}
					b := file(t, s)
					back, _, err := Read(bytes.NewReader(b))
					if err != nil {
						t.Fatalf("%v for %d keys at %v, %d stored: %v", v, n, p, load, err)
					}
					if !bytes.Equal(file(t, back.(filters.Saver)), b) {
						t.Errorf("%v for %d keys at %v, %d stored: written otherwise the second time", v, n, p, load)
					}
				}
			}
		}
	}
}

// E09: a byte behind a filter is an error where the filter is to be all there is.
func TestE09_TrailingBytes(t *testing.T) {
	for v, s := range small(t, 100) {
		b := append(file(t, s), 'x')
		err := zero(s).UnmarshalBinary(b)
		var fe *filters.FormatError
		if !errors.As(err, &fe) || fe.Kind != filters.ErrCorrupt || fe.Field != "length" || !strings.Contains(fe.Value, fmt.Sprint(len(b))) {
			t.Errorf("%v with a byte behind: %v", v, err)
		}
	}
}

// kinds are what the errors of damaged files may wrap.
func kinds() []error {
	return []error{filters.ErrCorrupt, filters.ErrNotFilter, filters.ErrVersion}
}

// named tells whether err is a FormatError for damage that says where and what.
func named(err error) bool {
	var fe *filters.FormatError
	if !errors.As(err, &fe) || fe.Field == "" || fe.Value == "" || fe.Accepted == "" {
		return false
	}
	for _, kind := range kinds() {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// Every length that is too short is refused, as cut short, by every way to read.
func TestEveryTruncation(t *testing.T) {
	tried := 0
	for v, s := range small(t, 20) {
		b := file(t, s)
		f := zero(s)
		for n := range len(b) {
			cut := b[:n:n]
			_, _, err := Read(struct{ io.Reader }{bytes.NewReader(cut)})
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = io.EOF
			}
			if !named(err) || !errors.Is(err, want) {
				t.Errorf("%v: %d of %d bytes: %v", v, n, len(b), err)
			}
			if err := f.UnmarshalBinary(cut); !named(err) {
				t.Errorf("%v: UnmarshalBinary of %d of %d bytes: %v", v, n, len(b), err)
			}
			tried++
		}
	}
	t.Logf("%d files cut short, all refused", tried)
}

// Every single flipped bit is found, wherever it is, and none costs more than its
// file by much.
func TestEveryFlippedBit(t *testing.T) {
	tried := 0
	for v, s := range small(t, 20) {
		b := file(t, s)
		f := zero(s)
		for bit := range 8 * len(b) {
			b[bit/8] ^= 1 << (bit % 8)
			if err := f.UnmarshalBinary(b); !named(err) {
				t.Errorf("%v: bit %d of byte %d flipped: %v", v, bit%8, bit/8, err)
			}
			b[bit/8] ^= 1 << (bit % 8)
			tried++
		}
		if err := f.UnmarshalBinary(b); err != nil {
			t.Errorf("%v: not restored: %v", v, err)
		}
	}
	t.Logf("%d flipped bits, all refused", tried)
}

// What the checksums cannot tell: a field changed by somebody who mends them. The
// field is named, or it is a filter.
func TestFieldsAreChecked(t *testing.T) {
	for v, s := range small(t, 100) {
		whole := file(t, s)
		for _, c := range []struct {
			at   int
			put  string
			kind error
			name string
		}{
			{0, "\x88", filters.ErrNotFilter, "magic"},
			{8, "\x02", filters.ErrVersion, "version"},
			{16, "\x00\x00\x00", filters.ErrCorrupt, "header"},
			{16, "xor", filters.ErrFamily, "family"},
			{31, "x", filters.ErrCorrupt, "header"},
			{44, "\x01", filters.ErrCorrupt, "header"},
			{96, "\x01", filters.ErrCorrupt, "seed"},
			{104, "\x01", filters.ErrCorrupt, "seed"},
			{64, "a b", filters.ErrCorrupt, "header"},
			{64, "\x00b", filters.ErrCorrupt, "header"},
			{headerSize(whole) - 8, "\x01", filters.ErrCorrupt, ""},
		} {
			b := bytes.Clone(whole)
			copy(b[c.at:], c.put)
			repair(b)
			_, _, err := Read(bytes.NewReader(b))
			var fe *filters.FormatError
			if !errors.As(err, &fe) || !errors.Is(err, c.kind) || c.name != "" && fe.Field != c.name {
				t.Errorf("%v: %q at %d: %v; want %v for %s", v, c.put, c.at, err, c.kind, c.name)
			}
		}
		// Bits behind the table would count as keys: the last byte of a payload that
		// is not full.
		if b := bytes.Clone(whole); b[len(b)-1] == 0 {
			b[len(b)-1] = 0x80
			repair(b)
			q, _, err := Read(bytes.NewReader(b))
			if err == nil && q.SizeBits()%512 != 0 {
				t.Errorf("%v: a bit behind the table of %d bits is taken", v, q.SizeBits())
			}
		}
	}
}

// A file of one family read as another says which is which.
func TestWrongFamily(t *testing.T) {
	files := map[string][]byte{}
	types := map[string]filters.Saver{}
	for v, s := range small(t, 100) {
		family, _, _ := strings.Cut(v.String(), "(")
		files[family], types[family] = file(t, s), s
	}
	if len(files) != len(formats()) {
		t.Errorf("%d of %d families can be saved", len(files), len(formats()))
	}
	for wanted, s := range types {
		for has, b := range files {
			if has == wanted || wanted == "sharded" {
				continue // the type of a sharded filter reads nothing by itself
			}
			err := zero(s).UnmarshalBinary(b)
			if !errors.Is(err, filters.ErrFamily) || !strings.Contains(err.Error(), has) || !strings.Contains(err.Error(), wanted) {
				t.Errorf("%s read as %s: %v", has, wanted, err)
			}
		}
	}
}

// A later version is refused as such, with both numbers, and a text as no filter.
func TestOtherFiles(t *testing.T) {
	for _, c := range []struct {
		text string
		kind error
	}{
		{"hello, world\n", filters.ErrNotFilter},
		{strings.Repeat("hello, world\n", 100), filters.ErrNotFilter},
		{"\x89FLT\n\x1a\n\x01\x00\x00\x00\x04", filters.ErrNotFilter}, // line ends changed
		{"\x89FLT", filters.ErrCorrupt},
		{"\x89FLT\r\n\x1a\n\x02\x00\x00\x00\x04\x00\x00\x00", filters.ErrVersion},
	} {
		_, err := ReadInfo(strings.NewReader(c.text))
		if !errors.Is(err, c.kind) || !named(err) {
			t.Errorf("%.20q: %v; want %v", c.text, err, c.kind)
		}
	}
	_, err := ReadInfo(strings.NewReader("\x89FLT\r\n\x1a\n\x02\x00\x00\x00\x04\x00\x00\x00"))
	if got, want := fmt.Sprint(err), "unknown version of the filter file: version = 2: want 1"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// failing passes errors of its own.
type failing struct{ after int }

var errDisk = errors.New("disk is gone")

func (f *failing) Read(p []byte) (int, error) { return 0, errDisk }
func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

// Errors of the reader and the writer come through.
func TestErrorsOfTheStream(t *testing.T) {
	for v, s := range small(t, 100) {
		b := file(t, s)
		for _, after := range []int{0, 192, len(b) - 1} {
			if _, err := s.WriteTo(&failing{after}); !errors.Is(err, errDisk) {
				t.Errorf("%v: writing to a disk with room for %d bytes: %v", v, after, err)
			}
		}
		for _, after := range []int{0, 150, len(b) - 1} {
			_, _, err := Read(io.MultiReader(bytes.NewReader(b[:after]), &failing{}))
			if !errors.Is(err, errDisk) || errors.Is(err, filters.ErrCorrupt) {
				t.Errorf("%v: reading from a disk that fails after %d bytes: %v", v, after, err)
			}
		}
	}
}

// random is another function in every process.
type random struct{ testHash }

func (random) Reproducible() bool { return false }

// D12 and A20: a hash that is another one in the next process is refused when a
// filter is saved, and one of another name, seed or definition when it is asked.
func TestD12_A20_HashOfSavedFilter(t *testing.T) {
	q, err := blockedVariant().Build(filters.Target{N: 1000, P: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if n, err := (filters.Keyed{Filter: q, Hash: random{}}).WriteTo(&b); !errors.Is(err, filters.ErrParam) || n != 0 || b.Len() != 0 {
		t.Errorf("saved with a random hash: %d, %v", n, err)
	}
	if _, err := (filters.Keyed{Filter: q, Hash: testHash{strings.Repeat("x", 33), 0}}).WriteTo(&b); !errors.Is(err, filters.ErrParam) || b.Len() != 0 {
		t.Errorf("saved with a name of 33 bytes: %v", err)
	}
	k := filters.Keyed{Filter: q, Hash: testHash{"test", 1}}
	for i := range 1000 {
		if err := k.Add(fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	back, info, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := info.CheckHash(testHash{"test", 1}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		h    filters.Hasher
		says []string
	}{
		{testHash{"other", 1}, []string{"hash", "other", "test"}},
		{testHash{"test", 2}, []string{"seed", "2", "1"}},
		{changed{testHash{"test", 1}}, []string{"test of \"filterlab\""}},
	} {
		err := info.CheckHash(c.h)
		if !errors.Is(err, filters.ErrHash) {
			t.Errorf("%+v passes as the hash of the file: %v", c.h, err)
			continue
		}
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q leaves out %s", err, word)
			}
		}
	}
	if err := (Info{}).CheckHash(testHash{"test", 1}); !errors.Is(err, filters.ErrHash) {
		t.Errorf("a file without a hash: %v", err)
	}
	k.Filter = back
	for i := range 1000 {
		if !k.Contains(fmt.Append(nil, i)) {
			t.Errorf("key %d is lost", i)
		}
	}
}

// changed is another function under the same name.
type changed struct{ testHash }

func (c changed) Sum64(key []byte) uint64 { return c.testHash.Sum64(key) + 1 }

func blockedVariant() filters.Variant {
	for _, v := range Variants() {
		if v.String() == "blocked" {
			return v
		}
	}
	return nil
}
