package choose

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// contender is a filter that choose considers, and how it is timed.
type contender struct {
	filter string
	timed  []setting
}

// setting is one filter to time: a variant and the space it is filled to, or the
// rate it promises.
type setting struct {
	variant string
	target  filters.Target // N is set by the size of the table
}

// contenders are the filters to choose from. Few and many probes of each are
// timed, where a filter has a choice, so that what lies between follows.
func contenders() []contender {
	space := func(variant string, c float64) setting {
		return setting{variant, filters.Target{BitsPerKey: c}}
	}
	rate := func(variant string, p float64) setting { return setting{variant, filters.Target{P: p}} }
	return []contender{
		{"standard", []setting{space("standard(k=5)", 7.2), space("standard(k=14)", 20.2)}},
		{"blocked", []setting{space("blocked(k=4)", 7), space("blocked(k=10)", 18)}},
		{"blocked(64)", []setting{space("blocked(64,k=3)", 6), space("blocked(64,k=7)", 24)}},
		{"blocked(layout=split)", []setting{space("blocked(layout=split)", 12)}},
		{"blocked(layout=pattern)", []setting{space("blocked(layout=pattern)", 12)}},
		{"counting", []setting{space("counting(k=5)", 28.8), space("counting(k=14)", 80.8)}},
		{"scalable", []setting{rate("scalable", 0.01), rate("scalable", 0.0001)}},
		{"standard(adds=atomic)", []setting{space("standard(adds=atomic,k=5)", 7.2), space("standard(adds=atomic,k=14)", 20.2)}},
		{"blocked(adds=atomic)", []setting{space("blocked(k=7,adds=atomic)", 12)}},
		{"cuckoo(b=4)", []setting{rate("cuckoo(b=4)", 0.02), rate("cuckoo(b=4)", 0.00001)}},
		{"cuckoo(b=2)", []setting{rate("cuckoo(b=2)", 0.02), rate("cuckoo(b=2)", 0.00001)}},
	}
}

// Plan says how much a calibration measures.
type Plan struct {
	Bits   []uint64 // sizes of tables, ascending
	Maps   []uint64 // numbers of keys of the map, ascending
	Bytes  []int    // lengths of keys, ascending
	Rounds int      // samples of everything; six give the median an interval
	Window int      // lookups of a pass
	Seed   uint64
}

// large is the size in bits from which one setting of each filter is timed, since
// to fill a table of this size takes seconds, and passes are cold.
const large = 1 << 27

// DefaultPlan measures for one to two minutes: tables from 16 KiB, inside a
// first-level cache, to 64 MiB, beyond most last ones, and to 256 MiB where that is
// wanted. Sizes above the largest wanted, in bits, are left out, and those whose
// filters together would take more than half of the memory.
func DefaultPlan(largest uint64) Plan {
	p := Plan{
		Bits:  []uint64{1 << 17, 1 << 21, 1 << 24, 1 << 27, 1 << 29, 1 << 31},
		Maps:  []uint64{1e3, 1e4, 1e5, 1e6, 4e6, 8e6},
		Bytes: []int{8, 16, 32, 64, 256, 1024}, Rounds: 6, Window: 1 << 16, Seed: 1,
	}
	filtersOfSize := uint64(2 * len(contenders())) // two settings at most
	ram := measure.Memory()
	for last := len(p.Bits) - 1; last > 0; last-- {
		if p.Bits[last] <= largest && (ram == 0 || filtersOfSize*p.Bits[last]/8 <= ram/2) {
			break
		}
		p.Bits = p.Bits[:last]
	}
	// A map takes some 100 bytes a key, and so much again while it is weighed.
	for last := len(p.Maps) - 1; last > 0 && ram > 0 && 200*p.Maps[last] > ram/2; last-- {
		p.Maps = p.Maps[:last]
	}
	return p
}

// Calibrate measures this machine. One line a step goes to progress.
func Calibrate(ctx context.Context, p Plan, progress io.Writer) (*Calibration, error) {
	start := time.Now()
	c := &Calibration{Schema: Schema, Env: measure.ReadEnv(p.Seed, start)}
	for _, k := range contenders() {
		c.Curves = append(c.Curves, Curve{Filter: k.filter})
	}
	var noise []float64
	for _, bits := range p.Bits {
		say(progress, "%4.0f s  filters of %s", time.Since(start).Seconds(), units.FormatBytes(bits/8))
		runners, err := p.runners(bits)
		if err != nil {
			return nil, err
		}
		of, err := p.time(ctx, runners)
		if err != nil {
			return nil, err
		}
		noise = append(noise, of...)
		for _, r := range runners {
			c.Curves[r.curve].Points = append(c.Curves[r.curve].Points, r.point)
		}
	}
	c.Noise = measure.Median(noise)
	say(progress, "%4.0f s  hashes", time.Since(start).Seconds())
	var err error
	if c.Hashes, err = p.timeHashes(ctx, safeHashes()); err != nil {
		return nil, err
	}
	for _, n := range p.Maps {
		say(progress, "%4.0f s  a map of %s keys", time.Since(start).Seconds(), units.FormatCount(n))
		m, err := p.timeMap(ctx, n)
		if err != nil {
			return nil, err
		}
		c.Map = append(c.Map, m)
	}
	say(progress, "%4.0f s  done", time.Since(start).Seconds())
	return c, c.check()
}

