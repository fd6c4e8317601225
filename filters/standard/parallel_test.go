package standard

import (
	"slices"
	"testing"

	"filterlab/filters/filtertest"
)

// Any number of workers makes the table that AddMany makes, for every scheme and
// layout, in tables below and above the size from which one worker sorts; the race
// detector sees whether they meet, for which with -short one number of them and all
// keys will do.
func TestAddBulk(t *testing.T) {
	hs := append(filtertest.Members(9, 25_000), 0, ^uint64(0), 1<<63, 1<<63-1)
	configs := []Config{
		{Bits: 1, K: 3},
		{Bits: 250_001, K: 7},
		{Bits: 100_000, K: MaxK},
		{Bits: 700_000, K: 7, Layout: Partitioned},
		{Bits: 64*large + 12_345, K: 7},
		{Bits: 5 << 22, K: 1},
	}
	for _, s := range Schemes() {
		configs = append(configs, Config{Bits: 1 << 23, K: 5, Scheme: s})
	}
	for _, c := range configs {
		mustNew := func() *Filter {
			f, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		want := mustNew()
		if _, err := want.AddMany(hs); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{-1, 1, 2, 3, 6} {
			for _, n := range []int{0, 1, len(hs)} {
				if testing.Short() && (workers != 3 || n < len(hs)) {
					continue
				}
				got := mustNew()
				if m, err := got.AddBulk(hs[:n], workers); m != n || err != nil {
					t.Fatalf("AddBulk = %d, %v", m, err)
				}
				if _, err := got.AddMany(hs[n:]); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.words, want.words) {
					t.Errorf("%+v: %d workers for %d keys make another table", c, workers, n)
				}
			}
		}
	}
}
