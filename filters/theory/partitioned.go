package theory

import "math"

// Partitioned is the rate of a partitioned Bloom filter: k slices of slice bits
// each, one probe in each. (1-(1-1/slice)^n)^k is exact when the probes are
// independent, because the slices are.
func Partitioned(slice, n uint64, k int) float64 {
	if !validStandard(slice, k) {
		return math.NaN()
	}
	return math.Pow(fill(float64(slice), float64(n)), float64(k))
}

// PartitionedFill is the expected share of set bits, 1-(1-1/slice)^n.
func PartitionedFill(slice, n uint64) float64 {
	if slice == 0 {
		return math.NaN()
	}
	return fill(float64(slice), float64(n))
}

// PartitionedBuildSD is the standard deviation of the conditional rate from one
// seed to the next, exact: the rate is a product of k independent slice fills
// with mean p and variance v, so its variance is (p^2+v)^k - p^(2k).
func PartitionedBuildSD(slice, n uint64, k int) float64 {
	if !validStandard(slice, k) {
		return math.NaN()
	}
	S, N, K := float64(slice), float64(n), float64(k)
	p := fill(S, N)
	if p == 0 {
		return 0
	}
	v := occupancyVar(S, N)
	return math.Pow(p, K) * math.Sqrt(math.Expm1(K*math.Log1p(v/(p*p))))
}
