package filtertest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"filterlab/filters"
)

// maxZ is the two-sided limit on a standard score. A correct filter exceeds it
// by chance once in 150,000 comparisons, and the seeds are fixed; a rate that is
// wrong by 10% exceeds it at the trials used here.
const maxZ = 4.5

// score compares an observed rate with its expectation.
type score struct{ got, want, sd float64 }

// z is the standard score. A difference where theory leaves no room for any is
// infinite.
func (s score) z() float64 {
	if s.got == s.want {
		return 0
	}
	return (s.got - s.want) / s.sd
}

// binomial scores hits out of trials against the rate want, whose own standard
// deviation, from one build to the next, is sd.
func binomial(hits, trials int, want, sd float64) score {
	n := float64(trials)
	return score{float64(hits) / n, want, math.Sqrt(sd*sd + want*(1-want)/n)}
}

// agree fails unless the score is within maxZ.
func (r *report) agree(what string, s score) {
	if z := s.z(); !(math.Abs(z) <= maxZ) {
		r.errorf("%s: %.6g measured, %.6g expected, ratio %.4f, z = %+.1f (limit ±%v)", what, s.got, s.want, s.got/s.want, z, maxZ)
	}
}

// cell is a size and load at which the rate is measured.
type cell struct {
	t       filters.Target
	load    float64 // inserted keys over t.N
	seeds   int     // independently filled filters
	queries int     // non-members asked of each
}

// cells holds small filters, where the rate differs from one build to the next,
// and large ones, where it does not; rates down to 1e-3; and an overfill of two,
// where sizing cannot hide behind slack. Trials are fixed beforehand for about
// 2,000 hits or more.
func cells(short bool) []cell {
	cs := []cell{
		{filters.Target{N: 10, P: 0.1}, 1, 400, 100},
		{filters.Target{N: 10, P: 0.1}, 2, 200, 100},
		{filters.Target{N: 1000, P: 0.01}, 1, 40, 8000},
		{filters.Target{N: 1000, P: 0.01}, 2, 20, 2000},
		{filters.Target{N: 1000, BitsPerKey: 8}, 0.5, 20, 50_000},
		{filters.Target{N: 1000, BitsPerKey: 8}, 1, 40, 4000},
		{filters.Target{N: 1000, BitsPerKey: 12}, 1, 20, 40_000},
		{filters.Target{N: 10_000, P: 0.001}, 1, 10, 200_000},
		{filters.Target{N: 10_000, P: 0.001}, 2, 10, 20_000},
		{filters.Target{N: 40_000, P: 0.02}, 1, 10, 20_000},
	}
	for i := range cs {
		if short {
			cs[i].seeds = max(10, cs[i].seeds/4)
			cs[i].queries /= 2
		}
	}
	return cs
}

// trial names a target and a load in messages.
func trial(t filters.Target, inserted uint64) string {
	return fmt.Sprintf("%v with %d keys", t, inserted)
}

// outcome is what the filters of a cell showed.
type outcome struct {
	hits, trials int
	fpr, n, fill []float64 // EstimatedFPR, EstimatedN and FillRatio, one a seed
}

// inserted is the number of keys in each filter of the cell.
func (c cell) inserted() int { return int(math.Round(c.load * float64(c.t.N))) }

// measure fills and queries the filters of a cell. It reports false when they do
// not take that many keys.
func (r *report) measure(v filters.Variant, c cell) (o outcome, ok bool) {
	dst := make([]bool, c.queries)
	var q filters.Querier
	for s := range c.seeds {
		seed := uint64(1000 + s)
		hs := Members(seed, c.inserted())
		var err error
		if f, ok := q.(filters.Resetter); ok { // sizing may cost more than filling
			f.Reset()
			_, err = filters.AddMany(q.(filters.Filter), hs)
		} else {
			q, err = v.Build(c.t, hs)
		}
		if errors.Is(err, filters.ErrFull) && c.load > 1 {
			return outcome{}, false
		}
		if err != nil {
			r.fatalf("Build(%v): %v", trial(c.t, uint64(c.inserted())), err)
		}
		o.hits += filters.ContainsMany(q, dst, NonMembers(seed, c.queries))
		o.trials += c.queries
		if e, ok := q.(filters.Estimator); ok {
			o.fpr = append(o.fpr, e.EstimatedFPR())
			o.n = append(o.n, e.EstimatedN())
		}
		if f, ok := q.(filters.FillReporter); ok {
			o.fill = append(o.fill, f.FillRatio())
		}
	}
	return o, true
}

