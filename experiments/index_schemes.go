package experiments

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"filterlab/experiments/figure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/theory"
)

// IndexSchemes asks what it costs to derive all probes of a key from two hash
// values instead of one for each.
func IndexSchemes() Experiment {
	return Experiment{
		Name:     "index-schemes",
		Question: "Do two hash values suffice for all probes of a key, and how large is the error they add in small tables?",
		Grid: func(p Profile) Grid {
			schemes := []string{"standard"}
			for _, s := range []string{"double", "enhanced", "double64", "enhanced64"} {
				schemes = append(schemes, "standard(scheme="+s+")")
			}
			ms := []string{"256", "512", "1024", "2048", "4096", "16384", "65536", "2^20"}
			ks := []string{"7", "10"}
			if p.Thin {
				ms, ks = []string{"512", "4096"}, []string{"7"}
			}
			return Grid{Axes: []Axis{FilterAxis(schemes...), HashAxis("xxh3"), KeysAxis("random"), KAxis(ks...), tableAxis(ms...)}}
		},
		Measures: []Measure{FineRate(0.9, 0)},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name:  "index-schemes",
				Title: "What two hash values cost",
				Caption: "Tables filled to half, so that independent probes err at about 2^-k. Marks: measured. Lines: theory of each scheme. " +
					"64-bit forms reduce after stepping, the published ones before. " + about.Text,
				X: figure.Axis{Label: "table (bits)", Log: true, Format: figure.Power},
				Y: figure.Axis{Label: "rate / that of independent probes"},
			}
			for _, group := range groupBy(cells, func(c *Cell) int { return c.Predicted.K }) {
				panel := figure.Panel{Title: fmt.Sprintf("k = %d", group[0].Predicted.K), HLines: []figure.Line{{At: 1}}}
				for _, g := range groupBy(group, schemeOf) {
					marks := figure.Series{Name: schemeOf(&g[0])}
					line := figure.Series{Name: marks.Name, Theory: true}
					for i := range g {
						c := &g[i]
						base := theory.Standard(c.Predicted.Bits, c.Inserted, c.Predicted.K)
						x := float64(c.Predicted.Bits)
						if c.Events > 0 {
							marks.Points = append(marks.Points, figure.Point{X: x, Y: c.FPR.Value / base, Lo: c.FPR.Lo / base, Hi: c.FPR.Hi / base})
						}
						if c.Predicted.FPR > 0 {
							line.Points = append(line.Points, figure.Point{X: x, Y: c.Predicted.FPR / base})
						}
					}
					if len(marks.Points) == 0 {
						continue
					}
					panel.Series = append(panel.Series, marks)
					if len(line.Points) > 0 {
						panel.Series = append(panel.Series, line)
					}
				}
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := "Two hash values add a rate of about A n/m^2 to that of independent probes. "
			for _, f := range fitFloors(cells) {
				if f.scheme != independent {
					s += fmt.Sprintf("%s, k=%d: A = %.3g [%.3g, %.3g]%s. ", f.scheme, f.k, f.a.Value, f.a.Lo, f.a.Hi, f.expected())
				}
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// tableAxis sets the bits of the table, filled to half by as many keys as the
// probes of the variant allow.
func tableAxis(values ...string) Axis {
	return Axis{"m", values, func(p *Point, s string) error {
		m, err := units.ParseCount(s)
		if err != nil {
			return err
		}
		// The number of probes is a knob of the variant by now, so that any target
		// tells it.
		pred, err := p.Variant.Predict(filters.Target{N: 1000, BitsPerKey: 10}, 1000)
		if err != nil && !errors.Is(err, filters.ErrNoTheory) {
			return err
		}
		n := uint64(math.Round(float64(m) * math.Ln2 / float64(pred.K)))
		if n < 1 {
			return filters.Refuse("m", m, fmt.Sprintf("room for at least one key of %d probes", pred.K))
		}
		p.Target = filters.Target{N: n, BitsPerKey: float64(m) / float64(n)}
		return nil
	}}
}

// schemeOf is the index scheme of a cell's standard filter.
func schemeOf(c *Cell) string {
	_, after, found := strings.Cut(c.Filter, "scheme=")
	if !found {
		return independent
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(after, ")"), ",")
	return name
}

// independent is the scheme of a standard filter that names none.
const independent = "independent"

// floor is the additive constant A of a scheme, fitted to tables of several
// sizes: rate = that of independent probes + A n/m^2.
type floor struct {
	scheme string
	k      int
	a      Estimate
	theory float64 // what the formula of the scheme gives at the same sizes; NaN without one
}

func (f floor) expected() string {
	if math.IsNaN(f.theory) {
		return ""
	}
	return fmt.Sprintf(", by its formula %.3g", f.theory)
}

// fitFloors fits A for each scheme and k by least squares, every table weighted
// by the precision with which it shows A.
func fitFloors(cells []Cell) []floor {
	type key struct {
		scheme string
		k      int
	}
	var out []floor
	for _, g := range groupBy(cells, func(c *Cell) key { return key{schemeOf(c), c.Predicted.K} }) {
		var sum, weights, expect float64
		for i := range g {
			c := &g[i]
			if c.Events == 0 {
				continue
			}
			n, m := float64(c.Inserted), float64(c.Predicted.Bits)
			base := theory.Standard(c.Predicted.Bits, c.Inserted, c.Predicted.K)
			scale := m * m / n
			sd := (c.FPR.Hi - c.FPR.Lo) / (2 * 1.96) * scale
			w := 1 / (sd * sd)
			sum += w * (c.FPR.Value - base) * scale
			weights += w
			if c.Predicted.FPR > 0 {
				expect += w * (c.Predicted.FPR - base) * scale
			} else {
				expect = math.NaN()
			}
		}
		if weights == 0 {
			continue
		}
		half := 1.96 / math.Sqrt(weights)
		a := sum / weights
		out = append(out, floor{schemeOf(&g[0]), g[0].Predicted.K, Estimate{a, a - half, a + half}, expect / weights})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].k < out[j].k })
	return out
}
