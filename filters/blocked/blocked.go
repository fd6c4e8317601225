// Package blocked is the blocked Bloom filter of Putze, Sanders and Singler
// (Cache-, Hash- and Space-Efficient Bloom Filters, WEA 2007; JEA 14, 2009): an
// array of small Bloom filters, the blocks. A hash chooses one block, and all k
// bits of its key lie in there. A block of 512 bits is one cache line, so that an
// operation costs one cache miss instead of k.
//
// # What it costs
//
// Some blocks get more keys than others, and a crowded block answers true more
// often than a sparse one saves. At 10 bits a key the rate is 0.967% where a
// standard filter has 0.819%; at 20 bits a key it is three times the standard
// one. The best k is lower, too: 6 at 10 bits a key, not 7. Sizing and
// prediction use the exact mixture over the load of a block
// ([filterlab/filters/theory.Blocked]), never the formula of the standard filter.
//
// The smaller the block, the larger that cost: with 64 bits (one machine word)
// 10 bits a key give 1.78%, with 4096 bits about what a standard filter gives.
//
// Two more layouts of the bits within a block trade rate for speed: see [Layout].
//
// # How a hash is used
//
// The block is the fast range of h, so h must be uniform in its high bits. An
// identity hash on small integers puts every key into block 0; that is left to
// be seen. The bits inside the block come from h by multiplication and are
// independent of the block. k counts bits set for a key; choosing the block is
// not part of it.
//
// Filters never fill up: Add never fails, the rate grows. There is no Delete,
// since bits are shared.
package blocked

import (
	"fmt"
	"math"
	"math/bits"

	"filterlab/filters"
	"filterlab/filters/internal/cpu"
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
	"filterlab/filters/theory"
)

// Limits of the geometry.
const (
	MinBlockBits     = 64   // one machine word
	MaxBlockBits     = 4096 // a page of bits, eight cache lines
	DefaultBlockBits = 512  // one cache line; fixed, not read from the host, so that filters are alike everywhere
	MaxK             = 64   // what one 64-bit hash can feed
)

// Config is a filter by geometry.
type Config struct {
	Blocks    uint64 // number of blocks, 1 to 2^48/BlockBits; split: to 2^31-1
	BlockBits int    // bits of a block, a power of two from 64 to 4096; 0 means 512; split: 256; pattern: 512
	K         int    // bits set for a key, 1 to 64; split: 8, pattern: 6, which 0 means
	Probes    Probes // how they are drawn; zero means Independent; split and pattern have no choice
	Layout    Layout // where they may lie; zero means Plain
	Pages     Pages  // memory pages of the table; zero means SystemPages
}

// normal fills in defaults and refuses what cannot be built.
func (c Config) normal() (Config, error) {
	switch c.Pages {
	case DefaultPages:
		c.Pages = SystemPages
	case SystemPages, HugePages:
	default:
		return c, refusePages(c.Pages)
	}
	switch c.Layout {
	case DefaultLayout:
		c.Layout = Plain
	case Plain:
	case Split:
		return c.fixed(splitBits, splitK, theory.SplitBlocksMax)
	case Pattern:
		return c.fixed(theory.PatternBlockBits, patternK, filters.MaxBits/theory.PatternBlockBits)
	default:
		return c, refuseLayout(c.Layout)
	}
	if c.BlockBits == 0 {
		c.BlockBits = DefaultBlockBits
	}
	if !validBlockBits(c.BlockBits) {
		return c, refuseBlockBits(c.BlockBits)
	}
	if most := filters.MaxBits / uint64(c.BlockBits); c.Blocks < 1 || c.Blocks > most {
		return c, filters.Refuse("blocked: blocks", c.Blocks, fmt.Sprintf("1 to %d blocks of %d bits (2^48 bits)", most, c.BlockBits))
	}
	if c.K < 1 || c.K > MaxK {
		return c, filters.Refuse("blocked: k", c.K, fmt.Sprintf("1 to %d bits for a key", MaxK))
	}
	switch c.Probes {
	case DefaultProbes:
		c.Probes = Independent
	case Independent, Distinct:
	default:
		return c, filters.Refuse("blocked: probes", c.Probes, "independent or distinct")
	}
	return c, nil
}

