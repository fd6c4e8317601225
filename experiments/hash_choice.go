package experiments

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

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
		Measures: []Measure{Rate(0), HashTime()},
		Expected: func(p *Point) string {
			if h, err := hashing.ByName(p.Hash); err == nil && h.Weak {
				return "weak hash, here as a control"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			var out []figure.Figure
			for _, group := range groupBy(cells, familyOf) {
				out = append(out, heatMap("hash-choice-"+familyOf(&group[0]), "Measured rate over expected rate, "+familyOf(&group[0])+" filter",
					"1 is what an ideal hash gives. Real keys come with --keys. "+about.Text,
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
			first := groupBy(cells, familyOf)[0]
			return append(out, heatMap("hash-cost", "Time to hash one key",
				"Median over rounds, one key at a time, net of the loop without a hash. "+about.Text,
				figure.Axis{Label: "ns per key", Log: true}, first,
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
			s := fmt.Sprintf("These keep the rate on every key set: %s. ", strings.Join(keep, ", "))
			if len(fail) > 0 {
				s += fmt.Sprintf("These miss it on some: %s. ", strings.Join(fail, ", "))
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
