package measure

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a confidence interval, ends included. NaN ends mean that the data
// support none.
type Interval struct{ Lo, Hi float64 }

// NoInterval is the answer when there are too few data for any interval.
func NoInterval() Interval { return Interval{math.NaN(), math.NaN()} }

// Valid reports whether there is an interval.
func (i Interval) Valid() bool { return i.Lo <= i.Hi }

// Contains reports whether x lies in the interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// ZTwoSided is the number of standard deviations that leave 1-conf outside in
// both tails together: 1.959964 for 0.95. It is NaN unless 0 < conf < 1.
func ZTwoSided(conf float64) float64 {
	if !(conf > 0 && conf < 1) {
		return math.NaN()
	}
	return distuv.UnitNormal.Quantile(0.5 + conf/2)
}

// studentTwoSided is ZTwoSided for a scatter that was estimated with df degrees
// of freedom.
func studentTwoSided(conf float64, df int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(0.5 + conf/2)
}

// manyEvents is where ClopperPearson turns into Wilson. They differ there by less
// than a ten-thousandth of their width, and from some 1e9 events on the inverse of
// the incomplete beta function now and then misses its root.
const manyEvents = 1e7

// ClopperPearson is the exact interval for the rate behind x events in n
// independent trials: [BetaInv(a/2; x, n-x+1), BetaInv(1-a/2; x+1, n-x)] with
// a = 1-conf (Clopper and Pearson, Biometrika 26, 1934). It covers the true rate
// at least as often as conf says, whatever the rate. Without trials it is [0, 1];
// x > n or conf outside (0, 1) give no interval.
func ClopperPearson(x, n uint64, conf float64) Interval {
	if x > n || !(conf > 0 && conf < 1) {
		return NoInterval()
	}
	a := 1 - conf
	i := Interval{0, 1}
	switch {
	case n == 0:
		return i
	case x == 0: // the quantiles have closed forms at the ends
		i.Hi = -math.Expm1(math.Log(a/2) / float64(n))
		return i
	case x == n:
		i.Lo = math.Exp(math.Log(a/2) / float64(n))
		return i
	case min(x, n-x) > manyEvents:
		return Wilson(x, n, conf)
	}
	i.Lo = mathext.InvRegIncBeta(float64(x), float64(n-x)+1, a/2)
	i.Hi = mathext.InvRegIncBeta(float64(x)+1, float64(n-x), 1-a/2)
	return i
}

// Wilson is the score interval (Wilson, JASA 22, 1927). It covers conf on
// average rather than at least, and is narrower and smoother than
// ClopperPearson: good for drawing. Without trials it is [0, 1].
func Wilson(x, n uint64, conf float64) Interval {
	if x > n || !(conf > 0 && conf < 1) {
		return NoInterval()
	}
	if n == 0 {
		return Interval{0, 1}
	}
	z, nf := ZTwoSided(conf), float64(n)
	p := float64(x) / nf
	mid := p + z*z/(2*nf)
	half := z * math.Sqrt(p*(1-p)/nf+z*z/(4*nf*nf))
	i := Interval{(mid - half) / (1 + z*z/nf), (mid + half) / (1 + z*z/nf)}
	// The ends below are exact; rounding would leave -1e-20.
	if x == 0 {
		i.Lo = 0
	}
	if x == n {
		i.Hi = 1
	}
	return i
}

// UpperZero is the one-sided 95% upper limit for a rate of which n trials showed
// no event: 3/n, the rule of three (exactly -ln 0.05 = 2.996), and at most 1.
func UpperZero(n uint64) float64 {
	if n <= 3 {
		return 1
	}
	return 3 / float64(n)
}

// ClusterInterval is the interval for the mean rate over seeds: each count comes
// from one independently seeded filter. It estimates the scatter from the counts
// themselves, as a ratio estimate with Student's t on len(counts)-1 degrees of
// freedom, and so needs no model of what makes seeds differ. It wants at least two
// counts with trials, ten for a useful width. Where all seeds agree exactly the
// scatter cannot be seen, and the exact interval over the pooled counts is
// returned.
func ClusterInterval(counts []Count, conf float64) Interval {
	sum := Pool(counts)
	r := float64(len(counts))
	if len(counts) < 2 || sum.Trials == 0 || !(conf > 0 && conf < 1) {
		return NoInterval()
	}
	// With equal trials this is the ordinary standard error of the mean of the
	// rates.
	p := sum.Rate()
	var ss float64
	for _, c := range counts {
		d := float64(c.Events) - p*float64(c.Trials)
		ss += d * d
	}
	se := math.Sqrt(r/(r-1)*ss) / float64(sum.Trials)
	// Equal rates leave only rounding behind.
	if se <= 1e-12*p {
		return ClopperPearson(sum.Events, sum.Trials, conf)
	}
	half := studentTwoSided(conf, len(counts)-1) * se
	return Interval{math.Max(0, p-half), math.Min(1, p+half)}
}