// checkRate: the measured false-positive rate is the predicted one, and so are
// the fill and the filter's own estimates.
func checkRate(r *report, v filters.Variant) {
	done := 0
	for _, c := range cells(r.short) {
		n := uint64(c.inserted())
		p, err := v.Predict(c.t, n)
		switch {
		case errors.Is(err, filters.ErrNoTheory):
			r.skip("no theory")
		case errors.Is(err, filters.ErrParam), errors.Is(err, filters.ErrFull):
			continue // a target or load that the fixed knobs cannot serve
		case err != nil:
			r.fatalf("Predict(%v): %v", trial(c.t, n), err)
		}
		if o, ok := r.measure(v, c); ok {
			r.compare(expectation{n, p.FPR, p.BuildSD, p.Fill}, c, o)
			done++
		}
	}
	if done < 2 {
		r.errorf("only %d of %d cells could be measured", done, len(cells(r.short)))
	}
}

// expectation is the part of a prediction that a cell is held against.
type expectation struct {
	inserted           uint64
	fpr, buildSD, fill float64
}

// compare holds one cell against theory.
func (r *report) compare(e expectation, c cell, o outcome) {
	what := trial(c.t, e.inserted)
	seeds := math.Sqrt(float64(c.seeds))
	rate := binomial(o.hits, o.trials, e.fpr, e.buildSD/seeds)
	r.agree(what+": false-positive rate", rate)
	// mean fails unless the mean of xs is want. Student's t with 9 or more degrees
	// of freedom exceeds 8 once in 40,000.
	mean := func(name string, xs []float64, want, bias float64) {
		if len(xs) == 0 {
			return
		}
		got, sd := moments(xs)
		if tol := 8*sd/seeds + bias*want; !(math.Abs(got-want) <= tol) {
			r.errorf("%s: %s is %.6g on average; want %.6g ± %.2g", what, name, got, want, tol)
		}
	}
	mean("FillRatio", o.fill, e.fill, 1e-9)
	if len(o.fpr) > 0 {
		// Made from the very filters that were queried, the estimate may be closer
		// to the truth than BuildSD allows, but never further off.
		est, _ := moments(o.fpr)
		r.agree(what+": measured rate against EstimatedFPR", score{rate.got, est, rate.sd})
	}
	if c.t.N >= 1000 { // the bias of the estimators is of order 1/n
		mean("EstimatedN", o.n, float64(e.inserted), 0.001)
	}
}

// moments returns the mean and the standard deviation of a sample.
func moments(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(xs)-1))
}

// checkSize: the size that theory states is that of the filter, to the bit, empty
// and filled.
func checkSize(r *report, v filters.Variant) {
	for _, n := range []uint64{1, 2, 3, 10, 100, 1025, 10_000} {
		for i, t := range ladder(n) {
			if i == 0 || n == 10 || n == 1025 {
				r.sizes(v, t)
			}
		}
	}
	// The ends of what can be asked for: served or refused, but alike by all, and
	// without a lost key.
	for _, t := range []filters.Target{
		{N: 1, P: 1e-9}, {N: 1, P: 1e-15}, {N: 3, P: 1e-17}, {N: 1000, P: 1e-15},
		{N: 2, P: 0.999999}, {N: 1000, P: math.Nextafter(1, 0)},
		{N: 1, BitsPerKey: 1e-9}, {N: 1000, BitsPerKey: 1e-9}, {N: 64, BitsPerKey: 1}, {N: 100, BitsPerKey: 64.5}, {N: 1, BitsPerKey: 10_000},
	} {
		r.sizes(v, t)
	}
}

// sizes compares SizeBits and the filter's own prediction with the variant's for
// one target.
func (r *report) sizes(v filters.Variant, t filters.Target) {
	for _, n := range []uint64{0, t.N} {
		hs := Members(53, int(n))
		q, err := v.Build(t, hs)
		p, perr := v.Predict(t, n)
		if errors.Is(err, filters.ErrParam) != errors.Is(perr, filters.ErrParam) {
			r.errorf("%v: Build says %v, Predict says %v; they must refuse the same targets", t, err, perr)
		}
		if err != nil && !errors.Is(err, filters.ErrParam) {
			r.errorf("%v: Build with %d keys: %v", t, n, err)
		}
		if err != nil || perr != nil && !errors.Is(perr, filters.ErrNoTheory) {
			return
		}
		if lost, first := missing(q, hs); lost > 0 {
			r.errorf("%v: %d of %d keys are lost; the first is %#x", t, lost, n, first)
		}
		if got := q.SizeBits(); got != p.Bits && perr == nil {
			r.errorf("%s: SizeBits is %d, predicted %d", trial(t, n), got, p.Bits)
		}
		if f, ok := q.(filters.Predictor); ok {
			if own, err := f.Predict(n); perr == nil && (err != nil || own != p) {
				r.errorf("%s: the filter predicts %+v (%v), the variant %+v", trial(t, n), own, err, p)
			} else if !errors.Is(err, perr) {
				r.errorf("%s: the filter's prediction says %v, the variant's %v", trial(t, n), err, perr)
			}
		}
	}
}

