package experiments

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/experiments/figure"
	"filterlab/filters/catalog"
)

// FPRvsK asks how many probes are best at a given space, and what a wrong number
// costs.
func FPRvsK() Experiment {
	return Experiment{
		Name:     "fpr-vs-k",
		Question: "How many probes are best at 4 to 20 bits per key, and what does a wrong number cost?",
		Grid: func(p Profile) Grid {
			bits := []string{"4", "6", "8", "10", "12", "14", "16", "20"}
			var ks []string
			for k := 1; k <= 20; k++ {
				ks = append(ks, strconv.Itoa(k))
			}
			if p.Thin {
				bits = []string{"6", "10", "14"}
				ks = []string{"1", "3", "5", "6", "7", "8", "10", "14", "20"} // dense where the minima are
			}
			return Grid{Axes: []Axis{
				FilterAxis("standard", "blocked"), HashAxis("xxh3"), KeysAxis("random"),
				NAxis("1e4"), BitsAxis(bits...), KAxis(ks...),
			}}
		},
		Measures: []Measure{Rate(0)},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name:  "fpr-vs-k",
				Title: "The best number of probes",
				Caption: "Marks: measured. Lines: exact theory. Rings: the measured minimum. " +
					"A blocked filter wants fewer probes than a standard one. " + about.Text,
				X:       figure.Axis{Label: "probes k", Ticks: []float64{1, 5, 10, 15, 20}},
				Y:       figure.Axis{Label: "false-positive rate", Log: true},
				Columns: 4,
			}
			for _, group := range groupBy(cells, func(c *Cell) float64 { return c.BitsPerKey }) {
				panel := figure.Panel{Title: fmt.Sprintf("%g bits per key", group[0].BitsPerKey)}
				for _, g := range groupBy(group, withoutK) {
					name := withoutK(&g[0])
					marks := figure.Series{Name: name, Style: style(name)}
					line := figure.Series{Name: name, Style: style(name), Theory: true}
					least, most := math.MaxInt, 0
					for i := range g {
						c := &g[i]
						if c.Trials == 0 {
							continue
						}
						marks.Points = append(marks.Points, ratePoint(float64(c.Predicted.K), c))
						least, most = min(least, c.Predicted.K), max(most, c.Predicted.K)
					}
					// At every k, those that the grid leaves out too.
					for k := least; k <= most; k++ {
						if v, err := catalog.With(g[0].Variant(), "k", strconv.Itoa(k)); err == nil {
							if p, err := v.Predict(g[0].Target(), g[0].Inserted); err == nil {
								line.Points = append(line.Points, figure.Point{X: float64(k), Y: p.FPR})
							}
						}
					}
					panel.Series = append(panel.Series, marks, line)
					if b := bestCell(g); b != nil {
						panel.Marks = append(panel.Marks, figure.Mark{X: float64(b.Predicted.K), Y: b.FPR.Value, Name: "minimum"})
					}
				}
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, want := range []string{"standard", "blocked"} {
				var at []Cell
				for i := range cells {
					if withoutK(&cells[i]) == want && cells[i].BitsPerKey == 10 {
						at = append(at, cells[i])
					}
				}
				if b := bestCell(at); b != nil {
					s += fmt.Sprintf("At 10 bits per key the best number of probes measured for %s is %d, at %s. ", want, b.Predicted.K, percent(b.FPR))
				}
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// withoutK is the cell's filter with its number of probes left open: blocked and
// blocked(64) are two curves.
func withoutK(c *Cell) string {
	v, err := catalog.With(c.Variant(), "k", "")
	if err != nil { // no such knob
		return c.Filter
	}
	return v.String()
}

// bestCell is the cell with the least measured rate, or nil.
func bestCell(cells []Cell) *Cell {
	var best *Cell
	for i := range cells {
		if c := &cells[i]; c.Events > 0 && (best == nil || c.FPR.Value < best.FPR.Value) {
			best = c
		}
	}
	return best
}
