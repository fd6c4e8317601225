package filtertest

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"filterlab/filters"
)

// checkVariant: a variant is a comparable value with a name, and Predict speaks
// sense wherever it speaks.
func checkVariant(r *report, v filters.Variant) {
	if !reflect.ValueOf(v).Comparable() {
		r.fatalf("%T cannot be compared: a variant is a plain struct of knobs", v)
	}
	name := v.String()
	if name == "" || strings.ContainsAny(name, " \t\n") || name != v.String() {
		r.errorf("String() = %q: want a stable name without spaces", name)
	}
	t := r.target(v, 1000)
	before := -1.0
	for _, n := range []uint64{0, 1, 10, 500, 1000, 1500, 2000, 10_000, 1 << 20, 1 << 40} {
		p, err := v.Predict(t, n)
		if errors.Is(err, filters.ErrNoTheory) {
			r.skip("no theory")
		}
		if err != nil {
			if n <= t.N {
				r.errorf("Predict(%v, %d): %v", t, n, err)
			}
			continue // a prediction beyond what fits may be refused
		}
		switch {
		case p.Inserted != n:
			r.errorf("Predict(%v, %d).Inserted = %d", t, n, p.Inserted)
		case !(p.FPR >= 0 && p.FPR <= 1):
			r.errorf("Predict(%v, %d).FPR = %v: want 0 to 1", t, n, p.FPR)
		case !(p.Fill >= 0 && p.Fill <= 1):
			r.errorf("Predict(%v, %d).Fill = %v: want 0 to 1", t, n, p.Fill)
		case !(p.BuildSD >= 0 && p.BuildSD <= 0.5): // no quantity within [0, 1] has a larger one
			r.errorf("Predict(%v, %d).BuildSD = %v: want 0 to 0.5", t, n, p.BuildSD)
		case !(p.Overflow >= 0):
			r.errorf("Predict(%v, %d).Overflow = %v: want at least 0", t, n, p.Overflow)
		case p.FPR < before*(1-1e-9):
			r.errorf("Predict(%v, %d).FPR = %v, less than the %v of fewer keys", t, n, p.FPR, before)
		case p.Bits == 0:
			r.errorf("Predict(%v, %d).Bits = 0", t, n)
		}
		before = p.FPR
	}
}

// badTarget is a target every family must refuse, and the field that the error
// must name; any will do where it is empty.
type badTarget struct {
	t     filters.Target
	field string
}

// badTargets lists what users of other libraries passed: swapped arguments, NaN
// (which fails p <= 0 and p >= 1 alike), and sizes that wrap or exhaust memory.
func badTargets() []badTarget {
	nan, inf := math.NaN(), math.Inf(1)
	var bad []badTarget
	for _, p := range []float64{-0.1, 1, 1.5, 2, 10.1, 1000, nan, inf, -inf} {
		bad = append(bad, badTarget{filters.Target{N: 1000, P: p}, "p"})
	}
	for _, c := range []float64{-1, nan, inf, -inf} {
		bad = append(bad, badTarget{filters.Target{N: 1000, BitsPerKey: c}, "bits per key"})
	}
	return append(bad,
		badTarget{filters.Target{P: 0.01}, "n"},
		badTarget{filters.Target{BitsPerKey: 10}, "n"},
		badTarget{filters.Target{N: 1000}, "target"},
		badTarget{filters.Target{N: 1000, P: 0.01, BitsPerKey: 10}, "target"},
		badTarget{filters.Target{}, ""},
		badTarget{filters.Target{N: 1000, P: 1e-320}, ""},
		badTarget{filters.Target{N: 1e18, P: 0.01}, ""}, // 9.585e18 bits: over int64, under uint64
		badTarget{filters.Target{N: 1e18, BitsPerKey: 10}, ""},
		badTarget{filters.Target{N: 1e18, BitsPerKey: 20}, ""}, // wraps 64 bits
		badTarget{filters.Target{N: math.MaxUint64, P: 0.5}, ""},
		badTarget{filters.Target{N: 1000, BitsPerKey: 1e300}, ""},
	)
}

