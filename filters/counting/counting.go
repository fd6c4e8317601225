// Package counting is the counting Bloom filter of Fan, Cao, Almeida and Broder
// (Summary Cache, IEEE/ACM ToN 8(3), 2000): a Bloom filter with a small counter
// in place of every bit, so that keys can be deleted and counted. Counters of 4
// bits, the default, take four times the space of a standard filter: 38.4 bits a
// key at 1%. Its false-positive rate is that of a standard filter with as many
// bits as there are counters.
//
// # What to know before deleting
//
// Delete only what was added. A key that was never added but passes the test (a
// false positive) takes its counters down all the same, and about k·ln 2 other
// keys are lost by it, 4.85 at k = 7
// ([filterlab/filters/theory.BogusDelete]). Delete refuses keys that are
// certainly absent; it cannot tell false positives from keys.
//
// # Saturation
//
// A counter that reaches its ceiling, 15 with 4 bits, stays there for good: how
// much it ought to hold is no longer known, and taking it down could lose a key.
// Its keys can be deleted but go on passing the test. At the load a filter is
// sized for, 4-bit counters hardly ever saturate (10^-15 each) unless one key is
// added 15 times; Saturated tells how many did.
//
// # Keys whose probes coincide
//
// A key adds one for each of its k probes, so a counter that two probes of the
// key share goes up by two, and down by two on Delete: what is taken is exactly
// what was given. The alternative, adding once to every distinct counter, would
// need all pairs of probes compared on every Add, to save one step in k²/2m of
// the keys. Count divides by the multiplicity, and is right either way; the rate
// does not depend on it.
package counting

import (
	"fmt"
	"math"

	"filterlab/filters"
	"filterlab/filters/internal/index"
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
	"filterlab/filters/theory"
)

// Limits and defaults of the geometry.
const (
	MaxK         = 64 // what one 64-bit hash can feed
	DefaultWidth = 4  // bits a counter
)

// Config is a filter by geometry.
type Config struct {
	M     uint64 // counters, 1 to 2^48/Width
	K     int    // probes a key, 1 to 64
	Width int    // bits of a counter: 2, 4, 8 or 16; 0 means 4

	// Layout is where the counters of a key may lie; zero means Shared. Blocked
	// takes M in whole blocks of 512 bits and no counters of 16 bits.
	Layout Layout
}

// normal fills in defaults and refuses what cannot be built.
func (c Config) normal() (Config, error) {
	switch c.Width {
	case 0:
		c.Width = DefaultWidth
	case 2, 4, 8, 16:
	default:
		return c, filters.Refuse("counting: w", c.Width, "2, 4, 8 or 16 bits a counter")
	}
	if c.K < 1 || c.K > MaxK {
		return c, filters.Refuse("counting: k", c.K, fmt.Sprintf("1 to %d probes a key", MaxK))
	}
	if most := filters.MaxBits / uint64(c.Width); c.M < 1 || c.M > most {
		return c, filters.Refuse("counting: m", c.M, fmt.Sprintf("1 to %d counters of %d bits (2^48 bits)", most, c.Width))
	}
	switch c.Layout {
	case DefaultLayout:
		c.Layout = Shared
	case Shared:
	case Blocked:
		if c.Width > 8 {
			return c, filters.Refuse("counting: w", c.Width, "2, 4 or 8 bits a counter with layout=blocked")
		}
		if per := c.perBlock(); c.M%uint64(per) != 0 {
			return c, filters.Refuse("counting: m", c.M, fmt.Sprintf("a multiple of %d, the counters of %d bits in a block, with layout=blocked", per, c.Width))
		}
	default:
		return c, refuseLayout(c.Layout)
	}
	return c, nil
}

// perBlock is how many counters a block of the blocked layout has.
func (c Config) perBlock() int { return blockBits / c.Width }

// blocks is the number of blocks of the blocked layout.
func (c Config) blocks() uint64 { return c.M / uint64(c.perBlock()) }

// bits is the size of the table.
func (c Config) bits() uint64 { return c.M * uint64(c.Width) }

// predict is the expectation after inserted keys; c is normal.
func (c Config) predict(inserted, capacity uint64) theory.Prediction {
	if c.Layout == Blocked {
		blocks, per := c.blocks(), c.perBlock()
		return theory.Prediction{
			Inserted: inserted,
			FPR:      theory.Combine(theory.Blocked(blocks, per, inserted, c.K, false), theory.HashFloor(inserted, 64)),
			BuildSD:  theory.BlockedBuildSD(blocks, per, inserted, c.K, false),
			Fill:     theory.BlockedFill(blocks, per, inserted, c.K, false),
			Bits:     c.bits(),
			K:        c.K,
			Capacity: capacity,
			Overflow: float64(c.M) * theory.BlockedCountingSaturated(blocks, per, inserted, c.K, c.Width),
		}
	}
	return theory.Prediction{
		Inserted: inserted,
		FPR:      theory.Combine(theory.Standard(c.M, inserted, c.K), theory.HashFloor(inserted, 64)),
		BuildSD:  theory.StandardBuildSD(c.M, inserted, c.K),
		Fill:     theory.StandardFill(c.M, inserted, c.K),
		Bits:     c.bits(),
		K:        c.K,
		Capacity: capacity,
		Overflow: float64(c.M) * theory.CountingSaturated(c.M, inserted, c.K, c.Width),
	}
}

