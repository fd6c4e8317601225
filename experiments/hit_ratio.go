package experiments

import (
	"fmt"
	"sort"

	"filterlab/experiments/figure"
	"filterlab/experiments/units"
)

// HitRatio asks what a lookup costs when nobody knows its answer beforehand.
func HitRatio() Experiment {
	return Experiment{
		Name:     "hit-ratio",
		Question: "What does a lookup cost when a share of 0 to 100% of them is positive, in random order?",
		Grid: func(p Profile) Grid {
			ns := []string{"1e4", "1e6"}
			if p.Thin {
				ns = ns[:1]
			}
			return Grid{
				Axes: []Axis{timedSizes(ns...), HitAxis("0", "5%", "50%", "95%", "100%"),
					FilterAxis("standard", "blocked", "counting", "scalable", "cuckoo"), HashAxis("xxh3"), KeysAxis("random"), PAxis("1%")},
				Same: func(p *Point) string { return fmt.Sprint(p.Target.N, " ", p.Hit) },
			}
		},
		Measures: []Measure{Rate(1_000_000), MixTime()},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name:  "hit-ratio",
				Title: "Lookups in random order, by the share that is positive",
				Caption: "Medians over interleaved rounds, net of the loop without a filter. A lookup that ends at the first absent bit is fast where " +
					"the answer can be guessed, at both ends, and slow between. " + about.Text,
				X:       figure.Axis{Label: "positive lookups", Format: figure.Percent},
				Y:       figure.Axis{Label: "time per lookup (ns)"},
				Columns: 2,
			}
			for _, group := range groupBy(cells, func(c *Cell) string { return units.FormatCount(c.N) + " keys, " + c.API }) {
				if group[0].API == "" {
					continue
				}
				panel := figure.Panel{Title: units.FormatCount(group[0].N) + " keys, " + group[0].API}
				for _, f := range groupBy(group, func(c *Cell) string { return c.Filter }) {
					s := figure.Series{Name: f[0].Filter, Style: style(f[0].Filter), Join: true}
					for i := range f {
						x, err := units.ParseRate(f[i].Hit)
						if t, ok := f[i].Times[MetricMixed]; ok && err == nil {
							s.Points = append(s.Points, interval(x, t))
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
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := noiseText(cells, MetricMixed)
			for _, f := range []string{"standard", "blocked", "cuckoo"} {
				at := func(hit string) *Cell {
					return find(cells, func(c *Cell) bool {
						_, ok := c.Times[MetricMixed]
						return ok && c.Filter == f && c.N == 1e4 && c.API == "single" && c.Hit == hit
					})
				}
				if none, half := at("0"), at("50%"); none != nil && half != nil {
					s += fmt.Sprintf("Among 1e4 keys %s takes %.2g ns for lookups that are all negative and %.2g ns when half of them are. ",
						f, none.Times[MetricMixed].Value, half.Times[MetricMixed].Value)
				}
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}