// checkBadTargets: what cannot be built is refused by New, Build and Predict
// alike with a ParamError that names the field, before anything is allocated.
func checkBadTargets(r *report, v filters.Variant) {
	for _, bad := range badTargets() {
		try := func(method string, f func() error) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := f()
			runtime.ReadMemStats(&after)
			// Other goroutines of the test binary allocate a little, too.
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
				r.errorf("%s(%v): allocated %d bytes before it answered", method, bad.t, got)
			}
			var pe *filters.ParamError
			if !errors.As(err, &pe) || !errors.Is(err, filters.ErrParam) {
				r.errorf("%s(%v): error is %v; want a ParamError", method, bad.t, err)
				return
			}
			// A family may put its name in front: "blocked: p".
			field := pe.Field
			if i := strings.LastIndex(field, ": "); i >= 0 {
				field = field[i+2:]
			}
			if field == "" || bad.field != "" && field != bad.field {
				r.errorf("%s(%v): error names field %q (%v); want %q", method, bad.t, field, err, bad.field)
			}
			if pe.Value == "" || pe.Accepted == "" {
				r.errorf("%s(%v): error %q lacks the value or what is accepted", method, bad.t, err)
			}
		}
		// A nil pointer in an interface is not nil, and callers check for nil.
		try("Build", func() error {
			q, err := v.Build(bad.t, []uint64{1})
			if err != nil && q != nil {
				r.errorf("Build(%v) returns a %T besides its error; want nil", bad.t, q)
			}
			return err
		})
		try("Predict", func() error { _, err := v.Predict(bad.t, 1); return err })
		m, ok := v.(filters.Maker)
		if !ok {
			continue
		}
		try("New", func() error {
			f, err := m.New(bad.t)
			if err != nil && f != nil {
				r.errorf("New(%v) returns a %T besides its error; want nil", bad.t, f)
			}
			return err
		})
	}
}

// checkEmpty: a new filter holds nothing and says so in every way.
func checkEmpty(r *report, v filters.Variant) {
	const queries = 20_000
	t := r.target(v, 1000)
	q := r.build(v, t, nil)
	others := NonMembers(1, queries)
	hits := 0
	for _, h := range others {
		if q.Contains(h) {
			hits++
		}
	}
	p, err := v.Predict(t, 0)
	switch {
	case err != nil && !errors.Is(err, filters.ErrNoTheory):
		r.errorf("Predict(%v, 0): %v", t, err)
	case err == nil && p.FPR == 0 && hits > 0:
		r.errorf("an empty filter answers true to %d of %d hashes; theory says none", hits, queries)
	case err == nil && p.FPR > 0:
		r.agree("empty filter", binomial(hits, queries, p.FPR, 0))
	}
	if _, ok := v.(filters.Maker); !ok {
		return
	}
	if err == nil && p.FPR != 0 {
		r.errorf("Predict(%v, 0).FPR = %v: an empty dynamic filter denies everything", t, p.FPR)
	}
	for _, h := range []uint64{0, 1, ^uint64(0), 1 << 63, 1 << 32, 1<<32 - 1} {
		if q.Contains(h) {
			r.errorf("an empty filter contains %#x", h)
		}
	}
	if q.SizeBits() == 0 {
		r.errorf("SizeBits of an empty filter is 0: it counts the tables, not the keys")
	}
	if f, ok := q.(filters.FillReporter); ok && f.FillRatio() != 0 {
		r.errorf("FillRatio of an empty filter is %v", f.FillRatio())
	}
	if e, ok := q.(filters.Estimator); ok && (e.EstimatedN() != 0 || e.EstimatedFPR() != 0) {
		r.errorf("an empty filter estimates n = %v and FPR = %v", e.EstimatedN(), e.EstimatedFPR())
	}
	if d, ok := q.(filters.Deleter); ok && d.Delete(others[0]) {
		r.errorf("an empty filter deletes a key")
	}
	if c, ok := q.(filters.Counter); ok {
		if n, sat := c.Count(others[0]); n != 0 || sat {
			r.errorf("an empty filter counts %d (saturated %v)", n, sat)
		}
	}
	if hits := filters.ContainsMany(q, nil, nil); hits != 0 {
		r.errorf("ContainsMany of no hashes finds %d", hits)
	}
	if n, err := filters.AddMany(q.(filters.Filter), nil); n != 0 || err != nil {
		r.errorf("AddMany of no hashes = %d, %v", n, err)
	}
}

