package standard

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/spec"
	"filterlab/filters/theory"
)

// Variant is the family with its knobs. The zero Variant is independent probes in
// a shared table, sized exactly, with the best k for the target.
type Variant struct {
	K      int // 1 to MaxK; 0 means the best for the target
	Scheme Scheme
	Layout Layout
	Sizing Sizing
}

var _ filters.Maker = Variant{}

// String prints the knobs that are not at their default: "standard",
// "standard(k=7)", "standard(layout=partitioned,k=5)".
func (v Variant) String() string {
	s := spec.Spec{Family: "standard"}
	if v.Scheme != Independent {
		s.Set("scheme", v.Scheme)
	}
	if v.Layout != Shared {
		s.Set("layout", v.Layout)
	}
	if v.Sizing != Exact {
		s.Set("sizing", v.Sizing)
	}
	s.Set("k", v.K)
	return s.String()
}

// Parse reads what String prints: the knobs scheme, layout, sizing and k in any
// order, defaults included.
func Parse(text string) (Variant, error) {
	s, err := spec.Parse(text)
	if err != nil {
		return Variant{}, err
	}
	if s.Family != "standard" {
		return Variant{}, filters.Refuse("filter", strconv.Quote(s.Family), "standard")
	}
	if len(s.Args) > 0 {
		return Variant{}, filters.Refuse("standard", strconv.Quote(text), "knobs only: scheme=, layout=, sizing=, k=")
	}
	var v Variant
	for _, knob := range s.Knobs {
		switch knob.Key {
		case "scheme":
			v.Scheme, err = ParseScheme(knob.Value)
		case "layout":
			v.Layout, err = ParseLayout(knob.Value)
		case "sizing":
			v.Sizing, err = ParseSizing(knob.Value)
		case "k":
			v.K, err = spec.Int("standard", "k", knob.Value, 1, MaxK)
		default:
			err = spec.Unknown("standard", knob.Key, "scheme", "layout", "sizing", "k")
		}
		if err != nil {
			return Variant{}, err
		}
	}
	return v, nil
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
	f.capacity = t.N
	return f, nil
}

// Build makes a filter for t that holds hs.
func (v Variant) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the expectation of the filter that New(t) makes, after inserted
// distinct hashes. For the schemes Double64 and Enhanced64 no formula for the
// rate is known: it is NaN then, and the error filters.ErrNoTheory.
func (v Variant) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	c, err := v.Geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return c.predict(inserted, t.N)
}

// Geometry is the filter that New makes for t, without making it.
func (v Variant) Geometry(t filters.Target) (Config, error) {
	if err := t.Validate(); err != nil {
		return Config{}, err
	}
	// The knobs are checked first, on a stand-in for the bits still to be chosen.
	k := v.K
	if k == 0 {
		k = 1
	}
	if err := (Config{Bits: uint64(max(k, 1)), K: k, Scheme: v.Scheme, Layout: v.Layout}).validate(); err != nil {
		return Config{}, err
	}
	if int(v.Sizing) >= len(sizingNames) {
		return Config{}, filters.Refuse("standard: sizing", v.Sizing, fmt.Sprintf("one of %q", sizingNames))
	}
	c, err := v.sizeFor(t)
	if err != nil {
		return Config{}, err
	}
	return c, c.validate()
}

// sizeFor is Geometry for knobs in range.
func (v Variant) sizeFor(t filters.Target) (Config, error) {
	if t.P == 0 {
		bits := math.Round(t.BitsPerKey * float64(t.N))
		if bits > filters.MaxBits {
			return Config{}, tooLarge("bits per key", t.BitsPerKey, t.N, bits)
		}
		m := max(uint64(bits), 1)
		switch {
		case v.K != 0:
			return v.config(m, v.K), nil
		case v.Sizing == Textbook:
			k := math.Round(float64(m) / float64(t.N) * math.Ln2)
			return v.config(m, int(min(max(k, 1), MaxK))), nil
		default:
			return v.config(m, v.bestK(m, t.N)), nil
		}
	}
	if floor := theory.HashFloor(t.N, 64); t.P <= floor {
		return Config{}, filters.Refuse("standard: p", t.P, fmt.Sprintf("above %.3g, the share of absent keys that have the very 64-bit hash of one of %d keys", floor, t.N))
	}
	m, k, ok := v.size(t.N, t.P)
	if !ok {
		return Config{}, tooLarge("p", t.P, t.N, -float64(t.N)*math.Log(t.P)/(math.Ln2*math.Ln2))
	}
	if m > filters.MaxBits {
		return Config{}, tooLarge("p", t.P, t.N, float64(m))
	}
	if v.K != 0 {
		k = v.K
	}
	return v.config(m, k), nil
}

// config rounds m to what the layout needs: up to a multiple of k where a rate is
// promised by exact sizing, which asked for one already, and to the nearest such
// number otherwise.
func (v Variant) config(m uint64, k int) Config {
	if v.Layout == Partitioned {
		K := uint64(k)
		m = max((m+K/2)/K, 1) * K
	}
	return Config{Bits: m, K: k, Scheme: v.Scheme, Layout: v.Layout}
}

