package contest

import (
	"fmt"
	"math/rand/v2"

	"filterlab/experiments/measure"
	"filterlab/experiments/peers/adapter"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// The ways in which a filter is asked.
const (
	Single = "single" // one call a key, in a loop of direct calls
	Batch  = "batch"  // one call for many keys
	Loop   = "loop"   // the loop of direct calls, where others have a batch call
)

// How many keys one pass asks for: enough that no branch predictor learns the
// answers of a small filter, and that a large one is read in as many places as
// any cache has lines.
const (
	minQueries = 1 << 16
	maxQueries = 1 << 19
)

// racer is one filter in a race, with keys of its own.
type racer struct {
	name  string
	n     uint64
	seed  uint64
	keys  keySource
	q     filters.Querier
	loops catalog.Loops
}

// newRacer builds a filter and checks that it lost nothing.
func newRacer(v filters.Variant, t filters.Target, seed uint64) (*racer, error) {
	keys, err := openKeys(keySet, hashName, seed, seed)
	if err != nil {
		return nil, err
	}
	return newRacerOf(v, t, seed, keys)
}

func newRacerOf(v filters.Variant, t filters.Target, seed uint64, keys keySource) (*racer, error) {
	q, err := keys.fill(v, t)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", v, err)
	}
	err = keys.each(min(t.N, 10_000_000), func(hs []uint64) error { return measure.Lost(q, hs) })
	if err != nil {
		return nil, fmt.Errorf("%v: %w", v, err)
	}
	return &racer{v.String(), t.N, seed, keys, q, adapter.Loop(q)}, nil
}

// api is how the racer is really asked when batches are wanted.
func (r *racer) api(batch bool) string {
	switch _, ok := r.q.(filters.BatchQuerier); {
	case !batch:
		return Single
	case ok:
		return Batch
	default:
		return Loop
	}
}

// lookups asks for present keys or absent ones, through the batch call or through
// the loop of single calls. Each round asks for others, in another order.
func (r *racer) lookups(hit, batch bool) measure.Contender {
	queries := make([]uint64, max(minQueries, min(r.n, maxQueries)))
	dst := make([]bool, len(queries))
	want := uint64(0)
	ask := func(batch bool) uint64 {
		if batch {
			return uint64(filters.ContainsMany(r.q, dst, queries))
		}
		return uint64(r.loops.Contains(dst, queries))
	}
	batch = r.api(batch) == Batch
	return measure.Contender{
		Name: r.name, Ops: len(queries), Batch: batch,
		Prepare: func(round int) {
			r.draw(queries, hit, round)
			want = ask(!batch) // single and batch must agree
			if hit {
				want = uint64(len(queries))
			}
		},
		Want: func() uint64 { return want },
		Run:  func() uint64 { return ask(batch) },
	}
}

// draw fills queries with keys of one kind. Key sets hold 2^60 absent keys and
// the members asked for, so there is nothing to refuse.
func (r *racer) draw(queries []uint64, hit bool, round int) {
	rng := rand.New(rand.NewPCG(r.seed, uint64(round)))
	if !hit {
		_ = r.keys.absent(queries, uint64(round+1)*uint64(len(queries)))
		return
	}
	for done := 0; done < len(queries); {
		// A window of the members; all of them, again and again, where they are few.
		hs := queries[done:min(len(queries), done+int(min(r.n, maxQueries)))]
		first := uint64(0)
		if spare := r.n - uint64(len(hs)); spare > 0 {
			first = rng.Uint64N(spare)
		}
		_ = r.keys.members(hs, first)
		done += len(hs)
	}
	rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
}

// largePass is the number of adds above which a pass is not run before it is
// timed: it takes a second, and the table is in no cache anyway.
const largePass = 4_000_000

// adds empties the filter and adds members to it. The filter must be dynamic and
// have a Reset.
func (r *racer) adds(members []uint64, batch bool) measure.Contender {
	f := r.q.(filters.Filter)
	c := measure.Contender{
		Name: r.name, Ops: len(members), Batch: batch,
		Cold:  len(members) > largePass,
		Reset: r.q.(filters.Resetter).Reset,
		Want:  func() uint64 { return uint64(len(members)) },
		Run: func() uint64 {
			n, _ := r.loops.Add(members) // a refusal shows as a wrong answer
			return uint64(n)
		},
	}
	if b, ok := f.(filters.BatchAdder); ok && batch {
		c.Run = func() uint64 {
			n, _ := b.AddMany(members)
			return uint64(n)
		}
	}
	return c
}

// builds makes a static filter anew from all members.
func builds(v filters.Variant, t filters.Target, members []uint64) measure.Contender {
	return measure.Contender{
		Name: v.String(), Ops: len(members), Batch: true,
		Cold: len(members) > largePass,
		// Nothing to empty, but every pass is timed by itself.
		Reset: func() {},
		Want:  func() uint64 { return uint64(len(members)) },
		Run: func() uint64 {
			if _, err := v.Build(t, members); err != nil {
				return 0
			}
			return uint64(len(members))
		},
	}
}

// emptyLookups is the loop without a filter.
func emptyLookups(r *racer) measure.Contender {
	queries := make([]uint64, max(minQueries, min(r.n, maxQueries)))
	dst := make([]bool, len(queries))
	r.draw(queries, false, 0)
	return measure.Contender{
		Name: "loop", Ops: len(queries),
		Run: func() uint64 {
			n := uint64(0)
			for i, h := range queries {
				in := h&1 != 0
				dst[i] = in
				if in {
					n++
				}
			}
			return n
		},
	}
}

// emptyAdds is the loop without a filter.
func emptyAdds(members []uint64) measure.Contender {
	return measure.Contender{
		Name: "loop", Ops: len(members),
		Run: func() (sum uint64) {
			for _, h := range members {
				sum ^= h
			}
			return sum
		},
	}
}

// kernel is the code that answers: what a filter says of its batches, and plain
// Go for single calls of ours. Other libraries do not say.
func kernel(r *racer, api string) string {
	k, ok := r.q.(filters.Kerneler)
	switch {
	case Foreign(r.name):
		return ""
	case ok && api == Batch:
		return k.Kernel()
	default:
		return "go"
	}
}
