package blocked

import (
	"slices"
	"testing"

	"filterlab/filters/filtertest"
)

// Any number of workers makes the table that one makes, with more workers than
// blocks, too; the race detector sees whether they meet, for which with -short two
// numbers of them and all keys will do.
func TestAddBulk(t *testing.T) {
	hs := filtertest.Members(9, 3*slice+5)
	hs = append(hs, 0, ^uint64(0), 1<<63, 1<<63-1) // the edges of ranges
	for _, c := range []Config{
		{Layout: Split, Blocks: 5000},
		{Layout: Pattern, Blocks: 5000},
		{Blocks: 5000, K: 6},
		{Blocks: 2, K: 6, BlockBits: 64},
		{Blocks: 777, K: 3, BlockBits: 128, Probes: Distinct},
		{Layout: Split, Blocks: 1},
		{Layout: Split, Blocks: sortFrom/4 + 9}, // one worker sorts, too
		{Blocks: sortFrom/8 + 9, K: 6},
	} {
		want := mustNew(t, c)
		addAll(t, want, hs)
		for _, workers := range []int{-1, 0, 1, 2, 3, 7, 20} {
			for _, n := range []int{0, 1, len(hs)} {
				if testing.Short() && (workers != 3 && workers != 20 || n < len(hs)) {
					continue
				}
				got := mustNew(t, c)
				if m, err := got.AddBulk(hs[:n], workers); m != n || err != nil {
					t.Fatalf("AddBulk = %d, %v", m, err)
				}
				if n < len(hs) {
					addAll(t, got, hs[n:])
				}
				if !slices.Equal(got.words, want.words) {
					t.Errorf("%+v: %d workers for %d keys make another table", c, workers, n)
				}
			}
		}
	}
}
