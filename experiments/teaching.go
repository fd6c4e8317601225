package experiments

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/experiments/figure"
	"filterlab/filters"
)

// Teaching asks whether the worked example of tutorials, 16 bits and three
// probes, has the rates that tutorials state.
func Teaching() Experiment {
	const m = 16
	words := Axis{"words", []string{"1", "2", "3", "4", "5", "6", "7", "8", "10", "12"}, func(p *Point, s string) error {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n < 1 || n > 1000 {
			return filters.Refuse("words", strconv.Quote(s), "a whole number from 1 to 1000")
		}
		p.Target = filters.Target{N: n, BitsPerKey: m / float64(n)}
		return nil
	}}
	return Experiment{
		Name:     "teaching",
		Question: "Are the rates that tutorials state for their 16-bit example, 8.0% with three words and 46.9% with eight, right?",
		Grid: func(p Profile) Grid {
			if p.Thin {
				words.Values = []string{"3", "8"}
			}
			return Grid{
				Axes: []Axis{FilterAxis("standard(k=3)", "standard(scheme=teaching,k=3)"), HashAxis("xxh3", "poly"), KeysAxis("threeletter"), words},
				// The tutorial's hash gives three positions, which only the
				// tutorial's scheme reads as such.
				Skip: func(p *Point) bool { return p.Hash == "poly" && p.Variant.String() == "standard(k=3)" },
			}
		},
		Measures: []Measure{Rate(0)},
		Expected: func(p *Point) string {
			if p.Hash == "poly" {
				return "odd bases give the three positions of a word one parity"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			name := func(c *Cell) string {
				switch {
				case c.Hash == "poly":
					return "tutorial's hash"
				case c.Filter == "standard(k=3)":
					return "random hash"
				default:
					return "random hash, taken mod m"
				}
			}
			series := rateSeries(cells, name, func(c *Cell) float64 { return float64(c.N) },
				func(c *Cell, _ []float64) []figure.Point { return nil })
			exact := figure.Series{Name: "exact formula", Theory: true}
			classic := figure.Series{Name: "tutorial's formula", Theory: true, Style: figure.Reference}
			for i := range cells {
				if c := &cells[i]; c.Filter == "standard(k=3)" {
					x := float64(c.N)
					exact.Points = append(exact.Points, figure.Point{X: x, Y: c.Predicted.FPR})
					classic.Points = append(classic.Points, figure.Point{X: x, Y: math.Pow(-math.Expm1(-3*x/m), 3)})
				}
			}
			return []figure.Figure{figure.Chart{
				Name:    "teaching",
				Title:   "The 16-bit example of tutorials",
				Caption: "16 bits, three probes, random sets of three-letter words. The tutorial's formula is (1-exp(-3n/16))^3. " + about.Text,
				X:       figure.Axis{Label: "words in the filter"},
				Y:       figure.Axis{Label: "false-positive rate", Format: figure.Percent},
				Series:  append(series, exact, classic),
			}}
		},
		Finding: func(cells []Cell) string {
			s := "The tutorial's formula understates small filters"
			for _, n := range []uint64{3, 8} {
				r := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == "standard(k=3)" && c.Trials > 0 })
				t := find(cells, func(c *Cell) bool { return c.N == n && c.Hash == "poly" && c.Trials > 0 })
				if r == nil || t == nil {
					continue
				}
				s += fmt.Sprintf("; with %d words random hashing gives %s (exact %.2f%%, formula %.1f%%) and the tutorial's own hash %s",
					n, percent(r.FPR), 100*r.Predicted.FPR, 100*math.Pow(-math.Expm1(-3*float64(n)/m), 3), percent(t.FPR))
			}
			return s + ". Verdicts: " + verdicts(cells) + "."
		},
	}
}