// sizes are the key counts at which keys get lost in other libraries: none, a
// few, and some just off round numbers and powers of two. Exact sizing, which one
// goroutine does, takes the race detector long: it gets a few of them.
func sizes() []int {
	if underRace {
		return []int{0, 1, 65, 1000, 10_000}
	}
	ns := []int{0, 1, 2, 3, 10, 63, 64, 65, 100, 1000, 10_000}
	for _, h := range Members(0x517e, 8) {
		ns = append(ns, int(h%3000))
	}
	return ns
}

// checkLostKeys: every key within the promise is taken and found again.
func checkLostKeys(r *report, v filters.Variant) {
	for i, n := range sizes() {
		t := r.target(v, n)
		hs := Members(uint64(100+i), n)
		q, err := v.Build(t, hs)
		if err != nil {
			r.errorf("Build(%v, %d random hashes): %v", t, n, err)
			continue
		}
		if lost, first := missing(q, hs); lost > 0 {
			r.errorf("%d of %d keys are lost after Build(%v); the first is %#x", lost, n, t, first)
		}
		m, ok := v.(filters.Maker)
		if !ok {
			continue
		}
		f := r.make(m, t)
		for j, h := range hs {
			if err := f.Add(h); err != nil {
				r.errorf("Add of random key %d of the %d promised by %v: %v", j, n, t, err)
				break
			}
			if !f.Contains(h) {
				r.errorf("key %#x is not found right after its Add (%d of %d)", h, j, n)
			}
		}
		if lost, first := missing(f, hs); lost > 0 {
			r.errorf("%d of %d keys are lost after adding one by one; the first is %#x", lost, n, first)
		}
	}
}

// checkDegenerate: hashes that break every assumption may fill a filter early,
// but cost no key and no panic.
func checkDegenerate(r *report, v filters.Variant) {
	const n = 2000
	t := r.target(v, n)
	for _, set := range degenerate() {
		hs := set.take(n)
		q, err := v.Build(t, hs)
		if err == nil {
			if lost, first := missing(q, hs); lost > 0 {
				r.errorf("%s: %d of %d keys are lost after Build; the first is %#x", set.name, lost, n, first)
			}
		} else if _, ok := v.(filters.Maker); ok && !errors.Is(err, filters.ErrFull) {
			r.errorf("%s: Build(%v): %v; only ErrFull is allowed", set.name, t, err)
		}
		m, ok := v.(filters.Maker)
		if !ok {
			continue
		}
		f := r.make(m, t)
		var stored []uint64
		for i, h := range hs {
			err := f.Add(h)
			switch {
			case err == nil:
				stored = append(stored, h)
				if !f.Contains(h) {
					r.errorf("%s: key %#x is not found right after its Add (%d of %d)", set.name, h, i, n)
				}
			case !errors.Is(err, filters.ErrFull):
				r.errorf("%s: Add(%#x): %v; only ErrFull is allowed", set.name, h, err)
			}
		}
		if lost, first := missing(f, stored); lost > 0 {
			r.errorf("%s: %d of %d accepted keys are lost (%d were refused); the first is %#x", set.name, lost, len(stored), n-len(stored), first)
		}
		if len(stored) == 0 {
			r.errorf("%s: not even the first key was taken", set.name)
		}
	}
}

// checkDuplicates: adding a key again is allowed, and refusing the copy does not
// cost the key.
func checkDuplicates(r *report, v filters.Variant) {
	const n = 500
	t := r.target(v, n)
	hs := Members(7, n)
	twice := join(hs, hs)
	_, dynamic := v.(filters.Maker)
	if q, err := v.Build(r.target(v, 2*n), twice); dynamic && errors.Is(err, filters.ErrFull) {
		// Buckets of one slot have no room for a pair and a neighbour.
	} else if err != nil {
		r.errorf("Build for %d keys with each of %d hashes twice: %v", 2*n, n, err)
	} else if lost, first := missing(q, hs); lost > 0 {
		r.errorf("%d of %d keys are lost when Build gets each twice; the first is %#x", lost, n, first)
	}
	m := r.maker(v)
	f := r.make(m, t)
	for _, h := range hs[:5] {
		for i := range 40 {
			if err := f.Add(h); err != nil && (i == 0 || !errors.Is(err, filters.ErrFull)) {
				r.errorf("copy %d of key %#x: %v", i+1, h, err)
			}
		}
	}
	for _, h := range hs[5:] {
		if err := f.Add(h); err != nil && !errors.Is(err, filters.ErrFull) {
			r.errorf("Add: %v", err)
		}
	}
	if lost, first := missing(f, hs[:5]); lost > 0 {
		r.errorf("%d of 5 keys with many copies are lost; the first is %#x", lost, first)
	}
}

