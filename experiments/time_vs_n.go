package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
)

// TimeVsN asks what an operation costs as the table grows out of the caches.
func TimeVsN() Experiment {
	largest := []string{"standard", "blocked", "blocked(layout=split)"} // those that are timed with keys that are not held
	return Experiment{
		Name:     "time-vs-n",
		Question: "What do an add, a positive and a negative lookup cost as the filter grows from the first-level cache into memory?",
		Grid: func(p Profile) Grid {
			var ns []string
			for n := uint64(1000); n <= p.MaxN; n *= 10 {
				ns = append(ns, units.FormatCount(n))
				if half := n * 3; !p.Thin && half < p.MaxN && n == 100_000 {
					ns = append(ns, units.FormatCount(half))
				}
			}
			if p.MaxN >= 100_000_000 {
				ns = append(ns, "1e9")
			}
			sizes := timedSizes(ns...)
			return Grid{
				Axes: []Axis{sizes, FilterAxis("standard", "blocked", "blocked(layout=split)", "blocked(layout=pattern)", "counting", "scalable", "cuckoo"),
					HashAxis("xxh3"), KeysAxis("random"), PAxis("1%")},
				// A billion keys take more than a gigabyte in each, and minutes.
				Skip: func(p *Point) bool {
					return p.Target.N > holdKeys && !slices.Contains(largest, p.Variant.String())
				},
				Same: func(p *Point) string { return fmt.Sprint(p.Target.N) }, // filters of one size race each other
			}
		},
		// The rate is checked before anything is timed: a filter that answers
		// wrong is fast for nothing. A moderate check does.
		Measures: []Measure{Rate(4_000_000), FilterTime(), atSizes(LatencyTime(), 1e4, 1e6, 1e7, 1e8), atSizes(OneTime(), 1e4, 1e6), atSizes(Litter(), 1e4, 1e6)},
		Values:   timeValues(),
		Parts:    true,
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name:    "time-vs-n",
				Title:   "Time per operation at a promised rate of 1%",
				Caption: "Medians over interleaved rounds, net of the loop without a filter; vertical lines: where a standard filter outgrows a cache. " + about.Text,
				X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power},
				Y:       figure.Axis{Label: "time per key (ns)", Log: true},
				Columns: 3,
			}
			lines := cacheLines(cells, about.Env.Caches)
			for _, api := range []string{"single", "batch"} {
				for _, m := range []struct{ metric, what string }{{MetricAdd, "add"}, {MetricHit, "positive lookup"}, {MetricMiss, "negative lookup"}} {
					panel := figure.Panel{Title: fmt.Sprintf("%s, %s", m.what, api), VLines: lines}
					for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
						s := figure.Series{Name: group[0].Filter, Style: style(group[0].Filter), Join: true}
						for i := range group {
							c := &group[i]
							if t, ok := c.Times[m.metric]; ok && c.API == api && t.Value > 0 {
								s.Points = append(s.Points, interval(float64(c.N), t))
							}
						}
						if len(s.Points) == 0 {
							continue
						}
						sort.Slice(s.Points, func(i, j int) bool { return s.Points[i].X < s.Points[j].X })
						panel.Series = append(panel.Series, s)
					}
					g.Panels = append(g.Panels, panel)
				}
			}
			return []figure.Figure{g, overFloor(cells, about), pareto(cells, about)}
		},
		Finding: func(cells []Cell) string {
			s := noiseText(cells, MetricAdd, MetricHit, MetricMiss)
			for _, n := range []uint64{1e4, 1e6, 1e7, 1e8, 1e9} {
				var parts, waits, floors []string
				for _, f := range []string{"standard", "blocked", "blocked(layout=split)", "cuckoo"} {
					one := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == f && c.API == "single" })
					many := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == f && c.API == "batch" })
					if one == nil || many == nil {
						continue
					}
					parts = append(parts, fmt.Sprintf("%s %.2g ns singly and %.2g ns batched", f, one.Times[MetricMiss].Value, many.Times[MetricMiss].Value))
					if o, ok := one.Own[MetricMissChain]; ok {
						waits = append(waits, fmt.Sprintf("%.2g (%s)", o.Value, f))
					}
					if o, ok := many.Own[MetricOverFloor]; ok {
						floors = append(floors, fmt.Sprintf("%.2g (%s)", o.Value, f))
					}
				}
				if len(parts) == 0 {
					continue
				}
				s += fmt.Sprintf("A negative lookup among %s keys takes in %s", units.FormatCount(n), join(parts))
				if len(waits) > 0 {
					s += fmt.Sprintf("; where the next key depends on the answer, %s ns", join(waits))
				}
				if len(floors) > 0 {
					s += fmt.Sprintf("; batched and with its loop that is %s times what reading one line a key takes", join(floors))
				}
				s += ". "
			}
			for i := range cells {
				c := &cells[i]
				if o, ok := c.Own[MetricProcess]; ok && c.API == "batch" {
					s += fmt.Sprintf("%s keys go into %s in %.3g s batched, made a part at a time and that not counted; it errs at %.3g%%, and the process with all filters of the race has %.2g GB. ",
						units.FormatCount(c.N), c.Filter, c.Times[MetricAdd].Value*float64(c.N)/1e9, 100*c.FPR.Value, o.Value/1e9)
				}
			}
			for _, n := range []uint64{1e4, 1e6} {
				if c := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == "blocked" && c.API == "single" }); c != nil {
					if o, ok := c.Own[metricOne("miss", "p999")]; ok {
						s += fmt.Sprintf("Timed one by one among %s keys, a negative lookup in blocked takes %.0f ns at the median, %.0f at most in 99.9%% of cases and %.0f at worst, %.0f ns of clock included. ",
							units.FormatCount(n), c.Own[metricOne("miss", "p50")].Value, o.Value, c.Own[metricOne("miss", "worst")].Value, c.Own[MetricClock].Value)
					}
				}
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// noiseText says how little the races of the metrics can tell, which is the first
// that a reader of times should know; nothing where there were none.
func noiseText(cells []Cell, metrics ...string) string {
	var noise []float64
	for i := range cells {
		for _, m := range metrics {
			if t, ok := cells[i].Times[NoiseOf(m)]; ok {
				noise = append(noise, t.Value)
			}
		}
	}
	if len(noise) == 0 {
		return ""
	}
	return fmt.Sprintf("One filter, timed twice in a race, may seem to differ from itself by %.1f%% in the median race and by %.1f%% in the worst: "+
		"smaller differences within a race mean nothing, and the columns noise_* have the figure of each. ", 100*measure.Median(noise), 100*slices.Max(noise))
}

