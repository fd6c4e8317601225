package experiments

import (
	"fmt"
	"math"
	"strings"

	"filterlab/experiments/figure"
)

// FPRvsLoad asks what happens to filters that hold fewer or more keys than they
// were sized for.
func FPRvsLoad() Experiment {
	return Experiment{
		Name:     "fpr-vs-load",
		Question: "How does the false-positive rate move when a filter holds 0.1 to 4 times the keys it was sized for?",
		Grid: func(p Profile) Grid {
			loads := []string{"0.1", "0.2", "0.35", "0.5", "0.75", "0.95", "1", "1.25", "1.5", "2", "3", "4"}
			if p.Thin {
				loads = []string{"0.35", "1", "2", "4"}
			}
			return Grid{
				Axes: []Axis{
					FilterAxis("standard", "standard(sizing=textbook)", "standard(scheme=double)", "blocked", "counting", "scalable", "cuckoo"),
					HashAxis("xxh3"), KeysAxis("random"), NAxis("1e4"), PAxis("1%", "10%"), LoadAxis(loads...),
				},
				// A filter for 1% that holds a tenth of its keys errs once in 10^8
				// lookups: 5e10 of them would be needed for an interval of 10%. The
				// filters for 10% cover that load.
				Skip: func(p *Point) bool { return p.Load < 0.2 && p.Target.P < 0.05 },
			}
		},
		Measures: []Measure{Rate(0)},
		Figures: func(cells []Cell, about About) []figure.Figure {
			var panels []figure.Panel
			for _, group := range groupBy(cells, func(c *Cell) float64 { return c.P }) {
				panels = append(panels, figure.Panel{
					Title: fmt.Sprintf("sized for %.4g%%", 100*group[0].P),
					Series: rateSeries(group, func(c *Cell) string { return c.Filter }, (*Cell).Load,
						func(c *Cell, xs []float64) []figure.Point {
							var line []figure.Point
							for _, x := range xs {
								line = append(line, figure.Point{X: x, Y: predicted(c, c.Target(), uint64(math.Round(x*float64(c.N))))})
							}
							return line
						}),
					HLines: []figure.Line{{At: group[0].P}},
					VLines: []figure.Line{{At: 1}},
				})
			}
			return []figure.Figure{figure.Grid{
				Name:  "fpr-vs-load",
				Title: "False-positive rate of under- and overfilled filters",
				Caption: "Marks: measured. Lines: exact theory for the geometry built. " +
					"Cuckoo filters refuse keys beyond their capacity instead of erring more. " + about.Text,
				X:      figure.Axis{Label: "keys held / keys sized for", Log: true, Ticks: []float64{0.1, 0.2, 0.5, 1, 2, 4}},
				Y:      figure.Axis{Label: "false-positive rate", Log: true},
				Panels: panels,
			}}
		},
		Finding: func(cells []Cell) string {
			var said []string
			for _, load := range []float64{2, 4} {
				if c := find(cells, func(c *Cell) bool {
					return c.Filter == "standard(sizing=textbook)" && c.P == 0.01 && c.Load() == load && c.Trials > 0
				}); c != nil {
					said = append(said, fmt.Sprintf("a textbook filter for 1%% that holds %g times its keys errs at %s (exact %.4g%%)", load, percent(c.FPR), 100*c.Predicted.FPR))
				}
			}
			if c := find(cells, func(c *Cell) bool { return c.Filter == "scalable" && c.P == 0.01 && c.Load() == 4 && c.Trials > 0 }); c != nil {
				said = append(said, fmt.Sprintf("a scalable filter for 1%% that holds 4 times its keys errs at %s", percent(c.FPR)))
			}
			if c := find(cells, func(c *Cell) bool { return c.Filter == "cuckoo" && c.P == 0.01 && c.Load() == 4 && c.Stored > 0 }); c != nil {
				said = append(said, fmt.Sprintf("a cuckoo filter takes %.2f times its keys and refuses the rest", float64(c.Stored)/float64(c.N)))
			}
			s := ""
			if len(said) > 0 {
				s = "What too many keys do: " + strings.Join(said, "; ") + ". "
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}
