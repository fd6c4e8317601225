package experiments

import (
	"context"
	"fmt"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/filters"
	"filterlab/filters/counting"
	"filterlab/filters/theory"
)

// Saturation asks how many counters of a counting filter reach their ceiling.
func Saturation() Experiment {
	return Experiment{
		Name:     "saturation",
		Question: "How many counters of 2 and of 4 bits reach their ceiling, at the planned load and beyond, and are keys lost by it?",
		Grid: func(p Profile) Grid {
			loads, n := []string{"0.25", "0.5", "1", "2", "3", "4", "6", "8"}, "1e5"
			if p.Thin {
				loads, n = []string{"0.5", "1", "2", "8"}, "1e4"
			}
			return Grid{Axes: []Axis{FilterAxis("counting(w=2)", "counting(w=4)"), HashAxis("xxh3"), KeysAxis("random"), NAxis(n), PAxis("1%"), LoadAxis(loads...)}}
		},
		Measures: []Measure{saturate()},
		// The test takes the counters for independent, which overstates their scatter,
		// since one that takes a hit takes it from another: nearly exact where few
		// reach the ceiling, too lenient by half where a third does.
		Values: []Value{{Metric: MetricSaturatedShare, Expect: func(c *Cell) (float64, float64) {
			return saturatedShare(c, c.Inserted), 0
		}}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			chart := figure.Chart{
				Name: "saturation", Title: "Counters at their ceiling",
				Caption: "Filters sized for n keys at 1%. Lines: the binomial tail P(X >= 2^w - 1). " + about.Text,
				X:       figure.Axis{Label: "keys / keys planned", Log: true, Ticks: loadTicks()}, Y: figure.Axis{Label: "share of counters at the ceiling", Log: true, Format: figure.Power},
			}
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				marks := figure.Series{Name: g[0].Filter}
				line := figure.Series{Name: marks.Name, Theory: true}
				for i := range g {
					o, ok := g[i].Own[MetricSaturatedShare]
					if !ok {
						continue
					}
					x := g[i].Load()
					switch {
					case o.Events > 0:
						marks.Points = append(marks.Points, figure.Point{X: x, Y: o.Value, Lo: o.Lo, Hi: o.Hi})
					case o.Trials > 0:
						marks.Points = append(marks.Points, figure.Unseen(x, o.Trials))
					}
				}
				if len(marks.Points) == 0 {
					continue
				}
				for _, x := range spread(marks.Points[0].X, marks.Points[len(marks.Points)-1].X, 100) {
					if y := saturatedShare(&g[0], uint64(x*float64(g[0].N))); y > 1e-12 {
						line.Points = append(line.Points, figure.Point{X: x, Y: y})
					}
				}
				chart.Series = append(chart.Series, marks, line)
			}
			return []figure.Figure{chart}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for i := range cells {
				c := &cells[i]
				o, ok := c.Own[MetricSaturatedShare]
				if !ok || c.Load() != 1 && c.Load() != 8 {
					continue
				}
				m, _, _ := counters(c)
				s += fmt.Sprintf("%s at %gx: %.4g of %d counters on average, expected %.4g; ", c.Filter, c.Load(), o.Value*float64(m), m, o.Expected*float64(m))
			}
			return s + "no key was lost when half of them were deleted, since a counter at its ceiling stays there. Verdicts: " + verdicts(cells) + "."
		},
	}
}

// counters is the geometry of a counting filter's cell.
func counters(c *Cell) (m uint64, k, w int) {
	w = counting.DefaultWidth
	if v, ok := c.Variant().(counting.Variant); ok && v.Width != 0 {
		w = v.Width
	}
	return c.Predicted.Bits / uint64(w), c.Predicted.K, w
}

// inBlocks tells whether a counting filter keeps the counters of a key in one cache
// line.
func inBlocks(c *Cell) bool {
	v, ok := c.Variant().(counting.Variant)
	return ok && v.Layout == counting.Blocked
}

// saturatedShare is the expected share of counters at their ceiling after so many
// keys.
func saturatedShare(c *Cell, inserted uint64) float64 {
	m, k, w := counters(c)
	if inBlocks(c) {
		per := 512 / w // counters in a line
		return theory.BlockedCountingSaturated(m/uint64(per), per, inserted, k, w)
	}
	return theory.CountingSaturated(m, inserted, k, w)
}

func saturate() Measure {
	return Measure{Name: "saturate", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		return lab.each(ctx, points, 1, func(p *Point, keys *pointKeys, queries uint64, emit emitFunc) error {
			f, err := newFilter(p)
			if err != nil {
				return err
			}
			cf, ok := f.(*counting.Filter)
			if !ok {
				return filters.Refuse("filter", p.Variant, "a counting filter")
			}
			if _, err := cf.AddMany(keys.members); err != nil {
				return err
			}
			emit(MetricSaturatedShare, float64(cf.Saturated()), cf.Config().M)
			if err := noneLost(f, keys.members, emit); err != nil {
				return err
			}
			c := measure.Absent(f, min(queries, 200_000, keys.absentLimit), keys.absent)
			emit(MetricFPR, float64(c.Events), c.Trials)
			half := len(keys.members) / 2
			for _, h := range keys.members[:half] {
				if !cf.Delete(h) {
					return fmt.Errorf("%v: refuses to delete a member", p.Variant)
				}
			}
			return noneLost(f, keys.members[half:], emit)
		})
	}}
}