// say writes a line of progress. Progress that cannot be written stops nothing.
func say(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// runner is one filter to be timed.
type runner struct {
	curve  int
	point  Point
	maker  filters.Maker
	target filters.Target
	filter filters.Filter
	loops  catalog.Loops
	first  uint64 // counter of its first member
}

// runners sizes the filters of one table size; none is built yet.
func (p Plan) runners(bits uint64) ([]*runner, error) {
	var out []*runner
	for i, c := range contenders() {
		timed := c.timed
		if bits >= large {
			timed = timed[len(timed)-1:] // the one with the fewest keys
		}
		for _, s := range timed {
			v, err := catalog.Parse(s.variant)
			if err != nil {
				return nil, err
			}
			t := s.target
			perKey := t.BitsPerKey
			if t.N = 100_000; perKey == 0 {
				pred, err := v.Predict(t, t.N)
				if err != nil {
					return nil, err
				}
				perKey = pred.BitsPerKey()
			}
			t.N = uint64(float64(bits) / perKey)
			r, err := newRunner(v, t, uint64(len(out)))
			if err != nil {
				return nil, err
			}
			r.curve = i
			out = append(out, r)
		}
	}
	return out, nil
}

// newRunner sizes a filter. Runners of different numbers have different keys:
// filters that share theirs help each other's caches.
func newRunner(v filters.Variant, t filters.Target, number uint64) (*runner, error) {
	maker, ok := v.(filters.Maker)
	if !ok {
		return nil, filters.Refuse("filter", v, "one that takes keys one by one")
	}
	pred, err := v.Predict(t, t.N)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", v, err)
	}
	return &runner{
		point: Point{Variant: v.String(), N: t.N, Bits: pred.Bits, K: pred.K},
		maker: maker, target: t, first: number << 40,
	}, nil
}

