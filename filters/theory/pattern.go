package theory

import (
	"math"
	"math/bits"
)

// Patterns is the theory of a filter whose keys set ready-made patterns of bits.
// A block has two sectors of [PatternWords] words of 64 bits each; a key takes
// one word of each sector and ORs a pattern into it, one of a table that holds
// every rotation of a few base patterns. It is the cache-sectorized filter of
// Lang, Neumann, Kemper and Boncz (VLDB 2019) with a table in place of single
// bits.
//
// A query's pattern hides in a word of load j unless the patterns stored there
// leave out one of its bits: by inclusion and exclusion over the subsets S of its
// bits, sum over S of (-1)^|S| times the share of patterns disjoint from S, to
// the power j. Rotations make the shares a matter of the distances between bits
// alone. Given the load i of the block the two sectors are independent, and a
// stored key misses the word asked for in three of four cases; hence
//
//	g(i) = sum over S of (-1)^|S| (3/4 + share(S)/4)^i
//	f = sum over i of binomial(i; n, 1/blocks) g(i)^2
//
// This is exact, and two keys that agree in block and patterns are part of it: no
// floor of the hash needs to be added.
type Patterns struct {
	size  int           // bits of a pattern
	terms []patternTerm // that one pattern hides in a word, averaged over the table
	pairs []patternTerm // that two do
}

// patternTerm is a sum of equal powers.
type patternTerm struct{ coef, share float64 }

// Geometry of a block.
const (
	PatternWords     = 4 // words in a sector
	PatternBlockBits = 2 * PatternWords * 64
)

// NewPatterns is the theory for the 64 rotations of each base. Bases have the
// same number of bits, 1 to 4, and no base is a rotation of itself or of another;
// otherwise ok is false.
func NewPatterns(bases []uint64) (p Patterns, ok bool) {
	table := make([]uint64, 0, 64*len(bases))
	seen := map[uint64]bool{}
	for _, b := range bases {
		if p.size = bits.OnesCount64(b); p.size < 1 || p.size > 4 || p.size != bits.OnesCount64(bases[0]) {
			return Patterns{}, false
		}
		for r := range 64 {
			t := bits.RotateLeft64(b, r)
			table = append(table, t)
			seen[t] = true
		}
	}
	if len(table) == 0 || len(seen) < len(table) {
		return Patterns{}, false
	}
	// Rotating all of a query changes nothing, so bases stand for the table.
	one, two := map[int]float64{}, map[int]float64{}
	weight := 1 / float64(len(bases))
	for _, b := range bases {
		exclude(one, table, b, weight)
		for _, t := range table {
			exclude(two, table, b|t, weight/float64(len(table)))
		}
	}
	p.terms, p.pairs = patternTerms(one, len(table)), patternTerms(two, len(table))
	return p, true
}

// exclude adds to coef, by the number of patterns of the table disjoint from S,
// weight times (-1)^|S| for every subset S of the bits of u.
func exclude(coef map[int]float64, table []uint64, u uint64, weight float64) {
	size := bits.OnesCount64(u)
	disjoint := make([]int, 1<<size) // by subset; first: patterns that meet u in just it
	for _, t := range table {
		at := 0
		for i, rest := 0, u; t&u != 0 && rest != 0; i, rest = i+1, rest&(rest-1) {
			at |= int(t>>bits.TrailingZeros64(rest)&1) << i
		}
		disjoint[at]++
	}
	for i := range size { // now: patterns that meet u within it
		for s := range disjoint {
			if s>>i&1 != 0 {
				disjoint[s] += disjoint[s^1<<i]
			}
		}
	}
	for s := range disjoint {
		// Disjoint from s is to meet u within what is left of it.
		coef[disjoint[len(disjoint)-1-s]] += weight * (1 - 2*float64(bits.OnesCount(uint(s))&1))
	}
}

// patternTerms lists terms by falling share, so that sums are reproducible.
func patternTerms(coef map[int]float64, patterns int) (terms []patternTerm) {
	for disjoint := patterns; disjoint >= 0; disjoint-- {
		if c := coef[disjoint]; c != 0 {
			terms = append(terms, patternTerm{c, float64(disjoint) / float64(patterns)})
		}
	}
	return terms
}

// K is the number of bits a key sets.
func (p Patterns) K() int { return 2 * p.size }

// given is the sum of terms in a word of a block with i keys: the rate of a sector
// for p.terms, which is the mean over its words.
func given(terms []patternTerm, i int) float64 {
	f := 0.0
	for _, t := range terms {
		f += t.coef * math.Pow(1-(1-t.share)/PatternWords, float64(i))
	}
	return min(max(f, 0), 1)
}

// saturation is a mean load at which every word is full to double precision.
func (p Patterns) saturation() float64 { return 100 * PatternWords * 64 / float64(p.size) }

// Rate is the rate of a filter of so many blocks with n keys, NaN for no blocks.
func (p Patterns) Rate(blocks, n uint64) float64 {
	if blocks < 1 {
		return math.NaN()
	}
	f := 0.0
	if !eachLoad(n, float64(blocks)-1, p.saturation(), func(i int, w float64) {
		g := given(p.terms, i)
		f += w * g * g
	}) {
		return 1
	}
	return f
}

// Fill is the expected share of set bits: a key sets each bit of its block with
// the same probability.
func (p Patterns) Fill(blocks, n uint64) float64 {
	if blocks < 1 {
		return math.NaN()
	}
	return -math.Expm1(float64(n) * math.Log1p(-float64(p.K())/PatternBlockBits/float64(blocks)))
}

// BuildSD is the standard deviation of the conditional rate from one seed to the
// next, as [BlockedBuildSD] has it. The rate of a sector is the mean over its
// words, so that its mean square takes pairs of patterns in one word, and in two
// whose loads are multinomial.
func (p Patterns) BuildSD(blocks, n uint64) float64 {
	if blocks < 1 {
		return math.NaN()
	}
	lambda := float64(n) / float64(blocks)
	var f, sq, cov float64
	if !eachLoad(n, float64(blocks)-1, p.saturation(), func(i int, w float64) {
		g := given(p.terms, i)
		other := 0.0
		for _, a := range p.terms {
			for _, b := range p.terms {
				other += a.coef * b.coef * math.Pow(1-(2-a.share-b.share)/PatternWords, float64(i))
			}
		}
		s := (given(p.pairs, i) + (PatternWords-1)*other) / PatternWords
		f += w * g * g
		sq += w * s * s
		cov += w * g * g * (float64(i) - lambda)
	}) {
		return 0
	}
	v := sq - f*f
	if blocks > 1 && n > 0 {
		v -= cov * cov / (lambda * (1 - 1/float64(blocks)))
	}
	return math.Sqrt(max(v, 0) / float64(blocks))
}

// Size is the least number of blocks whose rate for n keys is at most rate. ok is
// false outside the domain.
func (p Patterns) Size(n uint64, rate float64) (blocks uint64, ok bool) {
	if n == 0 || !(rate > 0 && rate < 1) {
		return 0, false
	}
	guess, slope := classicSize(n, rate, p.K())
	blocks = least(guess/PatternBlockBits, slope, func(x uint64) float64 { return p.Rate(x, n) / rate })
	return blocks, blocks >= 1 && blocks <= maxSize/PatternBlockBits
}
