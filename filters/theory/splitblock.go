package theory

import "math"

// Geometry of the split-block filter (Parquet, BloomFilter.md).
const (
	SplitBlockBits = 256       // 8 lanes of 32 bits, one bit of a key in each
	SplitBlocksMax = 1<<31 - 1 // blocks of the largest filter
)

// SplitBlock is the rate of a split-block filter of 8 lanes of 32 bits, one bit a
// lane, at c bits per key: sum_j Poisson(j; 256/c) (1-(31/32)^j)^8. It is the
// limit of many keys and blocks; [SplitBlocks] is the rate of a filter of given
// size.
func SplitBlock(c float64) float64 {
	if !(c > 0) {
		return math.NaN()
	}
	lambda := 256 / c
	if lambda > 1e5 {
		return 1
	}
	return poissonMean(lambda, func(j float64) float64 { return math.Pow(fill(32, j), 8) })
}

// poissonMean is E[f(J)] for J Poisson with mean lambda.
func poissonMean(lambda float64, f func(j float64) float64) float64 {
	mode := math.Floor(lambda)
	sum, mean := 0.0, 0.0
	for j, w := mode, 1.0; w > 1e-36 && j >= 0; j-- {
		sum, mean = sum+w, mean+w*f(j)
		w *= j / lambda
	}
	for j, w := mode+1, lambda/(mode+1); w > 1e-36; j++ {
		sum, mean = sum+w, mean+w*f(j)
		w *= lambda / (j + 1)
	}
	return mean / sum
}

// SplitBlockBitsPerKey is the number of bits per key at which [SplitBlock] is p.
// The formula -8/ln(1-p^(1/8)) that the Parquet text once gave is too small: a
// filter sized by it for 1% has 1.46%.
func SplitBlockBitsPerKey(p float64) float64 {
	if !(p > 0 && p < 1) {
		return math.NaN()
	}
	lo, hi := 1e-3, 1e9
	if SplitBlock(hi) > p {
		return math.NaN() // the rate of a block with one key in it, rarely met
	}
	for hi/lo > 1+1e-15 {
		c := math.Sqrt(lo * hi)
		if c <= lo || c >= hi {
			break
		}
		if SplitBlock(c) > p {
			lo = c
		} else {
			hi = c
		}
	}
	return hi
}

// SplitBlocks is the rate of a split-block filter of the given number of blocks
// with n keys, 1 <= blocks <= [SplitBlocksMax]. In a block of load j it is
// (1-(31/32)^j)^8, plus the chance that a key agrees with one of the j in the 32
// bits of the hash that are left to choose the lanes' bits. The load is binomial.
//
// The block is the fast range of only 32 bits of the hash, so that of the 2^32
// values each block answers to the floor or the ceiling of 2^32/blocks. That
// spread is part of the rate: nothing below 2^24 blocks, but at 1.5e9 blocks (46
// GiB) and 10.53 bits a key it makes 1% into 1.14%.
func SplitBlocks(blocks, n uint64) float64 {
	if blocks < 1 || blocks > SplitBlocksMax {
		return math.NaN()
	}
	return splitMean(splitShares(blocks, 1<<32), n)
}

// SplitBlocksFill is the expected share of set bits: a key leaves a bit alone
// unless it picks its block and, of the 32 bits of the lane, just this one.
func SplitBlocksFill(blocks, n uint64) float64 {
	if blocks < 1 || blocks > SplitBlocksMax {
		return math.NaN()
	}
	f := 0.0
	for _, s := range splitShares(blocks, 1<<32) {
		if s.blocks > 0 {
			f -= s.blocks / float64(blocks) * math.Expm1(float64(n)*math.Log1p(-1/(32*(s.other+1))))
		}
	}
	return f
}

// SplitBlocksBuildSD is the standard deviation of the conditional rate from one
// seed to the next, as [BlockedBuildSD] has it. The lanes of a block are
// independent given its load, so that the mean square of the rate is the eighth
// power of the mean square of a lane's fill.
func SplitBlocksBuildSD(blocks, n uint64) float64 {
	if blocks < 1 || blocks > SplitBlocksMax {
		return math.NaN()
	}
	var v, cov float64
	for _, s := range splitShares(blocks, 1<<32) {
		if s.blocks == 0 {
			continue
		}
		lambda := float64(n) / (s.other + 1)
		var f, sq, with float64
		if !eachLoad(n, s.other, splitSaturation, func(j int, w float64) {
			r := math.Pow(fill(32, float64(j)), 8)
			f += w * r
			sq += w * math.Pow(fillSquare(32, float64(j)), 8)
			with += w * r * (float64(j) - lambda)
		}) {
			return 0
		}
		v += s.queries * s.queries / s.blocks * (sq - f*f)
		cov += s.queries * with
	}
	if blocks > 1 && n > 0 {
		v -= cov * cov / (float64(n) * (1 - 1/float64(blocks)))
	}
	return math.Sqrt(max(v, 0))
}

// SizeSplitBlocks is the least number of blocks whose rate for n keys is at most
// p. ok is false outside the domain and when it takes more than [SplitBlocksMax]
// blocks.
func SizeSplitBlocks(n uint64, p float64) (blocks uint64, ok bool) {
	if n == 0 || !(p > 0 && p < 1) {
		return 0, false
	}
	guess, slope := classicSize(n, p, 8)
	blocks = least(guess/SplitBlockBits, slope, func(x uint64) float64 {
		return splitMean(splitShares(min(x, SplitBlocksMax), 1<<32), n) / p
	})
	return blocks, blocks >= 1 && blocks <= SplitBlocksMax
}

// splitSaturation is a mean load at which every lane is full to double precision.
const splitSaturation = 100 * 32

// share is a class of blocks that are chosen alike.
type share struct {
	blocks  float64 // how many they are
	queries float64 // the share of hashes that choose any of them
	other   float64 // odds of a hash against choosing a given one of them
}

// splitShares divides values equally likely values among blocks by fast range.
func splitShares(blocks, values uint64) [2]share {
	var ss [2]share
	small, more := values/blocks, values%blocks
	for i, n := range []uint64{blocks - more, more} {
		if each := small + uint64(i); n > 0 && each > 0 {
			ss[i] = share{float64(n), float64(n) * float64(each) / float64(values), float64(values)/float64(each) - 1}
		}
	}
	return ss
}

// splitMean is the rate over the loads of blocks of all classes.
func splitMean(shares [2]share, n uint64) float64 {
	f := 0.0
	for _, s := range shares {
		if s.blocks == 0 {
			continue
		}
		if !eachLoad(n, s.other, splitSaturation, func(j int, w float64) {
			same := -math.Expm1(float64(j) * math.Log1p(-0x1p-32))
			f += s.queries * w * Combine(math.Pow(fill(32, float64(j)), 8), same)
		}) {
			return 1
		}
	}
	return f
}

// fillSquare is the mean square of the share of set bits among b after j throws:
// with E clear bits, 1 - 2 E[E]/b + E[E^2]/b^2 by factorial moments.
func fillSquare(b, j float64) float64 {
	one, two := math.Pow(1-1/b, j), math.Pow(1-2/b, j)
	return max(1-2*one+(one+(b-1)*two)/b, 0)
}