// checkBuild: Build is a function of its arguments, leaves hs alone, and serves
// any number of keys whatever the target says.
func checkBuild(r *report, v filters.Variant) {
	const n = 777
	t := r.target(v, n)
	hs := Members(3, n)
	kept := slices.Clone(hs)
	queries := join(hs, NonMembers(3, 5000))
	a, b := observe(r.build(v, t, hs), queries), observe(r.build(v, t, hs), queries)
	if !slices.Equal(hs, kept) {
		r.errorf("Build changed the slice of hashes it was given")
	}
	if d := a.differ(b); d != "" {
		r.errorf("two builds from the same hashes differ: %s", d)
	}
	q := r.build(v, t, hs)
	clear(hs) // a filter that kept the slice loses its keys here
	if d := a.differ(observe(q, queries)); d != "" {
		r.errorf("the filter changes when the slice it was built from does: %s", d)
	}
	half := r.build(v, t, kept[:n/2])
	if lost, first := missing(half, kept[:n/2]); lost > 0 {
		r.errorf("%d of %d keys are lost when fewer come than the target says; the first is %#x", lost, n/2, first)
	}
	m, ok := v.(filters.Maker)
	if !ok {
		return
	}
	f := r.make(m, t)
	for _, h := range kept {
		if err := f.Add(h); err != nil {
			r.fatalf("Add: %v", err)
		}
	}
	if d := a.differ(observe(f, queries)); d != "" {
		r.errorf("Build and New with single Adds differ: %s", d)
	}
}

// checkBatchAdd: AddMany leaves the filter as single Adds would, for every
// length and up to the first key that does not fit.
func checkBatchAdd(r *report, v filters.Variant) {
	const longest = 300
	m := r.maker(v)
	hs := Members(11, longest*(longest+1)/2)
	t := r.target(v, len(hs))
	single, batch := r.make(m, t), r.make(m, t)
	need[filters.BatchAdder](r, batch, "AddMany")
	others := NonMembers(11, 500)
	for n := range longest + 1 { // ever longer batches into the same two filters
		chunk := hs[:n]
		hs = hs[n:]
		for _, h := range chunk {
			if err := single.Add(h); err != nil {
				r.fatalf("Add: %v", err)
			}
		}
		kept := slices.Clone(chunk)
		if got, err := batch.(filters.BatchAdder).AddMany(chunk); got != n || err != nil {
			r.errorf("AddMany(%d hashes) = %d, %v", n, got, err)
		}
		if !slices.Equal(chunk, kept) {
			r.errorf("AddMany(%d hashes) changed its argument", n)
		}
		queries, look := join(chunk, others), ask
		if n%20 == 0 { // the whole table, where what an earlier batch did wrong is still to be seen
			look = observe
		}
		if d := look(single, queries).differ(look(batch, queries)); d != "" {
			r.errorf("after a batch of %d keys single Adds and AddMany differ: %s", n, d)
		}
	}

	// Overfull: the count tells what is in.
	t = r.target(v, 2000)
	hs = Members(12, 8*int(t.N))
	queries := join(hs, NonMembers(12, 5000))
	single, batch = r.make(m, t), r.make(m, t)
	want, wantErr := len(hs), error(nil)
	for i, h := range hs {
		if err := single.Add(h); err != nil {
			want, wantErr = i, err
			break
		}
	}
	got, err := batch.(filters.BatchAdder).AddMany(hs)
	if got != want || (err == nil) != (wantErr == nil) {
		r.errorf("AddMany of %d hashes into a filter for %d = %d, %v; single Adds stop at %d, %v", len(hs), t.N, got, err, want, wantErr)
	}
	if err != nil && !errors.Is(err, filters.ErrFull) {
		r.errorf("AddMany stops with %v; only ErrFull is allowed", err)
	}
	if d := observe(single, queries).differ(observe(batch, queries)); d != "" {
		r.errorf("after %d keys, the most that fit, single Adds and AddMany differ: %s", want, d)
	}
	if err != nil {
		if err := batch.Add(hs[got]); !errors.Is(err, filters.ErrFull) {
			r.errorf("AddMany stopped before hash %d, but Add takes it: %v", got, err)
		}
	}
}

