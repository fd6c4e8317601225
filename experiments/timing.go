package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// maxQueries is how many queries a timed pass makes at most: 8 MiB of hashes,
// which read a different cache line each in a table of up to 64 MiB.
const maxQueries = 1 << 20

// racing is one filter in a race, with the keys of its own.
type racing struct {
	point   *Point
	filter  filters.Filter
	loops   catalog.Loops
	members []uint64
	absent  []uint64
	dst     []bool
}

// FilterTime is the measure of time per operation. The points of a group race
// each other: adds, positive and negative lookups, singly and in batches.
func FilterTime() Measure {
	return Measure{Name: "time", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil {
			return nil, err
		}
		if len(racers) == 0 {
			return nil, nil
		}
		var rows []Row
		for _, run := range []func(context.Context, *Lab, []*racing, bool) ([]Row, error){raceAdds, raceHits, raceMisses} {
			for _, batch := range []bool{false, true} {
				more, err := run(ctx, lab, racers, batch)
				if err != nil {
					return rows, err
				}
				rows = append(rows, more...)
			}
		}
		return rows, nil
	}}
}

// racersOf makes an empty filter for each point that takes keys one by one, with
// keys of its own: filters that share theirs help each other's caches.
func racersOf(lab *Lab, points []*Point) ([]*racing, error) {
	var racers []*racing
	for _, p := range points {
		maker, ok := p.Variant.(filters.Maker)
		if !ok {
			continue
		}
		f, err := maker.New(p.Target)
		if errors.Is(err, filters.ErrParam) {
			continue // the rate measure has said so
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", p, err)
		}
		keys, err := lab.keys(p, 0)
		if err != nil {
			return nil, err
		}
		r := &racing{point: p, filter: f, loops: lab.loop(f), members: keys.members}
		r.absent = make([]uint64, min(uint64(len(r.members)), maxQueries, keys.absentLimit))
		keys.absent(r.absent)
		r.dst = make([]bool, len(r.absent))
		racers = append(racers, r)
	}
	return racers, nil
}

// refill empties the filters and puts their members in.
func refill(racers []*racing) error {
	for _, r := range racers {
		r.filter.(filters.Resetter).Reset()
		if n, err := filters.AddMany(r.filter, r.members); err != nil {
			return fmt.Errorf("%v: key %d: %w", r.point, n, err)
		}
	}
	return nil
}

func raceAdds(ctx context.Context, lab *Lab, racers []*racing, batch bool) ([]Row, error) {
	var cs []measure.Contender
	for _, r := range racers {
		c := measure.Contender{
			Name: r.point.Variant.String(), Ops: len(r.members), Batch: batch,
			Reset: r.filter.(filters.Resetter).Reset,
			Want:  func() uint64 { return uint64(len(r.members)) },
		}
		c.Run = func() uint64 {
			n, _ := r.loops.Add(r.members) // a refusal shows as a wrong answer
			return uint64(n)
		}
		if batch {
			c.Run = func() uint64 {
				n, _ := filters.AddMany(r.filter, r.members)
				return uint64(n)
			}
		}
		cs = append(cs, c)
	}
	loop := racers[0].members
	rounds := lab.Profile.Rounds
	if len(loop) >= 1_000_000 {
		rounds = min(rounds, 6) // a pass takes a second: as many as an interval needs
	}
	return race(ctx, racers, cs, MetricAdd, batch, rounds, measure.Contender{
		Name: "loop", Ops: len(loop),
		Run: func() uint64 {
			var sum uint64
			for _, h := range loop {
				sum ^= h
			}
			return sum
		},
	})
}

func raceHits(ctx context.Context, lab *Lab, racers []*racing, batch bool) ([]Row, error) {
	if err := refill(racers); err != nil {
		return nil, err
	}
	return raceLookups(ctx, lab, racers, batch, MetricHit, func(r *racing, dst []uint64, rng *rand.Rand) {
		// Another window each round, where there is more than one.
		from := 0
		if spare := len(r.members) - len(dst); spare > 0 {
			from = rng.IntN(spare)
		}
		copy(dst, r.members[from:])
	})
}

func raceMisses(ctx context.Context, lab *Lab, racers []*racing, batch bool) ([]Row, error) {
	return raceLookups(ctx, lab, racers, batch, MetricMiss, func(r *racing, dst []uint64, _ *rand.Rand) {
		copy(dst, r.absent)
	})
}

// MixTime is the measure of lookups of members and absent keys in random order,
// in the share that the point says: what a branch predictor cannot learn.
func MixTime() Measure {
	return Measure{Name: "mixed time", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		racers, err := racersOf(lab, points)
		if err != nil || len(racers) == 0 {
			return nil, err
		}
		share, err := units.ParseRate(points[0].Hit)
		if err != nil {
			return nil, err
		}
		if err := refill(racers); err != nil {
			return nil, err
		}
		var rows []Row
		for _, batch := range []bool{false, true} {
			more, err := raceLookups(ctx, lab, racers, batch, MetricMixed, func(r *racing, dst []uint64, rng *rand.Rand) {
				hits := int(math.Round(share * float64(len(dst))))
				from := 0
				if spare := len(r.members) - hits; spare > 0 {
					from = rng.IntN(spare)
				}
				copy(dst[copy(dst[:hits], r.members[from:]):], r.absent)
			})
			if err != nil {
				return rows, err
			}
			rows = append(rows, more...)
		}
		return rows, nil
	}}
}

