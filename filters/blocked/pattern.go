package blocked

import (
	"math/bits"
	"sync"

	"filterlab/filters/theory"
)

// The pattern layout: the block is the fast range of the hash, and its lowest 24
// bits, left over by every choice among up to 2^40 blocks, say the rest: two
// patterns of 10 bits each and two words of 2.

// patternK is the number of bits a key sets.
const patternK = 6

// patternBases are 16 patterns of three bits; all their rotations are the table.
// Rotations set every bit equally often. Drawn at random, 1,024 patterns have a
// rate of 1.28% at 10 bits a key, and these have 1.13%: the distances between
// their bits are as different as can be, so that few patterns share two bits. They
// were found by changing one at a time as long as the rate fell.
func patternBases() []uint64 {
	return []uint64{
		1 | 1<<1 | 1<<19, 1 | 1<<9 | 1<<45, 1 | 1<<15 | 1<<26, 1 | 1<<16 | 1<<30,
		1 | 1<<20 | 1<<29, 1 | 1<<21 | 1<<61, 1 | 1<<25 | 1<<62, 1 | 1<<30 | 1<<42,
		1 | 1<<32 | 1<<35, 1 | 1<<33 | 1<<40, 1 | 1<<33 | 1<<43, 1 | 1<<41 | 1<<57,
		1 | 1<<41 | 1<<59, 1 | 1<<44 | 1<<50, 1 | 1<<47 | 1<<60, 1 | 1<<56 | 1<<62,
	}
}

// patterns is the table. Nothing writes to it.
var patterns = func() (table [1024]uint64) {
	for i, b := range patternBases() {
		for turn := range 64 {
			table[i*64+turn] = bits.RotateLeft64(b, turn)
		}
	}
	return table
}()

// patternTheory is made on first use: its sums over pairs of patterns take some
// 30 ms.
var patternTheory = sync.OnceValue(func() theory.Patterns {
	p, _ := theory.NewPatterns(patternBases()) // never refused
	return p
})

// missPattern is zero if both patterns of h are set in b.
func missPattern(b *line, h uint64) uint64 {
	return patterns[h&1023]&^b[h>>20&3] | patterns[h>>10&1023]&^b[4+h>>22&3]
}

// setPattern sets both patterns of h in b.
func setPatterns(b *line, h uint64) {
	b[h>>20&3] |= patterns[h&1023]
	b[4+h>>22&3] |= patterns[h>>10&1023]
}

// patternRate is the share of hashes that find their patterns in b. A base is
// there in as many rotations as bits are left when the word is laid over itself,
// moved by the distances between the bits of the base.
func patternRate(b *line, bases []uint64) float64 {
	var found [2]int
	for i, w := range b {
		for _, base := range bases {
			both := w
			for rest := base; rest != 0; rest &= rest - 1 {
				both &= bits.RotateLeft64(w, -bits.TrailingZeros64(rest))
			}
			found[i/theory.PatternWords] += bits.OnesCount64(both)
		}
	}
	const all = theory.PatternWords * float64(len(patterns))
	return float64(found[0]) / all * (float64(found[1]) / all)
}