// timedSizes varies n where rates are checked before something is timed: two filters
// of a million keys do, which hardly differ and take seconds to build.
func timedSizes(values ...string) Axis {
	axis := NAxis(values...)
	set := axis.Set
	axis.Set = func(p *Point, s string) error {
		err := set(p, s)
		if p.Target.N >= 1_000_000 {
			p.Seeds = 2
		}
		return err
	}
	return axis
}

// atSizes keeps a measure to points of the given sizes.
func atSizes(m Measure, sizes ...uint64) Measure {
	run := m.Run
	m.Run = func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		if !slices.Contains(sizes, points[0].Target.N) {
			return nil, nil
		}
		return run(ctx, lab, points)
	}
	return m
}

// timeValues are the metrics that time-vs-n has besides the times of all.
func timeValues() []Value {
	names := []string{MetricFloor, MetricOverFloor, MetricHitChain, MetricMissChain, NoiseOf(MetricHitChain), NoiseOf(MetricMissChain),
		MetricClock, MetricTick}
	for _, op := range oneOps {
		for _, q := range oneQuantiles {
			names = append(names, metricOne(op.name, q))
		}
	}
	names = append(names, MetricAddAllocs, MetricAskAllocs, MetricGC, MetricProcess)
	values := make([]Value, len(names))
	for i, name := range names {
		values[i] = Value{Metric: name, Median: true}
	}
	return values
}

