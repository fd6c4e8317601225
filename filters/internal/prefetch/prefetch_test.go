package prefetch

import (
	"runtime"
	"slices"
	"testing"
)

// What a prefetch does cannot be seen, only what it must not do: change or read
// anything, whatever the indices.
func TestLines(t *testing.T) {
	words := make([]uint64, 1000)
	for i := range words {
		words[i] = uint64(i)
	}
	kept := slices.Clone(words)
	idx := make([]uint64, 0, 70)
	for n := range cap(idx) { // odd lengths, all remainders of the loop by four
		Lines(words, idx)
		Lines(nil, idx)
		idx = append(idx, uint64(n*n*977%1000))
	}
	for _, wild := range []uint64{1000, 1 << 20, 1 << 47, 1 << 63, ^uint64(0)} {
		Lines(words, []uint64{wild, 0, wild}) // no index can fault
	}
	if !slices.Equal(words, kept) {
		t.Error("a prefetch changed the table")
	}
}

func TestLinesAllocatesNothing(t *testing.T) {
	words := make([]uint64, 64)
	if n := testing.AllocsPerRun(10, func() {
		var idx [16]uint64 // must stay on the stack
		for i := range idx {
			idx[i] = uint64(i)
		}
		Lines(words, idx[:])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEnabled(t *testing.T) {
	if arch := runtime.GOARCH; Enabled && arch != "amd64" && arch != "arm64" {
		t.Errorf("no prefetch is written for %s", arch)
	}
}