// size is the least number of bits for the rate p at n keys, or the textbook's.
func (v Variant) size(n uint64, p float64) (m uint64, k int, ok bool) {
	switch {
	case v.Sizing == Textbook:
		return theory.SizeTextbook(n, p)
	case v.Layout == Partitioned:
		slice, k, ok := theory.SizePartitioned(n, p, v.K)
		if !ok || slice > filters.MaxBits {
			return slice, k, ok
		}
		return slice * uint64(k), k, true
	case v.Scheme == Double || v.Scheme == Enhanced || v.Scheme == Teaching:
		return v.sizeStepping(n, p)
	default:
		return theory.SizeStandard(n, p, v.K)
	}
}

// sizeStepping is SizeStandard for the rate of a stepping scheme, which is higher
// than that of independent probes and in small tables jumps with the factors m
// shares with the steps: the size found meets p, and its neighbour below does
// not.
func (v Variant) sizeStepping(n uint64, p float64) (m uint64, k int, ok bool) {
	floor := theory.HashFloor(n, 64)
	meets := func(m uint64, k int) bool {
		return theory.Combine(Config{Bits: m, K: k, Scheme: v.Scheme}.rate(n), floor) <= p
	}
	least := func(k int) (uint64, bool) {
		lo, _, ok := theory.SizeStandard(n, p, k)
		if !ok || lo > filters.MaxBits || meets(lo, k) {
			return lo, ok
		}
		hi := lo
		for step := uint64(1); !meets(hi, k); step *= 2 {
			if hi += step; hi > filters.MaxBits {
				return hi, true
			}
		}
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; meets(mid, k) {
				hi = mid
			} else {
				lo = mid
			}
		}
		return hi, true
	}
	if v.K != 0 {
		m, ok = least(v.K)
		return m, v.K, ok
	}
	// The additive term grows with k, so the best k is at most that of independent
	// probes; below it their own need grows, and ends the search.
	_, most, ok := theory.SizeStandard(n, p, 0)
	if !ok {
		return 0, 0, false
	}
	m = math.MaxUint64
	for try := most; try > 0; try-- {
		if lo, _, ok := theory.SizeStandard(n, p, try); !ok || lo >= m {
			break
		}
		if bits, ok := least(try); ok && bits < m {
			m, k = bits, try
		}
	}
	return m, k, true
}

// bestK is the k with the least rate for n keys in about m bits.
func (v Variant) bestK(m, n uint64) int {
	if v.Layout == Shared && (v.Scheme == Independent || v.Scheme == Double64 || v.Scheme == Enhanced64) {
		return theory.StandardBestK(m, n)
	}
	best, least := 1, math.Inf(1)
	for k := 1; k <= MaxK; k++ {
		if rate := v.config(m, k).rate(n); rate < least {
			best, least = k, rate
		}
	}
	return best
}

func tooLarge(field string, value any, n uint64, bits float64) error {
	return filters.Refuse("standard: "+field, value, fmt.Sprintf("a filter of at most 2^48 bits; for %d keys this needs %.0f bits (%.4g bytes)", n, bits, bits/8))
}

// rate is the expected rate of the probes after n distinct keys, without the hash
// floor. For Double64 and Enhanced64 it is that of independent probes, which
// sizes them and is no prediction.
func (c Config) rate(n uint64) float64 {
	switch {
	case c.Layout == Partitioned:
		span, _ := c.span()
		return theory.Partitioned(span, n, c.K)
	case c.Scheme == Double || c.Scheme == Teaching:
		return theory.DoubleHashing(c.Bits, n, c.K)
	case c.Scheme == Enhanced:
		return theory.EnhancedDouble(c.Bits, n, c.K)
	default:
		return theory.Standard(c.Bits, n, c.K)
	}
}

// Predict is what theory expects of a filter of this geometry after inserted
// distinct hashes. For Double64 and Enhanced64 no formula for the rate is known:
// it is NaN then, and the error filters.ErrNoTheory.
func (c Config) Predict(inserted uint64) (theory.Prediction, error) { return c.predict(inserted, 0) }

func (c Config) predict(inserted, capacity uint64) (theory.Prediction, error) {
	if err := c.validate(); err != nil {
		return theory.Prediction{}, err
	}
	p := theory.Prediction{
		Inserted: inserted,
		FPR:      theory.Combine(c.rate(inserted), theory.HashFloor(inserted, 64)),
		BuildSD:  theory.StandardBuildSD(c.Bits, inserted, c.K),
		Fill:     theory.StandardFill(c.Bits, inserted, c.K),
		Bits:     c.Bits,
		K:        c.K,
		Capacity: capacity,
	}
	switch {
	case c.Layout == Partitioned:
		span, _ := c.span()
		p.BuildSD = theory.PartitionedBuildSD(span, inserted, c.K)
		p.Fill = theory.PartitionedFill(span, inserted)
	case c.Scheme == Double64 || c.Scheme == Enhanced64:
		p.FPR = math.NaN()
		return p, filters.ErrNoTheory
	}
	return p, nil
}
