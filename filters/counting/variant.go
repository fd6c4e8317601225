package counting

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/spec"
	"filterlab/filters/theory"
)

// Variant is the family with its knobs. The zero Variant is counters of 4 bits
// anywhere in the table and the best k for the target.
type Variant struct {
	Width  int    // bits of a counter: 2, 4, 8 or 16; 0 means 4
	K      int    // 1 to 64; 0 means the best for the target
	Layout Layout // zero means Shared; Blocked takes no counters of 16 bits
}

var _ filters.Maker = Variant{}

// String prints the knobs that are set, so that it is the inverse of Parse:
// "counting", "counting(w=8,k=4)". A knob left at zero is not printed, a default
// that was spelt out is.
func (v Variant) String() string {
	s := spec.Spec{Family: "counting"}
	s.Set("w", v.Width)
	s.Set("k", v.K)
	s.Set("layout", v.Layout)
	return s.String()
}

// Parse reads what String prints: the knobs w, k and layout in any order.
func Parse(text string) (Variant, error) {
	var v Variant
	s, err := spec.Parse(text)
	if err != nil {
		return v, err
	}
	if s.Family != "counting" {
		return v, filters.Refuse("filter", strconv.Quote(s.Family), "counting")
	}
	if len(s.Args) > 0 {
		return v, filters.Refuse("counting", strconv.Quote(text), "named knobs only: w, k, layout")
	}
	for _, knob := range s.Knobs {
		switch knob.Key {
		case "w":
			v.Width, err = spec.Int("counting", "w", knob.Value, 2, 16)
			if err == nil {
				_, err = Config{M: 1, K: 1, Width: v.Width}.normal()
			}
		case "k":
			v.K, err = spec.Int("counting", "k", knob.Value, 1, MaxK)
		case "layout":
			v.Layout, err = ParseLayout(knob.Value)
		default:
			err = spec.Unknown("counting", knob.Key, "w", "k", "layout")
		}
		if err != nil {
			return Variant{}, err
		}
	}
	return v, nil
}

// geometry picks the filter for a target. With a rate it is the fewest counters
// that meet it, in the shared layout as many as a standard filter needs bits; with
// a space, as many counters (or blocks) as come nearest to it, at least one.
func (v Variant) geometry(t filters.Target) (Config, error) {
	if err := t.Validate(); err != nil {
		return Config{}, err
	}
	// M and K are chosen below; everything else is checked now.
	c := Config{M: blockBits, K: v.K, Width: v.Width, Layout: v.Layout}
	if v.K == 0 {
		c.K = 1
	}
	c, err := c.normal()
	if err != nil {
		return c, err
	}
	unit := uint64(1) // counters that come together
	if c.Layout == Blocked {
		unit = uint64(c.perBlock())
	}
	most := filters.MaxBits / (unit * uint64(c.Width))
	if t.P == 0 {
		units := math.Round(t.BitsPerKey * float64(t.N) / float64(unit*uint64(c.Width)))
		if units > float64(most) {
			return c, tooLarge("bits per key", t.BitsPerKey, t.N, t.BitsPerKey*float64(t.N))
		}
		c.M = max(uint64(units), 1) * unit
		switch {
		case v.K != 0:
		case c.Layout == Blocked:
			c.K = theory.BlockedBestK(c.blocks(), c.perBlock(), t.N, false)
		default:
			c.K = theory.StandardBestK(c.M, t.N)
		}
		return c, nil
	}
	units, k, ok := uint64(0), 0, false
	if c.Layout == Blocked {
		units, k, ok = theory.SizeBlocked(c.perBlock(), t.N, t.P, v.K, false)
	} else {
		units, k, ok = theory.SizeStandard(t.N, t.P, v.K)
	}
	if !ok {
		return c, filters.Refuse("counting: p", t.P, fmt.Sprintf("a rate that %d keys can reach with k up to %d, and above %.3g, what their 64-bit hashes share",
			t.N, MaxK, theory.HashFloor(t.N, 64)))
	}
	if units > most {
		return c, tooLarge("p", t.P, t.N, float64(units)*float64(unit)*float64(c.Width))
	}
	c.M, c.K = units*unit, k
	return c, nil
}

func tooLarge(field string, value any, n uint64, bits float64) error {
	return filters.Refuse("counting: "+field, value, fmt.Sprintf("a filter of at most 2^48 bits; for %d keys this takes %.4g bits (%.4g bytes)", n, bits, bits/8))
}

// New makes an empty filter for t.
func (v Variant) New(t filters.Target) (filters.Filter, error) {
	c, err := v.geometry(t)
	if err != nil {
		return nil, err
	}
	f, err := New(c)
	if err != nil {
		return nil, err // not f: a nil *Filter in an interface is not nil
	}
	f.capacity = t.N
	return f, nil
}

// Build makes a filter for t that holds hs.
func (v Variant) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the expectation of the filter that New(t) makes, after inserted
// distinct hashes.
func (v Variant) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	c, err := v.geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return c.predict(inserted, t.N), nil
}
