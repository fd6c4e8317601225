package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// A timed pass makes at least minPass lookups, so that no branch predictor
// learns the answers of a small filter, and at most maxPass. In between it makes
// twice as many as the table has cache lines, so that hardly one is left out.
const (
	minPass = 1 << 16
	maxPass = 1 << 20
)

// queriesOf is the number of lookups of a timed pass over a table of so many bits.
func queriesOf(bits uint64) uint64 { return min(max(bits/512*2, minPass), maxPass) }

// touchedBytes is what a pass goes through at most: the table, the hashes that are
// asked for and the answers.
func touchedBytes(bits uint64) uint64 { return bits/8 + 9*queriesOf(bits) }

// The keys of a filter above which timing one pass takes so long that six rounds,
// as many as an interval needs, must do, and above which a pass of adds is not run
// once before it is timed.
const (
	fewRounds = 1_000_000
	coldAdds  = 4_000_000
)

// rounds is how many rounds a race of these filters has.
func (l *Lab) rounds(racers []*racing) int {
	if racers[0].point.Inserted() >= fewRounds {
		return min(l.Profile.Rounds, 6)
	}
	return l.Profile.Rounds
}

// racing is one filter in a race, with the keys of its own.
type racing struct {
	point   *Point
	filter  filters.Filter
	loops   catalog.Loops
	members []uint64
	absent  []uint64
	dst     []bool // as long as the queries of a pass

	// Where the members are too many to be held, they come in parts, and members are
	// a sample of them.
	parts *memberStream
	full  bool // of all parts
}

// sampleKeys is how many members stand for all where those are not held.
const sampleKeys = 4 * maxPass

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
	held := !slices.ContainsFunc(points, func(p *Point) bool { return !lab.held(p) })
	if !held {
		runtime.GC() // the filter whose rate was measured last would double the memory
	}
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
		r := &racing{point: p, filter: f, loops: lab.loop(f)}
		open := lab.keys
		if !held {
			open = lab.absentKeys
			if r.parts, err = lab.members(p, 0); err != nil {
				return nil, err
			}
		}
		keys, err := open(p, 0)
		if err != nil {
			return nil, err
		}
		if r.members = keys.members; !held {
			if r.members, err = r.parts.sample(sampleKeys); err != nil {
				return nil, err
			}
		}
		queries := queriesOf(f.SizeBits())
		r.absent = make([]uint64, min(queries, keys.absentLimit))
		keys.absent(r.absent)
		r.dst = make([]bool, queries)
		racers = append(racers, r)
	}
	return racers, nil
}

// draw fills dst with a window of keys, another each time; with all of them, again
// and again, where there are fewer than dst takes. Without keys dst stays.
func draw(dst, keys []uint64, rng *rand.Rand) {
	from := 0
	if spare := len(keys) - len(dst); spare > 0 {
		from = rng.IntN(spare)
	}
	for len(dst) > 0 && len(keys) > 0 {
		dst = dst[copy(dst, keys[from:]):]
	}
}

// refill empties the filters and puts their members in.
func refill(racers []*racing) error {
	for _, r := range racers {
		if r.parts != nil {
			if err := r.fillParts(); err != nil {
				return err
			}
			continue
		}
		r.filter.(filters.Resetter).Reset()
		if n, err := filters.AddMany(r.filter, r.members); err != nil {
			return fmt.Errorf("%v: key %d: %w", r.point, n, err)
		}
	}
	return nil
}

// fillParts puts all members into the filter, unless they are in.
func (r *racing) fillParts() error {
	if r.full {
		return nil
	}
	r.filter.(filters.Resetter).Reset()
	for i := range r.parts.parts() {
		hs, err := r.parts.at(i)
		if err != nil {
			return err
		}
		if _, err := filters.AddMany(r.filter, hs); err != nil {
			return fmt.Errorf("%v: part %d: %w", r.point, i, err)
		}
	}
	r.full = true
	return nil
}

