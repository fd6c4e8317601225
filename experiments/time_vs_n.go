package experiments

import (
	"fmt"
	"math"
	"sort"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
)

// TimeVsN asks what an operation costs as the table grows out of the caches.
func TimeVsN() Experiment {
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
			sizes := NAxis(ns...)
			set := sizes.Set
			sizes.Set = func(p *Point, s string) error {
				err := set(p, s)
				if p.Target.N >= 1_000_000 {
					p.Seeds = 2 // filters of this size hardly differ, and take seconds to build
				}
				return err
			}
			return Grid{
				Axes: []Axis{sizes, FilterAxis("standard", "blocked", "counting", "scalable", "cuckoo"),
					HashAxis("xxh3"), KeysAxis("random"), PAxis("1%")},
				Same: func(p *Point) string { return fmt.Sprint(p.Target.N) }, // filters of one size race each other
			}
		},
		// The rate is checked before anything is timed: a filter that answers
		// wrong is fast for nothing. A moderate check does.
		Measures: []Measure{Rate(4_000_000), FilterTime()},
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
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, n := range []uint64{1e4, 1e6, 1e7, 1e8} {
				var parts []string
				for _, f := range []string{"standard", "blocked", "cuckoo"} {
					one := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == f && c.API == "single" })
					many := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == f && c.API == "batch" })
					if one != nil && many != nil {
						parts = append(parts, fmt.Sprintf("%s %.2g ns singly and %.2g ns batched", f, one.Times[MetricMiss].Value, many.Times[MetricMiss].Value))
					}
				}
				if len(parts) > 0 {
					s += fmt.Sprintf("A negative lookup among %s keys takes %s. ", units.FormatCount(n), join(parts))
				}
			}
			var noise []float64
			for i := range cells {
				if t, ok := cells[i].Times[MetricNoise]; ok {
					noise = append(noise, t.Value)
				}
			}
			if len(noise) > 0 {
				s += fmt.Sprintf("The same filter timed twice in one race differs by %.0f%% at the median: smaller differences mean nothing. ", 100*measure.Median(noise))
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
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