// fixed is normal for layouts that leave nothing to choose but the number of
// blocks.
func (c Config) fixed(blockBits, k int, most uint64) (Config, error) {
	if c.BlockBits == 0 {
		c.BlockBits = blockBits
	}
	if c.K == 0 {
		c.K = k
	}
	switch {
	case c.BlockBits != blockBits:
		return c, filters.Refuse("blocked: block", c.BlockBits, fmt.Sprintf("%d bits with layout=%v", blockBits, c.Layout))
	case c.K != k:
		return c, filters.Refuse("blocked: k", c.K, fmt.Sprintf("%d with layout=%v", k, c.Layout))
	case c.Probes != DefaultProbes:
		return c, filters.Refuse("blocked: probes", c.Probes, fmt.Sprintf("none with layout=%v, which has its own way", c.Layout))
	case c.Blocks < 1 || c.Blocks > most:
		return c, filters.Refuse("blocked: blocks", c.Blocks, fmt.Sprintf("1 to %d blocks with layout=%v", most, c.Layout))
	}
	return c, nil
}

// bits is the size of the table.
func (c Config) bits() uint64 { return c.Blocks * uint64(c.BlockBits) }

// predict is the expectation after inserted keys; c is normal.
func (c Config) predict(inserted, capacity uint64) theory.Prediction {
	p := theory.Prediction{Inserted: inserted, Bits: c.bits(), K: c.K, Capacity: capacity}
	switch c.Layout {
	case Split: // its rate includes what its hashes have in common
		p.FPR = theory.SplitBlocks(c.Blocks, inserted)
		p.BuildSD = theory.SplitBlocksBuildSD(c.Blocks, inserted)
		p.Fill = theory.SplitBlocksFill(c.Blocks, inserted)
	case Pattern: // likewise
		p.FPR = patternTheory().Rate(c.Blocks, inserted)
		p.BuildSD = patternTheory().BuildSD(c.Blocks, inserted)
		p.Fill = patternTheory().Fill(c.Blocks, inserted)
	default:
		distinct := c.Probes == Distinct
		p.FPR = theory.Combine(theory.Blocked(c.Blocks, c.BlockBits, inserted, c.K, distinct), theory.HashFloor(inserted, 64))
		p.BuildSD = theory.BlockedBuildSD(c.Blocks, c.BlockBits, inserted, c.K, distinct)
		p.Fill = theory.BlockedFill(c.Blocks, c.BlockBits, inserted, c.K, distinct)
	}
	return p
}

// kernel is the code that handles a filter's probes.
type kernel uint8

const (
	independent512 kernel = iota // independent probes, blocks of 512 bits
	independent                  // independent probes, blocks of any size
	distinct                     // distinct probes
	split                        // the split layout
	patterned                    // the pattern layout
)

// Filter is a blocked Bloom filter. Make one with New or Variant.New.
type Filter struct {
	words    []uint64
	lines    []line // words, for blocks of 512 bits
	quads    []quad // words, for the split layout
	mask     uint64 // block bits - 1
	k        int
	kernel   kernel
	simd     bool // batches go through AVX2
	config   Config
	capacity uint64 // keys a Variant sized it for, else 0
}

// The capabilities, checked by the compiler.
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

// New makes an empty filter of the given geometry.
func New(c Config) (*Filter, error) {
	c, err := c.normal()
	if err != nil {
		return nil, err
	}
	table := packed.Words
	if c.Pages == HugePages {
		table = packed.WordsHuge
	}
	words, err := table("blocked: bits", c.bits())
	if err != nil {
		return nil, err
	}
	return over(c, words), nil
}

