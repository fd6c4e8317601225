package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
)

// save writes b to a file of its own.
func save(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.filter")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A filter in its file answers as the one that was saved, one by one, in batches
// and to several goroutines at once, says the same of itself, and cannot be
// written to.
func TestOpen(t *testing.T) {
	queries := mixed(5000)
	for v, s := range small(t, 1000) {
		q := s.(Saved)
		path := save(t, file(t, s))
		f, err := Open(path)
		if err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		if err := f.Verify(); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		if _, ok := any(f).(filters.Filter); ok {
			t.Errorf("%v: keys can be added to a file", v)
		}
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				want, got := make([]bool, len(queries)), make([]bool, len(queries))
				q.ContainsMany(want, queries)
				f.ContainsMany(got, queries)
				if !slices.Equal(got, want) {
					t.Errorf("%v: ContainsMany answers otherwise from the file", v)
				}
				for i, h := range queries {
					if f.Contains(h) != want[i] {
						t.Errorf("%v: Contains(%#x) answers otherwise from the file", v, h)
					}
				}
			})
		}
		wait.Wait()
		if f.SizeBits() != q.SizeBits() || f.FillRatio() != q.FillRatio() || f.EstimatedN() != q.EstimatedN() || f.EstimatedFPR() != q.EstimatedFPR() {
			t.Errorf("%v: the file says other things of itself", v)
		}
		some := make([]bool, 8)
		if n := testing.AllocsPerRun(10, func() { f.Contains(1); f.ContainsMany(some, queries[:8]) }); n != 0 {
			t.Errorf("%v: a lookup in a file allocates %v times", v, n)
		}
		if info := f.Info(); !strings.HasPrefix(v.String(), info.Family) || info.Hash != "" {
			t.Errorf("%v: %+v", v, info)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v: closed a second time: %v", v, err)
		}
	}
}

// What a header cannot show, Verify does: every flipped bit of a payload. Damage to
// the header, and a file of another length, show at once.
func TestOpenDamaged(t *testing.T) {
	for v, s := range small(t, 20) {
		b := file(t, s)
		head := headerSize(b)
		path := filepath.Join(t.TempDir(), "some.filter")
		for bit := range 8 * len(b) {
			if bit%101 != 0 { // each costs a file; TestEveryFlippedBit takes all
				continue
			}
			b[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			b[bit/8] ^= 1 << (bit % 8)
			f, err := Open(path)
			if bit < 8*head {
				if !named(err) || !strings.Contains(err.Error(), path) {
					t.Errorf("%v: bit %d of byte %d flipped: %v", v, bit%8, bit/8, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%v: bit %d of byte %d of the payload flipped: %v", v, bit%8, bit/8, err)
				continue
			}
			if err := f.Verify(); !errors.Is(err, filters.ErrCorrupt) || !strings.Contains(err.Error(), "payload checksum") {
				t.Errorf("%v: Verify with bit %d of byte %d flipped: %v", v, bit%8, bit/8, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, n := range []int{0, 1, 100, head - 1, head, len(b) - 1} {
			if err := os.WriteFile(path, b[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path); !named(err) {
				t.Errorf("%v: %d of %d bytes: %v", v, n, len(b), err)
			}
		}
		if err := os.WriteFile(path, append(bytes.Clone(b), 0), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !named(err) {
			t.Errorf("%v with a byte behind: %v", v, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder is taken for a filter")
	}
}

// sparse is a file with the header of an empty filter and nothing written behind.
func sparse(t *testing.T, h envelope.Header) string {
	t.Helper()
	head, err := h.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := save(t, head)
	if err := os.Truncate(path, int64(len(head))+int64(h.Payload)); err != nil {
		t.Skipf("the file system has no room for %d bytes without content: %v", h.Payload, err)
	}
	return path
}

// A file of 32 GiB answers under a memory limit of 256 MiB: what is allocated does
// not depend on its size. To copy it is refused, by the limit, in words.
func TestOpenLargerThanMemory(t *testing.T) {
	if ^uint(0)>>32 == 0 {
		t.Skip("an address space of 32 bits")
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("big-endian machines copy")
	}
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly":
	default:
		t.Skip("files are not mapped here")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	const bytes, lookups = 32 << 30, 200
	for _, h := range []envelope.Header{
		{Family: "standard", Payload: bytes, Geometry: []uint64{bytes * 8, 7, 0, 0}},
		{Family: "blocked", Payload: bytes, Geometry: []uint64{bytes / 64, 512, 6, 1, 1}},
		{Family: "counting", Payload: bytes, Geometry: []uint64{bytes * 2, 7, 4, 1, 0}},
		{Family: "cuckoo", Payload: bytes + 64, Geometry: []uint64{bytes / 8, 4, 16}},
	} {
		t.Run(h.Family, func(t *testing.T) {
			path := sparse(t, h)
			var f *File
			var err error
			start := time.Now()
			cost := spent(func() {
				if f, err = Open(path); err != nil {
					return
				}
				for i := range uint64(lookups) {
					if f.Contains(splitMix(i)) {
						t.Error("an empty filter contains something")
						break
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if cost > 1<<20 || f.SizeBits() != bytes*8 {
				t.Errorf("%d bytes allocated for a filter of %d bits", cost, f.SizeBits())
			}
			t.Logf("opened, and %d lookups answered, after %v; %d bytes allocated", lookups, time.Since(start), cost)
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			r, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cost = spent(func() { _, _, err = Read(r) })
			if !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "memory limit") || cost > 1<<20 {
				t.Errorf("a copy of it: %v, after %d bytes", err, cost)
			}
		})
	}
}
