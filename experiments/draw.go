package experiments

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"filterlab/experiments/figure"
	"filterlab/filters"
)

// family is the part of a variant before its knobs.
func family(filter string) string {
	name, _, _ := strings.Cut(filter, "(")
	return name
}

// style keeps the look of a family the same in every figure.
func style(filter string) int {
	for i, name := range []string{"standard", "blocked", "counting", "scalable", "cuckoo"} {
		if filter == name {
			return i + 1
		}
	}
	return 0 // variants with knobs take the next free one
}

// ratePoint is the measured rate of a cell at x, with its interval.
func ratePoint(x float64, c *Cell) figure.Point {
	if c.Events == 0 {
		return figure.Unseen(x, c.Trials)
	}
	return figure.Point{X: x, Y: c.FPR.Value, Lo: c.FPR.Lo, Hi: c.FPR.Hi}
}

// rateSeries draws, for each name, the measured rates as marks and the expected
// ones, predicted at every x, as a line.
func rateSeries(cells []Cell, name func(*Cell) string, x func(*Cell) float64, curve func(c *Cell, xs []float64) []figure.Point) []figure.Series {
	var out []figure.Series
	for _, group := range groupBy(cells, name) {
		marks := figure.Series{Name: name(&group[0]), Style: style(name(&group[0]))}
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range group {
			c := &group[i]
			if c.Trials == 0 {
				continue
			}
			marks.Points = append(marks.Points, ratePoint(x(c), c))
			lo, hi = min(lo, x(c)), max(hi, x(c))
		}
		if len(marks.Points) == 0 {
			continue
		}
		sort.Slice(marks.Points, func(i, j int) bool { return marks.Points[i].X < marks.Points[j].X })
		out = append(out, marks)
		if line := curve(&group[0], spread(lo, hi, 120)); len(line) > 0 {
			out = append(out, figure.Series{Name: marks.Name, Style: marks.Style, Theory: true, Points: line})
		}
	}
	return out
}

// groupBy splits cells by a key, in the order in which the keys first appear.
func groupBy[K comparable](cells []Cell, key func(*Cell) K) [][]Cell {
	at := map[K]int{}
	var out [][]Cell
	for i := range cells {
		k := key(&cells[i])
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, nil)
		}
		out[j] = append(out[j], cells[i])
	}
	return out
}

// spread returns n values from lo to hi, evenly spaced on a log scale.
func spread(lo, hi float64, n int) []float64 {
	if lo == hi {
		return []float64{lo}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = lo * math.Pow(hi/lo, float64(i)/float64(n-1))
	}
	return out
}

// predicted is the expected rate of the cell's variant for another target and
// another number of keys; NaN, which figures leave out, where there is none.
func predicted(c *Cell, t filters.Target, inserted uint64) float64 {
	p, err := c.Variant().Predict(t, inserted)
	if err != nil {
		return math.NaN()
	}
	return p.FPR
}

// verdicts counts the verdicts of a run in words: "140 agree, 2 full".
func verdicts(cells []Cell) string {
	n := map[string]int{}
	for i := range cells {
		if v := cells[i].Verdict; v != "" {
			n[v]++
		}
	}
	var parts []string
	for _, v := range []string{Agree, AgreeWide, DifferExpected, Differ, NoTheory, Full, Refused, Failed, ControlOK, ControlFailed} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	if len(parts) == 0 {
		return "no rate held against theory"
	}
	return strings.Join(parts, ", ")
}

// find returns the first cell that satisfies ok, or nil.
func find(cells []Cell, ok func(*Cell) bool) *Cell {
	for i := range cells {
		if ok(&cells[i]) {
			return &cells[i]
		}
	}
	return nil
}

// percent prints a rate with its interval: "9.06% [8.98%, 9.15%]".
func percent(e Estimate) string {
	return fmt.Sprintf("%.3g%% [%.3g%%, %.3g%%]", 100*e.Value, 100*e.Lo, 100*e.Hi)
}
