package experiments

import (
	"context"
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/standard"
	"filterlab/hashing"
)

// Metrics of the adversary.
const (
	MetricCraftTries     = "craft_tries"
	MetricCraftedKnown   = "crafted_known"
	MetricCraftedSecret  = "crafted_secret"
	MetricPolluteTries   = "pollute_tries"
	MetricPollutedKnown  = "polluted_known"
	MetricPollutedSecret = "polluted_secret"
)

// Adversary asks what somebody can do who chooses keys and knows the hash.
func Adversary() Experiment {
	promised := func(c *Cell) (mean, sd float64) { return c.Predicted.FPR, c.Predicted.BuildSD }
	return Experiment{
		Name:     "adversary",
		Question: "What can somebody who chooses keys do to a filter whose hash and seed he knows, and what if the seed is secret?",
		OwnKeys:  true, // those that were tried and chosen
		Grid: func(p Profile) Grid {
			n, loads := "4000", []string{"0.5", "0.75", "1"}
			if p.Thin {
				n = "1000"
			}
			return Grid{
				Axes: []Axis{FilterAxis("standard", "blocked", "cuckoo"), HashAxis("xxh3", "siphash"), KeysAxis("random"), NAxis(n), LoadAxis(loads...), PAxis("1%")},
				Skip: func(p *Point) bool { return p.Load < 1 && family(p.Variant.String()) != "standard" },
			}
		},
		Measures: []Measure{attack()},
		Values: []Value{
			{Metric: MetricCraftTries, Expect: func(c *Cell) (mean, sd float64) {
				cv := c.Predicted.BuildSD / c.Predicted.FPR
				return (1 + cv*cv) / c.Predicted.FPR, math.NaN() // the mean of 1/rate over the seeds
			}},
			{Metric: MetricCraftedKnown},
			{Metric: MetricCraftedSecret, Expect: promised},
			{Metric: MetricPolluteTries},
			{Metric: MetricPollutedKnown, Expect: func(c *Cell) (mean, sd float64) {
				return pollutedRate(float64(c.Predicted.Bits), float64(c.Inserted), c.Predicted.K), 0
			}},
			{Metric: MetricPollutedSecret, Expect: promised},
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			chart := figure.Chart{
				Name: "adversary", Title: "A standard filter filled with chosen keys",
				Caption: "Each key is chosen so that its k bits are all clear, by somebody who knows hash and seed; then the same keys go into a filter whose seed he does not know. Lines: (kn/m)^k, and the rate for keys nobody chose. " + about.Text,
				X:       figure.Axis{Label: "keys added, as a share of those the filter was sized for", Format: figure.Percent},
				Y:       figure.Axis{Label: "false-positive rate", Log: true, Format: figure.Percent},
			}
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Hash }) {
				for _, m := range []struct{ metric, name string }{{MetricPollutedKnown, "seed known"}, {MetricPollutedSecret, "seed secret"}} {
					marks := figure.Series{Name: g[0].Hash + ", " + m.name, Style: len(chart.Series) / 2}
					line := figure.Series{Name: marks.Name, Style: marks.Style, Theory: true}
					for i := range g {
						if o, ok := g[i].Own[m.metric]; ok {
							marks.Points = append(marks.Points, interval(g[i].Load(), o.Estimate))
							line.Points = append(line.Points, figure.Point{X: g[i].Load(), Y: o.Expected})
						}
					}
					if len(marks.Points) > 0 {
						chart.Series = append(chart.Series, marks, line)
					}
				}
			}
			return []figure.Figure{chart}
		},
		Finding: func(cells []Cell) string {
			c := find(cells, func(c *Cell) bool {
				_, ok := c.Own[MetricPollutedKnown]
				return ok && c.Load() == 1 && c.Hash == "siphash"
			})
			if c == nil {
				return "No filter was attacked. Verdicts: " + verdicts(cells) + "."
			}
			crafted, secret := c.Own[MetricCraftedKnown], c.Own[MetricCraftedSecret]
			return fmt.Sprintf("With a known seed, SipHash's too, %.3g tries a key find keys that are false positives for ever (%.3g%% of them), and chosen insertions raise the rate from 1%% to %.3g%% for %.3g tries each; under a secret seed the same keys get %.3g%% and %.3g%%, as any: keep the seed secret, random and of a hash made for that (siphash). Verdicts: %s.",
				c.Own[MetricCraftTries].Value, 100*crafted.Value, 100*c.Own[MetricPollutedKnown].Value, c.Own[MetricPolluteTries].Value,
				100*secret.Value, 100*c.Own[MetricPollutedSecret].Value, verdicts(cells))
		},
	}
}

// pollutedRate is the rate of a table of m bits in which n keys have set k bits
// each, no bit twice.
func pollutedRate(m, n float64, k int) float64 {
	return math.Pow(min(float64(k)*n/m, 1), float64(k))
}

