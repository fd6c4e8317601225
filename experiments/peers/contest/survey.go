// Package contest sets our filters against those of other libraries: a survey of
// all at one promised rate, duels that decide the ratios that we claim, and the
// conformance suite, which says what the others do wrong.
package contest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filterlab/experiments"
	"filterlab/experiments/measure"
	"filterlab/experiments/peers/adapter"
	"filterlab/experiments/units"
	"filterlab/filters"
)

// Name is the name of the experiment, and of its folder in the results.
const Name = "peers"

// ours lists the variants of this module that take part. Those that the catalog
// does not know (yet) are left out.
func ours() []string {
	var out []string
	for _, s := range []string{
		"standard", "blocked", "blocked(layout=split)", "blocked(layout=pattern)",
		"counting", "counting(layout=blocked)", "scalable", "cuckoo",
	} {
		if _, err := adapter.Parse(s); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// smallest is the number of keys of the smallest filters: fewer are in the first
// cache as well.
const smallest = 10_000

// Survey is the experiment: every filter at a promised rate of 1%, from the
// caches into memory.
func Survey() experiments.Experiment {
	return experiments.Experiment{
		Name:     Name,
		Question: "What do filters of other Go libraries spend, in bits and in time, at the same promised rate, and do they keep it?",
		Grid: func(p experiments.Profile) experiments.Grid {
			var ns []string
			for n := uint64(min(smallest, p.MaxN)); n <= p.MaxN; n *= 10 {
				ns = append(ns, units.FormatCount(n))
			}
			return experiments.Grid{
				Axes: []experiments.Axis{
					experiments.NAxis(ns...),
					{Name: "filters", Values: allNames(), Set: func(p *experiments.Point, s string) (err error) {
						p.Variant, err = adapter.Parse(s)
						return err
					}},
					experiments.HashAxis(hashName), experiments.KeysAxis(keySet), experiments.PAxis("1%"),
				},
				Same: func(p *experiments.Point) string { return fmt.Sprint(p.Target.N) },
			}
		},
		Measures: []experiments.Measure{rates(), weights(), times()},
		Values:   []experiments.Value{{Metric: experiments.MetricAllocs, Median: true}},
		Figures:  figures,
		Finding:  finding,
		Parse:    adapter.Parse,
		Loop:     adapter.Loop,
		Expected: func(p *experiments.Point) string {
			if Foreign(p.Variant.String()) {
				return "a finding about the library, not about this run"
			}
			return ""
		},
	}
}

// Foreign reports whether a variant is of another library.
func Foreign(filter string) bool { return strings.HasPrefix(filter, adapter.Prefix) }

// rates measures false-positive rates and lost keys. What goes wrong with one
// filter is written down, and the others go on.
func rates() experiments.Measure {
	return experiments.Measure{Name: "rate", Run: func(ctx context.Context, lab *experiments.Lab, points []*experiments.Point) ([]experiments.Row, error) {
		var rows []experiments.Row
		for _, p := range points {
			own := *lab
			own.Profile.Seeds, own.Profile.Precision = seeds(p.Target.N), 0.02
			more, err := experiments.Rate(32_000_000).Run(ctx, &own, []*experiments.Point{p})
			rows = append(rows, more...)
			if ctx.Err() != nil {
				return rows, ctx.Err()
			}
			if err != nil {
				r := row(p, experiments.MetricFailed)
				r.Note = err.Error()
				rows = append(rows, r)
			}
		}
		return rows, nil
	}}
}

// seeds is how many filters of n keys show the rate: many of small ones, which
// differ, and one of the largest, which would take minutes otherwise.
func seeds(n uint64) int {
	switch {
	case n < 1e5:
		return 16
	case n < 1e6:
		return 10
	case n < 1e7:
		return 3
	default:
		return 1
	}
}

// weights weighs filters up to a million keys: the bytes and allocations of a key
// do not change from there on.
func weights() experiments.Measure {
	weigh := experiments.Weigh()
	return experiments.Measure{Name: weigh.Name, Timed: true, Run: func(ctx context.Context, lab *experiments.Lab, points []*experiments.Point) ([]experiments.Row, error) {
		if points[0].Target.N > 1_000_000 {
			return nil, nil
		}
		var rows []experiments.Row
		for _, p := range points {
			more, err := weigh.Run(ctx, lab, []*experiments.Point{p})
			rows = append(rows, more...)
			if err != nil && !errors.Is(err, filters.ErrFull) { // the rates have said so
				return rows, err
			}
		}
		return rows, nil
	}}
}

// row is a Row with the coordinates of a point.
func row(p *experiments.Point, metric string) experiments.Row {
	return experiments.Row{
		Point: p.Index, Filter: p.Variant.String(), Hash: p.Hash, Keys: p.Keys,
		N: p.Target.N, P: p.Target.P, BitsPerKey: p.Target.BitsPerKey, Inserted: p.Inserted(),
		Metric: metric,
	}
}

// entrant is a point with the filter that races for it.
type entrant struct {
	*racer
	point *experiments.Point
}

// shared is the number of keys above which all filters hold the same ones: the
// keys of each would take more memory than the filters.
const shared = 10_000_000

// surveyRounds is how many rounds the filters of n keys race: six of many keys, as
// many as an interval needs.
func surveyRounds(p experiments.Profile, n uint64) int {
	if n >= 1_000_000 {
		return min(p.Rounds, 6)
	}
	return p.Rounds
}

// times lets the filters of one size race: adds, lookups of present and of absent
// keys, singly and in batches. Filters without batches take part in those with
// their loop. Those that refused or lost a key take part in nothing.
func times() experiments.Measure {
	return experiments.Measure{Name: "time", Timed: true, Run: func(ctx context.Context, lab *experiments.Lab, points []*experiments.Point) ([]experiments.Row, error) {
		var in []entrant
		for i, p := range points {
			seed := lab.Seed
			if p.Target.N <= shared {
				seed += uint64(i) << 32
			}
			r, err := newRacer(p.Variant, p.Target, seed)
			var lost *measure.LostError
			switch {
			case errors.Is(err, filters.ErrParam), errors.Is(err, filters.ErrFull), errors.As(err, &lost):
				continue
			case err != nil:
				return nil, err
			}
			in = append(in, entrant{r, p})
		}
		if len(in) == 0 {
			return nil, nil
		}
		var rows []experiments.Row
		for _, batch := range []bool{false, true} {
			for _, metric := range []string{experiments.MetricHit, experiments.MetricMiss} {
				var cs []measure.Contender
				for _, e := range in {
					cs = append(cs, e.lookups(metric == experiments.MetricHit, batch))
				}
				more, err := race(ctx, surveyRounds(lab.Profile, points[0].Target.N), in, cs, emptyLookups(in[0].racer), metric, batch)
				rows = append(rows, more...)
				if err != nil {
					return rows, err
				}
			}
		}
		for _, batch := range []bool{false, true} {
			more, err := raceAdds(ctx, surveyRounds(lab.Profile, points[0].Target.N), in, batch)
			rows = append(rows, more...)
			if err != nil {
				return rows, err
			}
		}
		return rows, nil
	}}
}

// raceAdds comes last, since it leaves filters as it finds them only by chance.
// With batches only those race that have them, static filters among them, which
// are built from all keys at once.
func raceAdds(ctx context.Context, rounds int, in []entrant, batch bool) ([]experiments.Row, error) {
	var cs []measure.Contender
	var who []entrant
	var first []uint64
	common := map[uint64][]uint64{} // members by seed
	for _, e := range in {
		_, dynamic := e.q.(filters.Filter)
		_, many := e.q.(filters.BatchAdder)
		if dynamic && batch && !many || !dynamic && !batch {
			continue
		}
		members := common[e.seed]
		if members == nil {
			members = make([]uint64, e.n)
			if err := e.keys.members(members, 0); err != nil {
				return nil, err
			}
			common[e.seed] = members
		}
		if first == nil {
			first = members
		}
		who = append(who, e)
		if dynamic {
			cs = append(cs, e.adds(members, batch))
		} else {
			cs = append(cs, builds(e.point.Variant, e.point.Target, members))
		}
	}
	if len(cs) == 0 {
		return nil, nil
	}
	return race(ctx, rounds, who, cs, emptyAdds(first), experiments.MetricAdd, batch)
}

// race runs the contenders and turns every sample into a row. A filter of another
// library that answers wrongly, or refuses a key this time, is written down and left
// out, and the others race again.
func race(ctx context.Context, rounds int, in []entrant, cs []measure.Contender, loop measure.Contender, metric string, batch bool) ([]experiments.Row, error) {
	var rows []experiments.Row
	t, err := measure.Race{Loop: loop, Contenders: cs, Rounds: rounds}.Run(ctx)
	for wrong := (*measure.AnswerError)(nil); errors.As(err, &wrong) && Foreign(wrong.Name) && len(cs) > 1; {
		i := slices.IndexFunc(cs, func(c measure.Contender) bool { return c.Name == wrong.Name })
		r := row(in[i].point, experiments.MetricFailed)
		r.Note = metric + ": " + wrong.Error()
		rows = append(rows, r)
		in, cs = slices.Delete(slices.Clone(in), i, i+1), slices.Delete(slices.Clone(cs), i, i+1)
		t, err = measure.Race{Loop: loop, Contenders: cs, Rounds: rounds}.Run(ctx)
	}
	if err != nil {
		return rows, err
	}
	for i, s := range t.Series {
		api := in[i].api(batch)
		if batch && metric == experiments.MetricAdd {
			api = Batch
		}
		emit := func(metric string, round int, value float64) {
			r := row(in[i].point, metric)
			r.API, r.Kernel, r.Round, r.Value, r.Note = api, kernel(in[i].racer, api), round, value, s.Invalid
			rows = append(rows, r)
		}
		times := s.Net
		if api == Batch {
			// There is no loop around a batch to take off: gross is net.
			times = s.Gross
		}
		for round, ns := range times {
			emit(metric, round, ns)
		}
		for round, ns := range t.Loop.Gross {
			if metric == experiments.MetricMiss {
				emit(experiments.MetricLoop, round, ns)
			}
		}
		emit(experiments.NoiseOf(metric), 0, t.Noise())
	}
	return rows, nil
}
