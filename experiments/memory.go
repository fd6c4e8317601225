package experiments

import (
	"fmt"
	"math"
	"sort"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Memory asks how many bits each family spends for a promised rate, and where
// one becomes smaller than another.
func Memory() Experiment {
	return Experiment{
		Name:     "memory",
		Question: "How many bits per key does each family spend to keep a promised rate, and where does cuckoo become smaller than Bloom?",
		Grid: func(p Profile) Grid {
			ps := []string{"10%", "5%", "3%", "2%", "1%", "0.5%", "0.3%", "0.2%", "0.1%", "3e-4", "1e-4", "3e-5", "1e-5", "1e-6"}
			n := "1e6"
			if p.Thin {
				ps, n = []string{"10%", "1%", "0.1%", "1e-4"}, "1e5"
			}
			return Grid{Axes: []Axis{
				FilterAxis("standard", "blocked", "counting", "scalable", "cuckoo", "cuckoo(b=2)"),
				HashAxis("xxh3"), KeysAxis("random"), NAxis(n), PAxis(ps...),
			}}
		},
		Measures: []Measure{Weigh()},
		Figures: func(cells []Cell, about About) []figure.Figure {
			var series []figure.Series
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				marks := figure.Series{Name: g[0].Filter, Style: style(g[0].Filter)}
				line := figure.Series{Name: marks.Name, Style: marks.Style, Theory: true}
				lo, hi := math.Inf(1), 0.0
				for i := range g {
					c := &g[i]
					if b := c.Times[MetricBytes].Value; b > 0 {
						marks.Points = append(marks.Points, figure.Point{X: c.P, Y: 8 * b / float64(c.Inserted)})
					}
					lo, hi = min(lo, c.P), max(hi, c.P)
				}
				for _, p := range spread(lo, hi, 200) {
					if pred, err := g[0].Variant().Predict(filters.Target{N: g[0].N, P: p}, g[0].N); err == nil {
						line.Points = append(line.Points, figure.Point{X: p, Y: pred.BitsPerKey()})
					}
				}
				sort.Slice(marks.Points, func(i, j int) bool { return marks.Points[i].X < marks.Points[j].X })
				series = append(series, marks, line)
			}
			bound := figure.Series{Name: "lower bound", Theory: true, Style: figure.Reference}
			for _, p := range spread(1e-6, 0.1, 50) {
				bound.Points = append(bound.Points, figure.Point{X: p, Y: theory.LowerBound(p)})
			}
			var meet []figure.Line
			for _, f := range []string{"cuckoo", "cuckoo(b=2)"} {
				if ps := crossings(f, "standard", cells[0].N); measuredBoth(cells, f, "standard") && len(ps) > 0 {
					last := ps[len(ps)-1]
					meet = append(meet, figure.Line{At: last, Label: fmt.Sprintf("%s smaller below %.2g%%", f, 100*last)})
				}
			}
			return []figure.Figure{figure.Chart{
				Name:    "memory",
				Title:   "Space for a promised rate",
				Caption: "Marks: live heap measured after two collections. Lines: size of the tables after rounding. Lower bound: log2(1/p). Vertical: from where on a cuckoo filter is smaller than a standard one at every rate. " + about.Text,
				VLines:  meet,
				X:       figure.Axis{Label: "promised false-positive rate", Log: true, Reversed: true},
				Y:       figure.Axis{Label: "space (bits per key)", Log: true, Ticks: []float64{5, 10, 20, 50, 100}},
				Series:  append(series, bound),
			}}
		},
		Finding: func(cells []Cell) string {
			n := cells[0].N
			s := ""
			for _, pair := range [][2]string{{"cuckoo", "standard"}, {"cuckoo(b=2)", "standard"}} {
				if !measuredBoth(cells, pair[0], pair[1]) {
					continue
				}
				if ps := crossings(pair[0], pair[1], n); len(ps) > 0 {
					s += fmt.Sprintf("With %d keys %s is smaller than %s at every rate below %.2g%%", n, pair[0], pair[1], 100*ps[len(ps)-1])
					if len(ps) > 1 {
						s += fmt.Sprintf(", and at some rates up to %.2g%%, as whole fingerprint bits come and go", 100*ps[0])
					}
					s += ". "
				}
			}
			if c := find(cells, func(c *Cell) bool { return c.Filter == "counting" && c.P == 0.01 }); c != nil {
				s += fmt.Sprintf("Counters cost %.3g bits per key at 1%%. ", c.Predicted.BitsPerKey())
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// measuredBoth reports whether the run took both filters.
func measuredBoth(cells []Cell, a, b string) bool {
	for _, filter := range []string{a, b} {
		if find(cells, func(c *Cell) bool { return c.Filter == filter && c.Verdict != Refused }) == nil {
			return false
		}
	}
	return true
}

// crossings returns the rates, from high to low, at which variant a becomes
// smaller or larger than b, both holding n keys, after all rounding. It looks
// from 20% down to 1e-6 in steps of 1%.
func crossings(a, b string, n uint64) []float64 {
	va, errA := catalog.Parse(a)
	vb, errB := catalog.Parse(b)
	if errA != nil || errB != nil {
		return nil
	}
	var out []float64
	before := 0
	for p := 0.2; p > 1e-6; p *= 0.99 {
		t := filters.Target{N: n, P: p}
		pa, errA := va.Predict(t, n)
		pb, errB := vb.Predict(t, n)
		if errA != nil || errB != nil {
			continue
		}
		now := 1
		if pa.Bits < pb.Bits {
			now = -1
		}
		if before != 0 && now != before {
			out = append(out, p)
		}
		before = now
	}
	return out
}