func raceAdds(ctx context.Context, lab *Lab, racers []*racing, batch bool) ([]Row, error) {
	if racers[0].parts != nil {
		return racePartAdds(ctx, racers, batch, lab.rounds(racers))
	}
	var cs []measure.Contender
	for _, r := range racers {
		cs = append(cs, r.adds(batch))
	}
	loop := racers[0].members
	return race(ctx, racers, cs, MetricAdd, batch, lab.rounds(racers), addLoop(loop, batch))
}

// adds is a contender that empties the filter and adds all of its members.
func (r *racing) adds(batch bool) measure.Contender {
	c := measure.Contender{
		Name: r.point.Variant.String(), Ops: len(r.members), Batch: batch,
		Cold:  len(r.members) > coldAdds,
		Reset: r.filter.(filters.Resetter).Reset,
		Want:  func() uint64 { return uint64(len(r.members)) },
		Run: func() uint64 {
			n, _ := r.loops.Add(r.members) // a refusal shows as a wrong answer
			return uint64(n)
		},
	}
	if batch {
		c.Run = func() uint64 {
			n, _ := filters.AddMany(r.filter, r.members)
			return uint64(n)
		}
	}
	return c
}

// racePartAdds fills the filters once, side by side, with members that are made a part
// at a time outside of what is timed. The parts are dealt out to the rounds in turn, so
// that each round has some of every stage of the filling; the order of the filters
// moves on with each deal. Of the first filter one half of each part counts as its own
// time and the other as that of the same filter again. Filters are left full.
func racePartAdds(ctx context.Context, racers []*racing, batch bool, rounds int) ([]Row, error) {
	parts := racers[0].parts.parts()
	rounds = min(rounds, parts)
	type sum struct{ ns, keys float64 }
	loop, again := make([]sum, rounds), make([]sum, rounds)
	sink := uint64(0)
	own := make([][]sum, len(racers))
	for i, r := range racers {
		own[i] = make([]sum, rounds)
		r.full = false
		r.filter.(filters.Resetter).Reset()
	}
	timed := func(to *sum, hs []uint64, run func(hs []uint64) error) error {
		start := time.Now()
		err := run(hs)
		to.ns += float64(time.Since(start).Nanoseconds())
		to.keys += float64(len(hs))
		return err
	}
	for part := range parts {
		round := part % rounds
		for i := range racers {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i = (i + part/rounds) % len(racers)
			r := racers[i]
			hs, err := r.parts.at(part)
			if err != nil {
				return nil, err
			}
			add := func(hs []uint64) error {
				_, err := r.loops.Add(hs)
				return err
			}
			if batch {
				add = func(hs []uint64) error {
					_, err := filters.AddMany(r.filter, hs)
					return err
				}
			}
			if i > 0 {
				err = timed(&own[i][round], hs, add)
			} else {
				empty := addLoop(hs, batch)
				_ = timed(&loop[round], hs, func([]uint64) error { sink ^= empty.Run(); return nil }) // nothing can fail
				first, second := &own[0][round], &again[round]
				if part/rounds%2 == 1 {
					first, second = second, first
				}
				if err = timed(first, hs[:len(hs)/2], add); err == nil {
					err = timed(second, hs[len(hs)/2:], add)
				}
			}
			if err != nil {
				return nil, fmt.Errorf("%v: part %d: %w", r.point, part, err)
			}
		}
	}
	runtime.KeepAlive(sink)
	perKey := func(sums []sum) []float64 {
		out := make([]float64, len(sums))
		for i, s := range sums {
			out[i] = s.ns / s.keys
		}
		return out
	}
	empty := perKey(loop)
	t := measure.Timing{Loop: measure.Series{Name: "loop", Gross: empty}, Again: measure.NewSeries("again", batch, perKey(again), empty)}
	for i, r := range racers {
		t.Series = append(t.Series, measure.NewSeries(r.point.Variant.String(), batch, perKey(own[i]), empty))
	}
	rows := rowsOf(racers, t, MetricAdd, batch)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	for _, r := range racers {
		r.full = true
		if err := measure.Lost(r.filter, r.members); err != nil {
			return rows, fmt.Errorf("%v: %w", r.point, err)
		}
		row := r.point.row(MetricProcess)
		row.API, row.Value = apiName(batch), float64(mem.Sys-mem.HeapReleased)
		rows = append(rows, row)
	}
	return rows, nil
}

