package standard

import (
	"math"

	"filterlab/filters"
	"filterlab/filters/internal/packed"
	"filterlab/filters/theory"
)

// Filter is a standard Bloom filter. Make one with [New] or [Variant.New].
// Lookups may run concurrently; a write needs the filter for itself.
type Filter struct {
	words        []uint64 // bit p is bit p%64 of word p/64
	span, stride uint64
	k            int
	ahead        bool                           // batches fetch lines ahead
	simd         bool                           // batches of lookups go through AVX2
	has          func(f *Filter, h uint64) bool // Contains
	config       Config
	capacity     uint64 // keys a Variant sized it for, else 0
}

var (
	_ filters.Filter         = (*Filter)(nil)
	_ filters.BatchAdder     = (*Filter)(nil)
	_ filters.BulkAdder      = (*Filter)(nil)
	_ filters.BatchQuerier   = (*Filter)(nil)
	_ filters.TestAdder      = (*Filter)(nil)
	_ filters.BatchTestAdder = (*Filter)(nil)
	_ filters.Merger         = (*Filter)(nil)
	_ filters.Resetter       = (*Filter)(nil)
	_ filters.FillReporter   = (*Filter)(nil)
	_ filters.Estimator      = (*Filter)(nil)
	_ filters.Predictor      = (*Filter)(nil)
	_ filters.Kerneler       = (*Filter)(nil)
)

// New makes an empty filter of exactly this geometry. It refuses a Config out of
// range and a table beyond the memory limit, before anything is allocated.
func New(c Config) (*Filter, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	words, err := packed.Words("standard: bits", c.Bits)
	if err != nil {
		return nil, err
	}
	return over(c, words), nil
}

// over is a filter of the geometry c over a table of its size.
func over(c Config, words []uint64) *Filter {
	f := &Filter{words: words, k: c.K, ahead: looksAhead(c), simd: vectors(c), has: c.single(), config: c}
	f.span, f.stride = c.span()
	return f
}

// Config is the geometry the filter was made with.
func (f *Filter) Config() Config { return f.config }

// SizeBits is m, the bits of the table.
func (f *Filter) SizeBits() uint64 { return f.config.Bits }

// K is the number of probes a key.
func (f *Filter) K() int { return f.k }

// Contains reports whether h may have been stored. It reads up to k bits and stops
// after the first pair with a clear one: 1.3 pairs on average for an absent hash in
// a half-full table.
//
// What kind of filter this is was settled when it was made: one indirect call, always
// to the same place, in the stead of three questions for every key.
func (f *Filter) Contains(h uint64) bool { return f.has(f, h) }

// single is the test of a single key for the geometry c.
func (c Config) single() func(f *Filter, h uint64) bool {
	switch {
	case c.Scheme == Double64 || c.Scheme == Enhanced64:
		return func(f *Filter, h uint64) bool { return has64(f.words, f.config.Scheme.walk(h, f.span), f.span, f.k) }
	case c.Scheme != Independent:
		return func(f *Filter, h uint64) bool { return hasMod(f.words, f.config.Scheme.walk(h, f.span), f.span, f.k) }
	case c.Layout != Shared:
		return func(f *Filter, h uint64) bool { return hasMul(f.words, h, f.span, f.stride, f.k) }
	case c.K == 7:
		return hasSeven
	default:
		return hasShared
	}
}

// Add stores h. It never fails: a standard filter has no limit, only a rising
// rate ([Filter.EstimatedFPR] tells it).
func (f *Filter) Add(h uint64) error {
	if f.config.Scheme == Independent {
		addMul(f.words, h, f.span, f.stride, f.k)
		return nil
	}
	f.testAdd(h)
	return nil
}

// TestAndAdd stores h and reports what Contains(h) answered just before. It
// never fails.
func (f *Filter) TestAndAdd(h uint64) (present bool, err error) { return f.testAdd(h), nil }

