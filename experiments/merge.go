package experiments

import (
	"bytes"
	"context"
	"encoding"
	"fmt"
	"math"
	"strconv"

	"filterlab/experiments/figure"
	"filterlab/filters"
)

// shards is how many filters share the keys that one is sized for.
const shards = 8

// Merge asks whether filters that were filled apart and merged are the filter
// that was given all keys.
func Merge() Experiment {
	return Experiment{
		Name:     "merge",
		Question: "Is a filter merged from shards the same, bit for bit, as one that was given all keys, and does it err as often?",
		Grid: func(p Profile) Grid {
			ns, merged := []string{"1e4", "1e5"}, []string{"2", "4", "6", "8", "12", "16"}
			if p.Thin {
				ns, merged = []string{"2e4"}, []string{"2", "8"}
			}
			return Grid{Axes: []Axis{
				FilterAxis("standard", "blocked", "blocked(layout=split)", "counting"), HashAxis("xxh3"), KeysAxis("random"), NAxis(ns...), PAxis("1%"), shardsAxis(merged...),
			}}
		},
		Measures: []Measure{mergeShards()},
		Values: []Value{
			{Metric: MetricAnswersDiffer, Expect: func(*Cell) (float64, float64) { return 0, 0 }},
			{Metric: MetricTablesDiffer, Expect: func(*Cell) (float64, float64) { return 0, 0 }},
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "merge", Title: "Shards merged one after another",
				Caption: fmt.Sprintf("Each shard holds an eighth of the keys that the geometry is for. Marks: the merged filter, measured. Lines: exact theory for one filter with the keys of all. At %d shards the promise of %.4g%% is due. ", shards, 100*cells[0].P) + about.Text,
				X:       figure.Axis{Label: "shards merged", Log: true, Ticks: []float64{1, 2, 4, 8, 16}},
				Y:       figure.Axis{Label: "false-positive rate", Log: true},
			}
			for _, group := range groupBy(cells, func(c *Cell) uint64 { return c.N }) {
				g.Panels = append(g.Panels, figure.Panel{
					Title: fmt.Sprintf("n = %d", group[0].N),
					Series: rateSeries(group, func(c *Cell) string { return c.Filter }, func(c *Cell) float64 { return shards * c.Load() },
						func(c *Cell, xs []float64) []figure.Point {
							var line []figure.Point
							for _, x := range xs {
								line = append(line, figure.Point{X: x, Y: predicted(c, c.Target(), uint64(math.Round(x/shards*float64(c.N))))})
							}
							return line
						}),
					HLines: []figure.Line{{At: group[0].P}}, VLines: []figure.Line{{At: shards}},
				})
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			var answers, lookups, tables, pairs uint64
			for i := range cells {
				a, t := cells[i].Own[MetricAnswersDiffer], cells[i].Own[MetricTablesDiffer]
				answers, lookups, tables, pairs = answers+a.Events, lookups+a.Trials, tables+t.Events, pairs+t.Trials
			}
			s := fmt.Sprintf("Of %d merged filters, %d differ in a bit of their table from one that was given all keys, and of %d lookups %d are answered differently", pairs, tables, lookups, answers)
			for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				var last *Cell
				for i := range group {
					if c := &group[i]; c.Load() == 1 && c.Trials > 0 {
						last = c
					}
				}
				if last != nil {
					s += fmt.Sprintf("; %d shards of %s for n = %d err at %s (exact %.3g%%)", shards, last.Filter, last.N, percent(last.FPR), 100*last.Predicted.FPR)
				}
			}
			return s + ". Verdicts: " + verdicts(cells) + "."
		},
	}
}

// shardsAxis sets how many shards are merged, each of an eighth of n keys.
func shardsAxis(values ...string) Axis {
	return Axis{"shards", values, func(p *Point, s string) error {
		j, err := strconv.ParseUint(s, 10, 16)
		if err != nil || j < 1 {
			return filters.Refuse("shards", strconv.Quote(s), "a whole number from 1 to 65535")
		}
		p.Load = float64(j) / shards
		if p.Target.N < shards {
			return filters.Refuse("n", p.Target.N, fmt.Sprintf("at least %d, a key for each shard", shards))
		}
		return nil
	}}
}

