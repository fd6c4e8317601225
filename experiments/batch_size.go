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
				Caption: "Median over interleaved rounds with its 95% interval, net of reading the keys and writing the answers. Calls go through an interface. " + about.Text,
				X:       figure.Axis{Label: "keys in a call", Log: true},
				Y:       figure.Axis{Label: "time per key (ns)", Log: true},
			}
			for _, group := range groupBy(cells, func(c *Cell) uint64 { return c.N }) {
				panel := figure.Panel{Title: units.FormatCount(group[0].N) + " keys"}
				for _, f := range groupBy(group, func(c *Cell) string { return c.Filter }) {
					s := figure.Series{Name: f[0].Filter, Style: style(f[0].Filter), Join: true}
					for i := range f {
						if t, ok := f[i].Times[MetricMiss]; ok && callSize(f[i].API) > 0 {
							s.Points = append(s.Points, interval(float64(callSize(f[i].API)), t))
						}
					}
					if len(s.Points) == 0 {
						continue
					}
					sort.Slice(s.Points, func(i, j int) bool { return s.Points[i].X < s.Points[j].X })
					panel.Series = append(panel.Series, s)
				}
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, group := range groupBy(cells, func(c *Cell) string { return fmt.Sprint(c.N, " ", c.Filter) }) {
				best, enough := math.Inf(1), 0
				direct, one := math.NaN(), math.NaN()
				for i := range group {
					t, ok := group[i].Times[MetricMiss]
					switch size := callSize(group[i].API); {
					case !ok:
					case size == 0:
						direct = t.Value
					case size == 1:
						one = t.Value
						fallthrough
					default:
						best = min(best, t.Value)
					}
				}
				for i := range group { // in the order of their sizes
					if t, ok := group[i].Times[MetricMiss]; ok && enough == 0 && t.Value <= 1.1*best {
						enough = callSize(group[i].API)
					}
				}
				if enough > 0 {
					s += fmt.Sprintf("%s of %s keys: %.2g ns a key in direct calls of one, %.2g in batch calls of one, %.2g at best, and within a tenth of that from %d keys a call on. ",
						group[0].Filter, units.FormatCount(group[0].N), direct, one, best, enough)
				}
			}
			if s == "" {
				return "Nothing was timed."
			}
			return noiseText(cells, MetricMiss) + s + "Batch calls go through an interface, as in a program that chooses its filter at run time."
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