// key makes hash number i of all there are: a bijection (Stafford's variant 13 of
// the finalizer of MurmurHash3), so that different numbers never collide, and
// members, which have numbers below 2^63, are never absent keys.
func key(i uint64) uint64 {
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

const absent = 1 << 63

// chunk is how many keys one call of AddMany stores while a filter is filled:
// 64 KiB of hashes.
const chunk = 1 << 13

// fill builds the filter and times adds, singly in one chunk of sixteen. Small
// filters are filled again until that took some time.
func (r *runner) fill() error {
	var spent [2]time.Duration // single, batch
	var stored [2]uint64
	hs := make([]uint64, chunk)
	// A fresh table has no memory under it yet: finding it is a part of building.
	for pass := 0; ; pass++ {
		f, err := r.maker.New(r.target)
		if err != nil {
			return err
		}
		r.filter, r.loops = f, catalog.Loop(f)
		for from := uint64(0); from < r.target.N; from += chunk {
			hs := hs[:min(chunk, r.target.N-from)]
			for i := range hs {
				hs[i] = key(r.first + from + uint64(i))
			}
			which, add := 1, func(hs []uint64) (int, error) { return filters.AddMany(f, hs) }
			if (from/chunk+uint64(pass))%16 == 7 {
				which, add = 0, r.loops.Add
			}
			start := time.Now()
			n, err := add(hs)
			spent[which] += time.Since(start)
			stored[which] += uint64(n)
			if err != nil {
				return fmt.Errorf("%s: key %d of %d: %w", r.point.Variant, from+uint64(n), r.target.N, err)
			}
		}
		if spent[0]+spent[1] > 10*time.Millisecond && stored[0] > 0 {
			break
		}
	}
	r.point.Single.Add = float64(spent[0].Nanoseconds()) / float64(stored[0])
	r.point.Batch.Add = float64(spent[1].Nanoseconds()) / float64(stored[1])
	return nil
}

// draw makes the lookups of one round: the share hits of them members, in random
// order, and keys that no other round asks for.
func (p Plan) draw(dst []uint64, r *runner, hits float64, round int) {
	rng := rand.New(rand.NewPCG(p.Seed^r.first, uint64(round)))
	next := absent + uint64(round)*uint64(len(dst))
	for i := range dst {
		if hits == 1 || hits > 0 && rng.Float64() < hits {
			dst[i] = key(r.first + rng.Uint64N(r.target.N))
		} else {
			dst[i] = key(next + uint64(i))
		}
	}
}

// time fills the filters and races their lookups. It returns the noise of the
// races.
func (p Plan) time(ctx context.Context, runners []*runner) (noise []float64, err error) {
	for _, r := range runners {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	for _, kind := range []struct {
		hits float64
		set  func(o *Ops, ns float64)
	}{
		{0, func(o *Ops, ns float64) { o.Miss = ns }},
		{1, func(o *Ops, ns float64) { o.Hit = ns }},
		{0.5, func(o *Ops, ns float64) { o.Mixed = ns }},
	} {
		single, batch, of, err := p.race(ctx, runners, kind.hits)
		if err != nil {
			return nil, err
		}
		noise = append(noise, of...)
		for i, r := range runners {
			kind.set(&r.point.Single, single[i])
			kind.set(&r.point.Batch, batch[i])
		}
	}
	for _, r := range runners {
		r.filter, r.loops = nil, catalog.Loops{} // the next size needs the room
	}
	return noise, nil
}

// minSample is the shortest sample: hundreds take part in a calibration.
const minSample = time.Millisecond

// race times lookups of filters that hold their keys, singly and in batches: the
// median net time of each.
//
// Every round asks for keys that were not asked for before, in passes of no warm-up
// where a table is large: asked twice, the lines of the first time would still be
// in a cache that the table does not fit in.
func (p Plan) race(ctx context.Context, runners []*runner, hits float64) (single, batch, noise []float64, err error) {
	window := p.Window
	queries, dst := make([][]uint64, len(runners)), make([]bool, window)
	positive := make([][]uint64, len(runners))
	for i, r := range runners {
		queries[i] = make([]uint64, window)
		for round := range p.Rounds {
			p.draw(queries[i], r, hits, round)
			positive[i] = append(positive[i], uint64(filters.ContainsMany(r.filter, dst, queries[i])))
		}
	}
	loop := make([]uint64, window)
	p.draw(loop, runners[0], 0, p.Rounds)
	for _, batched := range []bool{false, true} {
		var cs []measure.Contender
		for i, r := range runners {
			now := 0
			c := measure.Contender{
				Name: r.point.Variant, Ops: window, Batch: batched, Cold: r.point.Bits >= large,
				Prepare: func(round int) { now = round; p.draw(queries[i], r, hits, round) },
				Want:    func() uint64 { return positive[i][now] },
				Run:     func() uint64 { return uint64(r.loops.Contains(dst, queries[i])) },
			}
			if batched {
				c.Run = func() uint64 { return uint64(filters.ContainsMany(r.filter, dst, queries[i])) }
			}
			cs = append(cs, c)
		}
		t, err := measure.Race{Contenders: cs, Rounds: p.Rounds, MinSample: minSample, Loop: measure.Contender{
			Name: "loop", Ops: window,
			Run: func() uint64 {
				n := 0
				for i, h := range loop {
					in := h&1 != 0
					dst[i] = in
					if in {
						n++
					}
				}
				return uint64(n)
			},
		}}.Run(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		if n := t.Noise(); !math.IsNaN(n) {
			noise = append(noise, n)
		}
		for _, s := range t.Series {
			if batched {
				batch = append(batch, net(s))
			} else {
				single = append(single, net(s))
			}
		}
	}
	return single, batch, noise, nil
}

// net is the median net time of a series. It is never 0 or less, which a disturbed
// machine can make of a time close to that of the loop.
func net(s measure.Series) float64 { return max(measure.Median(s.Net), 0.01) }

// safeHashes are the hashes to choose from: strong ones that give every process the
// same digests.
func safeHashes() []string {
	return []string{"xxh3", "xxhash64", "murmur3", secretHash}
}

// secretHash is the hash for keys that come from strangers.
const secretHash = "siphash"

// timeHashes times hashes over lengths, the keys of a length one after the other.
func (p Plan) timeHashes(ctx context.Context, names []string) ([]HashCurve, error) {
	const keys = 1 << 10 // of 1 KiB they fill a second-level cache
	curves := make([]HashCurve, len(names))
	for _, bytes := range p.Bytes {
		rng := rand.New(rand.NewPCG(p.Seed, uint64(bytes)))
		data := make([][]byte, keys)
		for i := range data {
			data[i] = make([]byte, bytes)
			for j := range data[i] {
				data[i][j] = byte(rng.Uint32())
			}
		}
		dst := make([]uint64, keys)
		var cs []measure.Contender
		for _, name := range names {
			e, err := hashing.ByName(name)
			if err != nil {
				return nil, err
			}
			h := e.New(p.Seed)
			cs = append(cs, measure.Contender{Name: name, Ops: keys, Batch: true,
				Run: func() uint64 { h.SumMany(dst, data); return keys }})
		}
		t, err := measure.Race{Contenders: cs, Rounds: p.Rounds, MinSample: minSample, Loop: measure.Contender{
			Name: "loop", Ops: keys,
			Run: func() uint64 {
				for i, k := range data {
					dst[i] = uint64(len(k))
				}
				return keys
			},
		}}.Run(ctx)
		if err != nil {
			return nil, err
		}
		for i, s := range t.Series {
			curves[i].Hash = names[i]
			curves[i].Points = append(curves[i].Points, HashPoint{bytes, net(s)})
		}
	}
	return curves, nil
}

// mapKeyBytes is the length of the keys of the map that is timed.
const mapKeyBytes = 16

// mapKey appends the key of a number: its hash and the number, 16 bytes.
func mapKey(dst []byte, i uint64) []byte {
	for _, x := range [2]uint64{key(i), i} {
		for s := 0; s < 64; s += 8 {
			dst = append(dst, byte(x>>s))
		}
	}
	return dst
}

// mapKeys makes keys as views into one string, so that they cost the heap their
// bytes and nothing else.
func mapKeys(numbers func(i int) uint64, n int) []string {
	data := make([]byte, 0, n*mapKeyBytes)
	for i := range n {
		data = mapKey(data, numbers(i))
	}
	all := string(data)
	out := make([]string, n)
	for i := range out {
		out[i] = all[i*mapKeyBytes : (i+1)*mapKeyBytes]
	}
	return out
}

// timeMap times and weighs a map of n strings of 16 bytes.
func (p Plan) timeMap(ctx context.Context, n uint64) (MapPoint, error) {
	point := MapPoint{N: n}
	members := mapKeys(func(i int) uint64 { return uint64(i) }, int(n))
	heap := measure.WeighBuild(func() any { return buildMap(members) })
	point.Bytes = float64(max(heap.Live, 1)) / float64(n) // of a tiny map, garbage of others hides the weight
	var set map[string]struct{}
	start, passes := time.Now(), uint64(0)
	for passes == 0 || time.Since(start) < 10*time.Millisecond {
		set = buildMap(members)
		passes++
	}
	point.Add = float64(time.Since(start).Nanoseconds()) / float64(passes*n)
	for _, kind := range []struct {
		hits float64
		set  func(ns float64)
	}{
		{0, func(ns float64) { point.Miss = ns }},
		{1, func(ns float64) { point.Hit = ns }},
		{0.5, func(ns float64) { point.Mixed = ns }},
	} {
		ns, err := p.raceMap(ctx, set, n, kind.hits)
		if err != nil {
			return point, err
		}
		kind.set(ns)
	}
	return point, nil
}

// buildMap makes a map of the size that its keys need from the start.
func buildMap(keys []string) map[string]struct{} {
	set := make(map[string]struct{}, len(keys))
	for _, k := range keys {
		set[k] = struct{}{}
	}
	return set
}

// raceMap times lookups of strings that are equal to those of the map and not the
// same. Large maps are asked for fresh keys in cold passes, as filters are.
func (p Plan) raceMap(ctx context.Context, set map[string]struct{}, n uint64, hits float64) (float64, error) {
	const window = 1 << 16
	dst := make([]bool, window)
	queries, members := make([]string, window), uint64(0)
	t, err := measure.Race{Rounds: p.Rounds, Contenders: []measure.Contender{{
		Name: "map", Ops: window, Cold: n >= 1e6,
		Prepare: func(round int) {
			rng := rand.New(rand.NewPCG(p.Seed, uint64(round)))
			members = 0
			queries = mapKeys(func(i int) uint64 {
				if rng.Float64() < hits {
					members++
					return rng.Uint64N(n)
				}
				return absent + uint64(round)*window + uint64(i)
			}, window)
		},
		Want: func() uint64 { return members },
		Run: func() uint64 {
			found := 0
			for i, k := range queries {
				_, in := set[k]
				dst[i] = in
				if in {
					found++
				}
			}
			return uint64(found)
		},
	}}, Loop: measure.Contender{
		Name: "loop", Ops: window,
		Run: func() uint64 {
			found := 0
			for i, k := range queries {
				in := len(k)&1 != 0
				dst[i] = in
				if in {
					found++
				}
			}
			return uint64(found)
		},
	}}.Run(ctx)
	if err != nil {
		return 0, err
	}
	return net(t.Series[0]), nil
}
