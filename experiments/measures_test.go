package experiments

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"filterlab/experiments/measure"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// byMetric splits rows by what they say.
func byMetric(rows []Row) map[string][]Row {
	out := map[string][]Row{}
	for _, r := range rows {
		out[r.Metric] = append(out[r.Metric], r)
	}
	return out
}

func rateRows(t *testing.T, lab *Lab, p *Point) map[string][]Row {
	t.Helper()
	rows, err := Rate(0).Run(t.Context(), lab, []*Point{p})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Filter != p.Variant.String() || r.Hash != p.Hash || r.Keys != p.Keys || r.N != p.Target.N || r.P != p.Target.P || r.BitsPerKey != p.Target.BitsPerKey || r.Inserted != p.Inserted() {
			t.Fatalf("row %+v does not carry the coordinates of %v", r, p)
		}
	}
	return byMetric(rows)
}

// A measured point says of each seed how many absent keys were found among how
// many, and once that no member was lost among all and what the table takes.
func TestRateRows(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 3}
	p := point(t, "blocked", filters.Target{N: 2000, P: 0.05})
	p.Load = 1.5
	pred, err := p.Variant.Predict(p.Target, p.Inserted())
	if err != nil {
		t.Fatal(err)
	}
	got := rateRows(t, lab, p)
	if n := len(got[MetricFPR]); n < tinyProfile.Seeds {
		t.Errorf("%d rows of rates, want one for each of at least %d seeds", n, tinyProfile.Seeds)
	}
	seen := map[uint64]bool{}
	for i, r := range got[MetricFPR] {
		if r.Round != i || seen[r.Seed] || r.Trials != got[MetricFPR][0].Trials || r.Value > float64(r.Trials) || r.Value != math.Trunc(r.Value) {
			t.Errorf("row %d: %+v", i, r)
		}
		seen[r.Seed] = true
	}
	all := uint64(3000 * len(got[MetricFPR]))
	if l := got[MetricLost]; len(l) != 1 || l[0].Value != 0 || l[0].Trials != all {
		t.Errorf("lost %v, want one row of 0 of %d", l, all)
	}
	if b := got[MetricBits]; len(b) != 1 || b[0].Value != float64(pred.Bits) {
		t.Errorf("bits %v, want once %d", b, pred.Bits)
	}
	if len(got) != 3 {
		t.Errorf("other rows: %v", got)
	}
}

// Lookups are planned beforehand, from the expected rate: for the interval that
// the profile wants where it can be had, never more than its limit, and as many for
// each seed.
func TestPlan(t *testing.T) {
	profile := Profile{Precision: 0.1, MaxTrials: 1_000_000, Seeds: 10}
	for _, tc := range []struct {
		name   string
		p      float64
		fine   float64
		limit  uint64
		trials float64 // of all seeds together; 0: less than the limit
	}{
		// With p = 1% and a half-width of 10% at 95%: (1.96/0.1)^2 (1-p)/p = 38,000
		// lookups, a little more since filters differ too.
		{"interval", 0.01, 1, 0, 0},
		{"fine interval", 0.01, 2, 0, 0},
		{"too rare", 1e-6, 1, 0, 1e6},
		{"limited", 1e-6, 1, 50_000, 50_000},
	} {
		lab := &Lab{Profile: profile, Seed: 1}
		p := point(t, "standard", filters.Target{N: 10_000, P: tc.p})
		seeds, queries, err := lab.plan(p, tc.fine, tc.limit)
		if err != nil {
			t.Fatal(err)
		}
		trials := float64(seeds) * float64(queries)
		switch {
		case seeds < profile.Seeds:
			t.Errorf("%s: %d seeds, want at least %d", tc.name, seeds, profile.Seeds)
		case tc.trials > 0 && (trials > tc.trials || trials < 0.99*tc.trials):
			t.Errorf("%s: %g lookups, want %g", tc.name, trials, tc.trials)
		case tc.trials == 0:
			pred, err := p.Variant.Predict(p.Target, p.Target.N)
			if err != nil {
				t.Fatal(err)
			}
			sd := math.Sqrt(pred.BuildSD*pred.BuildSD/float64(seeds) + pred.FPR*(1-pred.FPR)/trials)
			half := measure.ZTwoSided(0.95) * sd / pred.FPR
			if want := profile.Precision / tc.fine; half > want || half < 0.9*want {
				t.Errorf("%s: %d seeds of %d lookups give a half-width of %.3g, want just below %g", tc.name, seeds, queries, half, want)
			}
		}
	}
}

