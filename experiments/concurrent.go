package experiments

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
)

// adderCounts are the numbers of goroutines that add at once, as far as there are
// cores for them.
var adderCounts = [...]int{1, 2}

// metricAdds is the metric of adds by so many goroutines together.
func metricAdds(adders int) string { return fmt.Sprintf("adds_per_us_%d", adders) }

// ConcurrentAdds asks what it costs to let several goroutines add.
func ConcurrentAdds() Experiment {
	var values []Value
	for _, t := range adderCounts {
		values = append(values, Value{Metric: metricAdds(t), Median: true})
	}
	return Experiment{
		Name:     "concurrent-adds",
		Question: "How many keys do several goroutines add to one filter, without a lock, with a lock for each shard and with one for all?",
		Grid: func(p Profile) Grid {
			ns := []string{"1e5", "1e6"}
			if p.Thin {
				ns = ns[:1]
			} else if p.MaxN > 10_000_000 {
				ns = append(ns, "3e7")
			}
			return Grid{
				Axes: []Axis{NAxis(ns...), FilterAxis(
					"standard", "standard(adds=atomic)", "sharded(16,standard(k=7))", "sharded(1,standard(k=7))",
					"blocked", "blocked(adds=atomic)", "sharded(16,blocked(k=6))", "sharded(1,blocked(k=6))",
					"counting(k=7)", "sharded(16,counting(k=7))", "sharded(1,counting(k=7))",
					"cuckoo(f=12,b=4)", "sharded(16,cuckoo(f=12,b=4))", "sharded(1,cuckoo(f=12,b=4))"),
					HashAxis("xxh3"), KeysAxis("random"), PAxis("1%")},
				Same: func(p *Point) string { return fmt.Sprint(p.Target.N) },
			}
		},
		Measures: []Measure{adderTimes()},
		Values:   values,
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "concurrent-adds", Title: "Adding to one filter from several goroutines",
				Caption: "Keys added one by one to an empty filter until it is full, each goroutine a part of them; median over rounds with its 95% interval. sharded(1,...) is one lock around the filter. Filters that only one goroutine may add to have one point. " + about.Text,
				X:       figure.Axis{Label: "goroutines, each with a core"},
				Y:       figure.Axis{Label: "adds per microsecond, all together"},
			}
			for _, group := range groupBy(cells, func(c *Cell) string { return units.FormatCount(c.N) + " keys, " + withinShards(c.Filter) }) {
				panel := figure.Panel{Title: units.FormatCount(group[0].N) + " keys, " + withinShards(group[0].Filter)}
				for i := range group {
					c := &group[i]
					s := figure.Series{Name: guardOf(c.Filter), Style: slices.Index(guards(), guardOf(c.Filter)), Join: true}
					for _, t := range adderCounts {
						if o, ok := c.Own[metricAdds(t)]; ok {
							s.Points = append(s.Points, interval(float64(t), o.Estimate))
						}
					}
					if len(s.Points) > 0 {
						panel.Series = append(panel.Series, s)
					}
				}
				if len(panel.Series) > 0 {
					g.Panels = append(g.Panels, panel)
				}
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			var parts []string
			for i := range cells {
				c := &cells[i]
				one, alone := c.Own[metricAdds(1)]
				two, together := c.Own[metricAdds(2)]
				switch {
				case c.N != cells[len(cells)-1].N:
				case together:
					parts = append(parts, fmt.Sprintf("%s %.3g and %.3g", c.Filter, one.Value, two.Value))
				case alone:
					parts = append(parts, fmt.Sprintf("%s %.3g", c.Filter, one.Value))
				}
			}
			if len(parts) == 0 {
				return "Nothing was measured."
			}
			return fmt.Sprintf("One and two goroutines add to filters for %s keys, in a microsecond: %s.", units.FormatCount(cells[len(cells)-1].N), join(parts))
		},
	}
}

// guards are the ways to keep goroutines from each other, in the order of the
// figure.
func guards() []string { return []string{"one goroutine only", "atomic OR", "16 locks", "one lock"} }

// guardOf is the one a filter has.
func guardOf(filter string) string {
	switch {
	case strings.Contains(filter, "adds=atomic"):
		return guards()[1]
	case strings.HasPrefix(filter, "sharded(16,"):
		return guards()[2]
	case strings.HasPrefix(filter, "sharded(1,"):
		return guards()[3]
	}
	return guards()[0]
}

// withinShards is the family of a filter or of its shards.
func withinShards(filter string) string {
	if _, inner, ok := strings.Cut(filter, ","); ok && family(filter) == "sharded" {
		return family(inner)
	}
	return family(filter)
}

// adderTimes measures how fast goroutines fill a filter together. They begin
// together and are timed from the beginning to the end of the last. Filters that
// only one may add to are timed with one.
func adderTimes() Measure {
	return Measure{Name: "adders", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		members := map[*Point]*pointKeys{}
		for _, p := range points {
			if _, err := p.Variant.Predict(p.Target, p.Inserted()); err != nil {
				refused, err := refusal(p, err)
				if err != nil {
					return rows, err
				}
				rows = append(rows, refused...)
				continue
			}
			keys, err := lab.keys(p, 0)
			if err != nil {
				return rows, err
			}
			members[p] = keys
		}
		rounds := lab.Profile.Rounds
		if points[0].Inserted() >= fewRounds {
			rounds = min(rounds, 6)
		}
		for round := range rounds {
			for i := range points { // there and back, so that a drift hits all alike
				if round%2 == 1 {
					i = len(points) - 1 - i
				}
				p := points[i]
				if members[p] == nil {
					continue
				}
				for _, t := range adderCounts {
					if err := ctx.Err(); err != nil {
						return rows, err
					}
					runtime.GC() // the next table takes the memory of the last
					f, err := newFilter(p)
					if err != nil {
						return rows, err
					}
					if _, ok := f.(filters.Concurrent); t > 1 && (!ok || t > runtime.GOMAXPROCS(0)) {
						continue
					}
					took, err := addTogether(lab, f, members[p].members, t)
					if err != nil {
						return rows, fmt.Errorf("%v: %w", p, err)
					}
					if round == 0 {
						if err := measure.Lost(f, members[p].members); err != nil {
							return rows, fmt.Errorf("%v, %d adders: %w", p, t, err)
						}
					}
					row := p.row(metricAdds(t))
					row.API, row.Kernel, row.Round = apiName(false), "go", round
					row.Value = float64(len(members[p].members)) / (float64(took.Nanoseconds()) / 1e3)
					rows = append(rows, row)
				}
			}
		}
		return rows, nil
	}}
}

// addTogether adds all of hs, a part by each of so many goroutines, one key at a
// time.
func addTogether(lab *Lab, f filters.Filter, hs []uint64, adders int) (time.Duration, error) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, adders)
	ready.Add(adders)
	add := lab.loop(f).Add
	for g := range adders {
		part := hs[g*len(hs)/adders : (g+1)*len(hs)/adders]
		done.Go(func() {
			ready.Done()
			<-start
			_, errs[g] = add(part)
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	done.Wait()
	took := time.Since(begin)
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return took, nil
}