// checkPromise: a filter for p keeps p at n keys, and does not buy a much lower
// rate with bits nobody asked for.
func checkPromise(r *report, v filters.Variant) {
	for _, n := range []uint64{1, 2, 10, 1000, 1025, 100_000, 10_000_000, 400_000_000} {
		for _, p := range []float64{0.5, 0.393, 0.1, 0.03, 0.01, 1e-3, 1e-6} {
			t := filters.Target{N: n, P: p}
			got, err := v.Predict(t, n)
			if errors.Is(err, filters.ErrNoTheory) {
				r.skip("no theory")
			}
			if errors.Is(err, filters.ErrParam) {
				continue
			}
			if err != nil {
				r.fatalf("Predict(%v, %d): %v", t, n, err)
			}
			if got.FPR > p*(1+1e-9) {
				r.errorf("%v: the promise is broken: %v at %d keys", t, got.FPR, n)
			}
			if n < 1000 || got.FPR > wasteful*p || got.Stages > 0 {
				continue
			}
			// Either a knob fixes the rate, and the bits are the same when just
			// that rate is asked for, or the sizing wastes them.
			less, err := v.Predict(filters.Target{N: n, P: got.FPR * (1 + 1e-6)}, n)
			if err != nil || less.Bits != got.Bits {
				r.errorf("%v: wasteful: %d bits give a rate of %v, %v of the promise, and the same rate can be had with %d (%v)", t, got.Bits, got.FPR, got.FPR/p, less.Bits, err)
			}
		}
	}
}

// wasteful is the share of the promised rate below which sizing must explain
// itself: whole fingerprint bits halve the rate at a step. Filters of stages are
// exempt, since their compound bound is reached at no finite n.
const wasteful = 0.4

// checkAllocations: no operation allocates, except the Add that opens a stage.
func checkAllocations(r *report, v filters.Variant) {
	const n = 30_000
	t := r.target(v, n)
	hs := Members(59, n)
	q := r.build(v, t, hs[:n/4])
	dst := make([]bool, 257)
	i := 0
	next := func(k int) []uint64 { // k hashes not handed out before
		i += k
		return hs[n/4+i-k : n/4+i]
	}
	none := func(what string, f func()) {
		size := q.SizeBits()
		// All of the process is counted, and the runtime allocates now and then: what
		// the operation does itself shows every time.
		got := 1.0
		for try := 0; try < 3 && got != 0; try++ {
			// The average over runs is rounded down, so the loop is inside.
			got = testing.AllocsPerRun(1, func() {
				for range 10 {
					f()
				}
			})
		}
		if got != 0 && q.SizeBits() == size {
			r.errorf("%s allocates %v times in 10 calls", what, got)
		}
	}
	none("Contains", func() { q.Contains(hs[0]) })
	none("SizeBits", func() { q.SizeBits() })
	if b, ok := q.(filters.BatchQuerier); ok {
		none("ContainsMany", func() { b.ContainsMany(dst, hs[:len(dst)]) })
	}
	if f, ok := q.(filters.FillReporter); ok {
		none("FillRatio", func() { f.FillRatio() })
	}
	if e, ok := q.(filters.Estimator); ok {
		none("EstimatedFPR", func() { e.EstimatedFPR() })
		none("EstimatedN", func() { e.EstimatedN() })
	}
	f, ok := q.(filters.Filter)
	if !ok {
		return
	}
	none("Add", func() { _ = f.Add(next(1)[0]) })
	if b, ok := f.(filters.BatchAdder); ok {
		none("AddMany", func() { _, _ = b.AddMany(next(257)) })
	}
	if a, ok := f.(filters.TestAdder); ok {
		none("TestAndAdd", func() { _, _ = a.TestAndAdd(next(1)[0]) })
	}
	if c, ok := f.(filters.Counter); ok {
		none("Count", func() { c.Count(hs[0]) })
	}
	if d, ok := f.(filters.Deleter); ok {
		j := 0
		none("Delete", func() { d.Delete(hs[j]); j++ })
	}
	if m, ok := f.(filters.Merger); ok {
		other := r.make(v.(filters.Maker), t)
		none("Merge", func() { _ = m.Merge(other) })
	}
	if s, ok := f.(filters.Resetter); ok {
		none("Reset", s.Reset)
		for _, h := range hs[:100] {
			if err := f.Add(h); err != nil {
				r.errorf("Add after Reset: %v", err)
			}
		}
	}

	// Refusals do not allocate either: a full filter may be asked for long.
	full := r.make(v.(filters.Maker), r.target(v, 100))
	var refused uint64
	for _, h := range hs[:1000] {
		if full.Add(h) != nil {
			refused = h
			break
		}
	}
	if refused != 0 {
		if got := testing.AllocsPerRun(20, func() { _ = full.Add(refused) }); got != 0 {
			r.errorf("a refused Add allocates %v times", got)
		}
	}
}
