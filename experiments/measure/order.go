package measure

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Median is the middle of xs, or the mean of the two middle values; NaN for none.
// xs is left as it is.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return s[mid-1]/2 + s[mid]/2
}

// MedianInterval is the order-statistic interval for the median behind xs: the
// j-th smallest and the j-th largest value, with the largest j that covers conf
// of the time. It assumes independent samples and nothing of their
// distribution. At 95%, six samples give their extremes; fewer have no interval.
func MedianInterval(xs []float64, conf float64) Interval {
	return QuantileInterval(xs, 0.5, conf)
}

// QuantileInterval is the order-statistic interval for the q-quantile behind xs,
// with at most (1-conf)/2 outside on either side. Where xs has too few values
// for that there is no interval: for the 99% quantile at 95%, below 368.
func QuantileInterval(xs []float64, q, conf float64) Interval {
	lo, hi, ok := quantileRanks(len(xs), q, conf)
	if !ok {
		return NoInterval()
	}
	s := slices.Sorted(slices.Values(xs))
	return Interval{s[lo-1], s[hi-1]}
}

// quantileRanks returns the ranks, from 1, between which the q-quantile lies. The
// number B of values below the quantile is Bin(n, q), and the quantile lies below
// the lo-th value when B < lo, above the hi-th when B >= hi.
func quantileRanks(n int, q, conf float64) (lo, hi int, ok bool) {
	if n < 1 || !(q > 0 && q < 1) || !(conf > 0 && conf < 1) {
		return 0, 0, false
	}
	b := distuv.Binomial{N: float64(n), P: q}
	tail := (1 - conf) / 2
	lo = sort.Search(n, func(below int) bool { return b.CDF(float64(below)) > tail })
	hi = 1 + sort.Search(n, func(below int) bool { return 1-b.CDF(float64(below)) <= tail })
	return lo, hi, lo >= 1 && hi <= n
}

// SamplesAbove is the least number of samples whose largest exceeds the
// q-quantile with probability conf: ceil(ln(1-conf)/ln q). A 99.9% latency needs
// 2,995 samples at 95% before the worst one says anything of it. It is 0 unless
// both are between 0 and 1.
func SamplesAbove(q, conf float64) uint64 {
	if !(q > 0 && q < 1) || !(conf > 0 && conf < 1) {
		return 0
	}
	return ceilCount(math.Log1p(-conf) / math.Log(q))
}

// Ratio compares two contenders that were sampled in pairs, round by round.
type Ratio struct {
	Median   float64  // median of a/b over the rounds
	Interval Interval // 95% order-statistic interval of that median: the inversion of the sign test
	P        float64  // exact two-sided sign test of "a and b are equally often the larger"; rounds with a tie are left out
	Rounds   int      // pairs that were compared
}

// PairedRatio compares a[i] with b[i]. Drift that hits both halves of a pair
// falls out. Logarithms are compared, so that PairedRatio(b, a) is the exact
// inverse. Values must be above 0 and as many in a as in b; otherwise nothing is
// compared and Rounds is 0. Fewer than six pairs have no interval.
func PairedRatio(a, b []float64) Ratio {
	none := Ratio{Median: math.NaN(), Interval: NoInterval(), P: math.NaN()}
	if len(a) != len(b) || len(a) == 0 {
		return none
	}
	logs := make([]float64, len(a))
	var above, below int
	for i := range a {
		if !(a[i] > 0 && b[i] > 0) {
			return none
		}
		logs[i] = math.Log(a[i]) - math.Log(b[i])
		switch {
		case a[i] > b[i]:
			above++
		case a[i] < b[i]:
			below++
		}
	}
	i := MedianInterval(logs, 0.95)
	return Ratio{
		Median:   math.Exp(Median(logs)),
		Interval: Interval{math.Exp(i.Lo), math.Exp(i.Hi)},
		P:        signTest(above, below),
		Rounds:   len(a),
	}
}

// signTest is the exact two-sided probability that fair coins fall at least as
// unevenly.
func signTest(above, below int) float64 {
	if above+below == 0 {
		return 1
	}
	b := distuv.Binomial{N: float64(above + below), P: 0.5}
	return math.Min(1, 2*b.CDF(float64(min(above, below))))
}
