package measure

import (
	"errors"
	"strings"
	"testing"
)

// modulo answers true for multiples of itself, so that rates are known exactly.
type modulo uint64

func (m modulo) Contains(h uint64) bool { return h%uint64(m) == 0 }
func (m modulo) SizeBits() uint64       { return 64 }

// counter hands out 1, 2, 3, ...
type counter uint64

func (c *counter) next(dst []uint64) {
	for i := range dst {
		*c++
		dst[i] = uint64(*c)
	}
}

func TestAbsent(t *testing.T) {
	for _, c := range []struct{ trials, events uint64 }{{0, 0}, {1, 0}, {99, 0}, {100, 1}, {4096, 40}, {4097, 40}, {10000, 100}, {123456, 1234}} {
		var keys counter
		got := Absent(modulo(100), c.trials, keys.next)
		if got != (Count{c.events, c.trials}) {
			t.Errorf("%d trials: %+v, want %d events", c.trials, got, c.events)
		}
		if uint64(keys) != c.trials {
			t.Errorf("%d trials drew %d keys", c.trials, keys)
		}
	}
}

func TestLost(t *testing.T) {
	hs := make([]uint64, 10000)
	for i := range hs {
		hs[i] = uint64(i) * 7
	}
	if err := Lost(modulo(7), hs); err != nil {
		t.Errorf("all members present: %v", err)
	}
	if err := Lost(modulo(7), nil); err != nil {
		t.Errorf("no members: %v", err)
	}
	hs[5000], hs[9999] = 1, 2
	var lost *LostError
	if err := Lost(modulo(7), hs); !errors.As(err, &lost) || *lost != (LostError{Lost: 2, Of: 10000, Index: 5000, Hash: 1}) {
		t.Errorf("two members lost: %v", err)
	} else if !strings.Contains(err.Error(), "2 of 10000 stored keys lost, the first at 5000") {
		t.Errorf("message %q", err)
	}
}
