package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"filterlab/experiments/measure"
	"filterlab/filters"
	"filterlab/filters/theory"
	"filterlab/hashing"
)

// Rate is the measure of false-positive rates. At each point it builds
// independently seeded filters, checks that no member is lost, and asks for
// absent keys, as many as the precision of the profile needs and never more than
// maxTrials (0: the limit of the profile).
//
// Seeds and lookups are planned from the prediction beforehand: stopping when
// enough was seen would bias the rate.
func Rate(maxTrials uint64) Measure { return FineRate(1, maxTrials) }

// FineRate is Rate with the precision of the profile divided by fine: for
// experiments on differences of a few percent.
func FineRate(fine float64, maxTrials uint64) Measure {
	return Measure{Name: "rate", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			more, err := lab.rate(ctx, p, fine, maxTrials)
			rows = append(rows, more...)
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
		}
		return rows, nil
	}}
}

// refusal is the row for a point that the variant does not accept. It is an
// answer, not a failure.
func refusal(p *Point, err error) ([]Row, error) {
	if errors.Is(err, filters.ErrParam) {
		r := p.row(MetricRefused)
		r.Note = err.Error()
		return []Row{r}, nil
	}
	return nil, err
}

// plan returns the number of seeds and the lookups per seed for a point.
func (l *Lab) plan(p *Point, fine float64, maxTrials uint64) (seeds int, queries uint64, err error) {
	if maxTrials == 0 {
		maxTrials = l.Profile.MaxTrials
	}
	seeds = l.Profile.Seeds
	if p.Seeds > 0 {
		seeds = p.Seeds
	}
	pred, err := p.Variant.Predict(p.Target, p.Inserted())
	if errors.Is(err, filters.ErrNoTheory) {
		return seeds, maxTrials / 16 / uint64(seeds), nil
	}
	if errors.Is(err, filters.ErrParam) {
		// More keys than the filter takes are no error of the point: they are
		// offered, and where it refuses one is what is measured.
		if _, atN := p.Variant.Predict(p.Target, p.Target.N); atN == nil {
			return seeds, 0, nil
		}
	}
	if err != nil {
		return 0, 0, err
	}
	if h, err := hashing.ByName(p.Hash); err == nil && h.Bits < 64 {
		pred.FPR = theory.Combine(pred.FPR, theory.HashFloor(p.Inserted(), h.Bits))
	}
	if p.Keys == Zipf {
		pred.BuildSD = math.Sqrt(pred.BuildSD*pred.BuildSD + pred.FPR*(1-pred.FPR)*zipfRepeat)
	}
	precision := l.Profile.Precision / fine
	if pred.FPR < 1e-5 {
		precision *= 2
	}
	// A little more than planned, so that a measured half-width just meets the
	// wanted one.
	seeds, queries, err = measure.PlanRuns(pred.FPR, pred.BuildSD, 0.98*precision, seeds)
	if err != nil || uint64(seeds) > maxSeeds || queries > maxTrials/uint64(seeds) {
		seeds = min(max(seeds, l.Profile.Seeds), maxSeeds)
		queries = min(max(queries, 1), maxTrials/uint64(seeds))
	}
	return seeds, max(queries, minQueries), nil
}

const (
	maxSeeds   = 4000
	minQueries = 100
)

