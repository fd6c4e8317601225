package packed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"filterlab/filters"
)

var widths = []int{2, 4, 8, 16}

// The table is held against a plain slice of integers under the rules stated in
// the package: stick at the ceiling, never below zero, neighbours untouched.
func TestCountersAgainstSlice(t *testing.T) {
	for _, w := range widths {
		for _, n := range []uint64{1, 2, 31, 32, 33, 257} {
			t.Run(fmt.Sprintf("w=%d,n=%d", w, n), func(t *testing.T) {
				c, err := NewCounters("test", n, w)
				if err != nil {
					t.Fatal(err)
				}
				if c.Len() != n || c.Width() != w || c.Max() != 1<<w-1 {
					t.Fatalf("Len, Width, Max = %d, %d, %d", c.Len(), c.Width(), c.Max())
				}
				rng := rand.New(rand.NewPCG(uint64(w), n))
				model := make([]uint64, n)
				top := c.Max()
				for step := 0; step < 20000; step++ {
					i := rng.Uint64N(n)
					if step%8000 == 0 && model[i] < top { // so that the wide ones saturate too
						for model[i] < top-1 {
							c.Inc(i)
							model[i]++
						}
					}
					if rng.IntN(2) == 0 {
						want := model[i] == top-1
						if model[i] < top {
							model[i]++
						}
						if got := c.Inc(i); got != want {
							t.Fatalf("Inc(%d) = %v at %d", i, got, model[i])
						}
					} else {
						want := model[i] != 0
						if model[i] != 0 && model[i] != top {
							model[i]--
						}
						if got := c.Dec(i); got != want {
							t.Fatalf("Dec(%d) = %v at %d", i, got, model[i])
						}
					}
				}
				check(t, &c, model)
			})
		}
	}
}

func check(t *testing.T, c *Counters, model []uint64) {
	t.Helper()
	var nonzero, saturated uint64
	for i, want := range model {
		if got := c.Get(uint64(i)); got != want {
			t.Fatalf("counter %d is %d, want %d", i, got, want)
		}
		if want > 0 {
			nonzero++
		}
		if want == c.Max() {
			saturated++
		}
	}
	if got := c.NonZero(); got != nonzero {
		t.Fatalf("NonZero = %d, want %d", got, nonzero)
	}
	if got := c.Saturated(); got != saturated {
		t.Fatalf("Saturated = %d, want %d", got, saturated)
	}
}

func TestCountersAddSaturates(t *testing.T) {
	for _, w := range widths {
		const n = 517
		a, _ := NewCounters("test", n, w)
		b, _ := NewCounters("test", n, w)
		top := a.Max()
		rng := rand.New(rand.NewPCG(7, uint64(w)))
		model := make([]uint64, n)
		fill := func(c *Counters, i, v uint64) {
			word, shift := c.place(i)
			c.words[word] |= v << shift
		}
		for i := range model {
			// Values at and around the ceiling, and zeros, as often as others.
			pick := func() uint64 {
				return [...]uint64{0, 1, top, top - 1, top / 2, top/2 + 1, rng.Uint64N(top + 1)}[rng.IntN(7)]
			}
			x, y := pick(), pick()
			fill(&a, uint64(i), x)
			fill(&b, uint64(i), y)
			model[i] = min(x+y, top)
		}
		a.Add(&b)
		check(t, &a, model)
	}
}

func TestCountersRefuse(t *testing.T) {
	for _, c := range []struct {
		n uint64
		w int
	}{{0, 4}, {10, 3}, {10, 0}, {10, 32}, {10, -4}, {filters.MaxBits/4 + 1, 4}, {1 << 63, 16}} {
		if _, err := NewCounters("counting", c.n, c.w); !errors.Is(err, filters.ErrParam) {
			t.Errorf("NewCounters(%d, %d): error %v, want a ParamError", c.n, c.w, err)
		}
	}
}