// addLoop is the loop without a filter: over the keys one by one, or as fast as they
// can be read, which is all that a batch call need do besides its work.
func addLoop(keys []uint64, batch bool) measure.Contender {
	c := measure.Contender{Name: "loop", Ops: len(keys), Run: func() (sum uint64) {
		for _, h := range keys {
			sum ^= h
		}
		return sum
	}}
	if batch {
		c.Run = func() uint64 { return readKeys(keys) }
	}
	return c
}

// lookupLoop is the loop without a filter: a bit of every key for an answer, one by
// one; or for batch calls, which are as fast as that with their filter, the keys read
// and the answers written a block at a time.
func lookupLoop(dst []bool, keys []uint64, batch bool) measure.Contender {
	c := measure.Contender{Name: "loop", Ops: len(dst), Run: func() uint64 {
		n := 0
		for i, h := range keys[:len(dst)] {
			in := h&1 != 0
			dst[i] = in
			if in {
				n++
			}
		}
		return uint64(n)
	}}
	if batch {
		c.Run = func() (sum uint64) {
			const block = 512
			for i := 0; i < len(dst); i += block {
				end := min(i+block, len(dst))
				sum ^= readKeys(keys[i:end])
				clear(dst[i:end])
			}
			return sum
		}
	}
	return c
}

// readKeys reads keys, four at a time so that the additions do not wait for each
// other.
func readKeys(keys []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(keys) >= 4; keys = keys[4:] {
		a ^= keys[0]
		b ^= keys[1]
		c ^= keys[2]
		d ^= keys[3]
	}
	for _, h := range keys {
		a ^= h
	}
	return a ^ b ^ c ^ d
}

func raceHits(ctx context.Context, lab *Lab, racers []*racing, batch bool) ([]Row, error) {
	if err := refill(racers); err != nil {
		return nil, err
	}
	return raceLookups(ctx, lab, racers, batch, MetricHit, func(r *racing, dst []uint64, rng *rand.Rand) {
		draw(dst, r.members, rng)
	})
}

func raceMisses(ctx context.Context, lab *Lab, racers []*racing, batch bool) ([]Row, error) {
	return raceLookups(ctx, lab, racers, batch, MetricMiss, func(r *racing, dst []uint64, rng *rand.Rand) {
		draw(dst, r.absent, rng)
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
				draw(dst[:hits], r.members, rng)
				draw(dst[hits:], r.absent, rng)
			})
			if err != nil {
				return rows, err
			}
			rows = append(rows, more...)
		}
		return rows, nil
	}}
}

// fillFunc puts the keys that a filter is asked for into dst.
type fillFunc func(r *racing, dst []uint64, rng *rand.Rand)

// raceLookups times lookups of the keys that fill puts into its argument. Each
// round asks in a fresh order: over a small table a branch predictor would learn
// a fixed one. With batches of absent keys the bare floor runs as well: a table as
// large as that of each filter, of which one line is read for each key.
func raceLookups(ctx context.Context, lab *Lab, racers []*racing, batch bool, metric string, fill fillFunc) ([]Row, error) {
	var cs []measure.Contender
	for _, r := range racers {
		cs = append(cs, r.lookups(lab.Seed, batch, len(r.dst), fill))
	}
	if batch && metric == MetricMiss && racers[0].parts == nil { // a table for each is too much memory for the largest
		for _, r := range racers {
			c, err := r.floor(lab.Seed, fill)
			if err != nil {
				return nil, err
			}
			cs = append(cs, c)
		}
	}
	most := racers[0] // the smallest, whose loop is hottest in the caches
	for _, r := range racers {
		if len(r.dst) < len(most.dst) {
			most = r
		}
	}
	keys := make([]uint64, len(most.dst))
	draw(keys, most.absent, rand.New(rand.NewPCG(lab.Seed, 0)))
	return race(ctx, racers, cs, metric, batch, lab.rounds(racers), lookupLoop(most.dst, keys, batch))
}

