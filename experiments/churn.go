package experiments

import (
	"context"
	"fmt"
	"math/rand/v2"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/filters"
)

// Churn asks whether filters that can delete stay what they were when keys come
// and go.
func Churn() Experiment {
	return Experiment{
		Name:     "churn",
		Question: "Do filters that can delete keep every key and their rate when all keys are replaced many times over?",
		OwnN:     true, // every key comes and goes many times
		Grid: func(p Profile) Grid {
			sets, n := []string{"random~1", "random~3", "random~10", "random~30"}, "2e4"
			if p.Thin {
				sets, n = []string{"random~1", "random~10"}, "5000"
			}
			return Grid{Axes: []Axis{FilterAxis("counting", "counting(w=2)", "cuckoo", "cuckoo(f=12,b=4)"), HashAxis("xxh3"), KeysAxis(sets...), NAxis(n), PAxis("1%")}}
		},
		Measures: []Measure{replaceKeys()},
		Values: []Value{
			{Metric: MetricUndeleted, Expect: func(*Cell) (float64, float64) { return 0, 0 }},
			{Metric: MetricRefusedAdds},
			{Metric: MetricSaturated},
		},
		Expected: func(p *Point) string {
			if p.Variant.String() == "counting(w=2)" {
				return "counters of two bits reach their ceiling and stay there, so that the table fills up"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			chart := figure.Chart{
				Name: "churn", Title: "Keys that come and go",
				Caption: "n keys at a time, filters sized for as many. Each step deletes a random key and adds a new one. Lines: the rate of a filter just built. " + about.Text,
				X:       figure.Axis{Label: "times all keys were replaced", Log: true, Ticks: []float64{1, 3, 10, 30}}, Y: figure.Axis{Label: "false-positive rate", Log: true, Format: figure.Percent},
			}
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				marks := figure.Series{Name: g[0].Filter}
				line := figure.Series{Name: marks.Name, Theory: true}
				for i := range g {
					if c := &g[i]; c.Trials > 0 {
						x := float64(times(c.Keys, turned))
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
				if c.Trials == 0 {
					continue
				}
				s += fmt.Sprintf("%s, all keys replaced %d times: rate %s, a new filter has %.3g%%", c.Filter, times(c.Keys, turned), percent(c.FPR), 100*c.Predicted.FPR)
				if o, ok := c.Own[MetricRefusedAdds]; ok && o.Events > 0 {
					s += fmt.Sprintf(", %d of %d adds refused", o.Events, o.Trials)
				}
				s += "; "
			}
			failed := 0
			for i := range cells {
				if cells[i].Verdict == Failed {
					failed++
				}
			}
			return s + fmt.Sprintf("keys were lost at %d of %d points, held against an exact set. Verdicts: %s.", failed, len(cells), verdicts(cells))
		},
	}
}

// replaceKeys is the measure of churn. An exact set of the keys that ought to be
// in the filter goes along; it is held against the filter after every replacement
// of all keys.
func replaceKeys() Measure {
	return Measure{Name: "churn", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		return lab.each(ctx, points, 1, func(p *Point, keys *pointKeys, queries uint64, emit emitFunc) error {
			f, err := newFilter(p)
			if err != nil {
				return err
			}
			deleter, ok := f.(filters.Deleter)
			if !ok {
				return filters.Refuse("filter", p.Variant, "one that can delete")
			}
			turns := times(p.Keys, turned)
			// New keys are hashes of their own: numbers mixed once and for all.
			next := keys.seed
			fresh := func() uint64 {
				next += 0x9e3779b97f4a7c15
				return mix(next)
			}
			live := append([]uint64(nil), keys.members...)
			if _, err := filters.AddMany(f, live); err != nil {
				return err
			}
			rng := rand.New(rand.NewPCG(keys.seed, uint64(turns)))
			undeleted, refused, steps := 0, 0, 0
			for range turns {
				for range live {
					at := rng.IntN(len(live))
					steps++
					if !deleter.Delete(live[at]) {
						undeleted++
					}
					h := fresh()
					for f.Add(h) != nil {
						// What does not fit is another key's turn, so that as many stay.
						refused++
						if refused > 100*len(live) {
							return fmt.Errorf("%v is full with %d keys", p.Variant, len(live)-1)
						}
						h = fresh()
					}
					live[at] = h
				}
				if err := measure.Lost(f, live); err != nil {
					return noneLost(f, live, emit)
				}
			}
			if err := noneLost(f, live, emit); err != nil {
				return err
			}
			emit(MetricUndeleted, float64(undeleted), uint64(steps))
			emit(MetricRefusedAdds, float64(refused), uint64(steps+refused))
			emitSaturated(f, emit)
			c := measure.Absent(f, min(queries, keys.absentLimit), keys.absent)
			emit(MetricFPR, float64(c.Events), c.Trials)
			return nil
		})
	}}
}