// Filter is a counting Bloom filter. Make one with New or Variant.New.
type Filter struct {
	counters  packed.Counters
	m         uint64
	k         int
	lines     []line // the table of the blocked layout, else nil
	within    uint64 // blocked: which bits of the place of a bit tell the counter within its word
	ahead     bool   // batches fetch lines ahead
	saturated uint64 // counters at their ceiling
	capacity  uint64 // keys a Variant sized it for, else 0
}

// The capabilities, checked by the compiler.
var (
	_ filters.Filter       = (*Filter)(nil)
	_ filters.BatchAdder   = (*Filter)(nil)
	_ filters.BatchQuerier = (*Filter)(nil)
	_ filters.TestAdder    = (*Filter)(nil)
	_ filters.Deleter      = (*Filter)(nil)
	_ filters.Counter      = (*Filter)(nil)
	_ filters.Merger       = (*Filter)(nil)
	_ filters.Resetter     = (*Filter)(nil)
	_ filters.FillReporter = (*Filter)(nil)
	_ filters.Estimator    = (*Filter)(nil)
	_ filters.Predictor    = (*Filter)(nil)
	_ filters.Kerneler     = (*Filter)(nil)
)

// New makes an empty filter of the given geometry.
func New(c Config) (*Filter, error) {
	c, err := c.normal()
	if err != nil {
		return nil, err
	}
	t, err := packed.NewCounters("counting", c.M, c.Width)
	if err != nil {
		return nil, err
	}
	return over(c, t), nil
}

// over is a filter of the geometry c, which is normal, over its counters.
func over(c Config, t packed.Counters) *Filter {
	f := &Filter{counters: t, m: c.M, k: c.K}
	if c.Layout == Blocked {
		f.lines = packed.Blocks[line](t.Words())
		f.within = 64 - uint64(c.Width)
		f.ahead = prefetch.Enabled && c.bits() >= 64*largeBlocked
	} else {
		// A single probe a key leaves nothing to hide.
		f.ahead = prefetch.Enabled && c.K > 1 && c.bits() >= 64*large
	}
	return f
}

// Config returns the geometry, defaults filled in.
func (f *Filter) Config() Config {
	c := Config{M: f.m, K: f.k, Width: f.counters.Width(), Layout: Shared}
	if f.lines != nil {
		c.Layout = Blocked
	}
	return c
}

// line returns the block of h.
func (f *Filter) line(h uint64) *line {
	return &f.lines[index.FastRange(h, uint64(len(f.lines)))]
}

// start returns where probe 0 of h comes from: probe i is at
// base + FastRange(x·c^i, span).
func (f *Filter) start(h uint64) (x, base, span uint64) {
	if f.lines == nil {
		return h, 0, f.m
	}
	span = blockBits >> f.counters.LogWidth()
	return h * index.Multiplier, index.FastRange(h, uint64(len(f.lines))) * span, span
}

// SizeBits is counters times width.
func (f *Filter) SizeBits() uint64 { return f.m << f.counters.LogWidth() }

// K is the number of probes for a key.
func (f *Filter) K() int { return f.k }

// Reset empties the filter and frees saturated counters.
func (f *Filter) Reset() {
	clear(f.counters.Words())
	f.saturated = 0
}

// Contains reports whether h may be stored: whether none of its counters is
// zero. It asks two at a time and stops after the first pair with a zero: against
// a stop after every probe that saves mispredicted branches on absent keys (9.9
// instead of 15.9 ns in cache with 4 bits and k = 7), against no stop at all
// (15.2) it also saves memory traffic. In the blocked layout, with all counters in
// one line, it asks all of them and has no branch to mispredict.
func (f *Filter) Contains(h uint64) bool {
	if f.lines != nil {
		return hit(f.line(h), h, f.k, f.within, f.counters.Max())
	}
	k := f.k
	for ; k > 1; k -= 2 {
		p := index.FastRange(h, f.m)
		h *= index.Multiplier
		q := index.FastRange(h, f.m)
		h *= index.Multiplier
		if min(f.counters.Get(p), f.counters.Get(q)) == 0 {
			return false
		}
	}
	return k == 0 || f.counters.Get(index.FastRange(h, f.m)) != 0
}

// Add stores one copy of h. It never fails.
func (f *Filter) Add(h uint64) error {
	if f.lines != nil {
		f.saturated += raise(f.line(h), h, f.k, f.within, f.counters.Max())
		return nil
	}
	for i := f.k; i > 0; i-- {
		if f.counters.Inc(index.FastRange(h, f.m)) {
			f.saturated++
		}
		h *= index.Multiplier
	}
	return nil
}