// overFloor draws how far batched lookups are from reading one line and no more.
func overFloor(cells []Cell, about About) figure.Figure {
	c := figure.Chart{
		Name:  "time-vs-n-floor",
		Title: "Batched negative lookups over the time to read one line",
		Caption: "Gross time of a lookup over that of reading one cache line for each key in a table of the same size, lines fetched ahead, in the same round; " +
			"medians with 95% intervals. Vertical lines: where a standard filter outgrows a cache. " + about.Text,
		X:      figure.Axis{Label: "keys", Log: true, Format: figure.Power},
		Y:      figure.Axis{Label: "lookup / line read", Log: true},
		VLines: cacheLines(cells, about.Env.Caches),
		HLines: []figure.Line{{At: 1}},
	}
	for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
		s := figure.Series{Name: group[0].Filter, Style: style(group[0].Filter), Join: true}
		for i := range group {
			if o, ok := group[i].Own[MetricOverFloor]; ok && o.Value > 0 {
				s.Points = append(s.Points, interval(float64(group[i].N), o.Estimate))
			}
		}
		if len(s.Points) > 0 {
			sort.Slice(s.Points, func(i, j int) bool { return s.Points[i].X < s.Points[j].X })
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// pareto draws what a lookup costs in time and in space, with the measured rate at
// each mark: nothing is to be had below and to the left of the best.
func pareto(cells []Cell, about About) figure.Figure {
	g := figure.Grid{
		Name:    "pareto",
		Title:   "Space and time of filters that promise a rate of 1%",
		Caption: "Batched negative lookups, median over rounds with its 95% interval; beside each mark the rate that was measured; ringed filters are beaten in both space and time by none. " + about.Text,
		X:       figure.Axis{Label: "bits per key", Log: true, Ticks: []float64{10, 15, 20, 30, 40}},
		Y:       figure.Axis{Label: "time per lookup (ns)", Log: true},
	}
	for _, n := range []uint64{1e4, 1e6, 1e7, 1e8, 1e9} {
		panel := figure.Panel{Title: units.FormatCount(n) + " keys"}
		var here []*Cell
		for i := range cells {
			c := &cells[i]
			if t, ok := c.Times[MetricMiss]; ok && c.N == n && c.API == "batch" && t.Value > 0 && c.Predicted.Bits > 0 {
				here = append(here, c)
			}
		}
		for _, c := range here {
			t := c.Times[MetricMiss]
			panel.Series = append(panel.Series, figure.Series{Name: c.Filter, Style: style(c.Filter), Points: []figure.Point{interval(c.BitsPerInserted(), t)}})
			mark := figure.Mark{X: c.BitsPerInserted(), Y: t.Value}
			if c.Trials > 0 {
				mark.Text = fmt.Sprintf("%.2f%%", 100*c.FPR.Value)
			}
			mark.Bare = slices.ContainsFunc(here, func(o *Cell) bool {
				return o.BitsPerInserted() < c.BitsPerInserted() && o.Times[MetricMiss].Value < t.Value
			})
			if !mark.Bare {
				mark.Name = "not beaten"
			}
			panel.Marks = append(panel.Marks, mark)
		}
		if len(panel.Series) > 0 {
			g.Panels = append(g.Panels, panel)
		}
	}
	return g
}

// interval is a point with its interval, or without one where there were too few
// samples.
func interval(x float64, e Estimate) figure.Point {
	if math.IsNaN(e.Lo) || math.IsNaN(e.Hi) {
		return figure.Point{X: x, Y: e.Value}
	}
	return figure.Point{X: x, Y: e.Value, Lo: e.Lo, Hi: e.Hi}
}

// cacheLines marks the numbers of keys, of those measured, at which a standard
// filter outgrows the caches of the machine that was measured.
func cacheLines(cells []Cell, caches measure.Caches) []figure.Line {
	var lines []figure.Line
	c := find(cells, func(c *Cell) bool { return c.Filter == "standard" && c.Predicted.Bits > 0 })
	if c == nil {
		return nil
	}
	perKey := float64(c.Predicted.Bits) / float64(c.N) / 8
	largest := 0.0
	for i := range cells {
		largest = max(largest, float64(cells[i].N))
	}
	for _, l := range []struct {
		name string
		size uint64
	}{{"L1", caches.L1d}, {"L2", caches.L2}, {"L3", caches.L3}} {
		if at := float64(l.size) / perKey; at > 0 && at <= largest {
			lines = append(lines, figure.Line{At: at, Label: l.name})
		}
	}
	return lines
}

// join puts "and" before the last of several parts.
func join(parts []string) string {
	if len(parts) < 2 {
		return parts[0]
	}
	s := ""
	for i, p := range parts {
		switch {
		case i == len(parts)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += p
	}
	return s
}
