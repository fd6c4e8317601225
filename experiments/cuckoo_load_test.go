package experiments

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// loadPoint is a table of so many slots.
func loadPoint(t *testing.T, filter, slots string) *Point {
	t.Helper()
	p := point(t, filter, filters.Target{})
	if err := slotsAxis().Set(p, slots); err != nil {
		t.Fatal(err)
	}
	return p
}

// The axis gives exactly the slots asked for, a key for each, and a target that
// the geometry is trusted with.
func TestSlotsAxis(t *testing.T) {
	for _, b := range bucketSizes {
		for _, f := range []uint64{12, 16} {
			for _, slots := range []uint64{1 << 10, 1 << 16, 1 << 20} {
				p := loadPoint(t, fmt.Sprintf("cuckoo(f=%d,b=%d)", f, b), fmt.Sprint(slots))
				pred, err := p.Variant.Predict(p.Target, p.Inserted())
				if err != nil {
					t.Fatal(err)
				}
				if pred.Bits != f*slots || p.Inserted() != slots || pred.Fill != 1 || pred.Capacity != p.Target.N {
					t.Errorf("%v: %d bits, %d keys of %d", p, pred.Bits, p.Inserted(), p.Target.N)
				}
			}
		}
	}
}

// Tables stop between what they are trusted with and what is possible at all, in
// the order of their slots a bucket, and the rows depend on the seed alone.
func TestFirstRefusal(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	var points []*Point
	for i, b := range bucketSizes {
		p := loadPoint(t, fmt.Sprintf("cuckoo(f=16,b=%d)", b), "2^12")
		p.Index = i
		points = append(points, p)
	}
	rows, err := firstRefusal().Run(t.Context(), lab, points)
	if err != nil {
		t.Fatal(err)
	}
	again, err := firstRefusal().Run(t.Context(), lab, points)
	if err != nil || !reflect.DeepEqual(rows, again) {
		t.Errorf("the same seed gives other rows, or %v", err)
	}
	asked := *points[0]
	asked.Seeds = 3
	if few, err := firstRefusal().Run(t.Context(), lab, []*Point{&asked}); err != nil || len(byMetric(few)[MetricFilled]) != 3 {
		t.Errorf("%d rows, %v; 3 seeds were asked for", len(few), err)
	}
	cells := cellsOf(t, CuckooLoad(), rows)
	before := 0.0
	for i, c := range cells {
		o := c.Own[MetricFilled]
		if o.Trials != 10*4096 || !(before < o.Value) || slices.Min(c.values[MetricFilled]) < float64(c.N) {
			t.Errorf("%s: load %v of %d slots, trusted with %d keys; the one before %v", c.Filter, o.Value, o.Trials, c.N, before)
		}
		before = o.Value
		want := theory.CuckooThreshold(bucketSizes[i])
		if i == 0 {
			want = math.NaN() // half of the slots is no limit of a small table
		}
		if !(o.Expected == want || math.IsNaN(o.Expected) && math.IsNaN(want)) || i > 0 && c.Verdict != Agree && c.Verdict != AgreeWide {
			t.Errorf("%s: limit %v, want %v; %s", c.Filter, o.Expected, want, c.Verdict)
		}
	}
}

// refusing takes a number of keys.
type refusing struct{ left int }

func (f *refusing) Add(uint64) error {
	if f.left == 0 {
		return filters.ErrFull
	}
	f.left--
	return nil
}
func (f *refusing) Contains(uint64) bool { return true }
func (f *refusing) SizeBits() uint64     { return 1 }

// Loads that a filter does not reach have no time, nor has one that it reaches
// only in part.
func TestTimedFillStopsAtARefusal(t *testing.T) {
	keys := make([]uint64, 1000)
	for _, x := range []struct {
		takes int
		want  []int
	}{{0, nil}, {495, nil}, {500, []int{50}}, {895, []int{50, 80}}, {1000, loadBands}} {
		var got []int
		for _, band := range fillTimed(&refusing{x.takes}, keys) {
			got = append(got, band.load)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("a filter that takes %d of 1000: times at %v, want %v", x.takes, got, x.want)
		}
	}
}

// Every round leaves a row for each load that the table reaches, all of them
// volatile; the clock is not judged.
func TestAddTimeRows(t *testing.T) {
	p := loadPoint(t, "cuckoo(f=12,b=4)", "2^12")
	rows, err := addTimes().Run(t.Context(), &Lab{Profile: tinyProfile, Seed: 1}, []*Point{p, loadPoint(t, "cuckoo(f=12,b=2)", "2^12")})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, r := range rows {
		n[r.Filter+" "+r.Metric]++
		if !r.volatile() {
			t.Errorf("%s is in samples.csv", r.Metric)
		}
	}
	for metric, want := range map[string]int{"b=4) " + metricAddAt(50): 6, "b=4) " + metricAddAt(95): 6, "b=4) " + MetricAddWorst: 6, "b=4) " + MetricClock: 6, "b=2) " + metricAddAt(80): 6, "b=2) " + metricAddAt(95): 0} {
		if got := n["cuckoo(f=12,"+metric]; got != want {
			t.Errorf("%s: %d rows, want %d", metric, got, want)
		}
	}
}