// Metrics of merge.
const (
	MetricAnswersDiffer = "answers_differ"
	MetricTablesDiffer  = "tables_differ"
)

const (
	mergeLookups = 200_000 // absent keys that each pair of filters is asked for, at least
	mergeSeeds   = 50      // pairs at a point, at most, unless more are asked for
)

// mergeShards fills shards with keys of their own, merges them, and compares the
// outcome with a filter that was given all keys: all they hold, and the answers
// to absent keys. The rate is that of the merged filter.
func mergeShards() Measure {
	return Measure{Name: "merge", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			more, err := lab.mergeShards(ctx, p)
			rows = append(rows, more...)
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
		}
		return rows, nil
	}}
}

func (l *Lab) mergeShards(ctx context.Context, p *Point) ([]Row, error) {
	var rows []Row
	seeds, queries, err := l.plan(p, 1, min(l.Profile.MaxTrials, 10_000_000))
	if err != nil {
		return refusal(p, err)
	}
	seeds, queries = min(seeds, max(p.Seeds, mergeSeeds)), max(queries, mergeLookups)
	count := max(1, int(math.Round(shards*float64(p.Inserted())/float64(p.Target.N))))
	for round := range seeds {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		keys, err := l.keys(p, round)
		if err != nil {
			return refusal(p, err)
		}
		merged, err := mergedFrom(p, keys.members, count)
		if err != nil {
			return refusal(p, err)
		}
		whole, _, err := build(p, keys.members)
		if err != nil {
			return refusal(p, err)
		}
		emit := l.emitter(p, &rows, round, keys.seed)
		if err := noneLost(merged, keys.members, emit); err != nil {
			return rows, err
		}
		tables, err := tablesDiffer(merged, whole)
		if err != nil {
			return rows, err
		}
		emit(MetricTablesDiffer, tables, 1)
		positive, differ, asked := 0, 0, min(queries, keys.absentLimit)
		hs := make([]uint64, 4096)
		a, b := make([]bool, len(hs)), make([]bool, len(hs))
		for left := asked; left > 0; left -= uint64(len(hs)) {
			hs = hs[:min(uint64(len(hs)), left)]
			keys.absent(hs)
			positive += filters.ContainsMany(merged, a, hs)
			filters.ContainsMany(whole, b, hs)
			for i := range hs {
				if a[i] != b[i] {
					differ++
				}
			}
		}
		emit(MetricFPR, float64(positive), asked)
		emit(MetricAnswersDiffer, float64(differ), asked)
	}
	return rows, nil
}

// tablesDiffer is 1 where the files of two filters differ, which hold their tables bit
// for bit, and 0 where they are the same.
func tablesDiffer(a, b filters.Querier) (float64, error) {
	var files [2][]byte
	for i, f := range []filters.Querier{a, b} {
		m, ok := f.(encoding.BinaryMarshaler)
		if !ok {
			return 0, fmt.Errorf("%T has no file to compare", f)
		}
		var err error
		if files[i], err = m.MarshalBinary(); err != nil {
			return 0, err
		}
	}
	if bytes.Equal(files[0], files[1]) {
		return 0, nil
	}
	return 1, nil
}

// mergedFrom deals the members out to shards and merges those.
func mergedFrom(p *Point, members []uint64, count int) (merged filters.Filter, err error) {
	for i := range count {
		shard, err := newFilter(p)
		if err != nil {
			return nil, err
		}
		for j := i; j < len(members); j += count {
			if err := shard.Add(members[j]); err != nil {
				return nil, err
			}
		}
		if merged == nil {
			merged = shard
			continue
		}
		m, ok := merged.(filters.Merger)
		if !ok {
			return nil, filters.Refuse("filter", p.Variant, "a family that can be merged: standard, blocked, counting")
		}
		if err := m.Merge(shard); err != nil {
			return nil, err
		}
	}
	return merged, nil
}