// raceLookups times lookups of the keys that draw puts into its argument. Each
// round asks in a fresh order: over a small table a branch predictor would learn
// a fixed one.
func raceLookups(ctx context.Context, lab *Lab, racers []*racing, batch bool, metric string, draw func(r *racing, dst []uint64, rng *rand.Rand)) ([]Row, error) {
	var cs []measure.Contender
	for _, r := range racers {
		queries := make([]uint64, len(r.dst))
		var positive uint64
		c := measure.Contender{
			Name: r.point.Variant.String(), Ops: len(queries), Batch: batch,
			Prepare: func(round int) {
				rng := rand.New(rand.NewPCG(lab.Seed, uint64(round)))
				draw(r, queries, rng)
				rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
				// What the other way of asking answers: single and batch must agree.
				if batch {
					positive = uint64(r.loops.Contains(r.dst, queries))
				} else {
					positive = uint64(filters.ContainsMany(r.filter, r.dst, queries))
				}
			},
			Want: func() uint64 { return positive },
		}
		c.Run = func() uint64 { return uint64(r.loops.Contains(r.dst, queries)) }
		if batch {
			c.Run = func() uint64 { return uint64(filters.ContainsMany(r.filter, r.dst, queries)) }
		}
		cs = append(cs, c)
	}
	queries, dst := racers[0].absent, racers[0].dst
	return race(ctx, racers, cs, metric, batch, lab.Profile.Rounds, measure.Contender{
		Name: "loop", Ops: len(queries),
		Run: func() uint64 {
			n := 0
			for i, h := range queries {
				in := h&1 != 0
				dst[i] = in
				if in {
					n++
				}
			}
			return uint64(n)
		},
	})
}

// race runs the contenders and turns every sample into a row.
func race(ctx context.Context, racers []*racing, cs []measure.Contender, metric string, batch bool, rounds int, loop measure.Contender) ([]Row, error) {
	t, err := measure.Race{Loop: loop, Contenders: cs, Rounds: rounds}.Run(ctx)
	if err != nil {
		return nil, err
	}
	api := "single"
	if batch {
		api = "batch"
	}
	var rows []Row
	for i, s := range t.Series {
		p, kernel := racers[i].point, "go"
		if k, ok := racers[i].filter.(filters.Kerneler); ok && batch {
			kernel = k.Kernel()
		}
		emit := func(metric string, round int, value float64) {
			r := p.row(metric)
			r.API, r.Kernel, r.Round, r.Value, r.Note = api, kernel, round, value, s.Invalid
			rows = append(rows, r)
		}
		for round, ns := range s.Net {
			emit(metric, round, ns)
		}
		for round, ns := range t.Loop.Gross {
			if metric == MetricMiss {
				emit(MetricLoop, round, ns)
			}
		}
		emit(MetricNoise, 0, t.Noise())
	}
	return rows, nil
}

// HashTime is the measure of time per hashed key. The points of a group share a
// key set; its hashes race each other. Each is timed once, whatever the number of
// filters, and the rows go to the first of its points.
func HashTime() Measure {
	return Measure{Name: "hash time", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		keys, err := lab.byteKeys(points[0])
		if err != nil {
			refused, err := refusal(points[0], err)
			return refused, err
		}
		seen := map[string]bool{}
		var cs []measure.Contender
		var of []*Point
		dst := make([]uint64, len(keys))
		for _, p := range points {
			if seen[p.Hash] {
				continue
			}
			seen[p.Hash] = true
			e, err := hashing.ByName(p.Hash)
			if err != nil {
				return nil, err
			}
			h := e.New(lab.Seed)
			of = append(of, p)
			cs = append(cs, measure.Contender{
				Name: p.Hash, Ops: len(keys),
				// SumMany is one loop of direct calls: what hashing costs a program
				// that knows its hash.
				Run: func() uint64 { h.SumMany(dst, keys); return uint64(len(keys)) },
				// A plain 8-byte mix is below the floor of a single operation only on
				// machines that do not exist yet; identity is not a hash at all.
				Batch: true,
			})
		}
		t, err := measure.Race{Contenders: cs, Rounds: lab.Profile.Rounds, Loop: measure.Contender{
			Name: "loop", Ops: len(keys),
			Run: func() uint64 {
				for i, k := range keys {
					dst[i] = uint64(len(k))
				}
				return uint64(len(keys))
			},
		}}.Run(ctx)
		if err != nil {
			return nil, err
		}
		var rows []Row
		for i, s := range t.Series {
			for round, ns := range s.Net {
				r := of[i].row(MetricHash)
				r.Round, r.Value, r.Note = round, ns, s.Invalid
				rows = append(rows, r)
			}
		}
		return rows, nil
	}}
}
