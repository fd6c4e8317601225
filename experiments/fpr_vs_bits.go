package experiments

import (
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/theory"
)

// FPRvsBits asks what rate each family buys with the same space.
func FPRvsBits() Experiment {
	return Experiment{
		Name:     "fpr-vs-bits",
		Question: "Which false-positive rate does each family reach with the same bits per key, and how far is it from the lower bound?",
		Grid: func(p Profile) Grid {
			bits := []string{"4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "16", "18", "20", "22", "24"}
			if p.Thin {
				bits = []string{"6", "10", "14"}
			}
			return Grid{Axes: []Axis{
				FilterAxis("standard", "standard(layout=partitioned)", "blocked", "blocked(64)", "counting", "scalable", "cuckoo"),
				HashAxis("xxh3"), KeysAxis("random"), NAxis("1e4"), BitsAxis(bits...),
			}}
		},
		Measures: []Measure{Rate(0)},
		Figures: func(cells []Cell, about About) []figure.Figure {
			series := rateSeries(cells, func(c *Cell) string { return c.Filter }, func(c *Cell) float64 { return c.BitsPerInserted() },
				func(c *Cell, _ []float64) []figure.Point {
					var line []figure.Point
					for bits := 4.0; bits <= 24.001; bits += 0.25 {
						t := filters.Target{N: c.N, BitsPerKey: bits}
						if p, err := c.Variant().Predict(t, c.N); err == nil {
							line = append(line, figure.Point{X: p.BitsPerKey(), Y: p.FPR})
						}
					}
					return line
				})
			bound := figure.Series{Name: "lower bound", Theory: true, Style: figure.Reference}
			for b := 4.0; b <= 20; b++ {
				bound.Points = append(bound.Points, figure.Point{X: b, Y: math.Exp2(-b)})
			}
			least, most := 4.0, 24.0 // where the lines are; a table of marks may lie beside
			for i := range cells {
				if c := &cells[i]; c.Trials > 0 {
					least, most = min(least, c.BitsPerInserted()), max(most, c.BitsPerInserted())
				}
			}
			return []figure.Figure{figure.Chart{
				Name:    "fpr-vs-bits",
				Title:   "What a bit buys",
				Caption: "Marks: measured. Lines: exact theory. Lower bound: log2(1/FPR) bits per key for any static filter. " + about.Text,
				X:       figure.Axis{Label: "table size (bits per key)", Min: max(least-0.5, 0.1), Max: most + 0.5},
				Y:       figure.Axis{Label: "false-positive rate", Log: true, Min: 1e-6, Max: 1},
				Series:  append(series, bound),
			}}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, f := range []string{"standard", "blocked", "cuckoo"} {
				if c := find(cells, func(c *Cell) bool { return c.Filter == f && c.BitsPerKey == 14 && c.Events > 0 }); c != nil {
					over := c.BitsPerInserted()/theory.LowerBound(c.FPR.Value) - 1
					s += fmt.Sprintf("At 14 bits per key %s reaches %s, %.0f%% above the lower bound in space. ", f, percent(c.FPR), 100*over)
				}
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}
