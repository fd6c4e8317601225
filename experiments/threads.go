package experiments

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"filterlab/experiments/figure"
	"filterlab/experiments/units"
	"filterlab/filters"
)

// threadCounts are the numbers of readers that are measured, as far as there are
// cores for them.
var threadCounts = [...]int{1, 2, 4, 8, 16, 32}

// metricThroughput is the metric of lookups by so many readers together.
func metricThroughput(readers int) string { return fmt.Sprintf("lookups_per_us_%d", readers) }

// metricSpeedup is the metric of that over the throughput of one.
func metricSpeedup(readers int) string { return fmt.Sprintf("speedup_%d", readers) }

// Threads asks whether readers get in each other's way.
func Threads() Experiment {
	var values []Value
	for _, t := range threadCounts {
		values = append(values, Value{Metric: metricThroughput(t), Median: true}, Value{Metric: metricSpeedup(t), Median: true})
	}
	return Experiment{
		Name:     "threads",
		Question: "How many lookups do several goroutines get through together, reading one filter that nobody writes to?",
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
		Measures: []Measure{readerTimes()},
		Values:   values,
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "threads", Title: "Lookups by several readers of one filter",
				Caption: "Batches of keys half of which are members; median over rounds with its 95% interval. Black: as many times the work of one as there are readers. " + about.Text,
				X:       figure.Axis{Label: "goroutines, each with a core", Log: true, Ticks: []float64{1, 2, 4, 8, 16, 32}},
				Y:       figure.Axis{Label: "lookups, as a multiple of one reader's"},
			}
			for _, group := range groupBy(cells, func(c *Cell) string { return units.FormatCount(c.N) + " keys, " + c.API }) {
				panel := figure.Panel{Title: units.FormatCount(group[0].N) + " keys, " + group[0].API}
				most := 1
				for i := range group {
					c := &group[i]
					s := figure.Series{Name: c.Filter, Style: style(c.Filter), Join: true}
					for _, t := range threadCounts {
						if t == 1 {
							if _, ok := c.Own[metricThroughput(1)]; ok {
								s.Points = append(s.Points, figure.Point{X: 1, Y: 1})
							}
						} else if o, ok := c.Own[metricSpeedup(t)]; ok {
							s.Points = append(s.Points, interval(float64(t), o.Estimate))
							most = max(most, t)
						}
					}
					if len(s.Points) > 1 {
						panel.Series = append(panel.Series, s)
					}
				}
				if len(panel.Series) == 0 {
					continue
				}
				panel.Series = append(panel.Series, figure.Series{Name: "linear", Theory: true, Style: figure.Reference,
					Points: []figure.Point{{X: 1, Y: 1}, {X: float64(most), Y: float64(most)}}})
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			most := 1
			for i := range cells {
				for _, t := range threadCounts {
					if _, ok := cells[i].Own[metricSpeedup(t)]; ok {
						most = max(most, t)
					}
				}
			}
			if most == 1 {
				return "With one core there is nothing to compare."
			}
			var parts []string
			for i := range cells {
				c := &cells[i]
				o, ok := c.Own[metricSpeedup(most)]
				if ok && c.API == "batch" {
					parts = append(parts, fmt.Sprintf("%s of %s keys %.3g times (%.3g lookups a microsecond)", c.Filter, units.FormatCount(c.N), o.Value, c.Own[metricThroughput(most)].Value))
				}
			}
			if len(parts) == 0 {
				return "No batch was measured."
			}
			return fmt.Sprintf("%d readers get through as many batched lookups as one: %s.", most, join(parts))
		},
	}
}

// readerTimes measures what several readers of one filter get through. Readers have
// keys and answers of their own, begin together, and are timed from the beginning to
// the end of the last.
func readerTimes() Measure {
	return Measure{Name: "readers", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil || len(racers) == 0 {
			return nil, err
		}
		if err := refill(racers); err != nil {
			return nil, err
		}
		most := slices.IndexFunc(threadCounts[:], func(t int) bool { return t > runtime.GOMAXPROCS(0) })
		if most < 0 {
			most = len(threadCounts)
		}
		counts := threadCounts[:max(most, 1)]
		var rows []Row
		for _, r := range racers {
			readers := make([]reader, counts[len(counts)-1])
			for i := range readers {
				readers[i] = r.reader(lab.Seed + uint64(i))
			}
			for _, batch := range []bool{false, true} {
				// As many passes as take a reader some milliseconds.
				passes := 1
				for readTogether(r, readers[:1], batch, passes) < readersTime && passes < 1<<20 {
					passes *= 2
				}
				for round := range lab.Profile.Rounds {
					if err := ctx.Err(); err != nil {
						return rows, err
					}
					perUs := make([]float64, len(counts))
					for i := range counts {
						if round%2 == 1 {
							i = len(counts) - 1 - i
						}
						elapsed := readTogether(r, readers[:counts[i]], batch, passes)
						perUs[i] = float64(counts[i]*passes*len(r.dst)) / (float64(elapsed.Nanoseconds()) / 1e3)
					}
					for i, t := range counts {
						emit := func(metric string, value float64) {
							row := r.point.row(metric)
							row.API, row.Kernel, row.Round, row.Value = apiName(batch), kernelOf(r.filter, metric, batch), round, value
							rows = append(rows, row)
						}
						emit(metricThroughput(t), perUs[i])
						if t > 1 {
							emit(metricSpeedup(t), perUs[i]/perUs[0])
						}
					}
				}
			}
		}
		return rows, nil
	}}
}

// readersTime is how long one reader's share of a sample takes at least.
const readersTime = 4 * time.Millisecond

// reader is one of several that ask the same filter.
type reader struct {
	queries []uint64
	dst     []bool
}

// reader has keys half of which are members, in an order of its own.
func (r *racing) reader(seed uint64) reader {
	q := reader{make([]uint64, len(r.dst)), make([]bool, len(r.dst))}
	rng := rand.New(rand.NewPCG(seed, 0))
	draw(q.queries[:len(r.dst)/2], r.members, rng)
	draw(q.queries[len(r.dst)/2:], r.absent, rng)
	rng.Shuffle(len(q.queries), func(i, j int) { q.queries[i], q.queries[j] = q.queries[j], q.queries[i] })
	return q
}

// readTogether lets every reader make so many passes and returns how long it took
// from the start of the first to the end of the last.
func readTogether(r *racing, readers []reader, batch bool, passes int) time.Duration {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(len(readers))
	for _, q := range readers {
		done.Go(func() {
			ready.Done()
			<-start
			for range passes {
				if batch {
					filters.ContainsMany(r.filter, q.dst, q.queries)
				} else {
					r.loops.Contains(q.dst, q.queries)
				}
			}
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	done.Wait()
	return time.Since(begin)
}