// over is a filter of the geometry c, which is normal, over a table of its size.
func over(c Config, words []uint64) *Filter {
	f := &Filter{mask: uint64(c.BlockBits) - 1, k: c.K, config: c}
	f.table(words)
	switch {
	case c.Layout == Split:
		f.kernel = split
	case c.Layout == Pattern:
		f.kernel = patterned
	case c.Probes == Distinct:
		f.kernel = distinct
	case c.BlockBits != DefaultBlockBits:
		f.kernel = independent
	}
	f.simd = cpu.AVX2() && (f.kernel == split || f.kernel == independent512 && c.K <= perMix)
	return f
}

// table makes words the table.
func (f *Filter) table(words []uint64) {
	f.words, f.lines, f.quads = words, packed.Blocks[line](words), packed.Blocks[quad](words)
}

// block returns the words of the block of h, the fast range of h.
func (f *Filter) block(h uint64) []uint64 {
	i, _ := bits.Mul64(h, f.config.Blocks)
	per := (f.mask + 1) / 64
	return f.words[i*per:][:per]
}

// line is block for blocks of 512 bits.
func (f *Filter) line(h uint64) *line {
	i, _ := bits.Mul64(h, f.config.Blocks)
	return &f.lines[i]
}

// quad is block for the split layout.
func (f *Filter) quad(h uint64) *quad { return &f.quads[splitBlock(h, f.config.Blocks)] }

// Config returns the geometry, defaults filled in.
func (f *Filter) Config() Config { return f.config }

// SizeBits is blocks times block bits.
func (f *Filter) SizeBits() uint64 { return f.config.bits() }

// K is the number of bits set for a key.
func (f *Filter) K() int { return f.k }

// Kernel is "avx2" where lookups and adds in batches go through vectors: the split
// layout, and the plain one with blocks of 512 bits and up to 7 independent probes.
// Elsewhere tables from 256 KiB on have blocks fetched ahead.
func (f *Filter) Kernel() string {
	switch {
	case f.simd:
		return "avx2"
	case prefetch.Enabled && len(f.words) >= large:
		return "go+prefetch"
	}
	return "go"
}

// Reset empties the filter.
func (f *Filter) Reset() { clear(f.words) }

// Contains reports whether h may have been added. It reads one cache line
// (BlockBits up to 512), and takes the same time for hits and misses.
func (f *Filter) Contains(h uint64) bool {
	switch f.kernel {
	case patterned:
		return missPattern(f.line(h), h) == 0
	case independent512:
		return hit512(f.line(h), mix(h), f.k)&1 != 0
	case independent:
		return hitAny(f.block(h), mix(h), f.k)&1 != 0
	case split:
		return missSplit(f.quad(h), h) == 0
	default:
		return hitPattern(f.block(h), mix(h), f.k) != 0
	}
}

// Add stores h. It never fails.
func (f *Filter) Add(h uint64) error {
	switch f.kernel {
	case patterned:
		setPatterns(f.line(h), h)
	case independent512:
		set512(f.line(h), mix(h), f.k)
	case independent:
		setAny(f.block(h), mix(h), f.k)
	case split:
		setSplit(f.quad(h), h)
	default:
		setPattern(f.block(h), mix(h), f.k)
	}
	return nil
}

// TestAndAdd stores h and reports what Contains answered just before.
func (f *Filter) TestAndAdd(h uint64) (present bool, err error) {
	present = f.Contains(h)
	if !present {
		err = f.Add(h)
	}
	return present, err
}

// Merge adds the keys of other, a filter of the same geometry: the result is
// bit for bit the filter that all the keys would have built.
func (f *Filter) Merge(other filters.Filter) error {
	o, ok := other.(*Filter)
	if !ok {
		return filters.Differ("type", fmt.Sprintf("%T", f), fmt.Sprintf("%T", other))
	}
	if err := f.config.compatible(o.config); err != nil {
		return err
	}
	for i, w := range o.words {
		f.words[i] |= w
	}
	return nil
}