// H08: a rate that the lookups cannot show is not called right.
func TestH08_TooFewLookupsAreNotAgreement(t *testing.T) {
	e := tiny(Rate(0))
	o := tinyOptions(t)
	o.Overrides = []Override{{"filters", []string{"standard"}}, {"p", []string{"1e-6"}}, {"load", []string{"1"}}}
	out, err := Run(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	c := out.Cells[0]
	if c.Verdict != AgreeWide || c.FPR.Hi < 1e-6 || c.Trials != tinyProfile.MaxTrials {
		t.Errorf("p = 1e-6 with %d lookups: %s, %v", c.Trials, c.Verdict, c.FPR)
	}
}

// A filter that is full before all keys are in says how many it took, with every
// seed; no rate is claimed for keys it does not hold; and what it took is there.
func TestRateOfAFullFilter(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	p := point(t, "cuckoo", filters.Target{N: 1000, P: 0.01})
	p.Load = 2
	got := rateRows(t, lab, p)
	if len(got[MetricStored]) != tinyProfile.Seeds || len(got[MetricFPR]) != 0 {
		t.Fatalf("%d rows of keys taken, %d of rates", len(got[MetricStored]), len(got[MetricFPR]))
	}
	took := uint64(0)
	for _, r := range got[MetricStored] {
		if r.Trials != 2000 || r.Value < 1000 || r.Value >= 2000 {
			t.Errorf("took %v of %d, want 1000 at least", r.Value, r.Trials)
		}
		took += uint64(r.Value)
	}
	if l := got[MetricLost]; len(l) != 1 || l[0].Value != 0 || l[0].Trials != took {
		t.Errorf("lost %v, want one row of 0 of %d", l, took)
	}
}

// A point that the variant does not accept is one row that says why, from every
// measure that would have to build it.
func TestRefusedPoints(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1, loop: catalog.Loop}
	p := point(t, "cuckoo(f=8)", filters.Target{N: 1000, P: 1e-9})
	for _, m := range []Measure{Rate(0), Weigh()} {
		rows, err := m.Run(t.Context(), lab, []*Point{p})
		if err != nil || len(rows) != 1 || rows[0].Metric != MetricRefused || !strings.Contains(rows[0].Note, "f = 8") {
			t.Errorf("%s: rows %v, %v", m.Name, rows, err)
		}
	}
	// The race leaves it out and goes on with the others.
	other := point(t, "standard", filters.Target{N: 1000, P: 1e-9})
	rows, err := FilterTime().Run(t.Context(), lab, []*Point{p, other})
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Filter != "standard" {
			t.Errorf("row of %s", r.Filter)
		}
	}
}

// The measure stops between seeds when it is told to.
func TestRateStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	if _, err := Rate(0).Run(ctx, lab, []*Point{point(t, "standard", filters.Target{N: 1000, P: 0.01})}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want one that wraps context.Canceled", err)
	}
}

// The live heap of a filter is its table and little more: what the formula says is
// what it costs.
func TestWeigh(t *testing.T) {
	if testing.Short() {
		t.Skip("weighs the heap, which is for one goroutine")
	}
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	for _, name := range []string{"standard", "blocked", "counting", "cuckoo"} {
		p := point(t, name, filters.Target{N: 1_000_000, P: 0.001})
		rows, err := Weigh().Run(t.Context(), lab, []*Point{p})
		if err != nil {
			t.Fatal(err)
		}
		got := byMetric(rows)
		bits, live := got[MetricBits][0].Value, got[MetricBytes][0].Value
		// Words and cache lines round up, the struct and its slices add; what other
		// tests left behind is freed meanwhile.
		if math.Abs(live-bits/8) > bits/8*0.02+32<<10 {
			t.Errorf("%s: %g bytes live for a table of %g", name, live, bits/8)
		}
	}
}

// H12 and H13 as rows: adds, hits and misses are timed apart, singly and batched,
// with the loop that costs the same without a filter beside them. No value is
// judged: clocks differ, and where other programs take the clock's time, too few
// rounds may be left to tell the noise of a race.
func TestH12_TimedRows(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1, loop: catalog.Loop}
	points := []*Point{point(t, "standard", filters.Target{N: 500, P: 0.01}), point(t, "blocked", filters.Target{N: 500, P: 0.01})}
	rows, err := FilterTime().Run(t.Context(), lab, points)
	if err != nil {
		t.Fatal(err)
	}
	rounds := map[string]int{}
	for _, r := range rows {
		if r.Kernel == "" || r.API == "" {
			t.Fatalf("row without a code path or an interface: %+v", r)
		}
		rounds[r.Filter+" "+r.API+" "+r.Metric]++
	}
	for _, filter := range []string{"standard", "blocked"} {
		for _, api := range []string{"single", "batch"} {
			for _, metric := range []string{MetricAdd, MetricHit, MetricMiss, MetricLoop} {
				if n := rounds[filter+" "+api+" "+metric]; n < tinyProfile.Rounds {
					t.Errorf("%s %s %s: %d rounds, want at least %d", filter, api, metric, n, tinyProfile.Rounds)
				}
			}
			for _, metric := range []string{MetricAdd, MetricHit, MetricMiss} {
				if n := rounds[filter+" "+api+" "+NoiseOf(metric)]; n > 1 {
					t.Errorf("%s %s: %d rows say how noisy the race of %s was", filter, api, n, metric)
				}
			}
		}
	}
}
