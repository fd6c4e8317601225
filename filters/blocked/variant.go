package blocked

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/spec"
	"filterlab/filters/theory"
)

// Variant is the family with its knobs. The zero Variant is blocks of 512 bits,
// the best k for the target, independent probes.
type Variant struct {
	BlockBits int    // a power of two from 64 to 4096; 0 means 512
	K         int    // 1 to 64; 0 means the best for the target
	Probes    Probes // zero means Independent
	Layout    Layout // zero means Plain; the others fix the three above
	Pages     Pages  // zero means SystemPages
	Atomic    bool   // a ConcurrentFilter: several goroutines may add at once
}

var _ filters.Maker = Variant{}

// String prints the knobs that are set, so that it is the inverse of Parse:
// "blocked", "blocked(512,k=6)", "blocked(256,probes=distinct)". A knob left at
// zero is not printed, a default that was spelt out is: Variant{} and
// Variant{BlockBits: 512} build the same filter under two names.
func (v Variant) String() string {
	s := spec.Spec{Family: "blocked"}
	if v.BlockBits != 0 {
		s.Args = []string{strconv.Itoa(v.BlockBits)}
	}
	s.Set("k", v.K)
	s.Set("probes", v.Probes)
	s.Set("layout", v.Layout)
	s.Set("pages", v.Pages)
	if v.Atomic {
		s.Set("adds", "atomic")
	}
	return s.String()
}

// Parse reads what String prints: the block bits without a name, the other
// knobs in any order.
func Parse(text string) (Variant, error) {
	var v Variant
	s, err := spec.Parse(text)
	if err != nil {
		return v, err
	}
	if s.Family != "blocked" {
		return v, filters.Refuse("filter", strconv.Quote(s.Family), "blocked")
	}
	switch len(s.Args) {
	case 0:
	case 1:
		b, err := strconv.Atoi(s.Args[0])
		if err != nil || !validBlockBits(b) {
			return v, refuseBlockBits(s.Args[0])
		}
		v.BlockBits = b
	default:
		return v, filters.Refuse("blocked", strconv.Quote(text), "one value without a name, the bits of a block")
	}
	for _, knob := range s.Knobs {
		switch knob.Key {
		case "k":
			v.K, err = spec.Int("blocked", "k", knob.Value, 1, MaxK)
		case "probes":
			v.Probes, err = ParseProbes(knob.Value)
		case "layout":
			v.Layout, err = ParseLayout(knob.Value)
		case "pages":
			v.Pages, err = ParsePages(knob.Value)
		case "adds":
			v.Atomic, err = spec.Atomic("blocked", knob.Value)
		default:
			err = spec.Unknown("blocked", knob.Key, "k", "probes", "layout", "pages", "adds")
		}
		if err != nil {
			return Variant{}, err
		}
	}
	return v, nil
}

// geometry picks the filter for a target. With a rate, it is the fewest blocks
// that meet it; with a space, the number of blocks nearest to it, at least one.
func (v Variant) geometry(t filters.Target) (Config, error) {
	if err := t.Validate(); err != nil {
		return Config{}, err
	}
	// K and Blocks are chosen below; everything else is checked now.
	c := Config{Blocks: 1, BlockBits: v.BlockBits, K: v.K, Probes: v.Probes, Layout: v.Layout, Pages: v.Pages}
	if v.K == 0 && (v.Layout == DefaultLayout || v.Layout == Plain) {
		c.K = 1
	}
	c, err := c.normal()
	if err != nil {
		return c, err
	}
	if c.Layout == Split {
		return c.sizeSplit(t)
	}
	distinct, plain := c.Probes == Distinct, c.Layout == Plain
	most := filters.MaxBits / uint64(c.BlockBits)
	if t.P == 0 {
		blocks := math.Round(t.BitsPerKey * float64(t.N) / float64(c.BlockBits))
		if blocks > float64(most) {
			return c, tooLarge("bits per key", t.BitsPerKey, t.N, t.BitsPerKey*float64(t.N))
		}
		c.Blocks = max(uint64(blocks), 1)
		if v.K == 0 && plain {
			c.K = theory.BlockedBestK(c.Blocks, c.BlockBits, t.N, distinct)
		}
		return c, nil
	}
	blocks, k, ok := uint64(0), c.K, false
	limit := fmt.Sprintf("a rate that %v keys can reach with k up to %d in at most 2^48 bits, and above %.3g, what their 64-bit hashes share",
		t.N, MaxK, theory.HashFloor(t.N, 64))
	if plain {
		blocks, k, ok = theory.SizeBlocked(c.BlockBits, t.N, t.P, v.K, distinct)
	} else {
		blocks, ok = patternTheory().Size(t.N, t.P)
		limit = fmt.Sprintf("a rate that %v keys can reach with layout=pattern in at most 2^48 bits", t.N)
		if blocks > t.N {
			return c, tooLow(t, c, patternTheory().Rate(t.N, t.N))
		}
	}
	if !ok {
		return c, filters.Refuse("blocked: p", t.P, limit)
	}
	if blocks > most {
		return c, tooLarge("p", t.P, t.N, float64(blocks)*float64(c.BlockBits))
	}
	c.Blocks, c.K = blocks, k
	return c, nil
}

// sizeSplit is geometry for the split layout.
func (c Config) sizeSplit(t filters.Target) (Config, error) {
	const limit = "a split-block filter of at most 2^31-1 blocks (68.7 GB), which it chooses by 32 bits of the hash"
	if t.P == 0 {
		blocks := math.Round(t.BitsPerKey * float64(t.N) / splitBits)
		if blocks > theory.SplitBlocksMax {
			return c, filters.Refuse("blocked: bits per key", t.BitsPerKey, limit)
		}
		c.Blocks = max(uint64(blocks), 1)
		return c, nil
	}
	blocks, ok := theory.SizeSplitBlocks(t.N, t.P)
	if !ok {
		return c, filters.Refuse("blocked: p", t.P, fmt.Sprintf("a rate that %d keys can reach with %s", t.N, limit))
	}
	if blocks > t.N {
		return c, tooLow(t, c, theory.SplitBlocks(min(t.N, theory.SplitBlocksMax), t.N))
	}
	c.Blocks = blocks
	return c, nil
}

// tooLow refuses a rate for which a layout would want more than a block for each
// key. Its bits choose among fewer patterns than a hash has values, so that more
// space helps ever less.
func tooLow(t filters.Target, c Config, rate float64) error {
	return filters.Refuse("blocked: p", t.P, fmt.Sprintf("at least %.3g with layout=%v, its rate at a block (%d bits) a key", rate, c.Layout, c.BlockBits))
}

func tooLarge(field string, value any, n uint64, bits float64) error {
	return filters.Refuse("blocked: "+field, value, fmt.Sprintf("a filter of at most 2^48 bits; for %d keys this takes %.4g bits (%.4g bytes)", n, bits, bits/8))
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
// distinct hashes.
func (v Variant) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	c, err := v.geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return c.predict(inserted, t.N), nil
}
