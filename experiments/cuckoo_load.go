package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/theory"
)

// CuckooLoad asks how full cuckoo filters get, and what adds cost on the way.
func CuckooLoad() Experiment {
	return Experiment{
		Name:     "cuckoo-load",
		Question: "How full is a cuckoo filter with 1, 2, 4 or 8 slots a bucket when it first refuses a key, and what does an add cost on the way?",
		Grid: func(p Profile) Grid {
			tables := []string{"2^16", "2^18", "2^20"}
			if p.Thin {
				tables = []string{"2^14"}
			}
			var shapes []string
			for _, f := range []int{12, 16} {
				for _, b := range bucketSizes {
					shapes = append(shapes, fmt.Sprintf("cuckoo(f=%d,b=%d)", f, b))
				}
			}
			return Grid{
				Axes: []Axis{FilterAxis(shapes...), HashAxis("xxh3"), KeysAxis("random"), slotsAxis(tables...)},
				Same: func(p *Point) string { return fmt.Sprint(p.Inserted()) }, // tables of one size take turns on the clock
			}
		},
		Measures: []Measure{firstRefusal(), addTimes()},
		Values:   cuckooLoadValues(),
		Figures: func(cells []Cell, about About) []figure.Figure {
			loads := figure.Grid{
				Name: "cuckoo-load", Title: "Load when the first key is refused",
				Caption: "Mean over seeds with its 95% interval, mostly smaller than the mark; b slots a bucket. Dotted: the load up to which a large table can be filled at all. " + about.Text,
				X:       figure.Axis{Label: "slots", Log: true},
				Y:       figure.Axis{Label: "slots taken / slots", Format: figure.Percent},
			}
			times := figure.Grid{
				Name: "cuckoo-load-time", Title: "Time of an add by load",
				Caption: "Median over rounds of the mean over the last hundredth of the slots before each load, with 95% order-statistic intervals; b slots a bucket. " + about.Text,
				X:       figure.Axis{Label: "load", Format: figure.Percent, Ticks: []float64{0.5, 0.8, 0.9, 0.97}},
				Y:       figure.Axis{Label: "time of an add (ns)", Log: true},
			}
			for _, group := range groupBy(cells, fingerprint) {
				panel := figure.Panel{Title: fingerprint(&group[0])}
				for _, b := range bucketSizes {
					panel.HLines = append(panel.HLines, figure.Line{At: theory.CuckooThreshold(b)})
				}
				for _, g := range groupBy(group, slotsPerBucket) {
					s := bucketSeries(&g[0])
					for i := range g {
						if o, ok := g[i].Own[MetricFilled]; ok {
							s.Points = append(s.Points, figure.Point{X: float64(g[i].Inserted), Y: o.Value, Lo: o.Lo, Hi: o.Hi})
						}
					}
					if len(s.Points) > 0 {
						panel.Series = append(panel.Series, s)
					}
				}
				loads.Panels = append(loads.Panels, panel)
				for _, g := range groupBy(group, func(c *Cell) uint64 { return c.Inserted }) {
					panel := figure.Panel{Title: fmt.Sprintf("%s, %d slots", fingerprint(&g[0]), g[0].Inserted)}
					for i := range g {
						s := bucketSeries(&g[i])
						for _, load := range loadBands {
							if o, ok := g[i].Own[metricAddAt(load)]; ok {
								s.Points = append(s.Points, figure.Point{X: float64(load) / 100, Y: o.Value, Lo: o.Lo, Hi: o.Hi})
							}
						}
						if len(s.Points) > 0 {
							panel.Series = append(panel.Series, s)
						}
					}
					times.Panels = append(times.Panels, panel)
				}
			}
			return []figure.Figure{loads, times}
		},
		Finding: func(cells []Cell) string {
			s := "With b slots a bucket the first key is refused at a load of "
			for _, g := range groupBy(cells, slotsPerBucket) {
				lo, hi, early := math.Inf(1), 0.0, math.Inf(1)
				for i := range g {
					if o, ok := g[i].Own[MetricFilled]; ok {
						lo, hi = min(lo, o.Value), max(hi, o.Value)
						early = min(early, slices.Min(g[i].values[MetricFilled])/float64(g[i].N))
					}
				}
				if hi == 0 {
					continue
				}
				b := slotsPerBucket(&g[0])
				s += fmt.Sprintf("%.4g%% to %.4g%% with b = %d (possible at all: %.4g%%; the earliest at %.3g times the keys it is trusted with), ", 100*lo, 100*hi, b, 100*theory.CuckooThreshold(b), early)
			}
			s = strings.TrimSuffix(s, ", ") + ". "
			var slow *Cell
			for i := range cells {
				c := &cells[i]
				if o, ok := c.Own[metricAddAt(95)]; ok && slotsPerBucket(c) == 4 && (slow == nil || o.Value > slow.Own[metricAddAt(95)].Value) {
					slow = c
				}
			}
			if slow != nil {
				s += fmt.Sprintf("An add to %s of %d slots takes %.0f ns at half load and %.0f at 95%%", slow.Filter, slow.Inserted, slow.Own[metricAddAt(50)].Value, slow.Own[metricAddAt(95)].Value)
				if o, ok := slow.Own[MetricAddP999]; ok {
					s += fmt.Sprintf("; of single adds up to the planned load, one in a thousand takes %.0f ns or more and the worst %.0f, %.0f ns of clock included", o.Value, slow.Own[MetricAddWorst].Value, slow.Own[MetricClock].Value)
				}
				s += ". "
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

// bucketSizes are the slots a bucket can have.
var bucketSizes = []int{1, 2, 4, 8}

// loadBands are the loads at which adds are timed, in percent.
var loadBands = []int{50, 80, 90, 95, 97}

// slotsPerBucket reads the knob of a cell's filter; 0 where it has none.
func slotsPerBucket(c *Cell) int {
	_, after, _ := strings.Cut(c.Filter, "b=")
	b, err := strconv.Atoi(strings.TrimRight(after, ")"))
	if err != nil {
		return 0
	}
	return b
}

// fingerprint names the other knob.
func fingerprint(c *Cell) string {
	_, after, _ := strings.Cut(c.Filter, "f=")
	f, _, _ := strings.Cut(strings.TrimRight(after, ")"), ",")
	return "f = " + f
}

// bucketSeries gives each number of slots a bucket one look in all panels.
func bucketSeries(c *Cell) figure.Series {
	b := slotsPerBucket(c)
	return figure.Series{Name: fmt.Sprintf("b = %d", b), Join: true, Style: slices.Index(bucketSizes, b) + 1}
}

// slotsAxis sets the slots of the table, and offers a key for each. The filter is
// asked for with the keys that it is trusted with.
func slotsAxis(values ...string) Axis {
	return Axis{"slots", values, func(p *Point, s string) error {
		slots, err := units.ParseCount(s)
		if err != nil {
			return err
		}
		// One key in so many bits is taken whatever the shape. What the geometry can
		// take, the prediction says.
		var one theory.Prediction
		width := 0
		if one, err = p.Variant.Predict(filters.Target{N: 1, P: 0.5}, 1); err == nil {
			width = one.K
			one, err = p.Variant.Predict(filters.Target{N: 1, BitsPerKey: float64(slots) * float64(width)}, 1)
		}
		if err != nil {
			return err
		}
		p.Target = filters.Target{N: one.Capacity, BitsPerKey: float64(one.Bits) / float64(one.Capacity)}
		p.Load = float64(slots) / float64(one.Capacity)
		return nil
	}}
}

// Metrics of cuckoo-load.
const (
	MetricFilled   = "filled"
	MetricAddP999  = "ns_single_add_p999"
	MetricAddWorst = "ns_single_add_worst"
)

// metricAddAt is the metric of adds just below a load, in percent.
func metricAddAt(load int) string { return fmt.Sprintf("ns_add_at_%d", load) }

func cuckooLoadValues() []Value {
	values := []Value{{Metric: MetricFilled, Bound: true, Expect: func(c *Cell) (float64, float64) {
		b := slotsPerBucket(c)
		if b < 2 {
			// Half is where large tables of one slot a bucket stop; small ones go a
			// little further more often than not.
			return math.NaN(), math.NaN()
		}
		return theory.CuckooThreshold(b), math.NaN()
	}}}
	for _, load := range loadBands {
		values = append(values, Value{Metric: metricAddAt(load), Median: true})
	}
	return append(values, Value{Metric: MetricAddP999, Median: true}, Value{Metric: MetricAddWorst, Median: true}, Value{Metric: MetricClock, Median: true})
}

// firstRefusal offers keys until one is refused, with every seed.
func firstRefusal() Measure {
	return Measure{Name: "load", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			more, err := lab.firstRefusal(ctx, p)
			rows = append(rows, more...)
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
		}
		return rows, nil
	}}
}

func (l *Lab) firstRefusal(ctx context.Context, p *Point) ([]Row, error) {
	var rows []Row
	// Large tables scatter less and tell as much with fewer seeds.
	seeds := max(6, min(l.Profile.Seeds, int(6_000_000/p.Inserted())))
	if p.Seeds > 0 {
		seeds = p.Seeds
	}
	for round := range seeds {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		keys, err := l.keys(p, round)
		if err != nil {
			return refusal(p, err)
		}
		f, err := newFilter(p)
		if err != nil {
			return refusal(p, err)
		}
		stored, err := filters.AddMany(f, keys.members)
		if err != nil && !errors.Is(err, filters.ErrFull) {
			return rows, err
		}
		emit := l.emitter(p, &rows, round, keys.seed)
		if err := noneLost(f, keys.members[:stored], emit); err != nil {
			return rows, err
		}
		emit(MetricFilled, float64(stored), p.Inserted())
	}
	return rows, nil
}

// addTimes times adds by load, and single ones. Its points take turns, a fill
// each. Times are gross: the loop over the keys is in them, and of single adds the
// clock, which is a row of its own.
func addTimes() Measure {
	return Measure{Name: "add times", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		type timed struct {
			point  *Point
			filter filters.Filter
			keys   *pointKeys
		}
		var all []timed
		for _, p := range points {
			f, err := newFilter(p)
			if err != nil {
				continue // the exact measure has said so
			}
			keys, err := lab.keys(p, 0)
			if err != nil {
				continue
			}
			all = append(all, timed{p, f, keys})
		}
		singles := make([]float64, 0, 1<<16)
		rounds := lab.Profile.Rounds
		if points[0].Inserted() > 1<<19 {
			rounds = min(rounds, 6) // as many as an interval needs
		}
		for round := range rounds {
			clock := measure.CalibrateClock(nil)
			for i := range all {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				// Every other round runs backwards, so that each is as often before as
				// after another.
				if round%2 == 1 {
					i = len(all) - 1 - i
				}
				t := all[i]
				emit := lab.emitter(t.point, &rows, round, t.keys.seed)
				t.filter.(filters.Resetter).Reset()
				for _, band := range fillTimed(t.filter, t.keys.members) {
					emit(metricAddAt(band.load), band.ns, 0)
				}
				t.filter.(filters.Resetter).Reset()
				keys := t.keys.members[:t.point.Target.N]
				singles = measure.TimeEach(singles[:0], len(keys), func(i int) bool { return t.filter.Add(keys[i]) == nil })
				// A fill too short for the quantile has neither.
				if tail := measure.TailOf(singles); !math.IsNaN(tail.P999) {
					emit(MetricAddP999, tail.P999, 0)
					emit(MetricAddWorst, tail.Worst, 0)
					emit(MetricClock, clock.Cost, 0)
				}
			}
		}
		return rows, nil
	}}
}

// bandTime is the mean time of an add in the hundredth of the slots below a load.
type bandTime struct {
	load int
	ns   float64
}

// fillTimed adds keys, one for each slot, and times them below each load up to
// the first refusal.
func fillTimed(f filters.Filter, keys []uint64) (bands []bandTime) {
	done := 0
	for _, load := range loadBands {
		from, to := len(keys)*(load-1)/100, len(keys)*load/100
		if n, err := filters.AddMany(f, keys[done:from]); err != nil || n < from-done {
			return bands
		}
		start := time.Now()
		for _, h := range keys[from:to] {
			if f.Add(h) != nil {
				return bands
			}
		}
		if to > from {
			bands = append(bands, bandTime{load, float64(time.Since(start).Nanoseconds()) / float64(to-from)})
		}
		done = to
	}
	return bands
}
