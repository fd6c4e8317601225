package experiments

import (
	"testing"

	"filterlab/filters"
	"filterlab/hashing"
)

// The tutorial's worked example: "cat" hashes to 98262, 139236 and 170512, which
// are the bits 6, 4 and 0 of 16.
func TestTutorialSetsItsBits(t *testing.T) {
	e, err := hashing.ByName("poly")
	if err != nil {
		t.Fatal(err)
	}
	f, err := tutorial{}.New(filters.Target{N: 1, BitsPerKey: 16})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(e.New(0).SumString("cat")); err != nil {
		t.Fatal(err)
	}
	for i, set := range f.(*tutorialFilter).table {
		if want := i == 6 || i == 4 || i == 0; set != want {
			t.Errorf("bit %d is %v", i, set)
		}
	}
}

// All three-letter words against all sets of three: the rate over many sets must
// be the 14.4% that counting gives (and 51.3% for eight words), not the 9.06% of
// random positions.
func TestTutorialHashMissesTheRate(t *testing.T) {
	e, err := hashing.ByName("poly")
	if err != nil {
		t.Fatal(err)
	}
	h := e.New(0)
	var words []uint64
	for i := range 26 * 26 * 26 {
		words = append(words, h.Sum64([]byte{byte('a' + i/676), byte('a' + i/26%26), byte('a' + i%26)}))
	}
	for _, tc := range []struct {
		n           int
		rate, close float64
	}{{3, 0.144, 0.003}, {8, 0.513, 0.006}} {
		hits, trials := 0, 0
		state := uint64(tc.n)
		for range 4000 {
			f, err := tutorial{}.New(filters.Target{N: uint64(tc.n), BitsPerKey: 16 / float64(tc.n)})
			if err != nil {
				t.Fatal(err)
			}
			for range tc.n {
				state++
				if err := f.Add(words[mix(state)%uint64(len(words))]); err != nil {
					t.Fatal(err)
				}
			}
			for range 100 {
				state++
				trials++
				if f.Contains(words[mix(state)%uint64(len(words))]) {
					hits++
				}
			}
		}
		if got := float64(hits) / float64(trials); got < tc.rate-tc.close || got > tc.rate+tc.close {
			t.Errorf("%d words: rate %.4f, want %.3f", tc.n, got, tc.rate)
		}
	}
}