// checkBulkAdd: AddBulk leaves the filter as AddMany does, with any number of
// workers, and its argument alone.
func checkBulkAdd(r *report, v filters.Variant) {
	m := r.maker(v)
	hs := Members(14, 30_000)
	t := r.target(v, len(hs))
	want := r.make(m, t)
	need[filters.BulkAdder](r, want, "AddBulk")
	if _, err := filters.AddMany(want, hs); err != nil {
		r.fatalf("AddMany: %v", err)
	}
	queries := join(hs, NonMembers(14, 1000))
	state := observe(want, queries)
	for _, workers := range []int{-1, 0, 1, 2, 5} {
		f, kept := r.make(m, t), slices.Clone(hs)
		if n, err := f.(filters.BulkAdder).AddBulk(hs, workers); n != len(hs) || err != nil {
			r.errorf("AddBulk of %d hashes by %d workers = %d, %v", len(hs), workers, n, err)
		}
		if !slices.Equal(hs, kept) {
			r.errorf("AddBulk by %d workers changed its argument", workers)
		}
		if d := state.differ(observe(f, queries)); d != "" {
			r.errorf("AddMany and AddBulk by %d workers differ: %s", workers, d)
		}
	}
}

// checkBatchContains: ContainsMany answers as Contains does, for every length and
// offset, counts its hits and keeps its hands off the rest of dst.
func checkBatchContains(r *report, v filters.Variant) {
	const n = 1000
	t := r.target(v, n)
	hs := Members(13, n)
	q := r.build(v, t, hs)
	b := need[filters.BatchQuerier](r, q, "ContainsMany")
	others := NonMembers(13, 4*n)
	mixed := make([]uint64, 0, 5*n) // hits and misses in no pattern
	for i, j := 0, 0; i < n || j < 4*n; {
		if i < n && (j == 4*n || mix(uint64(i+j))%3 == 0) {
			mixed = append(mixed, hs[i])
			i++
		} else {
			mixed = append(mixed, others[j])
			j++
		}
	}
	want := make([]bool, len(mixed))
	for i, h := range mixed {
		want[i] = q.Contains(h)
	}
	try := func(from, n, spare int) {
		queries := mixed[from : from+n]
		kept := slices.Clone(queries)
		dst := make([]bool, n+spare)
		for i := range dst {
			dst[i] = i%2 == 0 // stale answers
		}
		hits, wantHits := b.ContainsMany(dst, queries), 0
		for i := range queries {
			if dst[i] != want[from+i] {
				r.errorf("ContainsMany of %d hashes: answer %d is %v, Contains says %v", n, i, dst[i], want[from+i])
			}
			if want[from+i] {
				wantHits++
			}
		}
		if hits != wantHits {
			r.errorf("ContainsMany of %d hashes counts %d hits; there are %d", n, hits, wantHits)
		}
		for i := n; i < len(dst); i++ {
			if dst[i] != (i%2 == 0) {
				r.errorf("ContainsMany of %d hashes wrote dst[%d]", n, i)
				break
			}
		}
		if !slices.Equal(queries, kept) {
			r.errorf("ContainsMany of %d hashes changed them", n)
		}
	}
	for n := range 301 {
		try(n, n, n%7)
	}
	try(0, len(mixed), 0)
	if b.ContainsMany(nil, nil) != 0 {
		r.errorf("ContainsMany of no hashes counts hits")
	}
	if !panics(func() { b.ContainsMany(make([]bool, 3), mixed[:4]) }) {
		r.errorf("ContainsMany with dst shorter than hs went through; it is misuse and must panic")
	}
}

