package experiments

import (
	"context"
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/filters/theory"
)

// grownFrom is the scalable filter of the experiment, which starts with room for a
// thousand keys, and sized the one that knows its end.
const (
	grownFrom = "scalable(n0=1000)"
	sized     = "standard"
)

// Growth asks what it costs not to know how many keys will come.
func Growth() Experiment {
	return Experiment{
		Name:     "growth",
		Question: "What does a filter that grows from 1,000 keys cost against one of the right size, and does it keep its rate at every size?",
		Grid: func(p Profile) Grid {
			ns := []string{"800", "1000", "1500", "3000", "4000", "7000", "10_000", "20_000", "40_000", "60_000", "100_000", "200_000", "400_000", "1e6"}
			if p.Thin {
				ns = []string{"1000", "3000", "20_000"}
			}
			return Grid{Axes: []Axis{
				FilterAxis(sized, grownFrom, "scalable(n0=1000,s=4)", "scalable(n0=1000,r=0.5)"),
				HashAxis("xxh3"), KeysAxis("random"), NAxis(ns...), PAxis("1%"),
			}}
		},
		Measures: []Measure{Rate(0), countStages()},
		Values: []Value{
			{Metric: MetricStages, Expect: func(c *Cell) (float64, float64) { return float64(c.Predicted.Stages), 0 }},
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			byFilter := func(c *Cell) string { return c.Filter }
			lo, hi := math.Inf(1), 0.0
			for i := range cells {
				lo, hi = min(lo, float64(cells[i].N)), max(hi, float64(cells[i].N))
			}
			// The prediction at many sizes, where steps show, for both figures.
			theories := map[string][]theory.Prediction{}
			for _, g := range groupBy(cells, byFilter) {
				for _, x := range spread(lo, hi, 180) {
					t := g[0].Target()
					t.N = uint64(math.Round(x))
					if p, err := g[0].Variant().Predict(t, t.N); err == nil {
						theories[g[0].Filter] = append(theories[g[0].Filter], p)
					}
				}
			}
			curve := func(filter string, y func(theory.Prediction) float64) []figure.Point {
				var line []figure.Point
				for _, p := range theories[filter] {
					line = append(line, figure.Point{X: float64(p.Inserted), Y: y(p)})
				}
				return line
			}
			var space []figure.Series
			for _, g := range groupBy(cells, byFilter) {
				marks := figure.Series{Name: g[0].Filter, Style: style(family(g[0].Filter))}
				if g[0].Filter != grownFrom && g[0].Filter != sized {
					marks.Style = 0
				}
				line := figure.Series{Name: marks.Name, Style: marks.Style, Theory: true}
				for i := range g {
					if bits, ok := g[i].Times[MetricBits]; ok {
						marks.Points = append(marks.Points, figure.Point{X: float64(g[i].N), Y: bits.Value / float64(g[i].N)})
					}
				}
				if len(marks.Points) == 0 {
					continue
				}
				line.Points = curve(marks.Name, theory.Prediction.BitsPerKey)
				space = append(space, marks, line)
			}
			caption := fmt.Sprintf("Promised %.4g%% at every size. Marks: measured. Lines: theory. Scalable filters begin with a stage for 1,000 keys; s is the growth from stage to stage (2), r the tightening of their rates (0.8). ", 100*cells[0].P)
			n := figure.Axis{Label: "keys", Log: true, Format: figure.Power}
			rates := rateSeries(cells, byFilter, func(c *Cell) float64 { return float64(c.N) }, func(c *Cell, _ []float64) []figure.Point {
				return curve(c.Filter, func(p theory.Prediction) float64 { return p.FPR })
			})
			for i := range rates {
				if rates[i].Name == grownFrom {
					rates[i].Style = style("scalable")
				}
			}
			return []figure.Figure{
				figure.Chart{Name: "growth-space", Title: "Space of a filter that grows", Caption: caption + about.Text,
					X: n, Y: figure.Axis{Label: "space (bits per key)", Log: true, Ticks: []float64{10, 20, 50, 100}}, Series: space},
				figure.Chart{Name: "growth-rate", Title: "The rate of a filter that grows", Caption: caption + about.Text,
					X: n, Y: figure.Axis{Label: "false-positive rate", Format: figure.Percent}, Series: rates, HLines: []figure.Line{{At: cells[0].P, Label: "promised"}}},
			}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				if group[0].Filter == sized {
					continue
				}
				last := find(group, func(c *Cell) bool { return c.Trials > 0 })
				if last == nil {
					continue
				}
				worst, lo, hi := last, math.Inf(1), 0.0
				for i := range group {
					c := &group[i]
					if c.Trials == 0 {
						continue
					}
					if c.N > last.N {
						last = c
					}
					if c.FPR.Value > worst.FPR.Value {
						worst = c
					}
					if one := find(cells, func(o *Cell) bool { return o.Filter == sized && o.N == c.N && o.Trials > 0 }); one != nil {
						over := c.BitsPerInserted() / one.BitsPerInserted()
						lo, hi = min(lo, over), max(hi, over)
					}
				}
				s += fmt.Sprintf("%s holds %d keys in %d stages of %.3g bits per key together and errs at %s, at most at %s on the way (n = %d), where %.4g%% is promised",
					last.Filter, last.N, last.Predicted.Stages, last.BitsPerInserted(), percent(last.FPR), percent(worst.FPR), worst.N, 100*worst.P)
				if hi > 0 {
					s += fmt.Sprintf("; it takes %.2f to %.2f times the space of one that knew its end", lo, hi)
				}
				s += ". "
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// MetricStages is the number of stages that a scalable filter has opened.
const MetricStages = "stages"

// countStages is the measure of stages, for filters that have them.
func countStages() Measure {
	return Measure{Name: "stages", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			for round := range 3 {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				keys, err := lab.keys(p, round)
				if err != nil {
					return rows, nil // the rate measure has said so
				}
				q, _, err := build(p, keys.members)
				if err != nil {
					break
				}
				f, ok := q.(interface{ Stages() int })
				if !ok {
					break
				}
				lab.emitter(p, &rows, round, keys.seed)(MetricStages, float64(f.Stages()), 0)
			}
		}
		return rows, nil
	}}
}