func (f *Filter) testAdd(h uint64) (present bool) {
	switch f.config.Scheme {
	case Independent:
		return testAddMul(f.words, h, f.span, f.stride, f.k)
	case Double64, Enhanced64:
		return testAdd64(f.words, f.config.Scheme.walk(h, f.span), f.span, f.k)
	default:
		return testAddMod(f.words, f.config.Scheme.walk(h, f.span), f.span, f.k)
	}
}

// AddManyCount stores all of hs, as AddMany does, and returns for how many of
// them Contains answered false just before: those that set a bit.
func (f *Filter) AddManyCount(hs []uint64) (fresh int) {
	if !f.ahead {
		for _, h := range hs {
			fresh += one(!f.testAdd(h))
		}
		return fresh
	}
	some := lines / f.k
	fetchKeys(f.words, hs[:min(some, len(hs))], f.span, f.stride, f.k)
	for len(hs) > 0 {
		part := hs[:min(some, len(hs))]
		hs = hs[len(part):]
		fetchKeys(f.words, hs[:min(some, len(hs))], f.span, f.stride, f.k)
		for _, h := range part {
			fresh += one(!f.testAdd(h))
		}
	}
	return fresh
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true. dst
// must be at least as long as hs. Up to 8 MiB keys go through vectors, eight at a
// time, where there is a kernel, or else through Contains; beyond, they are worked
// on in rounds, with lines on their way meanwhile. All probes of a key in vectors
// cost less than the two that Contains takes for most absent keys.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	if f.config.Scheme == Independent && (f.ahead || len(f.words) >= large) {
		return hasManyMul(dst, f.words, hs, f.span, f.stride, f.k, f.ahead)
	}
	done, hits := f.containsSIMD(dst, hs)
	dst, hs = dst[done:], hs[done:]
	for i, h := range hs {
		in := f.Contains(h)
		dst[i] = in
		hits += one(in)
	}
	return hits
}

// one counts a true answer without a branch.
func one(in bool) int {
	n := 0
	if in {
		n = 1
	}
	return n
}

// Reset clears every bit.
func (f *Filter) Reset() { clear(f.words) }

// FillRatio is the share of set bits. It counts them, one pass over the table.
func (f *Filter) FillRatio() float64 {
	return float64(packed.OnesCount(f.words)) / float64(f.config.Bits)
}

// EstimatedFPR is the rate of this very filter for hashes it does not hold: the
// chance that k independent probes all fall on set bits, (fill ratio)^k, or the
// product of the fill ratios of the slices when partitioned. For the schemes
// whose probes are not independent it leaves out what they add. It costs one
// pass over the table.
func (f *Filter) EstimatedFPR() float64 {
	if f.config.Layout == Shared {
		return math.Pow(f.FillRatio(), float64(f.k))
	}
	rate := 1.0
	for i := range uint64(f.k) {
		rate *= float64(packed.OnesCountRange(f.words, i*f.stride, (i+1)*f.stride)) / float64(f.span)
	}
	return rate
}

// EstimatedN is the number of distinct hashes that the present fill speaks for
// (theory.EstimateN), +Inf when every bit is set.
func (f *Filter) EstimatedN() float64 { return f.config.estimateN(packed.OnesCount(f.words)) }

// estimateN is the number of keys that set bits speak for.
func (c Config) estimateN(set uint64) float64 {
	if c.Layout == Shared {
		return theory.EstimateN(c.Bits, c.K, set)
	}
	// k slices with one probe each have the fill of one table as large as a slice
	// with one probe, measured k times.
	switch span, _ := c.span(); set {
	case 0:
		return 0
	case c.Bits:
		return math.Inf(1)
	default:
		return math.Log1p(-float64(set)/float64(c.Bits)) / math.Log1p(-1/float64(span))
	}
}

// Predict is what theory expects of this geometry after inserted distinct
// hashes.
func (f *Filter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.config.predict(inserted, f.capacity)
}
