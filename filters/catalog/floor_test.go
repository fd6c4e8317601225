package catalog_test

import (
	"errors"
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Every hash reads one line, of a table rounded up to lines, the first and the
// last among them.
func TestFloor(t *testing.T) {
	hs := make([]uint64, 1000)
	for i := range hs {
		hs[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	hs[1] = ^uint64(0)
	for _, huge := range []bool{false, true} {
		for _, bits := range []uint64{1, 512, 513, 1 << 20, 1<<26 + 1} {
			f, err := catalog.NewFloor(bits, huge)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Read(hs); got != 1000 {
				t.Errorf("%d bits, huge %v: %d lines read, want 1000", bits, huge, got)
			}
		}
	}
	if _, err := catalog.NewFloor(filters.MaxBits*2, false); !errors.Is(err, filters.ErrParam) {
		t.Errorf("a table of 2^49 bits: error %v, want a refusal", err)
	}
}
