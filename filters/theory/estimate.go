package theory

import "math"

// EstimateN is the number of distinct keys that set bits out of m speak for: the
// exact inverse of the expected fill, ln(1-set/m)/(k ln(1-1/m)). It is +Inf when
// every bit is set. set > m, m = 0 and k < 1 give NaN.
func EstimateN(m uint64, k int, set uint64) float64 {
	if m == 0 || k < 1 || set > m {
		return math.NaN()
	}
	switch set {
	case 0:
		return 0
	case m:
		return math.Inf(1)
	}
	M := float64(m)
	return math.Log1p(-float64(set)/M) / (float64(k) * math.Log1p(-1/M))
}

// EstimateNClassic is -(m/k) ln(1-set/m) (Swamidass, Baldi 2007), larger than
// [EstimateN] by the factor -m ln(1-1/m), about 1 + 1/(2m).
func EstimateNClassic(m uint64, k int, set uint64) float64 {
	if m == 0 || k < 1 || set > m {
		return math.NaN()
	}
	switch set {
	case 0:
		return 0
	case m:
		return math.Inf(1)
	}
	return -float64(m) / float64(k) * math.Log1p(-float64(set)/float64(m))
}

// EstimateSD is the standard deviation of [EstimateN] over seeds when n keys are
// in, sqrt(m (e^lambda - 1 - lambda))/k with lambda = k n/m (linear counting,
// Whang, Vander-Zanden, Taylor 1990).
func EstimateSD(m uint64, k int, n float64) float64 {
	if m == 0 || k < 1 || !(n >= 0) {
		return math.NaN()
	}
	lambda := float64(k) * n / float64(m)
	return math.Sqrt(float64(m)*(math.Expm1(lambda)-lambda)) / float64(k)
}

// EstimateBias is how many keys too many [EstimateN] names on average when n
// keys are in, (e^lambda - lambda - 1)/(2k) with lambda = k n/m (same source).
func EstimateBias(m uint64, k int, n float64) float64 {
	if m == 0 || k < 1 || !(n >= 0) {
		return math.NaN()
	}
	lambda := float64(k) * n / float64(m)
	return (math.Expm1(lambda) - lambda) / (2 * float64(k))
}

// EstimateUnion is the number of distinct keys in two filters of equal m, k and
// seed together, from the bits set in their OR, which is the very filter of the
// union.
func EstimateUnion(m uint64, k int, setOr uint64) float64 { return EstimateN(m, k, setOr) }

// EstimateIntersection is the number of keys common to two filters of equal m, k
// and seed, n1 + n2 - n(union), from the bits set in each and in their OR. The
// AND of two filters is not the filter of the intersection: it holds extra bits.
// The estimator of Papapetrou et al. 2010 is the same number written in the bits
// of the AND, set1 + set2 - setOr. It may come out negative by chance, and is
// NaN when a filter is full.
func EstimateIntersection(m uint64, k int, set1, set2, setOr uint64) float64 {
	if setOr < max(set1, set2) || setOr-max(set1, set2) > min(set1, set2) {
		return math.NaN()
	}
	n := EstimateN(m, k, set1) + EstimateN(m, k, set2) - EstimateUnion(m, k, setOr)
	if math.IsInf(n, 0) {
		return math.NaN()
	}
	return n
}
