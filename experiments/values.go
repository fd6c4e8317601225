package experiments

import (
	"math"

	"filterlab/experiments/measure"
)

// Value is a metric of an experiment's own, such as counters at their
// ceiling or keys lost: it has columns of its own in summary.csv, and where
// something is expected of it the verdict of a cell rests on it as well as on the
// false-positive rate.
//
// Rows with trials are counts of events among them, pooled over the seeds; rows
// without are averaged over the seeds.
type Value struct {
	Metric string

	// Expect is the mean that theory gives, NaN where it gives none, and the
	// standard deviation from seed to seed. For rows without trials that is of one
	// row: 0 where each must be the mean exactly, NaN where it is unknown and the
	// seeds speak for themselves. For rows with trials it is what the rate of one
	// seed scatters beyond independent trials (as theory.Prediction.BuildSD). Nil
	// means that nothing is expected.
	Expect func(c *Cell) (mean, sd float64)

	// Bound says that the mean of Expect is what is promised at most: to stay below
	// it is no deviation, and a mean whose interval reaches above it says little.
	Bound bool

	// Median says that the rows come from a clock and are summarised as times are,
	// by their median.
	Median bool

	// Probability says that the rows are p-values of tests of their own, where
	// small ones are bad news.
	Probability bool
}

// Own is what the rows of a Value came to in one cell.
type Own struct {
	Estimate         // mean or pooled rate with its 95% interval; for a Probability the least, without one
	Expected float64 // NaN without expectation
	P        float64 // of a deviation as large, two-sided; NaN where nothing was tested
	Wide     bool    // a deviation of 5% would not have shown
	Events   uint64  // of a count
	Trials   uint64
}

// own folds the rows of v.
func (c *Cell) own(v Value) Own {
	xs, counts := c.values[v.Metric], c.counted[v.Metric]
	o := Own{Expected: math.NaN(), P: math.NaN()}
	sd := math.NaN()
	if v.Expect != nil {
		o.Expected, sd = v.Expect(c)
	}
	switch {
	case v.Probability:
		o.Value, o.Lo, o.Hi = math.NaN(), math.NaN(), math.NaN()
		for _, x := range xs {
			if !(o.Value <= x) {
				o.Value = x
			}
		}
		o.P = min(1, o.Value*float64(len(xs))) // Bonferroni over the seeds
	case v.Median:
		iv := measure.MedianInterval(xs, 0.95)
		o.Value, o.Lo, o.Hi = measure.Median(xs), iv.Lo, iv.Hi
	case len(counts) > 0:
		pool := measure.Pool(counts)
		o.Events, o.Trials, o.Value = pool.Events, pool.Trials, pool.Rate()
		design := math.NaN()
		if sd >= 0 {
			design = measure.DesignEffect(counts[0].Trials, o.Expected, sd)
		}
		var iv measure.Interval
		switch {
		case pool.Events == 0:
			iv.Hi = measure.UpperZero(pool.Trials)
		case len(counts) == 1:
			iv = measure.ClopperPearson(pool.Events, pool.Trials, 0.95)
		default:
			iv, _ = measure.RateInterval(counts, design, 0.95)
		}
		o.Lo, o.Hi = iv.Lo, iv.Hi
		switch {
		case math.IsNaN(o.Expected):
		case math.IsNaN(sd):
			rates := make([]float64, len(counts))
			for i, k := range counts {
				rates[i] = k.Rate()
			}
			o.P = measure.MeanTest(rates, o.Expected, sd)
			o.Wide = o.Expected > 0 && !(o.Hi-o.Lo <= 0.1*o.Expected)
		default:
			test := measure.VerdictOf(counts, o.Expected, sd)
			o.P = test.P
			o.Wide = o.Expected > 0 && !(test.RelHalfWidth() <= 0.05)
		}
	default:
		iv := measure.MeanInterval(xs, 0.95)
		o.Value, o.Lo, o.Hi = mean(xs), iv.Lo, iv.Hi
		o.P = measure.MeanTest(xs, o.Expected, sd)
		half := (iv.Hi - iv.Lo) / 2
		if sd >= 0 {
			half = measure.ZTwoSided(0.95) * sd / math.Sqrt(float64(len(xs)))
		}
		o.Wide = o.Expected > 0 && !(half <= 0.05*o.Expected)
	}
	if v.Bound && !math.IsNaN(o.P) {
		if o.Value <= o.Expected {
			o.P = 1
		}
		o.Wide = !(o.Hi <= o.Expected)
	}
	return o
}

// mean is NaN without values.
func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// valueColumns are the columns of the values of an experiment.
func valueColumns(values []Value) []column {
	var cols []column
	for _, v := range values {
		doc := v.Metric
		for _, m := range metrics() {
			if m.name == v.Metric {
				doc = m.doc
			}
		}
		get := func(f func(Own) float64) func(*Cell) string {
			return func(c *Cell) string {
				o, ok := c.Own[v.Metric]
				if x := f(o); ok && !math.IsNaN(x) {
					return number(x)
				}
				return ""
			}
		}
		if v.Probability {
			cols = append(cols, column{v.Metric, "1", doc + ", the least over seeds", get(func(o Own) float64 { return o.Value })})
			continue
		}
		cols = append(cols,
			column{v.Metric, "", doc, get(func(o Own) float64 { return o.Value })},
			column{v.Metric + "_lo", "", "lower end of its 95% interval", get(func(o Own) float64 { return o.Lo })},
			column{v.Metric + "_hi", "", "upper end of its 95% interval; without any event 3/trials", get(func(o Own) float64 { return o.Hi })})
		switch {
		case v.Bound:
			cols = append(cols,
				column{v.Metric + "_limit", "", "what is promised at most", get(func(o Own) float64 { return o.Expected })},
				column{v.Metric + "_trials", "", "what it was counted among", get(func(o Own) float64 { return float64(o.Trials) })})
		case v.Expect != nil:
			cols = append(cols, column{v.Metric + "_expected", "", "its expectation", get(func(o Own) float64 { return o.Expected })})
		}
	}
	return cols
}