// panics reports whether f panics.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// checkTestAndAdd: the answer is what Contains said before, and the key is in
// afterwards.
func checkTestAndAdd(r *report, v filters.Variant) {
	m := r.maker(v)
	t := r.target(v, 1000)
	f := r.make(m, t)
	ta := need[filters.TestAdder](r, f, "TestAndAdd")
	hs := Members(17, 1500)
	var stored []uint64
	for i, h := range hs {
		if i%3 == 2 {
			h = hs[i-1] // a key again
		}
		before := f.Contains(h)
		present, err := ta.TestAndAdd(h)
		if err != nil {
			if !errors.Is(err, filters.ErrFull) {
				r.errorf("TestAndAdd: %v; only ErrFull is allowed", err)
			}
			continue
		}
		if present != before {
			r.errorf("TestAndAdd(%#x) reports %v; Contains said %v just before", h, present, before)
		}
		stored = append(stored, h)
	}
	if len(stored) < 500 {
		r.errorf("TestAndAdd took only %d keys of the %d promised", len(stored), t.N)
	}
	if lost, first := missing(f, stored); lost > 0 {
		r.errorf("%d of %d keys are lost after TestAndAdd; the first is %#x", lost, len(stored), first)
	}

	// Fresh keys: TestAndAdd stores what Add stores.
	f, twin := r.make(m, t), r.make(m, t)
	for _, h := range hs[:1000] {
		if twin.Contains(h) {
			continue // a false positive; families may skip storing it
		}
		if err := twin.Add(h); err != nil {
			r.fatalf("Add: %v", err)
		}
		if _, err := f.(filters.TestAdder).TestAndAdd(h); err != nil {
			r.fatalf("TestAndAdd: %v", err)
		}
	}
	queries := join(hs, NonMembers(17, 3000))
	if d := observe(twin, queries).differ(observe(f, queries)); d != "" {
		r.errorf("Add and TestAndAdd of fresh keys lead to different filters: %s", d)
	}
}

// checkRefusedAdd: a refused key leaves the filter exactly as it was: nothing
// lost, nothing gained, no count moved, however often it is tried.
func checkRefusedAdd(r *report, v filters.Variant) {
	m := r.maker(v)
	t := r.target(v, 500)
	hs := Members(19, 4000)
	others := NonMembers(19, 2000)
	f := r.make(m, t)
	var stored, refused []uint64
	for _, h := range hs {
		err := f.Add(h)
		switch {
		case err == nil:
			stored = append(stored, h)
		case errors.Is(err, filters.ErrFull):
			refused = append(refused, h)
		default:
			r.errorf("Add: %v; only ErrFull is allowed", err)
		}
		if len(refused) == 60 {
			break
		}
	}
	if len(refused) == 0 {
		r.skip("takes eight times its promise: never full")
	}
	if lost, first := missing(f, stored); lost > 0 {
		r.errorf("%d of %d accepted keys are lost after %d refusals; the first is %#x", lost, len(stored), len(refused), first)
	}
	queries := slices.Concat(stored, refused, others)
	before := observe(f, queries)
	unchanged := func(call string, h uint64) {
		now := observe(f, queries)
		if d := before.differ(now); d != "" {
			r.errorf("%s(%#x) was refused and changed the filter: before and after, %s", call, h, d)
			before = now
		}
	}
	for _, h := range refused {
		switch err := f.Add(h); {
		case err == nil:
			r.errorf("Add(%#x) was refused first and is taken now, though nothing was deleted", h)
			before = observe(f, queries)
			continue
		case !errors.Is(err, filters.ErrFull):
			r.errorf("Add: %v; only ErrFull is allowed", err)
		}
		unchanged("Add", h)
		if ta, ok := f.(filters.TestAdder); ok {
			if _, err := ta.TestAndAdd(h); !errors.Is(err, filters.ErrFull) {
				r.errorf("TestAndAdd of a hash that Add refuses: %v", err)
			}
			unchanged("TestAndAdd", h)
		}
		if b, ok := f.(filters.BatchAdder); ok {
			if n, err := b.AddMany([]uint64{h, stored[0]}); n != 0 || !errors.Is(err, filters.ErrFull) {
				r.errorf("AddMany of a hash that Add refuses: %d, %v", n, err)
			}
			unchanged("AddMany", h)
		}
	}

	// One key until it is refused: the fullest pair of buckets there is.
	f = r.make(m, t)
	queries = hs[:100]
	for range 1000 {
		before = observe(f, queries)
		if err := f.Add(hs[0]); err != nil {
			if d := before.differ(observe(f, queries)); d != "" {
				r.errorf("a refused copy changed the filter: %s", d)
			}
			break
		}
	}
}

