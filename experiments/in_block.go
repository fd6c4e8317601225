package experiments

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/experiments/figure"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// InBlock asks what two hash values for all probes cost inside a cache line,
// where the table is as small as tables get.
func InBlock() Experiment {
	return Experiment{
		Name:     "in-block",
		Question: "What does it cost to derive the probes inside a 512-bit block from two hash values?",
		Grid: func(p Profile) Grid {
			bits, n := []string{"6", "8", "10", "12", "16"}, "1e5"
			if p.Thin {
				bits, n = []string{"10"}, "3e4"
			}
			return Grid{Axes: []Axis{
				HashAxis("xxh3"), KeysAxis("random"), NAxis(n), BitsAxis(bits...),
				inBlockAxis("blocked", "blocked(probes=distinct)", string(inBlockDouble), string(inBlockOdd), string(inBlockEnhanced)),
			}}
		},
		Measures: []Measure{FineRate(3, 0)},
		Parse:    parseScheme,
		Expected: func(p *Point) string {
			if _, ok := p.Variant.(scheme); ok && p.Target.BitsPerKey > 14 {
				return "with 11 probes in 512 bits the formula, of leading order, is some percent off"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Chart{
				Name:  "in-block",
				Title: "Index schemes inside a 512-bit block",
				Caption: "k = 0.69 bits per key, rounded down. Lines: the rate of a block of each load, averaged over the loads. " +
					"double: a + i b mod 512; odd: the same with odd b; enhanced: a cubic term more. " + about.Text,
				X:      figure.Axis{Label: "bits per key"},
				Y:      figure.Axis{Label: "rate / that of independent probes"},
				HLines: []figure.Line{{At: 1}},
			}
			for _, group := range groupBy(cells, inBlockScheme) {
				marks := figure.Series{Name: inBlockScheme(&group[0])}
				line := figure.Series{Name: marks.Name, Theory: true}
				for i := range group {
					c := &group[i]
					base := independentBlocks(c)
					if c.Events > 0 {
						marks.Points = append(marks.Points, figure.Point{X: c.BitsPerKey, Y: c.FPR.Value / base, Lo: c.FPR.Lo / base, Hi: c.FPR.Hi / base})
					}
					line.Points = append(line.Points, figure.Point{X: c.BitsPerKey, Y: c.Predicted.FPR / base})
				}
				g.Series = append(g.Series, marks, line)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := "At 10 bits per key and k = 6, against independent probes: "
			for _, group := range groupBy(cells, inBlockScheme) {
				c := find(group, func(c *Cell) bool { return c.BitsPerKey == 10 && c.Trials > 0 })
				if c == nil {
					continue
				}
				base := independentBlocks(c)
				s += fmt.Sprintf("%s %+.1f%% [%+.1f%%, %+.1f%%] (theory %+.1f%%), ", inBlockScheme(c),
					100*(c.FPR.Value/base-1), 100*(c.FPR.Lo/base-1), 100*(c.FPR.Hi/base-1), 100*(c.Predicted.FPR/base-1))
			}
			return s + "and the more bits per key, the more double hashing costs. Verdicts: " + verdicts(cells) + "."
		},
	}
}

// inBlockAxis sets the filter, with the k of the reference filters where it has
// that knob; bits per key must be set before.
func inBlockAxis(values ...string) Axis {
	return Axis{"filters", values, func(p *Point, s string) (err error) {
		p.Variant, err = parseScheme(s)
		if err != nil {
			return err
		}
		ref, err := inBlockDouble.Predict(p.Target, p.Target.N)
		if err != nil {
			return err
		}
		if _, ok := p.Variant.(scheme); !ok {
			p.Variant, err = catalog.With(p.Variant, "k", strconv.Itoa(ref.K))
		}
		return err
	}}
}

// inBlockScheme names the index scheme of a cell.
func inBlockScheme(c *Cell) string {
	switch v, _ := c.Variant().(scheme); v {
	case inBlockDouble:
		return "double"
	case inBlockOdd:
		return "odd"
	case inBlockEnhanced:
		return "enhanced"
	}
	if k, err := catalog.With(c.Variant(), "k", ""); err == nil && k.String() == "blocked(probes=distinct)" {
		return "distinct"
	}
	return independent
}

// independentBlocks is the rate that independent probes would have in the cell's
// blocks.
func independentBlocks(c *Cell) float64 {
	if c.Predicted.Bits == 0 {
		return math.NaN()
	}
	return theory.Blocked(c.Predicted.Bits/lineBits, lineBits, c.Inserted, c.Predicted.K, false)
}
