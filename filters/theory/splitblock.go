package theory

import "math"

// SplitBlock is the rate of a split-block filter of 8 lanes of 32 bits, one bit a
// lane, at c bits per key: sum_j Poisson(j; 256/c) (1-(31/32)^j)^8.
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
