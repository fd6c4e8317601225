package envelope

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"filterlab/filters"
)

// The header is what the description says, byte by byte: written out by hand, with
// checksums computed by a loop over bits.
func TestLayout(t *testing.T) {
	body := Body(func() (Header, []Part) {
		return Header{Family: "standard", Capacity: 5, Count: 6, Geometry: []uint64{500, 7, 1}}, []Part{Words([]uint64{1, 2, 3, 4, 5, 6, 7, 0x0102030405060708})}
	})
	var got bytes.Buffer
	n, err := body.Write(&got, named{})
	if err != nil || n != int64(got.Len()) || got.Len() != 192+64 {
		t.Fatalf("Write = %d, %v; %d bytes", n, err, got.Len())
	}
	payload := got.Bytes()[192:]
	want, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(`
		89464c540d0a1a0a 01000000 03000000
		7374616e64617264 0000000000000000
		4000000000000000 ` + fmt.Sprintf("%08x", swap32(bitwiseCRC(payload))) + ` 00000000
		0500000000000000 0600000000000000
		78783634000000000000000000000000 00000000000000000000000000000000
		0900000000000000 7777000000000000
		f401000000000000 0700000000000000 0100000000000000
		0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000 00000000`))
	if err != nil {
		t.Fatal(err)
	}
	want = binary.LittleEndian.AppendUint32(want, bitwiseCRC(want))
	if !bytes.Equal(got.Bytes()[:192], want) {
		t.Errorf("header\n%x, want\n%x", got.Bytes()[:192], want)
	}
	if payload[0] != 1 || !bytes.Equal(payload[56:], []byte{8, 7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("payload %x", payload)
	}
}

// bitwiseCRC is CRC-32C by its definition: the reflected polynomial 0x82f63b78,
// all ones before and after (RFC 3720, appendix B.4: 32 zeros give 0x8a9136aa).
func bitwiseCRC(b []byte) uint32 {
	crc := ^uint32(0)
	for _, x := range b {
		crc ^= uint32(x)
		for range 8 {
			crc = crc>>1 ^ 0x82f63b78&-(crc&1)
		}
	}
	return ^crc
}

func swap32(x uint32) uint32 { return x<<24 | x>>24 | x<<8&0xff0000 | x>>8&0xff00 }

func TestBitwiseCRC(t *testing.T) {
	if got := bitwiseCRC(make([]byte, 32)); got != 0x8a9136aa || got != crc32.Checksum(make([]byte, 32), castagnoli()) {
		t.Errorf("%#x", got)
	}
}

// named is a hash whose digests are known.
type named struct{}

func (named) Name() string               { return "xx64" }
func (named) Seed() uint64               { return 9 }
func (named) Sum64([]byte) uint64        { return 0x7777 }
func (named) SumMany([]uint64, [][]byte) {}

