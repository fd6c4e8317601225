package measure

import (
	"math"
	"slices"
)

// exactRanks is the largest number of samples on either side for which the exact
// distribution of U is counted; beyond, the normal approximation errs by less
// than a thousandth.
const exactRanks = 50

// MannWhitney compares two independent sets of samples by ranks (Mann and
// Whitney, Ann. Math. Statist. 18, 1947). It returns U, the number of pairs with
// a above b (ties count half), and the two-sided p-value: exact without ties and
// up to 50 samples a side, normal with the correction for ties otherwise.
//
// A p-value can be no smaller than MannWhitneyLeast: three samples against three
// never show a difference at 5%. Samples taken turn about compare better in
// pairs: see PairedRatio.
func MannWhitney(a, b []float64) (u, p float64) {
	n1, n2 := len(a), len(b)
	if n1 == 0 || n2 == 0 {
		return math.NaN(), math.NaN()
	}
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	var ties float64 // sum of t^3-t over groups of t equal values
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j] == all[i] {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				u++
			case x == y:
				u += 0.5
			}
		}
	}
	pairs := float64(n1) * float64(n2)
	if ties == 0 && max(n1, n2) <= exactRanks {
		return u, math.Min(1, 2*rankTail(n1, n2, int(math.Min(u, pairs-u))))
	}
	n := float64(n1 + n2)
	variance := pairs / 12 * (n + 1 - ties/(n*(n-1)))
	if variance <= 0 { // all values equal
		return u, 1
	}
	// Half a step towards the middle: U moves in steps of one.
	z := math.Max(0, math.Abs(u-pairs/2)-0.5) / math.Sqrt(variance)
	return u, math.Erfc(z / math.Sqrt2)
}

// MannWhitneyLeast is the smallest two-sided p-value that n1 samples against n2
// can have, 2/C(n1+n2, n1). With four a side it is 0.029: fewer cannot reach 5%,
// and "no difference" then only says "too few samples".
func MannWhitneyLeast(n1, n2 int) float64 {
	if n1 < 1 || n2 < 1 {
		return math.NaN()
	}
	choose := 1.0
	for i := 1; i <= n1; i++ {
		choose *= float64(n2+i) / float64(i)
	}
	return math.Min(1, 2/choose)
}

// rankTail is P(U <= u) when all orders are equally likely: the number of
// partitions of at most u into at most n1 parts of at most n2 each, divided by
// C(n1+n2, n1). The counts are coefficients of the Gaussian binomial, the product
// over i of (1-x^(n2+i))/(1-x^i); kept as shares of C to stay below overflow.
func rankTail(n1, n2, u int) float64 {
	coef := make([]float64, u+1)
	coef[0] = 1
	for i := 1; i <= n1; i++ {
		for j := u; j >= n2+i; j-- {
			coef[j] -= coef[j-n2-i]
		}
		for j := i; j <= u; j++ {
			coef[j] += coef[j-i]
		}
	}
	var sum float64
	for _, c := range coef {
		sum += c
	}
	return sum * MannWhitneyLeast(n1, n2) / 2
}
