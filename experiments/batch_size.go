package experiments

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
)

// batchSizes are the keys of a call.
var batchSizes = [...]int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}

// batchAPI names a way to ask: so many keys a call.
func batchAPI(size int) string { return fmt.Sprintf("batch=%d", size) }

// BatchSize asks how many keys a call must have to be worth it.
func BatchSize() Experiment {
	return Experiment{
		Name:     "batch-size",
		Question: "How many keys must one call look up to be as fast as a large batch?",
		Grid: func(p Profile) Grid {
			ns := []string{"1e4", "1e6"}
			if p.Thin {
				ns = ns[:1]
			} else if p.MaxN > 10_000_000 {
				ns = append(ns, "3e7")
			}
			return Grid{
				Axes: []Axis{NAxis(ns...), FilterAxis("standard", "blocked", "counting", "scalable", "cuckoo"), HashAxis("xxh3"), KeysAxis("random"), PAxis("1%")},
				Same: func(p *Point) string { return fmt.Sprint(p.Target.N) },
			}
		},
		Measures: []Measure{batchTimes()},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "batch-size", Title: "Time of a negative lookup by the keys of a call",
				Caption: "Median over interleaved rounds with its 95% interval, net of reading the keys and writing the answers. Dashed: a call for each key, made directly. " + about.Text,
				X:       figure.Axis{Label: "keys in a call", Log: true},
				Y:       figure.Axis{Label: "time per key (ns)", Log: true},
			}
			for _, group := range groupBy(cells, func(c *Cell) uint64 { return c.N }) {
				panel := figure.Panel{Title: units.FormatCount(group[0].N) + " keys"}
				for _, f := range groupBy(group, func(c *Cell) string { return c.Filter }) {
					s := figure.Series{Name: f[0].Filter, Style: style(f[0].Filter), Join: true}
					direct := figure.Series{Name: s.Name, Style: s.Style, Theory: true}
					for i := range f {
						t, ok := f[i].Times[MetricMiss]
						switch size := callSize(f[i].API); {
						case !ok:
						case size > 0:
							s.Points = append(s.Points, interval(float64(size), t))
						default:
							direct.Points = []figure.Point{{X: 1, Y: t.Value}, {X: float64(batchSizes[len(batchSizes)-1]), Y: t.Value}}
						}
					}
					if len(s.Points) == 0 {
						continue
					}
					sort.Slice(s.Points, func(i, j int) bool { return s.Points[i].X < s.Points[j].X })
					panel.Series = append(panel.Series, s)
					if len(direct.Points) > 0 {
						panel.Series = append(panel.Series, direct)
					}
				}
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, group := range groupBy(cells, func(c *Cell) string { return fmt.Sprint(c.N, c.Filter) }) {
				best, enough := math.Inf(1), 0
				for i := range group {
					if t, ok := group[i].Times[MetricMiss]; ok && callSize(group[i].API) > 0 {
						best = min(best, t.Value)
					}
				}
				one := math.NaN()
				for i := range group { // in the order of their sizes
					t, ok := group[i].Times[MetricMiss]
					size := callSize(group[i].API)
					if !ok || size == 0 {
						continue
					}
					if size == 1 {
						one = t.Value
					}
					if enough == 0 && t.Value <= 1.1*best {
						enough = size
					}
				}
				if enough > 0 {
					s += fmt.Sprintf("%s of %s keys: %.2g ns a key with one in a call, %.2g at best, which calls of %d come within a tenth of. ",
						group[0].Filter, units.FormatCount(group[0].N), one, best, enough)
				}
			}
			if s == "" {
				return "Nothing was timed."
			}
			return s + "Calls go through an interface, as in a program that chooses its filter at run time."
		},
	}
}

// batchTimes races the filters of a group for every number of keys in a call, and
// without calls at all: the loop of direct single calls.
func batchTimes() Measure {
	return Measure{Name: "batch sizes", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil || len(racers) == 0 {
			return nil, err
		}
		if err := refill(racers); err != nil {
			return nil, err
		}
		misses := func(r *racing, dst []uint64, rng *rand.Rand) { draw(dst, r.absent, rng) }
		first := racers[0]
		keys := make([]uint64, len(first.dst))
		draw(keys, first.absent, rand.New(rand.NewPCG(lab.Seed, 0)))
		var rows []Row
		for i, size := range append([]int{0}, batchSizes[:]...) {
			if lab.Profile.Thin && i > 1 && i%3 != 0 {
				continue // 1, 4, 32, 256 and 4096 show the curve
			}
			batch := size > 0
			var cs []measure.Contender
			for _, r := range racers {
				cs = append(cs, r.lookups(lab.Seed, batch, size, misses))
			}
			more, err := race(ctx, racers, cs, MetricMiss, batch, min(lab.Profile.Rounds, 6), lookupLoop(first.dst, keys, batch))
			if err != nil {
				return rows, err
			}
			for i := range more {
				if batch {
					more[i].API = batchAPI(size)
				}
			}
			rows = append(rows, more...)
		}
		return rows, nil
	}}
}
