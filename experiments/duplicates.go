package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/filters"
)

// Duplicates asks what happens when keys come more than once.
func Duplicates() Experiment {
	return Experiment{
		Name:     "duplicates",
		Question: "What do keys that are added again and again do to a filter: to its rate, its space and its room?",
		Grid: func(p Profile) Grid {
			sets := []string{"random*1", "random*2", "random*4", "random*8", "random*16"}
			n := "2e4"
			if p.Thin {
				sets, n = []string{"random*1", "random*4", "random*16"}, "5000"
			}
			return Grid{Axes: []Axis{FilterAxis("standard", "blocked", "counting", "scalable", "cuckoo"), HashAxis("xxh3"), KeysAxis(sets...), NAxis(n), PAxis("1%")}}
		},
		Measures: []Measure{addAgain()},
		Values: []Value{
			{Metric: MetricTaken},
			{Metric: MetricBits, Expect: func(c *Cell) (float64, float64) {
				if family(c.Filter) == "scalable" {
					// Where a stage is about to fill up chance opens the next; the mean is
					// rounded to whole bits.
					return float64(c.Predicted.Bits), math.NaN()
				}
				return float64(c.Predicted.Bits), 0
			}},
			{Metric: MetricSaturated},
		},
		Expected: func(p *Point) string {
			if family(p.Variant.String()) == "scalable" && times(p.Keys, repeated) > 1 {
				return "a key of an older stage that comes again is stored again, in the newest"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			chart := figure.Chart{
				Name: "duplicates", Title: "Keys that are added again",
				Caption: "n distinct keys, filters sized for as many at 1%. Lines: theory for distinct keys. A cuckoo filter is measured with the copies it took. " + about.Text,
				X:       figure.Axis{Label: "times each key is added", Log: true, Ticks: []float64{1, 2, 4, 8, 16}}, Y: figure.Axis{Label: "false-positive rate", Format: figure.Percent},
			}
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				marks := figure.Series{Name: g[0].Filter, Style: style(g[0].Filter)}
				line := figure.Series{Name: marks.Name, Style: marks.Style, Theory: true}
				for i := range g {
					if c := &g[i]; c.Trials > 0 {
						x := float64(times(c.Keys, repeated))
						marks.Points = append(marks.Points, ratePoint(x, c))
						line.Points = append(line.Points, figure.Point{X: x, Y: c.Predicted.FPR})
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
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				c := &g[len(g)-1]
				taken, ok := c.Own[MetricTaken]
				if !ok {
					continue
				}
				s += fmt.Sprintf("%s, every key %d times: %.3g%% of the adds taken before one was refused", c.Filter, times(c.Keys, repeated), 100*taken.Value)
				if c.Trials > 0 {
					s += ", rate " + percent(c.FPR)
				}
				if bits := c.Own[MetricBits].Value; bits > 1.001*float64(c.Predicted.Bits) {
					s += fmt.Sprintf(", in %.3g times the space for distinct keys", bits/float64(c.Predicted.Bits))
				}
				if n := c.Own[MetricSaturated].Value; n > 0 {
					s += fmt.Sprintf(", %.3g counters at their ceiling for good", n)
				}
				s += "; "
			}
			return s + "a bit is set once however often its key comes; a scalable filter stores keys of its older stages once more; a cuckoo filter stores every copy. Verdicts: " + verdicts(cells) + "."
		},
	}
}

// addAgain is the measure of keys that come several times, one round of all keys
// after the other, up to the first that is refused.
func addAgain() Measure {
	return Measure{Name: "add again", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		return lab.each(ctx, points, 1, func(p *Point, keys *pointKeys, queries uint64, emit emitFunc) error {
			copies := max(times(p.Keys, repeated), 1)
			f, err := newFilter(p)
			if err != nil {
				return err
			}
			taken := 0
			for range copies {
				n, err := filters.AddMany(f, keys.members)
				taken += n
				if errors.Is(err, filters.ErrFull) {
					break
				}
				if err != nil {
					return err
				}
			}
			emit(MetricTaken, float64(taken), uint64(copies*len(keys.members)))
			emit(MetricBits, float64(f.SizeBits()), 0)
			emitSaturated(f, emit)
			in := keys.members[:min(taken, len(keys.members))]
			if err := noneLost(f, in, emit); err != nil {
				return err
			}
			if len(in) < len(keys.members) {
				emit(MetricStored, float64(len(in)), uint64(len(keys.members)))
				return nil
			}
			c := measure.Absent(f, min(queries, keys.absentLimit), keys.absent)
			emit(MetricFPR, float64(c.Events), c.Trials)
			return nil
		})
	}}
}
