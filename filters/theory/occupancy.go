package theory

import (
	"math"
	"math/big"
)

// maxK is the largest number of probes the package accepts: the 64-bit hash that
// all filters share cannot serve more rates than 64 halvings give.
const maxK = 64

// fill is the probability that a given one of m cells is hit by N uniform throws.
func fill(m, N float64) float64 {
	if N == 0 {
		return 0
	}
	return -math.Expm1(N * math.Log1p(-1/m))
}

// occupancyVar is Var(X)/m^2 for the number X of m cells hit by N uniform
// throws. With q = (1-1/m)^N it is (q-q2)/m + q2 - q^2, where q2 = (1-2/m)^N is
// the chance that two given cells stay empty. The two differences are taken
// through the ratios q2/q and q2/q^2 = (1-1/(m-1)^2)^N, which keeps the error
// near 1e-16/N of the squared fill even for an almost empty table.
func occupancyVar(m, N float64) float64 {
	if m <= 1 || N <= 1 { // the number of occupied cells is certain
		return 0
	}
	l1, l2 := math.Log1p(-1/m), math.Log1p(-2/m)
	q := math.Exp(N * l1)
	if q == 0 {
		return 0
	}
	d := m - 1
	v := q*-math.Expm1(N*(l2-l1))/m + q*q*math.Expm1(N*math.Log1p(-1/(d*d)))
	return max(v, 0)
}

// occupancyMoment is E[(X/m)^r] for the number X of m cells hit by N uniform
// throws: the chance that r more throws all fall into cells already hit. m and N
// are whole numbers, r is from 1 to 2*maxK. The relative error stays below 1e-9.
func occupancyMoment(m, N float64, r int) float64 {
	p := fill(m, N)
	R := float64(r)
	switch empty := math.Exp(N * math.Log1p(-1/m)); {
	case N == 0:
		return 0
	case R*empty < 1e-17: // 1 - r q + O(r^2 q^2), and to double precision 1
		return 1
	case r == 1:
		return p
	}
	v := occupancyVar(m, N)
	if r == 2 {
		return p*p + v
	}
	if m >= expandCells*R*R && m*N*N >= 2e8*R*R*R*R {
		return expandedMoment(m, N, r, p, v)
	}
	return positiveMoment(m, allHit(r, p, func(i int, prec uint) *big.Float {
		if float64(i) >= m {
			return new(big.Float).SetPrec(prec)
		}
		x := new(big.Float).SetPrec(prec).SetFloat64(m - float64(i))
		return power(x.Quo(x, big.NewFloat(m)), uint64(N))
	}))
}

// expandCells r^2 cells are enough for the expansion of the r-th moment, provided
// that m N^2 is at least 2e8 r^4 (few throws into many cells collide too rarely
// for their cumulants to help). Measured against the exact sum over loads from
// 1e-4 to 10 and r up to 128, its relative error is then below 1e-10; it falls
// with the cube of the number of cells.
const expandCells = 300

// expandedMoment is E[(X/m)^r] to the order 1/m^2. With X/m = p + Y the terms are
// E[Y^2] = v, E[Y^3] to its leading order and E[Y^4] = 3 v^2 to its leading order.
func expandedMoment(m, N float64, r int, p, v float64) float64 {
	R := float64(r)
	c2 := R * (R - 1) / 2
	c3 := c2 * (R - 2) / 3
	c4 := c3 * (R - 3) / 4
	y := v / (p * p)
	return math.Pow(p, R) * (1 + c2*y + c3*thirdCumulant(N/m)/(m*m*p*p*p) + 3*c4*y*y)
}

// thirdCumulant is m^2 times the third cumulant of X/m for large m at lambda =
// N/m throws a cell. It follows from the saddle point of the generating function
// of the empty cells, (N!/m^N) [z^N] (e^z-1+u)^m, whose logarithm is differentiated
// three times in ln u.
func thirdCumulant(lambda float64) float64 {
	if lambda < 1e-3 {
		// The closed form cancels here. Collisions are then Poisson, with mean
		// m lambda^2/2.
		return -lambda * lambda / 2 * (1 - 13.0/3*lambda)
	}
	q := math.Exp(-lambda)
	a := (1 + lambda) * q
	return -q * (1 - 3*a + 2*a*a + lambda*lambda*q*q)
}

// positiveMoment turns the probabilities P_d that d given cells out of m are all
// hit (d = 0..r) into E[(X/m)^r]. From X (X)_d = (X)_{d+1} + d (X)_d the mixed
// moments T_s(d) = E[(X/m)^s (X)_d/(m)_d] obey
//
//	T_{s+1}(d) = (1-d/m) T_s(d+1) + (d/m) T_s(d),  T_0(d) = P_d
//
// which is the sum over Stirling numbers of Bose et al. 2008, rearranged so that
// every term is positive. hit is used up.
func positiveMoment(m float64, hit []float64) float64 {
	for top := len(hit) - 1; top > 0; top-- {
		for d := 0; d < top; d++ {
			x := min(float64(d)/m, 1)
			hit[d] = (1-x)*hit[d+1] + x*hit[d]
		}
	}
	return hit[0]
}

// allHit returns the probabilities P_d that d given cells are all hit, d = 0..r,
// from miss(i), the probability that i given cells all stay empty: the d-th
// finite difference, sum_i (-1)^i C(d,i) miss(i). Doubles lose every digit of it
// (an error of 0.3% at k = 30 and the usual load), so it is taken in extended
// precision. p is about P_1 and sets the precision.
func allHit(r int, p float64, miss func(i int, prec uint) *big.Float) []float64 {
	prec := uint(128 + 2*r + int(float64(r)*math.Max(0, -math.Log2(p))))
	diff := make([]*big.Float, r+1)
	for i := range diff {
		diff[i] = miss(i, prec)
	}
	hit := make([]float64, r+1)
	for d := range hit {
		hit[d], _ = diff[0].Float64()
		hit[d] = max(hit[d], 0)
		for i := 0; i < r-d; i++ {
			diff[i].Sub(diff[i], diff[i+1])
		}
	}
	return hit
}

// power is x^n by repeated squaring; x is used up.
func power(x *big.Float, n uint64) *big.Float {
	out := new(big.Float).SetPrec(x.Prec()).SetInt64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out.Mul(out, x)
		}
		if n > 1 {
			x.Mul(x, x)
		}
	}
	return out
}
