package scalable

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/spec"
	"filterlab/filters/standard"
	"filterlab/filters/theory"
)

// Variant is the family with its knobs. A Target's N is the expected end, its P
// the bound of the rate at every size, its BitsPerKey the space at N.
type Variant struct {
	N0      uint64  // keys of stage 0; 0 means an eighth of the target's N, at least 1
	Growth  float64 // s; 0 means DefaultGrowth
	Tighten float64 // r; 0 means DefaultTighten
	Scheme  standard.Scheme
}

var _ filters.Maker = Variant{}

// String prints the knobs that are set: "scalable", "scalable(n0=1000,s=4,r=0.85)".
func (v Variant) String() string {
	s := spec.Spec{Family: "scalable"}
	s.Set("n0", v.N0)
	s.Set("s", v.Growth)
	s.Set("r", v.Tighten)
	if v.Scheme != standard.Independent {
		s.Set("scheme", v.Scheme)
	}
	return s.String()
}

// Parse reads what String prints: the knobs n0, s, r and scheme in any order.
func Parse(text string) (Variant, error) {
	s, err := spec.Parse(text)
	if err != nil {
		return Variant{}, err
	}
	if s.Family != "scalable" {
		return Variant{}, filters.Refuse("filter", strconv.Quote(s.Family), "scalable")
	}
	if len(s.Args) > 0 {
		return Variant{}, filters.Refuse("scalable", strconv.Quote(text), "knobs only: n0=, s=, r=, scheme=")
	}
	// Ranges are those of Config; stand-ins fill the fields a Variant lacks.
	c := Config{N0: 1, P: 0.5}
	var v Variant
	for _, knob := range s.Knobs {
		switch knob.Key {
		case "n0":
			if v.N0, err = strconv.ParseUint(knob.Value, 10, 64); err != nil {
				return Variant{}, filters.Refuse("scalable: n0", strconv.Quote(knob.Value), "a whole number of keys from 1 to 2^48")
			}
			c.N0 = v.N0
		case "s":
			v.Growth, err = ratio("s", knob.Value)
			c.Growth = v.Growth
		case "r":
			v.Tighten, err = ratio("r", knob.Value)
			c.Tighten = v.Tighten
		case "scheme":
			v.Scheme, err = standard.ParseScheme(knob.Value)
		default:
			err = spec.Unknown("scalable", knob.Key, "n0", "s", "r", "scheme")
		}
		if err != nil {
			return Variant{}, err
		}
	}
	if _, err := c.normal(); err != nil {
		return Variant{}, err
	}
	return v, nil
}

// ratio reads a knob that is a number above zero.
func ratio(knob, value string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x > 0) {
		return 0, filters.Refuse("scalable: "+knob, strconv.Quote(value), "a number above 0")
	}
	return x, nil
}

// New makes an empty filter for t.
func (v Variant) New(t filters.Target) (filters.Filter, error) {
	c, err := v.Geometry(t)
	if err != nil {
		return nil, err
	}
	f, err := New(c)
	if err != nil {
		return nil, err // not f: a nil *Filter in an interface is not nil
	}
	return f, nil
}

// Build makes a filter for t that holds hs.
func (v Variant) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the expectation of the filter that New(t) makes, after inserted
// distinct hashes, each given to Add; see [Config.Predict].
func (v Variant) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	c, err := v.Geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return c.Predict(inserted)
}

// Geometry is the Config that New uses for t. A rate is taken as the bound P; a
// space buys the lowest P whose stages at N keys fit into it, found to within a
// thousandth of the space or of log2 P, and is refused when even a bound of 1 - 2^-10 takes
// more. The stages at N must be possible.
func (v Variant) Geometry(t filters.Target) (Config, error) {
	if err := t.Validate(); err != nil {
		return Config{}, err
	}
	c := Config{N0: v.N0, P: t.P, Growth: v.Growth, Tighten: v.Tighten, Scheme: v.Scheme}
	if c.N0 == 0 {
		c.N0 = max(t.N/8, 1)
	}
	if t.P == 0 {
		c.P = 0.5 // until it is found
	}
	c, err := c.normal()
	if err != nil {
		return Config{}, err
	}
	if t.P == 0 {
		if c.P, err = c.fit(t); err != nil {
			return Config{}, err
		}
	}
	if _, err := c.bitsAt(t.N); err != nil {
		return Config{}, err
	}
	return c, nil
}

// bitsAt is SizeBits after n distinct keys.
func (c Config) bitsAt(n uint64) (uint64, error) {
	bits := uint64(0)
	if err := c.walk(n, func(s stage, _ uint64) { bits += s.geometry.Bits }); err != nil {
		return 0, err
	}
	if bits > filters.MaxBits {
		return 0, tooLarge(n, bits)
	}
	return bits, nil
}

// fit is the lowest P whose stages at t.N keys take at most the space of t.
func (c Config) fit(t filters.Target) (float64, error) {
	budget := t.BitsPerKey * float64(t.N)
	if budget > filters.MaxBits {
		return 0, filters.Refuse("scalable: bits per key", t.BitsPerKey, fmt.Sprintf("at most 2^48 bits for %d keys", t.N))
	}
	// needs is the bits at N for P = 2^-x; a P that cannot be had needs too many.
	needs := func(x float64) float64 {
		c.P = math.Exp2(-x)
		bits, err := c.bitsAt(t.N)
		if err != nil {
			return math.Inf(1)
		}
		return float64(bits)
	}
	// 2^-x just below 1, where a stage is a single bit or little more.
	fits := 1.0 / 1024
	least := needs(fits)
	if least > budget {
		return 0, filters.Refuse("scalable: bits per key", t.BitsPerKey, fmt.Sprintf("at least %.4g, which the stages for %d keys take at any rate", least/float64(t.N), t.N))
	}
	// Doubling first keeps the search away from rates far below the answer, which
	// are slow to size for; then bits are close to linear in x, so that halving
	// takes some ten steps.
	over := 2 * fits
	for ; ; over *= 2 {
		bits := needs(over)
		if bits > budget {
			break
		}
		fits, least = over, bits
	}
	for budget-least > budget/1000 && over-fits > 1e-3 {
		mid := fits + (over-fits)/2
		if bits := needs(mid); bits <= budget {
			fits, least = mid, bits
		} else {
			over = mid
		}
	}
	return math.Exp2(-fits), nil
}