// lookups is a contender that asks for the keys of fill, size of them in a call
// where batch is set: len(r.dst) for all at once.
func (r *racing) lookups(seed uint64, batch bool, size int, fill fillFunc) measure.Contender {
	queries := make([]uint64, len(r.dst))
	var positive uint64
	c := measure.Contender{
		Name: r.point.Variant.String(), Ops: len(queries), Batch: batch,
		Prepare: func(round int) {
			rng := rand.New(rand.NewPCG(seed, uint64(round)))
			fill(r, queries, rng)
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
		c.Run = func() uint64 {
			hits := 0
			for i := 0; i < len(queries); i += size {
				end := min(i+size, len(queries))
				hits += filters.ContainsMany(r.filter, r.dst[i:end], queries[i:end])
			}
			return uint64(hits)
		}
	}
	return c
}

// floor is the contender that only reads.
func (r *racing) floor(seed uint64, fill fillFunc) (measure.Contender, error) {
	f, err := catalog.NewFloor(r.filter.SizeBits(), strings.Contains(r.point.Variant.String(), "pages=huge"))
	if err != nil {
		return measure.Contender{}, err
	}
	queries := make([]uint64, len(r.dst))
	return measure.Contender{
		Name: "floor", Ops: len(queries), Batch: true,
		Prepare: func(round int) {
			rng := rand.New(rand.NewPCG(seed+1, uint64(round)))
			fill(r, queries, rng)
			rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		},
		Want: func() uint64 { return uint64(len(queries)) },
		Run:  func() uint64 { return f.Read(queries) },
	}, nil
}

// kernelOf names the code that an operation runs on.
func kernelOf(f filters.Querier, metric string, batch bool) string {
	if !batch {
		return "go"
	}
	if k, ok := f.(filters.AddKerneler); ok && (metric == MetricAdd || metric == MetricBuild) {
		return k.AddKernel()
	}
	if k, ok := f.(filters.Kerneler); ok {
		return k.Kernel()
	}
	return "go"
}

// apiName is the name of the API in rows.
func apiName(batch bool) string {
	if batch {
		return "batch"
	}
	return "single"
}

// race runs the contenders, the first of which belong to the racers and the others
// to the floors of the same racers, and turns every sample into a row.
func race(ctx context.Context, racers []*racing, cs []measure.Contender, metric string, batch bool, rounds int, loop measure.Contender) ([]Row, error) {
	t, err := measure.Race{Loop: loop, Contenders: cs, Rounds: rounds}.Run(ctx)
	if err != nil {
		return nil, err
	}
	return rowsOf(racers, t, metric, batch), nil
}

// rowsOf turns every sample of a race into a row. Series beyond those of the racers
// are of their floors.
func rowsOf(racers []*racing, t measure.Timing, metric string, batch bool) []Row {
	var rows []Row
	for i, r := range racers {
		s := t.Series[i]
		emit := func(metric string, round int, value float64) {
			row := r.point.row(metric)
			row.API, row.Kernel, row.Round, row.Value, row.Note = apiName(batch), kernelOf(r.filter, metric, batch), round, value, s.Invalid
			rows = append(rows, row)
		}
		for round, ns := range s.Net {
			emit(metric, round, ns)
		}
		for round, ns := range t.Loop.Gross {
			if metric == MetricMiss {
				emit(MetricLoop, round, ns)
			}
		}
		if noise := t.Noise(); !math.IsNaN(noise) {
			emit(NoiseOf(metric), 0, noise)
		}
		if len(t.Series) > len(racers) {
			for round, ns := range t.Series[len(racers)+i].Gross {
				emit(MetricFloor, round, ns)
				emit(MetricOverFloor, round, s.Gross[round]/ns)
			}
		}
	}
	return rows
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
