package theory

import "math"

// HashFloor is the chance that an absent key shares its whole hash of the given
// width with one of n stored keys, 1-(1-2^-bits)^n: no filter behind such a hash
// can have a lower rate (Dillinger, Manolios 2004).
func HashFloor(n uint64, bits int) float64 {
	if bits < 1 {
		return math.NaN()
	}
	return -math.Expm1(float64(n) * math.Log1p(-math.Ldexp(1, -bits)))
}

// Combine is the rate of a filter of rate f behind a hash with floor h when the
// two causes are independent: f + h - f h.
func Combine(f, h float64) float64 { return f + h - f*h }

// LowerBound is the least number of bits per key of any static filter of rate p
// over a large universe: log2(1/p) (Carter, Floyd, Gill, Markowsky, Wegman 1978).
func LowerBound(p float64) float64 {
	if !(p > 0 && p < 1) {
		return math.NaN()
	}
	return -math.Log2(p)
}

// LowerBoundFinite is the least number of bits per key of a filter that keeps
// any n of u possible keys with rate p: log2(C(u,n)/C(n+p(u-n),n))/n. It
// approaches [LowerBound] as u grows.
func LowerBoundFinite(u, n uint64, p float64) float64 {
	if !(p > 0 && p < 1) || n == 0 || n > u {
		return math.NaN()
	}
	U, N := float64(u), float64(n)
	return (logFalling(U, N) - logFalling(N+p*(U-N), N)) / (N * math.Ln2)
}

// logFalling is ln(x (x-1) ... (x-n+1)) for x >= n, by Stirling's series with
// the large terms subtracted on paper rather than in doubles.
func logFalling(x, n float64) float64 {
	y := x - n
	if y < 16 {
		a, _ := math.Lgamma(x + 1)
		b, _ := math.Lgamma(y + 1)
		return a - b
	}
	series := func(x float64) float64 { return (1 - 1/(30*x*x)) / (12 * x) }
	log := math.Log1p(-n / x) // ln(y/x)
	return n*math.Log(x) - (y+0.5)*log - n + series(x) - series(y)
}

// StandardBitsPerKey is what a standard filter of rate p costs with the best real
// number of probes, log2(1/p): log2(1/p)/ln 2 bits per key, 1.4427 times
// [LowerBound]. [SizeStandard] gives the size with a whole k.
func StandardBitsPerKey(p float64) float64 { return LowerBound(p) / math.Ln2 }

// StandardOverfilled is the classic rate after r times the keys that a filter of
// real optimal k was sized for at the rate p: (1-2^-r)^log2(1/p).
func StandardOverfilled(p, r float64) float64 {
	if !(p > 0 && p < 1) || !(r >= 0) {
		return math.NaN()
	}
	return math.Pow(-math.Expm1(-r*math.Ln2), LowerBound(p))
}
