package theory

import "math"

// CountingTail is the probability that a given one of m counters is hit at least
// a times by n distinct keys of k independent probes each: P(X >= a) for X
// binomial(k n, 1/m). The relative error is below 1e-10 down to 1e-300.
func CountingTail(m, n uint64, k int, a uint64) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	N, M := float64(k)*float64(n), float64(m)
	switch {
	case a == 0:
		return 1
	case float64(a) > N:
		return 0
	case m == 1:
		return 1
	}
	// Sum away from the mode: upwards from a when a lies above the mean, else the
	// complement downwards from a-1. Either way the terms fall.
	if A := float64(a); A > N/M {
		term := binomialPMF(N, M, A)
		sum := 0.0
		for j := A; term > sum*1e-17; j++ {
			sum += term
			term *= (N - j) / ((j + 1) * (M - 1))
		}
		return min(sum, 1)
	}
	j := float64(a - 1)
	term, sum := binomialPMF(N, M, j), 0.0
	for ; j >= 0 && term > sum*1e-17; j-- {
		sum += term
		term *= j * (M - 1) / (N - j + 1)
	}
	return max(1-sum, 0)
}

// CountingSaturated is the probability that a given counter of w bits has
// reached its ceiling 2^w-1, P(X >= 2^w-1): from there on it sticks. Times m it
// is the expected number of saturated counters.
func CountingSaturated(m, n uint64, k, w int) float64 {
	if w < 1 || w > 32 {
		return math.NaN()
	}
	return CountingTail(m, n, k, 1<<w-1)
}

// BlockedCountingSaturated is CountingSaturated for counters in blocks of B, where
// all k probes of a key fall into one block: the mean of P(X >= 2^w-1) over the
// binomial load of a block, X binomial(k load, 1/B). The spread of the loads makes
// the tail heavier: for a million keys at 1%, 4 bits and k = 6, 82 times as likely
// (5e-15 for a counter).
func BlockedCountingSaturated(blocks uint64, B int, n uint64, k, w int) float64 {
	if !validBlocked(blocks, B, k) || w < 1 || w > 32 {
		return math.NaN()
	}
	ceiling := uint64(1)<<w - 1
	// The mean load at which a counter is asked for a hundred times its ceiling.
	limit := 100 * float64(ceiling) * float64(B) / float64(k)
	p := 0.0
	if !eachLoad(n, float64(blocks)-1, limit, func(j int, weight float64) {
		p += weight * CountingTail(uint64(B), uint64(j), k, ceiling)
	}) {
		return 1
	}
	return p
}

// CountingOverflow is the probability that a given counter of w bits was asked
// to go beyond its ceiling, P(X >= 2^w): the event that a counter without
// saturation would answer with a wrong count. Fan et al. 2000 bound it by
// [FanBound] with a = 2^w.
func CountingOverflow(m, n uint64, k, w int) float64 {
	if w < 1 || w > 32 {
		return math.NaN()
	}
	return CountingTail(m, n, k, 1<<w)
}

// FanBound is the bound m (e n k/(a m))^a on the probability that any of m
// counters reaches a (Fan, Cao, Almeida, Broder 2000). It may exceed 1, and at
// a = 16 and the usual load it is 19 times the true value.
func FanBound(m, n uint64, k int, a int) float64 {
	if !validStandard(m, k) || a < 1 {
		return math.NaN()
	}
	A := float64(a)
	return float64(m) * math.Pow(math.E*float64(n)*float64(k)/(A*float64(m)), A)
}

// BogusDelete is the expected number of members that turn into false negatives
// when a key that was never added, but passes the test, is deleted from a
// counting filter: each of its k counters stands at 1, and so belongs to one
// member alone, with probability lambda e^-lambda/(1-e^-lambda), lambda = k n/m.
// It is k ln 2 at the load ln 2.
func BogusDelete(m, n uint64, k int) float64 {
	if !validStandard(m, k) || n == 0 {
		return math.NaN()
	}
	lambda := float64(k) * float64(n) / float64(m)
	return float64(k) * lambda / math.Expm1(lambda)
}

// binomialPMF is C(N,a) M^-a (1-1/M)^(N-a). The product is kept as a mantissa
// and a power of two, so that neither factor can leave the range of a double
// before they meet.
func binomialPMF(N, M, a float64) float64 {
	mant, exp := 1.0, 0
	for i := 0.0; i < a; i++ {
		mant *= (N - i) / (M * (i + 1))
		if mant < 0x1p-500 || mant > 0x1p500 {
			f, e := math.Frexp(mant)
			mant, exp = f, exp+e
		}
	}
	x := (N - a) * math.Log1p(-1/M) / math.Ln2
	whole := math.Floor(x)
	e := whole + float64(exp)
	if e < -3000 {
		return 0
	}
	return math.Ldexp(mant*math.Exp2(x-whole), int(e))
}
