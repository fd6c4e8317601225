package experiments

import (
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Misestimate asks what a wrong guess of the number of keys costs: a rate when it
// was too low, space when it was too high.
func Misestimate() Experiment {
	return Experiment{
		Name:     "misestimate",
		Question: "What does it cost to size a filter for the wrong number of keys, from four times too many to eight times too few?",
		Grid: func(p Profile) Grid {
			loads := []string{"0.25", "0.5", "0.75", "1", "1.5", "2", "4", "8"}
			if p.Thin {
				loads = []string{"0.5", "1", "2", "8"}
			}
			return Grid{Axes: []Axis{FilterAxis("standard", "blocked", "counting", "scalable", "cuckoo"), HashAxis("xxh3"), KeysAxis("random"), NAxis("2e4"), PAxis("1%"), LoadAxis(loads...)}}
		},
		Measures: []Measure{Rate(100_000_000)},
		Figures: func(cells []Cell, about About) []figure.Figure {
			series := rateSeries(cells, func(c *Cell) string { return c.Filter }, (*Cell).Load,
				func(c *Cell, xs []float64) (line []figure.Point) {
					for _, x := range xs {
						line = append(line, figure.Point{X: x, Y: predicted(c, c.Target(), uint64(x*float64(c.N)))})
					}
					return line
				})
			caption := "Filters sized for n keys at 1%. A cuckoo filter that is full has no point. "
			space := figure.Chart{
				Name: "misestimate-space", Title: "Space against a filter of the right size",
				Caption: caption + "Bits over those of the standard filter that has the promised rate with the keys that really came. " + about.Text,
				X:       figure.Axis{Label: "keys that came / keys planned", Log: true, Ticks: loadTicks()}, Y: figure.Axis{Label: "bits / bits of the right size", Log: true},
				HLines: []figure.Line{{At: 1}},
			}
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				s := figure.Series{Name: g[0].Filter, Style: style(g[0].Filter), Join: true}
				for i := range g {
					if r := rightSize(&g[i]); r > 0 && g[i].Trials > 0 {
						s.Points = append(s.Points, figure.Point{X: g[i].Load(), Y: r})
					}
				}
				if len(s.Points) > 0 {
					space.Series = append(space.Series, s)
				}
			}
			return []figure.Figure{figure.Chart{
				Name: "misestimate", Title: "A wrong guess of the number of keys",
				Caption: caption + "Marks: measured. Lines: theory. " + about.Text,
				X:       figure.Axis{Label: "keys that came / keys planned", Log: true, Ticks: loadTicks()}, Y: figure.Axis{Label: "false-positive rate", Log: true, Format: figure.Power},
				Series: series, HLines: []figure.Line{{At: 0.01, Label: "1%"}},
			}, space}
		},
		Finding: func(cells []Cell) string {
			s := "Sized for 1%: "
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				s += g[0].Filter
				for i := range g {
					c := &g[i]
					switch {
					case c.Load() != 0.5 && c.Load() != 2 && c.Load() != 8:
					case c.Verdict == Full:
						s += fmt.Sprintf(", at %gx full after %.3g of its keys", c.Load(), float64(c.Stored)/float64(c.N))
					case c.Trials > 0:
						s += fmt.Sprintf(", at %gx %.3g%% in %.3g times the right space", c.Load(), 100*c.FPR.Value, rightSize(c))
					}
				}
				s += "; "
			}
			return s + "too large a guess costs space in proportion, too small a one the rate, except where the filter grows or refuses. Verdicts: " + verdicts(cells) + "."
		},
	}
}

// loadTicks are the ticks of an axis of loads.
func loadTicks() []float64 { return []float64{0.25, 0.5, 1, 2, 4, 8} }

// rightSize is the space of a cell over that of a standard filter sized for the
// keys that it really got.
func rightSize(c *Cell) float64 {
	v, err := catalog.Parse("standard")
	if err != nil {
		return math.NaN()
	}
	p, err := v.Predict(filters.Target{N: c.Inserted, P: c.P}, c.Inserted)
	if err != nil {
		return math.NaN()
	}
	return float64(c.Predicted.Bits) / float64(p.Bits)
}
