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
	Atomic bool // a ConcurrentFilter: several goroutines may add at once
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
	if v.Atomic {
		s.Set("adds", "atomic")
	}
	return s.String()
}

// Parse reads what String prints: the knobs scheme, layout, sizing, k and adds in any
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
		return Variant{}, filters.Refuse("standard", strconv.Quote(text), "knobs only: scheme=, layout=, sizing=, k=, adds=")
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
		case "adds":
			v.Atomic, err = spec.Atomic("standard", knob.Value)
		default:
			err = spec.Unknown("standard", knob.Key, "scheme", "layout", "sizing", "k", "adds")
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
	if v.Atomic {
		return f.Concurrent(), nil
	}
	return f, nil
}

// Build makes a filter for t that holds hs.
func (v Variant) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the expectation of the filter that New(t) makes, after inserted
// distinct hashes; see [Config.Predict].
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
	case v.Scheme == Independent:
		return theory.SizeStandard(n, p, v.K)
	default:
		return v.sizeStepping(n, p)
	}
}

// sizeStepping is SizeStandard for the rate of a stepping scheme, which is higher
// than that of independent probes and, in small tables, jumps with the factors m
// shares with the steps. There is no least size then: the one found meets p, and
// one smaller by at most a four-thousandth does not, or it is the least of
// independent probes.
func (v Variant) sizeStepping(n uint64, p float64) (m uint64, k int, ok bool) {
	floor := theory.HashFloor(n, 64)
	// excess is how often too high the rate is; NaN, for a table too small for the
	// formula, counts as far too high.
	excess := func(m uint64, k int) float64 {
		x := theory.Combine(Config{Bits: m, K: k, Scheme: v.Scheme}.rate(n), floor) / p
		if math.IsNaN(x) {
			return 4
		}
		return x
	}
	least := func(k int) (uint64, bool) {
		lo, _, ok := theory.SizeStandard(n, p, k)
		if !ok {
			return 0, false
		}
		hi := lo
		// The additive terms fall with the square of m or faster.
		for x := excess(hi, k); x > 1; x = excess(hi, k) {
			lo = hi
			if hi = lo + 1 + uint64(float64(lo)*(math.Sqrt(x)-1)); hi > filters.MaxBits {
				return hi, true
			}
		}
		for hi-lo > 1+hi/4096 {
			if mid := lo + (hi-lo)/2; excess(mid, k) > 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		return hi, true
	}
	if v.K != 0 {
		m, ok = least(v.K)
		return m, v.K, ok
	}
	// From the k of independent probes to the best k for the size that needs, and
	// from there down while that saves bits: what the scheme adds grows with k.
	_, k, ok = theory.SizeStandard(n, p, 0)
	if !ok {
		return 0, 0, false
	}
	if m, ok = least(k); !ok {
		return 0, 0, false
	}
	if best := v.bestK(m, n); best != k {
		if bits, fits := least(best); fits && bits < m {
			m, k = bits, best
		}
	}
	for k > 1 {
		bits, fits := least(k - 1)
		if !fits || bits >= m {
			break
		}
		m, k = bits, k-1
	}
	return m, k, true
}

// bestK is the k with the least rate for n keys in about m bits. The rate falls
// with k, then rises; the search goes on a little past the turn, since rounding
// and common factors make it uneven.
func (v Variant) bestK(m, n uint64) int {
	if v.Layout == Shared && v.Scheme == Independent {
		return theory.StandardBestK(m, n)
	}
	best, least := 1, math.Inf(1)
	for k := 1; k <= min(best+3, MaxK); k++ {
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
// floor; NaN where the scheme has no formula.
func (c Config) rate(n uint64) float64 {
	switch {
	case c.Layout == Partitioned:
		span, _ := c.span()
		return theory.Partitioned(span, n, c.K)
	case c.Scheme == Independent:
		return theory.Standard(c.Bits, n, c.K)
	case c.Scheme == Enhanced:
		return theory.EnhancedDouble(c.Bits, n, c.K)
	case c.Scheme == Double64:
		return theory.Double64(c.Bits, n, c.K)
	case c.Scheme == Enhanced64:
		return theory.Enhanced64(c.Bits, n, c.K)
	default: // Double, and Teaching, whose halves are uniform mod m but for 1 in 64
		return theory.DoubleHashing(c.Bits, n, c.K)
	}
}

// buildSD is how much the rate scatters between seeds. Where a scheme's own formula
// has no answer there is none for the rate either.
func (c Config) buildSD(n uint64) float64 {
	if c.Layout == Shared {
		switch c.Scheme {
		case Double, Teaching:
			return theory.DoubleBuildSD(c.Bits, n, c.K)
		case Enhanced:
			return theory.EnhancedBuildSD(c.Bits, n, c.K)
		case Double64:
			return theory.Double64BuildSD(c.Bits, n, c.K)
		case Enhanced64:
			return theory.Enhanced64BuildSD(c.Bits, n, c.K)
		}
	}
	return theory.StandardBuildSD(c.Bits, n, c.K)
}

// Predict is what theory expects of a filter of this geometry after inserted
// distinct hashes. Where no formula for the rate is known it is NaN, and the
// error filters.ErrNoTheory: for the stepping schemes in tables of few bits (below
// 2k²), and for the 64-bit ones beyond k = 32.
func (c Config) Predict(inserted uint64) (theory.Prediction, error) { return c.predict(inserted, 0) }

func (c Config) predict(inserted, capacity uint64) (theory.Prediction, error) {
	if err := c.validate(); err != nil {
		return theory.Prediction{}, err
	}
	p := theory.Prediction{
		Inserted: inserted,
		FPR:      theory.Combine(c.rate(inserted), theory.HashFloor(inserted, 64)),
		BuildSD:  c.buildSD(inserted),
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
	case inserted > 0 && (c.Scheme == Double || c.Scheme == Teaching):
		// A uniform start makes every bit equally likely to be set by a key.
		p.Fill = -math.Expm1(float64(inserted) * math.Log1p(-c.distinctSteps()/float64(c.Bits)))
	}
	if math.IsNaN(p.FPR) {
		return p, filters.ErrNoTheory
	}
	return p, nil
}

// distinctSteps is the mean number of distinct positions a + i b mod m for i below
// k: a step b of period d < k reaches d of them, and phi(d) of the m steps have
// the period d when d divides m.
func (c Config) distinctSteps() float64 {
	lost := 0
	for d := 1; d < c.K; d++ {
		if c.Bits%uint64(d) != 0 {
			continue
		}
		coprime := 0
		for b := 1; b <= d; b++ {
			if gcd(b, d) == 1 {
				coprime++
			}
		}
		lost += coprime * (c.K - d)
	}
	return float64(c.K) - float64(lost)/float64(c.Bits)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