func (l *Lab) rate(ctx context.Context, p *Point, fine float64, maxTrials uint64) ([]Row, error) {
	seeds, queries, err := l.plan(p, fine, maxTrials)
	if err != nil {
		return refusal(p, err)
	}
	var rows []Row
	var looked uint64 // lookups of members, all seeds; one row says that none was lost
	for round := range seeds {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		open, fill := l.keys, l.fill
		if !l.held(p) {
			open, fill = l.absentKeys, l.fillParts
		}
		keys, err := open(p, round)
		if err != nil {
			return refusal(p, err)
		}
		emit := func(metric string, value float64, trials uint64) {
			r := p.row(metric)
			r.Round, r.Seed, r.Value, r.Trials = round, keys.seed, value, trials
			rows = append(rows, r)
		}
		q, stored, err := fill(ctx, p, round, keys)
		var lost *measure.LostError
		switch {
		case errors.As(err, &lost):
			emit(MetricLost, float64(lost.Lost), stored)
			return rows, err
		case err != nil:
			return refusal(p, err)
		}
		if stored < p.Inserted() {
			emit(MetricStored, float64(stored), p.Inserted())
		}
		looked += stored
		if round == 0 {
			emit(MetricBits, float64(q.SizeBits()), 0)
		}
		if stored < p.Inserted() {
			continue // a full filter has no rate at the asked number of keys
		}
		n := min(queries, keys.absentLimit)
		c := measure.Absent(q, n, keys.absent)
		emit(MetricFPR, float64(c.Events), c.Trials)
		if keys.repeat > 0 && round == 0 { // a constant of the law: one row says it
			emit(MetricRepeat, keys.repeat, 0)
		}
	}
	none := p.row(MetricLost)
	none.Trials = looked
	return append(rows, none), nil
}

// fill makes the filter of a round and checks that it answers for the members that it
// took, the number of which is stored. The error is a LostError where it does not; a
// filter that is full is none.
func (l *Lab) fill(_ context.Context, p *Point, _ int, keys *pointKeys) (q filters.Querier, stored uint64, err error) {
	q, n, err := build(p, keys.members)
	if err != nil && !errors.Is(err, filters.ErrFull) {
		return nil, 0, err
	}
	return q, uint64(n), measure.Lost(q, keys.members[:n])
}

// fillParts is fill for members that are not held.
func (l *Lab) fillParts(ctx context.Context, p *Point, round int, _ *pointKeys) (q filters.Querier, stored uint64, err error) {
	runtime.GC() // the filter of the round before is as large as what is free
	f, err := newFilter(p)
	if err != nil {
		return nil, 0, err
	}
	err = l.stream(ctx, p, round, func(hs []uint64) error {
		n, err := filters.AddMany(f, hs)
		stored += uint64(n)
		return err
	})
	if err != nil && !errors.Is(err, filters.ErrFull) {
		return nil, 0, err
	}
	left := stored
	err = l.stream(ctx, p, round, func(hs []uint64) error {
		n := min(uint64(len(hs)), left)
		left -= n
		return measure.Lost(f, hs[:n])
	})
	return f, stored, err
}

// build makes the filter of a point and offers it the members, stopping at the
// first that is refused.
func build(p *Point, members []uint64) (q filters.Querier, stored int, err error) {
	maker, ok := p.Variant.(filters.Maker)
	if !ok {
		q, err := p.Variant.Build(p.Target, members)
		return q, len(members), err
	}
	f, err := maker.New(p.Target)
	if err != nil {
		return nil, 0, err
	}
	stored, err = filters.AddMany(f, members)
	return f, stored, err
}

// Weigh is the measure of memory: the live heap that a built filter holds.
func Weigh() Measure {
	// It is timed in the sense of the runner: another point that allocates
	// meanwhile would be weighed too.
	return Measure{Name: "weigh", Timed: true, Exact: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			if _, err := p.Variant.Predict(p.Target, p.Inserted()); err != nil && !errors.Is(err, filters.ErrNoTheory) {
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
			var q filters.Querier
			var buildErr error
			heap := measure.WeighBuild(func() any {
				q, _, buildErr = build(p, keys.members)
				return q
			})
			if buildErr != nil {
				return rows, fmt.Errorf("%v: %w", p, buildErr)
			}
			bits, bytes, allocs := p.row(MetricBits), p.row(MetricBytes), p.row(MetricAllocs)
			bits.Value = float64(q.SizeBits())
			bytes.Value = float64(heap.Live)
			allocs.Value = float64(heap.Allocs)
			for _, r := range []*Row{&bits, &bytes, &allocs} {
				r.Seed = keys.seed
			}
			rows = append(rows, bits, bytes, allocs)
			runtime.KeepAlive(q)
		}
		return rows, nil
	}}
}

// unlimited is the absentLimit of key sets that never run out.
const unlimited = math.MaxUint64