// compatible names the first difference between two geometries.
func (c Config) compatible(o Config) error {
	switch {
	case c.Layout != o.Layout:
		return filters.Differ("layout", c.Layout, o.Layout)
	case c.BlockBits != o.BlockBits:
		return filters.Differ("block", c.BlockBits, o.BlockBits)
	case c.Blocks != o.Blocks:
		return filters.Differ("blocks", c.Blocks, o.Blocks)
	case c.K != o.K:
		return filters.Differ("k", c.K, o.K)
	case c.Probes != o.Probes:
		return filters.Differ("probes", c.Probes, o.Probes)
	}
	return nil
}

// Predict is the expectation for this geometry after inserted distinct hashes:
// the mean over seeds, by the exact mixture over block loads.
func (f *Filter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.config.predict(inserted, f.capacity), nil
}

// FillRatio is the share of bits set. It costs one pass over the table.
func (f *Filter) FillRatio() float64 {
	return float64(packed.OnesCount(f.words)) / float64(f.SizeBits())
}

// EstimatedFPR is the mean over the blocks of the rate inside each, given how
// many of its bits are set: x of B bits give (x/B)^k with independent probes and
// C(x,k)/C(B,k) with distinct ones, the lanes of the split layout the product of
// their shares, and patterns are counted. Hashes are uniform over blocks, so the mean
// is the rate of this very filter, not an average over filters. It costs one
// pass over the table.
func (f *Filter) EstimatedFPR() float64 {
	blocks := float64(f.config.Blocks)
	words := f.words[:f.SizeBits()/64]
	sum := 0.0
	switch f.kernel {
	case split:
		for i := range f.quads[:f.config.Blocks] {
			sum += splitRate(&f.quads[i])
		}
		return sum / blocks
	case patterned:
		bases := patternBases()
		for i := range f.lines[:f.config.Blocks] {
			sum += patternRate(&f.lines[i], bases)
		}
		return sum / blocks
	}
	var seen [MaxBlockBits + 1]uint64 // blocks by the number of their set bits
	for per := f.config.BlockBits / 64; len(words) > 0; words = words[per:] {
		seen[packed.OnesCount(words[:per])]++
	}
	for x, blocks := range seen[:f.config.BlockBits+1] {
		if blocks > 0 {
			sum += float64(blocks) * f.rate(x)
		}
	}
	return sum / blocks
}

// rate is the chance that a hash not stored finds its bits set in a block with
// x bits set.
func (f *Filter) rate(x int) float64 {
	if f.config.Probes == Independent {
		return math.Pow(float64(x)/float64(f.config.BlockBits), float64(f.k))
	}
	r := 1.0
	for i := 0; i < f.k && r > 0; i++ {
		r *= float64(max(x-i, 0)) / float64(f.config.BlockBits-i)
	}
	return r
}

// EstimatedN is the number of distinct hashes whose expected fill is the present
// one. A bit stays clear through one key with probability 1 - (1-q)/blocks,
// where q, the chance that it stays clear in its own block, is (1-1/B)^k for
// independent and 1-k/B for distinct probes, lanes and patterns; hence the expected share of clear
// bits after n keys is that to the power n, whatever the spread of the loads,
// and its inverse is exact.
//
// The estimate is +Inf only when all bits are set. Its bias is that of linear
// counting over the whole table (Whang et al., TODS 15:2, 1990), a fraction of a
// key at normal loads. Summing an estimate for each block would add that bias
// once for each block and be infinite as soon as one block is full. Keys that a bad
// hash crowds into few blocks are underestimated.
func (f *Filter) EstimatedN() float64 {
	fill := f.FillRatio()
	switch fill {
	case 0:
		return 0
	case 1:
		return math.Inf(1)
	}
	b := float64(f.config.BlockBits)
	hit := float64(f.k) / b // the chance that a key of the block sets a given bit
	if f.config.Probes == Independent {
		hit = -math.Expm1(float64(f.k) * math.Log1p(-1/b))
	}
	return math.Log1p(-fill) / math.Log1p(-hit/float64(f.config.Blocks))
}