// What is written on big-endian machines, by conversion, is what little-endian ones
// write from memory; and reading turns it back.
func TestByteOrder(t *testing.T) {
	words := make([]uint64, 3*piece/8+5)
	for i := range words {
		words[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	direct, converted := join(Words(words)), join(swapped(words))
	if !bytes.Equal(direct, converted) || len(direct) != 8*len(words) {
		t.Errorf("%d and %d bytes that differ", len(direct), len(converted))
	}
	for i, w := range words {
		if binary.LittleEndian.Uint64(direct[8*i:]) != w {
			t.Fatalf("word %d is %x", i, direct[8*i:8*i+8])
		}
	}
	before := slices.Clone(words)
	swap(words)
	if littleEndian() != slices.Equal(words, before) {
		t.Error("swap does not do what this machine needs")
	}
}

func join(part Part) (all []byte) {
	for p := range part {
		all = append(all, p...)
	}
	return all
}

// Headers of every length come back as they went.
func TestHeaderRoundTrip(t *testing.T) {
	for words := 1; words < 60; words++ {
		h := &Header{Family: "scalable", Payload: 640, Sum: 3, Capacity: 1 << 60, Count: 1 << 50, Hash: strings.Repeat("h", words%33), Geometry: make([]uint64, words)}
		if h.Hash != "" {
			h.Seed, h.Digest = 1<<63, 1
		}
		for i := range h.Geometry {
			h.Geometry[i] = ^uint64(i)
		}
		b, err := h.Append([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		b = b[len("before"):]
		if len(b) != h.Size() || len(b)%64 != 0 || len(b) < 116+8*words || len(b) >= 116+8*words+64 {
			t.Errorf("%d words are a header of %d bytes", words, len(b))
		}
		got, n, err := ReadHeader(bytes.NewReader(b))
		if err != nil || n != int64(len(b)) || fmt.Sprint(*got) != fmt.Sprint(*h) {
			t.Errorf("%d words: %+v, %d, %v", words, got, n, err)
		}
	}
}

// What no reader would take is not written.
func TestAppendRefuses(t *testing.T) {
	for _, h := range []Header{
		{Hash: "a name", Geometry: []uint64{1}},
		{Hash: "näme", Geometry: []uint64{1}},
		{Hash: strings.Repeat("x", 33), Geometry: []uint64{1}},
		{Geometry: make([]uint64, maxWords+1)},
	} {
		if b, err := h.Append(nil); !errors.Is(err, filters.ErrParam) || b != nil {
			t.Errorf("a hash %q and %d words: %d bytes, %v", h.Hash, len(h.Geometry), len(b), err)
		}
	}
}

// Words are handed out in order under their names; the first thing wrong is what
// Done says.
func TestFields(t *testing.T) {
	h := &Header{Family: "a", Geometry: []uint64{1, 1 << 31, 0x3ff8000000000000, 4}}
	g := h.Fields("a")
	if g.Uint("x") != 1 || g.Uint("y") != 1<<31 || g.Float("z") != 1.5 || g.Left() != 1 || g.Byte("w") != 4 || g.Done() != nil {
		t.Errorf("%+v", g)
	}
	if got := fmt.Sprint(g.Named()); got != "[1 2147483648 1.5 4]" || g.Named()[2].Name != "z" {
		t.Errorf("named %s", got)
	}
	for _, c := range []struct {
		read func(g *Fields)
		says string
	}{
		{func(g *Fields) { g.Uint("x") }, "geometry words = 4: want 1"},
		{func(g *Fields) { g.Uint("x"); g.Int("y"); g.Uint("z") }, "y = 2147483648: want at most 2147483647"},
		{func(g *Fields) { g.Uint("x"); g.Byte("y") }, "y = 2147483648: want at most 255"},
		{func(g *Fields) {
			for _, name := range []string{"x", "y", "z", "w", "v"} {
				g.Uint(name)
			}
		}, "v is missing"},
	} {
		g := h.Fields("a")
		c.read(g)
		if err := g.Done(); !errors.Is(err, filters.ErrCorrupt) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v; want %q", err, c.says)
		}
	}
	if err := h.Fields("b").Done(); !errors.Is(err, filters.ErrFamily) {
		t.Errorf("a read as b: %v", err)
	}
}

// Streams that do not tell their length deliver tables larger than what is
// allocated on trust, whole and in order.
func TestLongStreams(t *testing.T) {
	for _, n := range []int{8, unproven / 8, unproven/8 + 8, 5 * unproven / 8} {
		words := make([]uint64, n)
		for i := range words {
			words[i] = uint64(i) * 0x9e3779b97f4a7c15
		}
		b, err := Body(func() (Header, []Part) {
			return Header{Family: "a", Geometry: []uint64{uint64(n) * 64}}, []Part{Words(words), Words(words)}
		}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		decode := func(h *Header, s *Source) (both [2][]uint64, err error) {
			for i := range both {
				if both[i], err = s.Words("a", h.Geometry[0]); err != nil {
					return both, err
				}
			}
			return both, nil
		}
		for _, r := range []io.Reader{bytes.NewReader(b), struct{ io.Reader }{bytes.NewReader(b)}} {
			both, _, took, err := Read(r, decode)
			if err != nil || took != int64(len(b)) || !slices.Equal(both[0], words) || !slices.Equal(both[1], words) {
				t.Errorf("%d words twice: %d bytes read of %d, %v", n, took, len(b), err)
			}
		}
		// A decoder that leaves bytes of the payload is told.
		_, _, _, err = Read(bytes.NewReader(b), func(h *Header, s *Source) ([]uint64, error) { return s.Words("a", h.Geometry[0]) })
		if !errors.Is(err, filters.ErrCorrupt) || !strings.Contains(err.Error(), "payload length") {
			t.Errorf("half a payload: %v", err)
		}
	}
}
