package theory

import (
	"math"
	"math/big"
)

// StandardClassic is the textbook rate (1-e^(-kn/m))^k of a standard Bloom
// filter (Bloom 1970 in the form of Broder, Mitzenmacher 2004). It is too low:
// by 14% at m = 16, k = n = 3, by 0.7% at m = 1000, and by less than 1e-6 once m
// exceeds 1e7. Prefer [Standard].
func StandardClassic(m, n uint64, k int) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	return math.Pow(-math.Expm1(-float64(k)*float64(n)/float64(m)), float64(k))
}

// StandardOneStep is (1-(1-1/m)^(kn))^k: it has the mean fill right and still
// takes the k probed bits for independent, which they are not. It lies between
// [StandardClassic] and [Standard].
func StandardOneStep(m, n uint64, k int) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	return math.Pow(StandardFill(m, n, k), float64(k))
}

// Standard is the exact rate of a standard Bloom filter of m >= 1 bits after n
// distinct keys of k probes each, 1 <= k <= 64, when all probes are independent
// and uniform: E[(X/m)^k] over the number X of bits set by k n throws (Bose et
// al. 2008, Christensen et al. 2010). The relative error is below 1e-9
// everywhere. It costs a tenth of a microsecond for large m; below 300 k^2 bits it
// takes extended precision: 20 microseconds at k = 7, 500 at k = 64.
func Standard(m, n uint64, k int) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	return occupancyMoment(float64(m), float64(k)*float64(n), k)
}

// StandardDistinct is the exact rate when the k positions of a key are distinct,
// a uniform k-subset of the m bits: sum_i (-1)^i C(k,i) [C(m-i,k)/C(m,k)]^n. It
// needs k <= m. Error and cost are those of [Standard].
func StandardDistinct(m, n uint64, k int) float64 {
	if !validStandard(m, k) || uint64(k) > m {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	M, N, K := float64(m), float64(n), float64(k)
	p := -math.Expm1(N * math.Log1p(-K/M))
	if m == uint64(k) || K*(1-p) < 1e-17 {
		return 1
	}
	if k == 1 {
		return p
	}
	// The second-order expansion errs by 0.03 k^4/m^2 and, as a key's bits are
	// distinct, by (k/2n)^2/2.
	if M >= 17000*K*K && N >= 1e5*K {
		// P_2/p^2 - 1 = (y2-y1^2)/p^2, with y2/y1^2 = (1-k/((m-1)(m-k)))^n for
		// the chances y1, y2 that one and two given bits stay empty.
		y := 1 - p
		c2 := y * y * math.Expm1(N*math.Log1p(-K/((M-1)*(M-K)))) / (p * p)
		return math.Pow(p, K) * (1 + K*(K-1)/2*c2)
	}
	hit := allHit(k, p, func(i int, prec uint) *big.Float {
		x := new(big.Float).SetPrec(prec).SetInt64(1)
		for t := 0; t < k; t++ {
			if uint64(i+t) >= m {
				return x.SetInt64(0)
			}
			x.Mul(x, big.NewFloat(M-float64(i+t)))
			x.Quo(x, big.NewFloat(M-float64(t)))
		}
		return power(x, n)
	})
	return hit[k]
}

// StandardFill is the expected share of set bits, 1-(1-1/m)^(kn), exact for
// independent probes.
func StandardFill(m, n uint64, k int) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	return fill(float64(m), float64(k)*float64(n))
}

// StandardBuildSD is the standard deviation, from one hash seed to the next, of
// the rate (X/m)^k that one built filter has: an absolute number, to be divided
// by [Standard] for a relative one (3.9% at n = 1000, p = 1%). A confidence
// interval from a single filter ignores it. It is k p^(k-1) sd(X)/m, the
// first-order term, above 4096 bits and exact below.
func StandardBuildSD(m, n uint64, k int) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	M, N := float64(m), float64(k)*float64(n)
	if m <= 4096 {
		f := occupancyMoment(M, N, k)
		return math.Sqrt(max(occupancyMoment(M, N, 2*k)-f*f, 0))
	}
	return float64(k) * math.Pow(fill(M, N), float64(k-1)) * math.Sqrt(occupancyVar(M, N))
}

// StandardBestK is the k from 1 to 64 with the least exact rate for n keys in m
// bits; of equals the least k. It is 0 outside the domain (m or n zero).
func StandardBestK(m, n uint64) int {
	if m == 0 || n == 0 {
		return 0
	}
	start := float64(m) / float64(n) * math.Ln2
	return descend(start, func(k int) float64 { return Standard(m, n, k) })
}

// descend finds the k in 1..maxK of least cost, the least k among equals, for a
// cost with one valley and perhaps a flat floor, from start outwards.
func descend(start float64, cost func(k int) float64) int {
	first := int(min(max(start, 1), maxK))
	best, least := first, cost(first)
	for _, step := range []int{-1, 1} {
		for k := first + step; k >= 1 && k <= maxK; k += step {
			c := cost(k)
			if !(c <= least) {
				break
			}
			if c < least || k < best {
				best, least = k, c
			}
		}
	}
	return best
}

func validStandard(m uint64, k int) bool { return m >= 1 && k >= 1 && k <= maxK }
