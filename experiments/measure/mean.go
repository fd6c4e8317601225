package measure

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MeanInterval is the interval for the mean of what independently seeded runs
// gave: Student's t on len(xs)-1 degrees of freedom. Fewer than two values give
// none.
func MeanInterval(xs []float64, conf float64) Interval {
	if len(xs) < 2 || !(conf > 0 && conf < 1) {
		return NoInterval()
	}
	mean, se := meanError(xs)
	half := studentTwoSided(conf, len(xs)-1) * se
	return Interval{mean - half, mean + half}
}

// MeanTest is the two-sided probability that the mean of xs is as far from
// expected as it is, or farther, when each value has the standard deviation sd:
// by the normal law for an sd above 0, and by Student's t for one that is not
// known (NaN). An sd of 0 says that every value must be expected: the answer is 1
// or 0. So it is for unknown sd when all values are equal. NaN without values.
func MeanTest(xs []float64, expected, sd float64) float64 {
	if len(xs) == 0 || math.IsNaN(expected) {
		return math.NaN()
	}
	exact := 1.0
	for _, x := range xs {
		if math.Abs(x-expected) > 1e-12*math.Abs(expected) {
			exact = 0
		}
	}
	if sd == 0 {
		return exact
	}
	mean, se := meanError(xs)
	if sd > 0 {
		return math.Erfc(math.Abs(mean-expected) / sd * math.Sqrt(float64(len(xs))) / math.Sqrt2)
	}
	if len(xs) < 2 {
		return math.NaN()
	}
	if se == 0 {
		return exact
	}
	t := math.Abs(mean-expected) / se
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(xs) - 1)}.Survival(t)
}

// meanError is the mean and its standard error, 0 for one value.
func meanError(xs []float64) (mean, se float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	if len(xs) < 2 {
		return mean, 0
	}
	var ss float64
	for _, x := range xs {
		ss += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(ss / (n - 1) / n)
}
