package measure

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Verdict is a measured rate held against an exact expectation.
type Verdict struct {
	Count            // pooled over the seeds
	Seeds    int     // filters that were measured
	Expected float64 // the expectation, NaN when there is no theory
	SD       float64 // standard deviation that the measured rate should have about it
	Z        float64 // deviation in standard deviations; for a tail, the normal deviate of the same P
	P        float64 // two-sided probability of a deviation at least this large, NaN without theory or trials
	Tail     bool    // P from the exact tail of counts rather than from the normal approximation
}

// tailBelow is the number of effective events under which the skew of counts
// makes the normal approximation wrong in the far tails that Holm's correction
// looks at. At 50 effective events the exact tail still costs microseconds.
const tailBelow = 50

// VerdictOf compares the counts of independently seeded filters, one count for
// each, with the expected rate. buildSD is the standard deviation of a filter's
// own rate from seed to seed (theory.Prediction.BuildSD). The variance of the
// pooled rate is
//
//	sum(Q_i^2) buildSD^2 / Q^2 + p(1-p)/Q,  Q = sum(Q_i)
//
// which for R seeds of Q queries is buildSD^2/R + p(1-p)/(RQ). The test is
// two-sided: a rate that is too good is wrong as well. Where fewer than 50
// effective events (p^2 / variance) are expected, P comes from the tail of the
// counts: binomial, or negative binomial with the same mean and variance where
// builds differ enough to matter (a gamma mixture of Poisson counts).
func VerdictOf(counts []Count, expected, buildSD float64) Verdict {
	v := Verdict{Count: Pool(counts), Seeds: len(counts), Expected: expected}
	if v.Trials == 0 || !(expected >= 0 && expected <= 1) || !(buildSD >= 0) {
		v.SD, v.Z, v.P = math.NaN(), math.NaN(), math.NaN()
		return v
	}
	n := float64(v.Trials)
	var squares float64
	for _, c := range counts {
		squares += float64(c.Trials) / n * float64(c.Trials) / n
	}
	variance := squares*buildSD*buildSD + expected*(1-expected)/n
	v.SD = math.Sqrt(variance)

	rare := math.Min(expected, 1-expected)
	if rare*rare < tailBelow*variance || variance == 0 {
		v.Tail = true
		x, p := v.Events, expected
		if p > 0.5 { // the rare side is the one whose counts are skewed
			x, p = v.Trials-x, 1-p
		}
		v.P = tailP(x, v.Trials, p, variance*n*n)
		v.Z = math.Copysign(distuv.UnitNormal.Quantile(1-v.P/2), v.Rate()-expected)
		if v.P < 1e-15 { // 1-P/2 rounds to 1
			v.Z = math.Copysign(-distuv.UnitNormal.Quantile(math.Max(v.P/2, math.SmallestNonzeroFloat64)), v.Rate()-expected)
		}
		return v
	}
	v.Z = (v.Rate() - expected) / v.SD
	v.P = math.Erfc(math.Abs(v.Z) / math.Sqrt2)
	return v
}

// tailP is twice the smaller tail probability of x events among n trials of rate
// p, at most 1, when the number of events has the given variance.
func tailP(x, n uint64, p, variance float64) float64 {
	var below, above float64 // P(X <= x), P(X >= x)
	mean := float64(n) * p
	switch {
	case p == 0:
		// No event is possible: any event refutes, no event is what must be.
		below, above = 1, 0
		if x == 0 {
			above = 1
		}
	case variance > mean:
		// Negative binomial: P(X <= x) = I_q(r, x+1), q = r/(r+mean) = mean/variance.
		r, q := mean*mean/(variance-mean), mean/variance
		below = mathext.RegIncBeta(r, float64(x)+1, q)
		above = 1
		if x > 0 {
			above = mathext.RegIncBeta(float64(x), r, 1-q)
		}
	default:
		// Binomial: P(X >= x) = I_p(x, n-x+1).
		below, above = 1, 1
		if x < n {
			below = mathext.RegIncBeta(float64(n-x), float64(x)+1, 1-p)
		}
		if x > 0 {
			above = mathext.RegIncBeta(float64(x), float64(n-x)+1, p)
		}
	}
	return math.Min(1, 2*math.Min(below, above))
}

// Ratio is the measured rate over the expected one; NaN without either.
func (v Verdict) Ratio() float64 { return v.Rate() / v.Expected }

// RelHalfWidth is half the width, relative to the expectation, of the 95%
// interval that this measurement can be expected to have.
func (v Verdict) RelHalfWidth() float64 { return ZTwoSided(0.95) * v.SD / v.Expected }

// HalfWidthLimit is the widest relative half-width at which agreement means
// something: 5%, and 10% for rates below 1e-5. A wide interval always agrees.
func HalfWidthLimit(p float64) float64 {
	if p < 1e-5 {
		return 0.10
	}
	return 0.05
}

// Holm returns the p-values adjusted for having been looked at together (Holm,
// Scand. J. Statistics 6, 1979): the i-th smallest times m-i+1, made monotone, at
// most 1. Comparing them with alpha keeps the probability of any false alarm
// among the m at alpha. NaN stays NaN and does not count.
func Holm(ps []float64) []float64 {
	order := make([]int, 0, len(ps))
	adjusted := make([]float64, len(ps))
	for i, p := range ps {
		if math.IsNaN(p) {
			adjusted[i] = p
			continue
		}
		order = append(order, i)
	}
	sort.Slice(order, func(a, b int) bool { return ps[order[a]] < ps[order[b]] })
	var worst float64
	for rank, i := range order {
		worst = math.Max(worst, math.Min(1, ps[i]*float64(len(order)-rank)))
		adjusted[i] = worst
	}
	return adjusted
}
