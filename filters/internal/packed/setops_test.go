package packed

import (
	"slices"
	"testing"
)

// All ranges of a table of three words, against a count bit by bit.
func TestOnesCountRange(t *testing.T) {
	words := []uint64{0x8000_0000_0000_0001, 0xdead_beef_0123_4567, 0xffff_0000_ffff_0000}
	for from := range uint64(193) {
		want := uint64(0)
		for to := from; to <= 192; to++ {
			if got := OnesCountRange(words, from, to); got != want {
				t.Fatalf("OnesCountRange(%d, %d) = %d, want %d", from, to, got, want)
			}
			if to < 192 {
				want += words[to/64] >> (to % 64) & 1
			}
		}
	}
	if got := OnesCountRange(words, 5, 3); got != 0 {
		t.Errorf("an empty range counts %d", got)
	}
}

func TestOr(t *testing.T) {
	a, b := []uint64{0b1100, 1}, []uint64{0b1010, 2}
	if got := OnesCountOr(a, b); got != 5 {
		t.Errorf("OnesCountOr = %d, want 5", got)
	}
	Or(a, b)
	if want := []uint64{0b1110, 3}; !slices.Equal(a, want) || !slices.Equal(b, []uint64{0b1010, 2}) {
		t.Errorf("Or gives %b and changes its source to %b, want %b", a, b, want)
	}
}
