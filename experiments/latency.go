package experiments

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"filterlab/experiments/measure"
	"filterlab/filters"
)

// oneOp is a single operation that is timed by itself.
type oneOp struct{ name, what string }

// oneOps and oneQuantiles make the metrics of single operations.
var (
	oneOps       = [...]oneOp{{"add", "add to a filter that is nearly full"}, {"hit", "positive lookup"}, {"miss", "negative lookup"}}
	oneQuantiles = [...]string{"p50", "p99", "p999", "worst"}
)

// metricOne is the metric of a quantile of a single operation: "ns_one_add_p99".
func metricOne(op, quantile string) string { return "ns_one_" + op + "_" + quantile }

// LatencyTime is the measure of lookups that wait for each other: which key is
// asked for next depends on the answer before, as where a filter decides what a
// program does next. The points of a group race each other.
func LatencyTime() Measure {
	return Measure{Name: "latency", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil || len(racers) == 0 {
			return nil, err
		}
		if err := refill(racers); err != nil {
			return nil, err
		}
		var rows []Row
		for _, m := range []struct {
			metric string
			keys   func(*racing) []uint64
		}{
			{MetricHitChain, func(r *racing) []uint64 { return r.members }},
			{MetricMissChain, func(r *racing) []uint64 { return r.absent }},
		} {
			var cs []measure.Contender
			for _, r := range racers {
				queries := make([]uint64, minPass)
				pass := measure.Chain(queries, r.filter.Contains)
				positive := uint64(0)
				cs = append(cs, measure.Contender{
					Name: r.point.Variant.String(), Ops: len(queries),
					Prepare: func(round int) {
						rng := rand.New(rand.NewPCG(lab.Seed, uint64(round)))
						draw(queries, m.keys(r), rng)
						rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
						positive = uint64(r.loops.Contains(r.dst, queries))
					},
					Want: func() uint64 { return positive },
					Run:  pass,
				})
			}
			keys := make([]uint64, minPass)
			draw(keys, racers[0].absent, rand.New(rand.NewPCG(lab.Seed, 0)))
			more, err := race(ctx, racers, cs, m.metric, false, lab.rounds(racers), measure.Contender{
				Name: "loop", Ops: len(keys), Run: measure.Chain(keys, func(uint64) bool { return false }),
			})
			if err != nil {
				return rows, err
			}
			rows = append(rows, more...)
		}
		return rows, nil
	}}
}

// oneSample is how many single operations of a kind are timed in one round.
const oneSample = 1 << 14

// OneTime is the measure of operations that are timed one by one: the median, and
// how long the longest take. A clock costs several times what a lookup does, so that
// the medians say little but the tails what they are there for; what the clock costs
// and how finely it ticks are rows of their own. Adds are the last that the filter
// is sized for.
func OneTime() Measure {
	return Measure{Name: "single operations", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil || len(racers) == 0 {
			return nil, err
		}
		var rows []Row
		times := make([]float64, 0, oneSample)
		queries := make([]uint64, oneSample)
		for round := range lab.rounds(racers) {
			clock := measure.CalibrateClock(nil)
			for i := range racers {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if round%2 == 1 { // everyone is as often before as after another
					i = len(racers) - 1 - i
				}
				r := racers[i]
				emit := func(metric string, value float64) {
					if math.IsNaN(value) || math.IsInf(value, 0) {
						return
					}
					row := r.point.row(metric)
					row.API, row.Kernel, row.Round, row.Value = apiName(false), "go", round, value
					rows = append(rows, row)
				}
				emit(MetricClock, clock.Cost)
				emit(MetricTick, clock.Resolution)

				r.filter.(filters.Resetter).Reset()
				before := len(r.members) - min(oneSample, len(r.members)/2)
				if _, err := filters.AddMany(r.filter, r.members[:before]); err != nil {
					return rows, err
				}
				var refused error
				times = measure.TimeEach(times[:0], len(r.members)-before, func(i int) bool {
					refused = r.filter.Add(r.members[before+i])
					return refused == nil
				})
				if refused != nil {
					return rows, refused
				}
				emitTail("add", times, emit)

				rng := rand.New(rand.NewPCG(lab.Seed, uint64(round)))
				for _, op := range []struct {
					name string
					keys []uint64
				}{{"hit", r.members}, {"miss", r.absent}} {
					draw(queries, op.keys, rng)
					rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
					hits := 0
					times = measure.TimeEach(times[:0], len(queries), func(i int) bool {
						if r.filter.Contains(queries[i]) {
							hits++
						}
						return true
					})
					if op.name == "hit" && hits < len(queries) {
						return rows, &measure.LostError{Lost: uint64(len(queries) - hits), Of: uint64(len(queries))}
					}
					emitTail(op.name, times, emit)
				}
			}
		}
		return rows, nil
	}}
}

func emitTail(op string, times []float64, emit func(metric string, value float64)) {
	t := measure.TailOf(times)
	for i, x := range []float64{t.P50, t.P99, t.P999, t.Worst} {
		emit(metricOne(op, oneQuantiles[i]), x)
	}
}

// Litter is the measure of what filters leave to the collector: allocations per
// added key and per lookup, and the processor time of the collector while filters
// are made and filled over and over.
func Litter() Measure {
	return Measure{Name: "garbage", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil || len(racers) == 0 {
			return nil, err
		}
		var rows []Row
		for _, r := range racers {
			if err := ctx.Err(); err != nil {
				return rows, err
			}
			emit := func(metric string, value float64) {
				row := r.point.row(metric)
				row.Value = value
				rows = append(rows, row)
			}
			var failed error
			keys := 0
			g := measure.Litter(func() {
				for start := time.Now(); keys == 0 || time.Since(start) < litterTime; {
					f, err := newFilter(r.point)
					if err == nil {
						_, err = filters.AddMany(f, r.members)
					}
					if failed = err; err != nil {
						return
					}
					keys += len(r.members)
				}
			})
			if failed != nil {
				return rows, failed
			}
			emit(MetricAddAllocs, float64(g.Allocs)/float64(keys))
			emit(MetricGC, float64(g.GC.Nanoseconds())/float64(keys))

			queries := slices.Concat(r.members[:min(len(r.members), len(r.dst)-len(r.absent)/2)], r.absent[:len(r.absent)/2])
			queries = queries[:min(len(queries), len(r.dst))]
			passes := 1 + (1<<20)/len(queries)
			g = measure.Litter(func() {
				for range passes {
					r.loops.Contains(r.dst, queries)
					filters.ContainsMany(r.filter, r.dst, queries)
				}
			})
			emit(MetricAskAllocs, float64(g.Allocs)/float64(2*passes*len(queries)))
		}
		return rows, nil
	}}
}

// litterTime is how long filters are made and filled, at least one.
const litterTime = 50 * time.Millisecond