// Method says how an interval was had.
type Method string

// The methods of RateInterval.
const (
	Exact   Method = "exact"   // Clopper-Pearson over pooled counts
	Cluster Method = "cluster" // Student's t over seeds
)

// poolingLimit is the design effect up to which pooled counts pass as
// independent: it widens an interval by the root, 2.5%.
const poolingLimit = 1.05

// RateInterval is the interval for the mean rate over seeds: exact over the
// pooled counts where design, the DesignEffect of one filter, is at most 1.05,
// and over seeds otherwise or when design is unknown (NaN). One seed with a
// larger design effect gives no interval: nothing in its counts tells how much
// the next filter would differ.
func RateInterval(counts []Count, design, conf float64) (Interval, Method) {
	if design <= poolingLimit {
		sum := Pool(counts)
		return ClopperPearson(sum.Events, sum.Trials, conf), Exact
	}
	return ClusterInterval(counts, conf), Cluster
}

// DesignEffect is the factor by which the variance of a rate measured with q
// queries on one filter exceeds that of q independent trials, when the filter's
// own rate has mean p and standard deviation buildSD from seed to seed:
// 1 + (q-1) buildSD^2 / (p(1-p)) (Kish, Survey Sampling, 1965, section 5.4). It is
// NaN unless 0 < p < 1.
func DesignEffect(q uint64, p, buildSD float64) float64 {
	if !(p > 0 && p < 1) || q == 0 {
		return math.NaN()
	}
	return 1 + float64(q-1)*buildSD*buildSD/(p*(1-p))
}

// PlanTrials is the number of independent trials after which the 95% interval of
// a rate p has the relative half-width r: ceil(z^2 (1-p)/(p r^2)). Trials are
// fixed before measuring: stopping once enough events were seen biases the rate.
// It is the largest uint64 when no number suffices (p or r not above 0, or NaN)
// and 0 for p >= 1.
func PlanTrials(p, r float64) uint64 {
	if !(p > 0 && r > 0) {
		return math.MaxUint64
	}
	z := ZTwoSided(0.95)
	return ceilCount(z * z * (1 - p) / (p * r * r))
}

// PlanRuns plans for a rate that also differs from seed to seed: the number of
// seeds, at least minSeeds, and of queries for each, after which the 95% interval
// has the relative half-width r. Seeds are added until what the builds contribute
// takes at most half of the variance allowed; queries fill the rest.
func PlanRuns(p, buildSD, r float64, minSeeds int) (seeds int, queries uint64, err error) {
	if !(p > 0 && p < 1) || !(r > 0) || !(buildSD >= 0) || minSeeds < 1 {
		return 0, 0, fmt.Errorf("plan: p = %v, buildSD = %v, half-width = %v, seeds = %d: want 0 < p < 1, buildSD >= 0, half-width > 0 and at least one seed",
			p, buildSD, r, minSeeds)
	}
	z := ZTwoSided(0.95)
	allowed := p * r / z // the standard deviation that gives the half-width
	allowed *= allowed
	need := math.Ceil(2 * buildSD * buildSD / allowed)
	if need > 1<<30 {
		return 0, 0, fmt.Errorf("plan: seeds differ by %.3g of the rate %.3g: no number of seeds below 2^30 gives a half-width of %v", buildSD/p, p, r)
	}
	seeds = max(minSeeds, int(need))
	left := allowed - buildSD*buildSD/float64(seeds)
	return seeds, ceilCount(p * (1 - p) / (float64(seeds) * left)), nil
}

// ceilCount rounds up to a count, the largest uint64 where x exceeds all.
func ceilCount(x float64) uint64 {
	switch x = math.Ceil(x); {
	case x <= 0:
		return 0
	case x < 1<<64:
		return uint64(x)
	}
	return math.MaxUint64
}
