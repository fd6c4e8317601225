package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/filters/theory"
	"filterlab/hashing"
)

// LevelDBHash asks what the 32-bit hash and the stepping that LevelDB and its
// descendants build their filters with do to keys that count up.
func LevelDBHash() Experiment {
	return Experiment{
		Name:     "leveldb-hash",
		Question: "Do filters with LevelDB's 32-bit hash keep their rate on numbers that count up, and if not, which keys suffer and why?",
		Grid: func(p Profile) Grid {
			ns := []string{"2e4", "1e5", "1e6"}
			if p.Thin {
				ns = []string{"1e4", "4e4"}
			}
			sets := []string{"random"}
			for _, k := range neighbourKinds() {
				sets = append(sets, k.Name)
			}
			return Grid{
				Axes: []Axis{levelDBAxis(string(levelDBFlat), string(levelDBLines), string(levelDBTwo)), HashAxis("leveldb", "xxh3"), KeysAxis(sets...), NAxis(ns...), BitsAxis("10")},
				// A second value of 32 bits takes a hash of 64, and one that is good on some
				// keys is so on the others.
				Skip: func(p *Point) bool {
					if p.Variant == levelDBTwo {
						return p.Hash == "leveldb" || p.Keys != "random"
					}
					return p.Hash == "xxh3" && (p.Keys == "even-le64" || p.Keys == "even-decimal16")
				},
			}
		},
		Measures: []Measure{probeChain()},
		Parse:    parseScheme,
		Values:   levelDBValues(),
		Expected: func(p *Point) string {
			switch {
			case p.Variant == levelDBFlat:
				return "the third position takes 2^18 values at most, whatever the hash"
			case p.Hash != "leveldb" || p.Keys == "random":
				return ""
			case p.Keys == "even-be64" || p.Keys == "even-le64":
				return "the last word of a key reaches the low bits of the hash in few of its own bits: neighbours take the same steps"
			}
			return "a digit that ends a word of four is undone by digits of the next: neighbours have one hash"
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			rates := figure.Grid{
				Name: "leveldb-hash", Title: "Filters of LevelDB and Pebble on numbers that count up",
				Caption: "10 bits per key, k = 6; members are even numbers from a random start, absent keys the odd ones between. Lines: what is due. " +
					"flat: LevelDB, goleveldb, Badger; lines: Pebble, RocksDB before 6.6. A digit that ends a word of four moves one byte of the hash, which digits of the next word can undo. " + about.Text,
				X: figure.Axis{Label: "keys", Log: true},
				Y: figure.Axis{Label: "false-positive rate", Log: true, Format: figure.Percent},
			}
			for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				if group[0].Filter == string(levelDBTwo) {
					continue
				}
				panel := figure.Panel{Title: group[0].Filter}
				due := figure.Series{Name: "due", Theory: true, Style: figure.Reference}
				for _, g := range groupBy(group, func(c *Cell) string { return c.Hash + " " + c.Keys }) {
					if g[0].Hash != "leveldb" {
						continue
					}
					s := figure.Series{Name: g[0].Keys, Join: true}
					for i := range g {
						if g[i].Trials > 0 {
							s.Points = append(s.Points, ratePoint(float64(g[i].N), &g[i]))
						}
						if g[i].Keys == "random" {
							due.Points = append(due.Points, figure.Point{X: float64(g[i].N), Y: levelDBDue(&g[i])})
						}
					}
					panel.Series = append(panel.Series, s)
				}
				panel.Series = append(panel.Series, due)
				rates.Panels = append(rates.Panels, panel)
			}
			return []figure.Figure{rates, chainFigure(cells, about)}
		},
		Finding: func(cells []Cell) string {
			var said []string
			for _, v := range []scheme{levelDBFlat, levelDBLines} {
				var worst *Cell
				for i := range cells {
					if c := &cells[i]; c.Filter == string(v) && c.Hash == "leveldb" && c.Trials > 0 && (worst == nil || c.FPR.Value > worst.FPR.Value) {
						worst = c
					}
				}
				if worst != nil {
					said = append(said, fmt.Sprintf("%s errs at %s on %s (n = %d) where %.3g%% is due", v, percent(worst.FPR), worst.Keys, worst.N, 100*levelDBDue(worst)))
				}
			}
			s := ""
			if len(said) > 0 {
				s = "With LevelDB's hash " + strings.Join(said, " and ") + ", since numbers that count up share the steps between their probes, or their whole hash. "
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// levelDBDue is the rate that the filter of a cell would have if its step were
// independent of where it starts, and the hash a good one.
func levelDBDue(c *Cell) float64 {
	v := scheme(c.Filter)
	if v == levelDBFlat {
		v = levelDBTwo
	}
	p, err := v.Predict(c.Target(), c.Inserted)
	if err != nil {
		return math.NaN()
	}
	return p.FPR
}

// levelDBAxis takes reference filters.
func levelDBAxis(values ...string) Axis {
	return Axis{"filters", values, func(p *Point, s string) (err error) {
		p.Variant, err = parseScheme(s)
		return err
	}}
}

// chainProbes is the number of probes at 10 bits a key.
const chainProbes = 6

// metricAfterHit is the metric of probe i (from 1) after a hit of probe i-1.
func metricAfterHit(i int) string { return fmt.Sprintf("hit_%d_after_%d", i, i-1) }

func levelDBValues() []Value {
	values := []Value{{Metric: MetricSameHash, Expect: func(c *Cell) (float64, float64) {
		return theory.HashFloor(c.Inserted, 32), 0
	}}}
	for i := 2; i <= chainProbes; i++ {
		values = append(values, Value{Metric: metricAfterHit(i), Expect: func(c *Cell) (float64, float64) {
			return afterHit(c), math.NaN()
		}})
	}
	return values
}

// afterHit is the chance that a probe hits when the one before it did, for hashes
// without structure. In a flat table the two are as good as independent. Inside
// a block they share the fill of the block, and the position once in 512 keys.
func afterHit(c *Cell) float64 {
	if c.Filter != string(levelDBLines) {
		m, k, err := scheme(c.Filter).geometry(c.target)
		if err != nil {
			return math.NaN()
		}
		return theory.StandardFill(m, c.Inserted, k)
	}
	const b = float64(lineBits)
	both := overLoads(c.Predicted.Bits/lineBits, c.Inserted, func(j uint64) float64 {
		throws := float64(j) * float64(c.Predicted.K)
		one, two := math.Exp(throws*math.Log1p(-1/b)), math.Exp(throws*math.Log1p(-2/b))
		return (1-1/b)*(1-2*one+two) + 1/b*(1-one)
	})
	return both / c.Predicted.Fill
}

// probeChain measures, beside the rate, how the probes of an absent key depend on
// each other. Every member has one absent neighbour, and each is asked for once.
func probeChain() Measure {
	return Measure{Name: "probes", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			more, err := lab.probeChain(ctx, p)
			rows = append(rows, more...)
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
		}
		return rows, nil
	}}
}

func (l *Lab) probeChain(ctx context.Context, p *Point) ([]Row, error) {
	var rows []Row
	narrow := func(h uint64) uint64 { return h }
	if e, err := hashing.ByName(p.Hash); err == nil && e.Bits == 32 {
		narrow = func(h uint64) uint64 { return uint64(hashing.Narrow32(h)) }
	}
	// Large sets tell as much with fewer seeds.
	seeds := max(6, min(l.Profile.Seeds, int(6_000_000/p.Inserted())))
	for round := range seeds {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		keys, err := l.keys(p, round)
		if err != nil {
			return refusal(p, err)
		}
		emit := l.emitter(p, &rows, round, keys.seed)
		absent := make([]uint64, min(uint64(len(keys.members)), keys.absentLimit))
		keys.absent(absent)
		for i, h := range keys.members {
			keys.members[i] = narrow(h)
		}
		n := uint64(len(absent))
		if p.Hash == "leveldb" || p.Keys == "random" { // a good hash is as good on other keys
			emit(MetricSameHash, float64(sharing(keys.members, absent, narrow)), n)
		}
		q, _, err := build(p, keys.members)
		if err != nil {
			return refusal(p, err)
		}
		if err := measure.Lost(q, keys.members); err != nil {
			return rows, err
		}
		emit(MetricLost, 0, uint64(len(keys.members)))
		f, ok := q.(*reference)
		if !ok {
			return rows, fmt.Errorf("%v lists no probes", p.Variant)
		}
		var positive uint64
		hits, after := make([]uint64, f.k), make([]uint64, f.k)
		for _, h := range absent {
			h = narrow(h)
			all, before := true, false
			for i, at := range f.at(h) {
				hit := f.set[at]
				if hit {
					hits[i]++
					if before {
						after[i]++
					}
				}
				all, before = all && hit, hit
			}
			if all {
				positive++
			}
		}
		emit(MetricFPR, float64(positive), n)
		for i := 1; i < min(f.k, chainProbes); i++ {
			emit(metricAfterHit(i+1), float64(after[i]), hits[i-1])
		}
	}
	return rows, nil
}

// sharing counts the absent keys whose 32 bits are those of a member.
func sharing(members, absent []uint64, narrow func(uint64) uint64) (n uint64) {
	low := func(hs []uint64, f func(uint64) uint64) []uint32 {
		out := make([]uint32, len(hs))
		for i, h := range hs {
			out[i] = uint32(f(h))
		}
		slices.Sort(out)
		return out
	}
	a, b := low(members, func(h uint64) uint64 { return h }), low(absent, narrow)
	for _, x := range b {
		for len(a) > 0 && a[0] < x {
			a = a[1:]
		}
		if len(a) > 0 && a[0] == x {
			n++
		}
	}
	return n
}

// emitter appends rows of one round at a point.
func (l *Lab) emitter(p *Point, rows *[]Row, round int, seed uint64) func(metric string, value float64, trials uint64) {
	return func(metric string, value float64, trials uint64) {
		r := p.row(metric)
		r.Round, r.Seed, r.Value, r.Trials = round, seed, value, trials
		*rows = append(*rows, r)
	}
}

// chainFigure shows the conditional hit rates at the smallest n.
func chainFigure(cells []Cell, about About) figure.Figure {
	n := cells[0].N
	for i := range cells {
		n = min(n, cells[i].N)
	}
	g := figure.Grid{
		Name: "leveldb-probes", Title: "A probe after a probe that hit",
		Caption: "Share of absent keys whose probe i finds its bit set, of those whose probe i-1 did, at n = " + strconv.FormatUint(n, 10) + ". Lines: due. " + about.Text,
		X:       figure.Axis{Label: "probe", Ticks: []float64{2, 3, 4, 5, 6}},
		Y:       figure.Axis{Label: "hit rate after a hit", Format: figure.Percent},
		Columns: 2,
	}
	for _, group := range groupBy(cells, func(c *Cell) string { return c.Filter + ", " + c.Hash }) {
		if group[0].Filter == string(levelDBTwo) {
			continue
		}
		panel := figure.Panel{Title: group[0].Filter + ", " + group[0].Hash}
		due := figure.Series{Name: "due", Theory: true, Style: figure.Reference}
		for i := range group {
			c := &group[i]
			if c.N != n {
				continue
			}
			s := figure.Series{Name: c.Keys, Join: true}
			for i := 2; i <= chainProbes; i++ {
				if o, ok := c.Own[metricAfterHit(i)]; ok {
					s.Points = append(s.Points, figure.Point{X: float64(i), Y: o.Value, Lo: o.Lo, Hi: o.Hi})
					if c.Keys == "random" {
						due.Points = append(due.Points, figure.Point{X: float64(i), Y: o.Expected})
					}
				}
			}
			panel.Series = append(panel.Series, s)
		}
		panel.Series = append(panel.Series, due)
		g.Panels = append(g.Panels, panel)
	}
	return g
}
