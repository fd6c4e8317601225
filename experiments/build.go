package experiments

import (
	"context"
	"fmt"
	"runtime"
	"sort"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
)

// buildWay is one way to fill a filter.
type buildWay struct {
	api  string
	fill func(r *racing) func() uint64 // nil where the filter has it not
}

// buildWays lists the ways, the one that every filter has first.
func buildWays() []buildWay {
	return []buildWay{
		{"single", func(r *racing) func() uint64 { return r.adds(false).Run }},
		{"batch", func(r *racing) func() uint64 {
			if _, ok := r.filter.(filters.BatchAdder); !ok {
				return nil
			}
			return r.adds(true).Run
		}},
		{"bulk", func(r *racing) func() uint64 { return r.bulk(1) }},
		{"parallel", func(r *racing) func() uint64 {
			if runtime.GOMAXPROCS(0) < 2 {
				return nil
			}
			return r.bulk(runtime.GOMAXPROCS(0))
		}},
	}
}

// bulk adds all members in one call by so many goroutines, where the filter has it.
func (r *racing) bulk(workers int) func() uint64 {
	f, ok := r.filter.(filters.BulkAdder)
	if !ok {
		return nil
	}
	return func() uint64 {
		n, _ := f.AddBulk(r.members, workers) // a refusal shows as a wrong answer
		return uint64(n)
	}
}

// Build asks for the fastest way to fill a filter with keys that are all there.
func Build() Experiment {
	return Experiment{
		Name:     "build",
		Question: "What does a key cost when a whole set of them is added at once: one by one, in a batch, sorted by region of the table, or by several goroutines?",
		Grid: func(p Profile) Grid {
			ns := []string{"1e4", "1e6", "1e7"}
			if p.Thin {
				ns = []string{"1e4", "1e5"}
			} else if p.MaxN > 10_000_000 {
				ns = append(ns, "1e8")
			}
			return Grid{
				Axes: []Axis{FilterAxis("standard", "blocked", "blocked(layout=split)", "counting", "scalable", "cuckoo"), HashAxis("xxh3"), KeysAxis("random"), NAxis(ns...), PAxis("1%")},
				// The default profile has seconds for one filter beyond the caches, the one
				// that gains most from sorting the keys.
				Skip: func(q *Point) bool {
					return q.Target.N > 1_000_000 && p.MaxN <= 10_000_000 && q.Variant.String() != "blocked"
				},
			}
		},
		Measures: []Measure{buildTimes()},
		Values:   []Value{{Metric: MetricBuild, Median: true}, {Metric: NoiseOf(MetricBuild), Median: true}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "build", Title: "Time to fill an empty filter",
				Caption: "Median over interleaved rounds with its 95% interval, net of reading the keys; the table is written over, not allocated. " + about.Text,
				X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power},
				Y:       figure.Axis{Label: "time per key (ns)", Log: true},
			}
			for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				panel := figure.Panel{Title: group[0].Filter}
				for i, w := range buildWays() {
					s := figure.Series{Name: w.api, Style: i + 1, Join: true}
					for j := range group {
						if o, ok := group[j].Own[MetricBuild]; ok && group[j].API == w.api {
							s.Points = append(s.Points, interval(float64(group[j].N), o.Estimate))
						}
					}
					if len(s.Points) > 0 {
						sort.Slice(s.Points, func(a, b int) bool { return s.Points[a].X < s.Points[b].X })
						panel.Series = append(panel.Series, s)
					}
				}
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				largest := uint64(0)
				for i := range g {
					if _, ok := g[i].Own[MetricBuild]; ok {
						largest = max(largest, g[i].N)
					}
				}
				var parts []string
				for _, w := range buildWays() {
					if c := find(g, func(c *Cell) bool { return c.N == largest && c.API == w.api }); c != nil {
						parts = append(parts, fmt.Sprintf("%.3g ns %s", c.Own[MetricBuild].Value, w.api))
					}
				}
				if len(parts) > 0 {
					s += fmt.Sprintf("Each of %s keys costs %s %s. ", units.FormatCount(largest), g[0].Filter, join(parts))
				}
			}
			if s == "" {
				return "Nothing was timed."
			}
			return noiseText(cells, MetricBuild) + s + "bulk: sorted by region of the table where it is large; parallel: that by as many goroutines as cores."
		},
	}
}

// buildTimes lets the ways to fill one filter race each other, on a filter each.
func buildTimes() Measure {
	return Measure{Name: "build", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			if !lab.held(p) {
				row := p.row(MetricRefused)
				row.Note = filters.Refuse("n", p.Inserted(), fmt.Sprintf("at most %d keys, which are held in memory", lab.holdLimit())).Error()
				rows = append(rows, row)
				continue
			}
			var racers []*racing
			var ways []buildWay
			var cs []measure.Contender
			for _, w := range buildWays() {
				made, err := racersOf(lab, []*Point{p})
				if err != nil || len(made) == 0 {
					return rows, err
				}
				r := made[0]
				run := w.fill(r)
				if run == nil {
					continue
				}
				c := r.adds(w.api != "single")
				c.Name, c.Run = w.api, run
				racers, ways, cs = append(racers, r), append(ways, w), append(cs, c)
			}
			more, err := race(ctx, racers, cs, MetricBuild, true, lab.rounds(racers), addLoop(racers[0].members, true))
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
			// Rows come racer by racer.
			for i, per := 0, len(more)/len(racers); i < len(more); i++ {
				more[i].API = ways[i/per].api
				if more[i].API == "single" {
					more[i].Kernel = "go"
				}
			}
			rows = append(rows, more...)
			// What was built answers for its keys: the last pass left them in.
			for _, r := range racers {
				if err := measure.Lost(r.filter, r.members); err != nil {
					return rows, err
				}
			}
		}
		return rows, nil
	}}
}
