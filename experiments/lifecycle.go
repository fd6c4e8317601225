package experiments

import (
	"context"
	"errors"
	"fmt"

	"filterlab/experiments/measure"
	"filterlab/filters"
)

// emitFunc adds a row of the present round.
type emitFunc func(metric string, value float64, trials uint64)

// each calls f for every round at every point, with the keys of the round and the
// number of absent keys to ask for, as FineRate plans it.
func (l *Lab) each(ctx context.Context, points []*Point, fine float64, f func(p *Point, keys *pointKeys, queries uint64, emit emitFunc) error) ([]Row, error) {
	var rows []Row
	for _, p := range points {
		seeds, queries, err := l.plan(p, fine, 0)
		if err != nil {
			refused, err := refusal(p, err)
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
			rows = append(rows, refused...)
			continue
		}
		for round := range seeds {
			if ctx.Err() != nil {
				return rows, ctx.Err()
			}
			keys, err := l.keys(p, round)
			if err != nil {
				refused, err := refusal(p, err)
				if err != nil {
					return rows, fmt.Errorf("%v: %w", p, err)
				}
				rows = append(rows, refused...)
				break
			}
			if err := f(p, keys, queries, l.emitter(p, &rows, round, keys.seed)); err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
		}
	}
	return rows, nil
}

// newFilter makes the empty filter of a point.
func newFilter(p *Point) (filters.Filter, error) {
	maker, ok := p.Variant.(filters.Maker)
	if !ok {
		return nil, fmt.Errorf("%v takes no keys one by one", p.Variant)
	}
	return maker.New(p.Target)
}

// noneLost checks that f still answers for all of hs.
func noneLost(f filters.Filter, hs []uint64, emit emitFunc) error {
	err := measure.Lost(f, hs)
	var lost *measure.LostError
	if errors.As(err, &lost) {
		emit(MetricLost, float64(lost.Lost), uint64(len(hs)))
		return err
	}
	emit(MetricLost, 0, uint64(len(hs)))
	return err
}

// emitSaturated tells the counters at their ceiling, of a filter that has any.
func emitSaturated(f filters.Filter, emit emitFunc) {
	if s, ok := f.(interface{ Saturated() uint64 }); ok {
		emit(MetricSaturated, float64(s.Saturated()), 0)
	}
}
