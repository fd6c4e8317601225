package experiments

import (
	"context"
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/theory"
)

// BogusDelete asks what it costs to delete a key that was never added but passes
// the test.
func BogusDelete() Experiment {
	return Experiment{
		Name:     "bogus-delete",
		Question: "How many keys are lost when a false positive is deleted?",
		OwnN:     true, // all members are asked for again after each delete
		Grid: func(p Profile) Grid {
			ps, n := []string{"30%", "10%", "3%", "1%", "0.3%", "0.1%"}, "1e4"
			if p.Thin {
				ps, n = []string{"10%", "1%"}, "2000"
			}
			return Grid{Axes: []Axis{FilterAxis("counting", "cuckoo"), HashAxis("xxh3"), KeysAxis("random"), NAxis(n), PAxis(ps...)}}
		},
		Measures: []Measure{deleteBogus()},
		Values: []Value{{Metric: MetricVictims, Expect: func(c *Cell) (float64, float64) {
			return victims(c, c.Predicted), math.NaN()
		}}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			chart := figure.Chart{
				Name: "bogus-delete", Title: "Members lost by deleting a false positive",
				Caption: "Filters that hold the keys they were sized for. Counting: k lambda/(e^lambda-1), lambda = kn/m. Cuckoo: one, unless two keys share fingerprint and buckets. " + about.Text,
				X:       figure.Axis{Label: "promised false-positive rate", Log: true, Reversed: true, Format: figure.Percent}, Y: figure.Axis{Label: "members lost for each such delete"},
			}
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				marks := figure.Series{Name: g[0].Filter, Style: style(g[0].Filter)}
				line := figure.Series{Name: marks.Name, Style: marks.Style, Theory: true}
				for i := range g {
					if o, ok := g[i].Own[MetricVictims]; ok {
						marks.Points = append(marks.Points, figure.Point{X: g[i].P, Y: o.Value, Lo: o.Lo, Hi: o.Hi})
						line.Points = append(line.Points, figure.Point{X: g[i].P, Y: o.Expected})
					}
				}
				if len(marks.Points) > 0 {
					chart.Series = append(chart.Series, marks, line)
				}
			}
			return []figure.Figure{chart}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for i := range cells {
				c := &cells[i]
				if o, ok := c.Own[MetricVictims]; ok && (c.P == 0.01 || c.P == 0.001) {
					s += fmt.Sprintf("%s at %.3g%% (k or f = %d): %.3g members lost [%.3g, %.3g], expected %.3g; ", c.Filter, 100*c.P, c.Predicted.K, o.Value, o.Lo, o.Hi, o.Expected)
				}
			}
			return s + "a delete that is not of an added key is paid by others. Verdicts: " + verdicts(cells) + "."
		},
	}
}

// victims is the expected number of members that one bogus delete loses. In a
// counting filter it is theory.BogusDelete, but for the blocked layout. A cuckoo filter takes one copy out of
// the class of equal fingerprint and buckets; the member is lost if it was alone
// in its class, of whose kind there are 1/q with q = 1-(1-rate)^(1/n).
func victims(c *Cell, p theory.Prediction) float64 {
	switch family(c.Filter) {
	case "counting":
		if inBlocks(c) {
			return math.NaN() // no formula for uneven blocks
		}
		m, k, _ := counters(c)
		return theory.BogusDelete(m, c.Inserted, k)
	case "cuckoo":
		n := float64(c.Inserted)
		q := -math.Expm1(math.Log1p(-p.FPR) / n)
		return n * q * math.Exp((n-1)*math.Log1p(-q)) / p.FPR
	}
	return math.NaN()
}

// bogusDeletes is how many false positives are deleted in each filter, each put
// back before the next.
const bogusDeletes = 200

func deleteBogus() Measure {
	return Measure{Name: "bogus delete", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		return lab.each(ctx, points, 1, func(p *Point, keys *pointKeys, _ uint64, emit emitFunc) error {
			f, err := newFilter(p)
			if err != nil {
				return err
			}
			deleter, ok := f.(filters.Deleter)
			if !ok {
				return filters.Refuse("filter", p.Variant, "one that can delete")
			}
			if _, err := filters.AddMany(f, keys.members); err != nil {
				return err
			}
			answers := make([]bool, len(keys.members))
			batch := make([]uint64, 1024)
			lost, deleted := 0, 0
			for left := keys.absentLimit; deleted < bogusDeletes && left > 0; {
				batch = batch[:min(uint64(len(batch)), left)]
				left -= uint64(len(batch))
				keys.absent(batch)
				for _, h := range batch {
					if deleted == bogusDeletes || !f.Contains(h) {
						continue
					}
					if !deleter.Delete(h) {
						continue // it passes the test, and a count of its probes shows that it was never added
					}
					deleted++
					lost += len(answers) - filters.ContainsMany(f, answers, keys.members)
					// Adding takes back exactly what deleting took.
					if err := f.Add(h); err != nil {
						return err
					}
				}
			}
			if err := noneLost(f, keys.members, emit); err != nil {
				return err
			}
			if deleted > 0 {
				emit(MetricVictims, float64(lost)/float64(deleted), 0)
			}
			return nil
		})
	}}
}