// TestAndAdd stores one more copy of h and reports what Contains answered just
// before.
func (f *Filter) TestAndAdd(h uint64) (present bool, err error) {
	present = f.Contains(h)
	return present, f.Add(h)
}

// Delete removes one copy of h. It answers false, and changes nothing, when a
// counter of h is too low for h to be there. Saturated counters stay as they
// are.
func (f *Filter) Delete(h uint64) bool {
	first, base, span := f.start(h)
	x := first
	for i := 0; i < f.k; i++ {
		if !f.counters.Dec(base + index.FastRange(x, span)) {
			// Certainly absent: put back what the earlier probes took. Dec leaves
			// a counter it took from at least two below the ceiling, so Inc moves
			// exactly those, and leaves alone those that stick.
			for x = first; i > 0; i-- {
				f.counters.Inc(base + index.FastRange(x, span))
				x *= index.Multiplier
			}
			return false
		}
		x *= index.Multiplier
	}
	return true
}

// Count returns the least of h's counters, each divided by how many probes of h
// share it: at most that many copies are stored. Counters at their ceiling bound
// nothing and are passed over; when all are, saturated is true, and at least the
// number returned may be stored.
func (f *Filter) Count(h uint64) (n uint64, saturated bool) {
	var pos [MaxK]uint64
	x, base, span := f.start(h)
	for i := range pos[:f.k] {
		pos[i] = base + index.FastRange(x, span)
		x *= index.Multiplier
	}
	ceiling := f.counters.Max()
	n, floor := uint64(math.MaxUint64), ceiling
	for i, p := range pos[:f.k] {
		share := uint64(1)
		for _, q := range pos[:i] {
			if p == q {
				share++ // grows up to the last probe of p, which has the true number
			}
		}
		c := f.counters.Get(p)
		if c == ceiling {
			floor = min(floor, ceiling/share)
		} else {
			n = min(n, c/share)
		}
	}
	if n == math.MaxUint64 {
		return floor, true
	}
	return n, false
}

// Saturated is the number of counters at their ceiling. They stick there until
// Reset: keys on such counters only can be deleted but not forgotten.
func (f *Filter) Saturated() uint64 { return f.saturated }

// Merge adds the counters of other, a filter of the same geometry, saturating:
// the result is the filter that all the keys would have built.
func (f *Filter) Merge(other filters.Filter) error {
	o, ok := other.(*Filter)
	if !ok {
		return filters.Differ("type", fmt.Sprintf("%T", f), fmt.Sprintf("%T", other))
	}
	switch a, b := f.Config(), o.Config(); {
	case a.Layout != b.Layout:
		return filters.Differ("layout", a.Layout, b.Layout)
	case a.Width != b.Width:
		return filters.Differ("w", a.Width, b.Width)
	case a.M != b.M:
		return filters.Differ("m", a.M, b.M)
	case a.K != b.K:
		return filters.Differ("k", a.K, b.K)
	}
	f.counters.Add(&o.counters)
	f.saturated = f.counters.Saturated()
	return nil
}

// Predict is the expectation for this geometry after inserted distinct hashes
// were added once each.
func (f *Filter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.Config().predict(inserted, f.capacity), nil
}

// FillRatio is the share of counters above zero. It costs one pass over the
// table.
func (f *Filter) FillRatio() float64 {
	return float64(f.counters.NonZero()) / float64(f.m)
}

// EstimatedFPR is the fill ratio to the power k, in the blocked layout the mean of
// that over the blocks. It costs one pass over the table.
func (f *Filter) EstimatedFPR() float64 {
	if f.lines == nil {
		return math.Pow(f.FillRatio(), float64(f.k))
	}
	per := blockBits >> f.counters.LogWidth()
	var seen [blockBits/2 + 1]uint64 // blocks by the number of their counters above zero
	for words := f.counters.Words(); len(words) > 0; words = words[len(line{}):] {
		seen[f.counters.NonZeroOf(words[:len(line{})])]++
	}
	sum := 0.0
	for x, blocks := range seen[:per+1] {
		if blocks > 0 {
			sum += float64(blocks) * math.Pow(float64(x)/float64(per), float64(f.k))
		}
	}
	return sum / float64(len(f.lines))
}

// EstimatedN is the number of distinct hashes whose expected fill is the present
// one; see [theory.EstimateN]. Copies of one hash count once. It costs one pass
// over the table.
//
// In the blocked layout a counter stays at zero through one key with probability
// 1 - (1 - (1-1/B)^k)/blocks, B counters in a block; the expected share of zeros
// after n keys is that to the power n, and its inverse is exact.
func (f *Filter) EstimatedN() float64 {
	set := f.counters.NonZero()
	switch {
	case f.lines == nil:
		return theory.EstimateN(f.m, f.k, set)
	case set == 0:
		return 0
	case set == f.m:
		return math.Inf(1)
	}
	per := float64(uint64(blockBits) >> f.counters.LogWidth())
	touched := -math.Expm1(float64(f.k) * math.Log1p(-1/per)) // by a key of the block
	return math.Log1p(-float64(set)/float64(f.m)) / math.Log1p(-touched/float64(len(f.lines)))
}
