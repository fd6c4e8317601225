package experiments

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"filterlab/experiments/figure"
	"filterlab/experiments/workload"
	"filterlab/hashing"
)

// hashChoiceN is the number of keys in each filter of hash-choice. Key sets that
// are too small to give as many members and enough absent keys are left out.
const hashChoiceN = 10_000

// HashChoice asks which hash functions are good enough for which keys, and what
// they cost.
func HashChoice() Experiment {
	return Experiment{
		Name:     "hash-choice",
		Question: "Which hash keeps the promised rate on which kind of keys, and what does it cost per key?",
		Grid: func(p Profile) Grid {
			var hashes, sets []string
			for _, h := range hashing.All() {
				hashes = append(hashes, h.Name)
			}
			for _, s := range workload.All() {
				if s.New(0).Members() >= 4*hashChoiceN {
					sets = append(sets, s.Name)
				}
			}
			sets = append(sets, Zipf)
			return Grid{
				Axes: []Axis{KeysAxis(sets...), HashAxis(hashes...), FilterAxis("standard", "blocked"), NAxis(strconv.Itoa(hashChoiceN)), PAxis("1%")},
				Same: func(p *Point) string { return p.Keys }, // the hashes race on the same keys
			}
		},
		Measures: []Measure{hashRate(), HashTime()},
		Expected: func(p *Point) string {
			if h, err := hashing.ByName(p.Hash); err == nil && h.Weak {
				return "weak hash, here as a control"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			var out []figure.Figure
			byFilter := groupBy(cells, func(c *Cell) string { return c.Filter })
			for _, group := range byFilter {
				out = append(out, heatMap("hash-choice-"+stem(group[0].Filter), "Measured rate over expected rate, "+group[0].Filter+" filter",
					"1 is what an ideal hash gives. Queries are distinct, but in zipf, where popular ones repeat. "+about.Bare,
					figure.Axis{Label: "measured / expected rate", Log: true, Min: 0.5, Max: 8}, group,
					func(c *Cell) figure.Cell {
						if c.Trials == 0 {
							return figure.Cell{Value: math.NaN()}
						}
						if c.Events == 0 {
							return figure.Cell{Value: c.FPR.Hi / c.Predicted.FPR, UpperBound: true}
						}
						return figure.Cell{Value: c.FPR.Value / c.Predicted.FPR}
					}))
			}
			return append(out, heatMap("hash-cost", "Time to hash one key",
				"Median over rounds, one key at a time, net of the loop without a hash. "+about.Bare,
				figure.Axis{Label: "ns per key", Log: true}, byFilter[0], // no filter is in the time, and the rows are with the first
				func(c *Cell) figure.Cell {
					ns, ok := c.Times[MetricHash]
					if !ok {
						return figure.Cell{Value: math.NaN()}
					}
					return figure.Cell{Value: ns.Value}
				}))
		},
		Finding: func(cells []Cell) string {
			bad := map[string]bool{}
			good := map[string]bool{}
			for i := range cells {
				switch c := &cells[i]; c.Verdict {
				case DifferExpected, Differ:
					bad[c.Hash] = true
				case Agree, AgreeWide:
					good[c.Hash] = true
				}
			}
			var keep, fail []string
			for _, h := range hashing.All() {
				switch {
				case bad[h.Name]:
					fail = append(fail, h.Name)
				case good[h.Name]:
					keep = append(keep, h.Name)
				}
			}
			var s string
			sets := groupBy(cells, func(c *Cell) string { return c.Keys })
			on := fmt.Sprintf("on any of %d key sets", len(sets))
			if len(sets) == 1 {
				on = "on the one key set tried, " + sets[0][0].Keys
			}
			if len(keep) > 0 {
				s += fmt.Sprintf("No miss of the rate shows %s with: %s. ", on, strings.Join(keep, ", "))
			}
			if len(fail) > 0 {
				s += fmt.Sprintf("These miss it: %s. ", strings.Join(fail, ", "))
			}
			type cost struct {
				name string
				ns   float64
			}
			var costs []cost
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Hash }) {
				if c := find(g, func(c *Cell) bool { return c.Keys == "urls" && c.Times[MetricHash].Value > 0 }); c != nil && good[c.Hash] && !bad[c.Hash] {
					costs = append(costs, cost{c.Hash, c.Times[MetricHash].Value})
				}
			}
			sort.Slice(costs, func(i, j int) bool { return costs[i].ns < costs[j].ns })
			if n := len(costs); n > 1 {
				s += fmt.Sprintf("On URLs the fastest of the good ones is %s at %.2g ns per key, the slowest %s at %.3g ns. ", costs[0].name, costs[0].ns, costs[n-1].name, costs[n-1].ns)
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// hashRate is Rate, with queries by a Zipf law planned less precisely. They repeat
// answers, so that only more filters help, hundreds a point; and what a hash does
// to a key does not depend on how often it is asked for.
func hashRate() Measure {
	once, zipf := Rate(0), FineRate(0.64, 0) // of 3%: just within the 5% at which agreement still says something
	return Measure{Name: once.Name, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		if points[0].Keys == Zipf { // a group has one key set
			return zipf.Run(ctx, lab, points)
		}
		return once.Run(ctx, lab, points)
	}}
}

// stem makes the name of a variant part of a file name: "blocked(512,k=6)" becomes
// "blocked-512-k-6".
func stem(variant string) string {
	return strings.Join(strings.FieldsFunc(variant, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	}), "-")
}

// heatMap lays cells out with hashes in rows and key sets in columns.
func heatMap(name, title, caption string, value figure.Axis, cells []Cell, get func(*Cell) figure.Cell) figure.HeatMap {
	h := figure.HeatMap{Name: name, Title: title, Caption: caption, X: "keys", Y: "hash", Value: value}
	for _, g := range groupBy(cells, func(c *Cell) string { return c.Keys }) {
		h.Columns = append(h.Columns, g[0].Keys)
	}
	for _, g := range groupBy(cells, func(c *Cell) string { return c.Hash }) {
		h.Rows = append(h.Rows, g[0].Hash)
		row := make([]figure.Cell, len(h.Columns))
		for j, col := range h.Columns {
			row[j] = figure.Cell{Value: math.NaN()}
			if c := find(g, func(c *Cell) bool { return c.Keys == col }); c != nil {
				row[j] = get(c)
			}
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}
