package prefetch

import (
	"math/bits"
	"testing"
)

// Every hash has its line read once, whatever the size of the table and the number
// of hashes: the sum is the one that a plain loop over the definition gives.
func TestRead(t *testing.T) {
	for _, size := range []int{0, 7, 8, 15, 16, 1000, large - 1, large, large + 8*1000 + 3} {
		words := make([]uint64, size)
		for i := range words {
			words[i] = uint64(i)*0x9e3779b97f4a7c15 + 1
		}
		lines := uint64(size / perLine)
		for _, n := range []int{0, 1, 47, 48, 49, 63, 64, 65, 127, 128, 200, 2*8192 + 77} {
			hs := make([]uint64, n)
			for i := range hs {
				hs[i] = uint64(i+1) * 0xd1342543de82ef95
			}
			if n > 0 { // the first and the last line
				hs[0], hs[n-1] = 0, ^uint64(0)
			}
			var want uint64
			for _, h := range hs {
				if lines > 0 {
					at, _ := bits.Mul64(h, lines)
					want += words[at*perLine]
				}
			}
			if got := Read(words, hs); got != want {
				t.Errorf("%d words, %d hashes: %#x, want %#x", size, n, got, want)
			}
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	words, hs := make([]uint64, large), make([]uint64, 300)
	if n := testing.AllocsPerRun(10, func() { Read(words, hs) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
