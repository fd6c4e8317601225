package catalog

import (
	"bytes"
	"encoding"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"filterlab/filters"
)

// FuzzDecode takes bytes for a file, as they are and with length and checksums
// mended, so that the checks behind them are reached. Whatever is taken must be a
// filter: it is written again to the byte, and every method keeps its promises.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("testdata/golden/*.filter")
	if err != nil || len(names) == 0 {
		f.Fatal("no golden files to start from", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(b[:130])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		decodeAndUse(t, b)
		mended := bytes.Clone(b)
		repair(mended)
		decodeAndUse(t, mended)
	})
}

func decodeAndUse(t *testing.T, b []byte) {
	r := bytes.NewReader(b)
	q, info, err := Read(r)
	if err != nil {
		var fe *filters.FormatError
		if !errors.As(err, &fe) && !errors.Is(err, filters.ErrParam) {
			t.Fatalf("an error of no known kind: %v", err)
		}
		return
	}
	own := b[:len(b)-r.Len()]
	if info.Size() != uint64(len(own)) {
		t.Fatalf("%+v is %d bytes, and %d were read", info, info.Size(), len(own))
	}
	if info.Hash == "" { // otherwise the hash is written as well
		again, err := q.(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil || !bytes.Equal(again, own) {
			t.Fatalf("%v: written again otherwise (%v)", info.Variant, err)
		}
	}
	if _, err := Parse(info.Variant.String()); err != nil {
		t.Fatalf("the variant of the header: %v", err)
	}
	if fill := q.FillRatio(); !(fill >= 0 && fill <= 1) {
		t.Fatalf("%v: fill %v", info.Variant, fill)
	}
	if rate := q.EstimatedFPR(); !(rate >= 0 && rate <= 1) {
		t.Fatalf("%v: rate %v", info.Variant, rate)
	}
	if n := q.EstimatedN(); !(n >= 0) {
		t.Fatalf("%v: %v keys", info.Variant, n)
	}
	hs := mixed(50)
	in := make([]bool, len(hs))
	q.ContainsMany(in, hs)
	for i, h := range hs {
		if q.Contains(h) != in[i] {
			t.Fatalf("%v: a batch answers otherwise for %#x", info.Variant, h)
		}
	}
	g := q.(filters.Filter)
	for i, h := range hs {
		if err := g.Add(h); err != nil {
			if !errors.Is(err, filters.ErrFull) {
				t.Fatalf("%v: Add: %v", info.Variant, err)
			}
			continue
		}
		if !g.Contains(h) {
			t.Fatalf("%v: %#x is lost", info.Variant, h)
		}
		if d, ok := q.(filters.Deleter); ok && i%2 == 0 && !d.Delete(h) {
			t.Fatalf("%v: %#x cannot be deleted", info.Variant, h)
		}
	}
	if m, ok := q.(filters.Merger); ok {
		if err := m.Merge(g); err != nil {
			t.Fatalf("%v: Merge with itself: %v", info.Variant, err)
		}
	}
	later, err := q.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		t.Fatalf("%v: saved after use: %v", info.Variant, err)
	}
	if _, _, err := Read(bytes.NewReader(later)); err != nil {
		t.Fatalf("%v: read after use: %v", info.Variant, err)
	}
	if x, ok := q.(filters.Resetter); ok {
		x.Reset()
		if q.Contains(hs[0]) {
			t.Fatalf("%v: not empty after Reset", info.Variant)
		}
	}
}
