package experiments

import (
	"reflect"
	"strconv"
	"testing"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// moody fails every fourth build: after each fourth reset it takes no key.
type moody struct{ filters.Maker }

type moodyFilter struct {
	refusing
	resets int
}

func (f *moodyFilter) Reset() {
	f.resets++
	f.left = 1 << 30
	if f.resets%4 == 0 {
		f.left = 3
	}
}

func (moody) String() string { return "moody" }
func (moody) New(filters.Target) (filters.Filter, error) {
	return &moodyFilter{}, nil
}
func (v moody) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}
func (moody) Predict(filters.Target, uint64) (theory.Prediction, error) {
	return theory.Prediction{}, filters.ErrNoTheory
}

// Failures are those of the filter, of as many builds as are affordable: a
// 15,000th of the trials, but 2000 at least, and no more adds than a 64th.
func TestCountBuilds(t *testing.T) {
	profile := tinyProfile
	profile.MaxTrials = 64_000_000
	for _, x := range []struct{ n, builds uint64 }{{10, 4266}, {1000, 1000}} {
		p := &Point{Variant: moody{}, Hash: "xxh3", Keys: "random", Target: filters.Target{N: x.n, P: 0.5}}
		rows, err := (&Lab{Profile: profile, Seed: 1}).countBuilds(t.Context(), p)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if r := rows[0]; r.Metric != MetricBuildFailed || r.Trials != x.builds || r.Value != float64(x.builds/4) || r.N != x.n || r.Inserted != x.n {
			t.Errorf("%+v, want %d builds", r, x.builds)
		}
	}
}

// A filter that is far too small fails as it must, one of the planned size does
// not, and the row depends on the seed alone.
func TestCountBuildsOfCuckoo(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	p := point(t, "cuckoo(f=12,b=4)", filters.Target{N: 50, P: 0.5})
	a, err := lab.countBuilds(t.Context(), p)
	if err != nil || a[0].Value != 0 || a[0].Trials != 31 {
		t.Errorf("%+v, %v", a, err)
	}
	if b, err := lab.countBuilds(t.Context(), p); err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v, %v; before %+v", b, err, a)
	}
	p.Load = 3 // more keys than slots
	if a, err = lab.countBuilds(t.Context(), p); err != nil || a[0].Value != float64(a[0].Trials) {
		t.Errorf("%+v, %v", a, err)
	}
}

// The promise is a bound: judged from above only, and without enough builds not
// borne out. Of 33,333 builds 3.3 may fail: P(X >= 14) = 1e-5, P(X >= 6) = 0.12.
func TestBuildVerdicts(t *testing.T) {
	for _, x := range []struct {
		failed float64
		builds uint64
		want   string
	}{{0, 33_333, Agree}, {0, 1000, AgreeWide}, {6, 33_333, AgreeWide}, {14, 33_333, Differ}, {1, 1_000_000, Agree}, {1000, 1000, Differ}} {
		r := point(t, "cuckoo(f=12,b=4)", filters.Target{N: 100, P: 0.5}).row("")
		c := cellsOf(t, CuckooBuild(), rows{with(r, MetricBuildFailed, x.failed, x.builds)})[0]
		if c.Verdict != x.want {
			t.Errorf("%v of %d failed: %s, want %s", x.failed, x.builds, c.Verdict, x.want)
		}
		line := table(t, CuckooBuild(), []Cell{c})[0]
		if line[MetricBuildFailed+"_limit"] != "0.0001" || line[MetricBuildFailed+"_trials"] != number(float64(x.builds)) {
			t.Errorf("limit %q of %q builds", line[MetricBuildFailed+"_limit"], line[MetricBuildFailed+"_trials"])
		}
	}
}

func TestDenseCounts(t *testing.T) {
	ns := denseCounts(3, 1000, 1.13)
	last := 0.0
	for i, s := range ns {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n > last) || i > 0 && n > 1.13*last+1 {
			t.Errorf("%s after %v", s, last)
		}
		last = n
	}
	if ns[0] != "3" || last != 1000 {
		t.Errorf("from %s to %v", ns[0], last)
	}
}

// Times are summarised by their median, with the interval of their order.
func TestMedianValues(t *testing.T) {
	v := Value{Metric: "x", Median: true}
	c := Cell{values: map[string][]float64{"x": {1, 2, 3, 4, 5, 6, 1000}}}
	// Seven samples: the extremes cover the median with 98.4%, the next pair with
	// 87.5%.
	if o := c.own(v); o.Value != 4 || o.Lo != 1 || o.Hi != 1000 {
		t.Errorf("%+v", o.Estimate)
	}
}
