package experiments

import (
	"context"
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/filters/theory"
	"filterlab/hashing"
)

// HashWidth asks where a hash of 32 bits ends what a filter can do.
func HashWidth() Experiment {
	return Experiment{
		Name:     "hash-width",
		Question: "What rate is left when a filter for one in a thousand million reads a 32-bit hash?",
		Grid: func(p Profile) Grid {
			ns := []string{"1e5", "3e5", "1e6", "3e6", "1e7"}
			switch {
			case p.Thin:
				ns = []string{"1e5", "3e5"}
			case p.MaxN >= 100_000_000:
				ns = append(ns, "3e7", "1e8")
			}
			return Grid{Axes: []Axis{FilterAxis("cuckoo"), HashAxis("fnv1a32", "leveldb", "xxh3"), KeysAxis("random"), NAxis(ns...), PAxis("1e-9")}}
		},
		Measures: []Measure{{Name: "rate", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
			var rows []Row
			for _, p := range points {
				// Large sets hold so many keys that few of them tell the floor.
				few := *lab
				few.Profile.Seeds = min(lab.Profile.Seeds, max(3, int(10_000_000/p.Inserted())))
				trials := min(lab.Profile.MaxTrials, 100_000_000)
				if p.Hash == "xxh3" {
					trials = min(trials, 10_000_000) // nothing will be seen
				}
				more, err := few.rate(ctx, p, 0.65, trials)
				rows = append(rows, more...)
				if err != nil {
					return rows, fmt.Errorf("%v: %w", p, err)
				}
			}
			return rows, nil
		}}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			series := rateSeries(cells, func(c *Cell) string { return c.Hash }, func(c *Cell) float64 { return float64(c.N) },
				func(c *Cell, xs []float64) []figure.Point {
					h, err := hashing.ByName(c.Hash)
					if err != nil || h.Bits == 64 {
						return nil
					}
					var line []figure.Point
					for _, x := range xs {
						line = append(line, figure.Point{X: x, Y: theory.HashFloor(uint64(x), h.Bits)})
					}
					return line
				})
			return []figure.Figure{figure.Chart{
				Name: "hash-width", Title: "A filter for 1e-9 behind 32 bits of hash",
				Caption: "Lines: 1-(1-2^-32)^n, the chance to have the whole hash of a member. xxh3 has 64 bits: no false positive was seen, and what the lookups exclude is drawn. " + about.Text,
				X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power}, Y: figure.Axis{Label: "false-positive rate", Log: true, Format: figure.Power},
				Series: series,
			}}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Hash }) {
				last := &g[0]
				for i := range g {
					if g[i].Trials > 0 && g[i].N >= last.N {
						last = &g[i]
					}
				}
				switch {
				case last.Trials == 0:
				case last.Events == 0:
					s += fmt.Sprintf("%s with %d keys: at most %.2g, as promised 1e-9. ", last.Hash, last.N, last.FPR.Hi)
				default:
					s += fmt.Sprintf("%s with %d keys: %s, %.2g times the promise; n/2^32 is %.3g%%. ", last.Hash, last.N, percent(last.FPR), last.FPR.Value/last.P, 100*float64(last.N)*math.Pow(2, -32))
				}
			}
			return s + "No space in the filter buys the floor of a narrow hash back. Verdicts: " + verdicts(cells) + "."
		},
	}
}