// checkReset: a reset filter is a new one.
func checkReset(r *report, v filters.Variant) {
	m := r.maker(v)
	t := r.target(v, 1000)
	f := r.make(m, t)
	reset := need[filters.Resetter](r, f, "Reset")
	hs := Members(23, 3000)
	queries := join(hs, NonMembers(23, 3000))
	empty := observe(r.make(m, t), queries)
	for round := range 3 {
		for _, h := range hs { // far beyond the promise, refused or not
			if err := f.Add(h); err != nil && !errors.Is(err, filters.ErrFull) {
				r.errorf("Add: %v", err)
			}
		}
		reset.Reset()
		if d := empty.differ(observe(f, queries)); d != "" {
			r.errorf("round %d: a new filter and one after Reset differ: %s", round, d)
		}
	}
	fresh := r.make(m, t)
	for _, h := range hs[:t.N] {
		if err := errors.Join(f.Add(h), fresh.Add(h)); err != nil {
			r.fatalf("Add after Reset: %v", err)
		}
	}
	if d := observe(fresh, queries).differ(observe(f, queries)); d != "" {
		r.errorf("a new filter and one after Reset take the same keys differently: %s", d)
	}
}

// checkDelete: against an exact multiset, no stored key is ever denied or
// counted too low, and when all are gone the filter is empty.
func checkDelete(r *report, v filters.Variant) {
	m := r.maker(v)
	t := r.target(v, 1000)
	f := r.make(m, t)
	del := need[filters.Deleter](r, f, "Delete")
	counter, counts := f.(filters.Counter)

	const universe = 600
	hs := Members(29, universe)
	shadow := make(map[uint64]uint64, universe)
	saturated := false
	var exact, compared int
	check := func(h uint64) {
		want := shadow[h]
		if want > 0 && !f.Contains(h) {
			r.errorf("key %#x is denied though %d copies of it are stored", h, want)
		}
		if !counts {
			return
		}
		n, sat := counter.Count(h)
		saturated = saturated || sat
		if !sat && n < want {
			r.errorf("Count(%#x) says at most %d; %d copies are stored", h, n, want)
		}
		compared++
		if n == want {
			exact++
		}
	}
	state := uint64(31)
	next := func(n uint64) uint64 { state++; return mix(state) % n }
	for range 20_000 {
		h := hs[next(universe)]
		switch op := next(8); {
		case op < 4 && shadow[h] < 3:
			err := f.Add(h)
			if err == nil {
				shadow[h]++
			} else if !errors.Is(err, filters.ErrFull) {
				r.errorf("Add: %v", err)
			}
		case shadow[h] > 0: // only what is stored
			if !del.Delete(h) {
				r.errorf("Delete(%#x) = false though %d copies are stored", h, shadow[h])
			}
			shadow[h]--
		}
		check(h)
		check(hs[next(universe)])
	}
	if counts && !saturated && exact < compared*8/10 {
		r.errorf("Count is exact in only %d of %d cases; at the promised rate most have no neighbour in the way", exact, compared)
	}
	all := 0
	for _, h := range hs {
		check(h)
		all += int(shadow[h])
	}

	// A key that is certainly absent cannot be deleted, and trying is harmless.
	queries := join(hs, NonMembers(29, 3000))
	before := observe(f, queries)
	for i, h := range queries[universe:] {
		if before.answers[universe+i] {
			continue
		}
		if del.Delete(h) {
			r.errorf("Delete(%#x) = true though Contains denies it", h)
		}
	}
	if d := before.differ(observe(f, queries)); d != "" {
		r.errorf("deleting absent keys changed the filter: %s", d)
	}

	for _, h := range hs {
		for range shadow[h] {
			if !del.Delete(h) {
				r.errorf("Delete(%#x) = false though a copy is stored", h)
			}
		}
	}
	if saturated {
		return // a stuck counter stays, rightly
	}
	if d := observe(r.make(m, t), queries).differ(observe(f, queries)); d != "" {
		r.errorf("a new filter and one from which all %d copies were deleted differ: %s", all, d)
	}
}

// stranger is a filter of no family, for Merge to refuse.
type stranger struct{ filters.Filter }

