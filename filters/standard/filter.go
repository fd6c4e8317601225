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
	ahead        bool // batches fetch lines ahead
	simd         bool // batches of lookups go through AVX2
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
	f := &Filter{words: words, k: c.K, ahead: looksAhead(c), simd: vectors(c), config: c}
	f.span, f.stride = c.span()
	return f
}

// Config is the geometry the filter was made with.
func (f *Filter) Config() Config { return f.config }

// SizeBits is m, the bits of the table.
func (f *Filter) SizeBits() uint64 { return f.config.Bits }

// K is the number of probes a key.
func (f *Filter) K() int { return f.k }

// Contains reports whether h may have been stored. It reads up to k bits and
// stops after the first pair with a clear one: 1.3 pairs on average for an absent
// hash in a half-full table.
//
// The default scheme and layout are tested here and not a call further down. Both
// hashes of a pair come from the one before, so that their multiplications do not
// wait for each other; and k = 7, what 1% takes, has no loop: 7.6 ns for a present
// and 8.0 for an absent key in cache, where a loop over pairs, one multiplication
// after the other and a call down, took 11.2 and 9.4. Without checks of the index
// (by package unsafe) it took 7.3 and 8.1.
func (f *Filter) Contains(h uint64) bool {
	if f.config.Scheme != Independent || f.stride != 0 {
		return f.containsOther(h)
	}
	words, m, k := f.words, f.span, f.k
	if k == 7 {
		if probe(words, h, m)&probe(words, h*mul1, m)&1 == 0 {
			return false
		}
		if probe(words, h*mul2, m)&probe(words, h*mul3, m)&1 == 0 {
			return false
		}
		// Hardly any absent key comes so far: to stop at each costs no mispredicted
		// branches.
		return probe(words, h*mul4, m)&1 != 0 && probe(words, h*mul5, m)&1 != 0 && probe(words, h*mul6, m)&1 != 0
	}
	for ; k > 1; k -= 2 {
		if probe(words, h, m)&probe(words, h*mul1, m)&1 == 0 {
			return false
		}
		h *= mul2
	}
	return k == 0 || probe(words, h, m)&1 != 0
}

// containsOther is Contains for slices and for stepping schemes.
func (f *Filter) containsOther(h uint64) bool {
	switch f.config.Scheme {
	case Independent:
		return hasMul(f.words, h, f.span, f.stride, f.k)
	case Double64, Enhanced64:
		return has64(f.words, f.config.Scheme.walk(h, f.span), f.span, f.k)
	default:
		return hasMod(f.words, f.config.Scheme.walk(h, f.span), f.span, f.k)
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