// The numbers of one attack.
const (
	craftedKeys     = 12_000  // false positives that are searched for
	pollutedQueries = 200_000 // absent keys that a polluted filter is asked for
)

// Keys of the adversary are 64-bit numbers, from a range for each purpose.
const (
	memberKeys uint64 = iota << 40 // in the filter before he comes
	triedKeys                      // what he tries
	askedKeys                      // what others ask for
)

// attack crafts keys against a filter of a known seed and tries them there and on
// one whose seed is another. The search is honest: numbers are tried one by one, and
// tries are counted.
func attack() Measure {
	return Measure{Name: "attack", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			e, err := hashing.ByName(p.Hash)
			if err != nil {
				return rows, err
			}
			if _, err := p.Variant.Predict(p.Target, p.Inserted()); err != nil {
				refused, err := refusal(p, err)
				if err != nil {
					return rows, err
				}
				rows = append(rows, refused...)
				continue
			}
			for round := range lab.Profile.Seeds {
				if err := ctx.Err(); err != nil {
					return rows, err
				}
				keys, err := lab.keys(p, round)
				if err != nil {
					return rows, err
				}
				emit := lab.emitter(p, &rows, round, keys.seed)
				// Any other seed stands for one that he does not know.
				known, secret := e.New(keys.seed), e.New(^keys.seed)
				if p.Load == 1 {
					if err := craft(p, known, secret, emit); err != nil {
						return rows, fmt.Errorf("%v: %w", p, err)
					}
				}
				if err := pollute(p, known, secret, emit); err != nil {
					return rows, fmt.Errorf("%v: %w", p, err)
				}
			}
		}
		return rows, nil
	}}
}

// filled is a filter of the point with numbered members.
func filled(p *Point, h hashing.Hash, from uint64) (filters.Filter, error) {
	f, err := newFilter(p)
	if err != nil {
		return nil, err
	}
	for i := range p.Inserted() {
		if err := f.Add(h.SumUint64(from + i)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// craft searches for absent keys that are positive under the known seed.
func craft(p *Point, known, secret hashing.Hash, emit emitFunc) error {
	target, err := filled(p, known, memberKeys)
	if err != nil {
		return err
	}
	other, err := filled(p, secret, memberKeys)
	if err != nil {
		return err
	}
	crafted := make([]uint64, 0, craftedKeys)
	key := triedKeys
	for ; len(crafted) < craftedKeys; key++ {
		if target.Contains(known.SumUint64(key)) {
			crafted = append(crafted, key)
		}
	}
	still, elsewhere := 0, 0
	for _, key := range crafted {
		if target.Contains(known.SumUint64(key)) {
			still++
		}
		if other.Contains(secret.SumUint64(key)) {
			elsewhere++
		}
	}
	emit(MetricCraftTries, float64(key-triedKeys)/craftedKeys, 0)
	emit(MetricCraftedKnown, float64(still), craftedKeys)
	emit(MetricCraftedSecret, float64(elsewhere), craftedKeys)
	return nil
}

// pollute fills a standard filter with keys each of which sets k bits that were
// clear, and another, under the secret seed, with the same keys. Filters of other
// families are left alone: what is chosen for depends on the geometry.
func pollute(p *Point, known, secret hashing.Hash, emit emitFunc) error {
	f, err := newFilter(p)
	if err != nil {
		return err
	}
	target, ok := f.(*standard.Filter)
	if !ok {
		return nil
	}
	other, err := newFilter(p)
	if err != nil {
		return err
	}
	c := target.Config()
	set := make([]bool, c.Bits)
	var probes []uint64
	key := triedKeys
	for range p.Inserted() {
		for {
			h := known.SumUint64(key)
			key++
			probes = c.AppendProbes(probes[:0], h)
			if fresh(set, probes) {
				if err := target.Add(h); err != nil {
					return err
				}
				if err := other.Add(secret.SumUint64(key - 1)); err != nil {
					return err
				}
				break
			}
		}
	}
	emit(MetricPolluteTries, float64(key-triedKeys)/float64(p.Inserted()), 0)
	polluted, clean := 0, 0
	for i := range uint64(pollutedQueries) {
		if target.Contains(known.SumUint64(askedKeys + i)) {
			polluted++
		}
		if other.Contains(secret.SumUint64(askedKeys + i)) {
			clean++
		}
	}
	emit(MetricPollutedKnown, float64(polluted), pollutedQueries)
	emit(MetricPollutedSecret, float64(clean), pollutedQueries)
	return nil
}

// fresh marks the probes, and reports whether they are all different and none was
// marked before; else it marks none.
func fresh(set []bool, probes []uint64) bool {
	for i, at := range probes {
		if set[at] {
			for _, back := range probes[:i] {
				set[back] = false
			}
			return false
		}
		set[at] = true
	}
	return true
}