// checkMerge: the union holds what both held and answers as one filter with all
// keys; what cannot be merged is refused and changes nothing.
func checkMerge(r *report, v filters.Variant) {
	m := r.maker(v)
	t := r.target(v, 1000)
	f := r.make(m, t)
	need[filters.Merger](r, f, "Merge")
	hs := Members(37, 1000)
	queries := join(hs, NonMembers(37, 5000))
	half := func(hs []uint64) filters.Filter {
		f := r.make(m, t)
		for _, h := range hs {
			if err := f.Add(h); err != nil {
				r.fatalf("Add: %v", err)
			}
		}
		return f
	}
	a, b, both := half(hs[:500]), half(hs[500:]), half(hs)
	argument := observe(b, queries)
	if err := a.(filters.Merger).Merge(b); err != nil {
		r.fatalf("Merge of two filters for the same target: %v", err)
	}
	if d := observe(both, queries).differ(observe(a, queries)); d != "" {
		r.errorf("one filter with all keys and the merger of two halves differ: %s", d)
	}
	if d := argument.differ(observe(b, queries)); d != "" {
		r.errorf("Merge changed its argument: %s", d)
	}
	// Later changes to the argument are its own.
	before := observe(a, queries)
	for _, h := range NonMembers(41, 500) {
		if err := b.Add(h); err != nil {
			r.fatalf("Add: %v", err)
		}
	}
	if d := before.differ(observe(a, queries)); d != "" {
		r.errorf("after Merge the two filters share memory: %s", d)
	}

	// With an empty filter and with itself.
	if err := a.(filters.Merger).Merge(r.make(m, t)); err != nil {
		r.errorf("Merge of an empty filter: %v", err)
	}
	if d := before.differ(observe(a, queries)); d != "" {
		r.errorf("Merge of an empty filter changed the receiver: %s", d)
	}
	if err := a.(filters.Merger).Merge(a); err != nil && !errors.Is(err, filters.ErrIncompatible) {
		r.errorf("Merge with itself: %v", err)
	}
	for i, in := range observe(a, queries).answers {
		if in != before.answers[i] {
			r.errorf("Merge with itself changed Contains(%#x) from %v to %v", queries[i], before.answers[i], in)
		}
	}

	// Refusals.
	other := t
	other.N *= 3
	before = observe(both, queries)
	refuse := func(what string, other filters.Filter) {
		err := both.(filters.Merger).Merge(other)
		var ie *filters.IncompatibleError
		if !errors.Is(err, filters.ErrIncompatible) || !errors.As(err, &ie) {
			r.errorf("Merge of %s: error is %v; want an IncompatibleError", what, err)
		} else if ie.Field == "" || ie.Have == "" || ie.Other == "" || ie.Have == ie.Other {
			r.errorf("Merge of %s: error %q does not tell the field and two different values", what, err)
		}
		if d := before.differ(observe(both, queries)); d != "" {
			r.errorf("a refused Merge of %s changed the receiver: %s", what, d)
		}
	}
	refuse("a filter of another size", r.make(m, other))
	refuse("a filter of another kind", stranger{r.make(m, t)})
	refuse("nil", nil)
}

// checkReaders: any number of goroutines may ask at once. The race detector, when
// on, sees shared scratch memory; without it the answers must still agree.
func checkReaders(r *report, v filters.Variant) {
	const n = 1000
	t := r.target(v, n)
	hs := Members(43, n)
	q := r.build(v, t, hs)
	queries := join(hs, NonMembers(43, n))
	want := observe(q, queries)
	var wg sync.WaitGroup
	diffs := make([]string, 8)
	for g := range diffs {
		wg.Go(func() {
			diffs[g] = want.differ(observe(q, queries))
			dst := make([]bool, len(queries))
			filters.ContainsMany(q, dst, queries)
			if !slices.Equal(dst, want.answers) {
				diffs[g] = "ContainsMany gives other answers"
			}
			if p, ok := q.(filters.Predictor); ok {
				_, _ = p.Predict(n)
			}
		})
	}
	wg.Wait()
	for g, d := range diffs {
		if d != "" {
			r.errorf("reader %d of %d at once: %s", g, len(diffs), d)
		}
	}
}

// checkWriters: a filter that says so takes keys from many goroutines.
func checkWriters(r *report, v filters.Variant) {
	m := r.maker(v)
	const writers, each = 8, 1000
	f := r.make(m, r.target(v, writers*each))
	need[filters.Concurrent](r, f, "concurrent Add")
	hs := Members(47, writers*each)
	var wg sync.WaitGroup
	var failed atomic.Int64
	for g := range writers {
		wg.Go(func() {
			mine := hs[g*each : (g+1)*each]
			for _, h := range mine {
				if f.Add(h) != nil || !f.Contains(h) {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := failed.Load(); n > 0 {
		r.errorf("%d of %d concurrent Adds failed or were not found by their own goroutine", n, len(hs))
	}
	if lost, first := missing(f, hs); lost > 0 {
		r.errorf("%d of %d keys are lost after concurrent Adds; the first is %#x", lost, len(hs), first)
	}
}
