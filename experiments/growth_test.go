package experiments

import (
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// Stages are counted on the filter and must be those that the capacities give:
// 1000 (2^l - 1) >= N. Filters without stages have no row.
func TestStageRows(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	for _, n := range []uint64{999, 3000, 5000, 7000, 20_000} {
		p := point(t, grownFrom, filters.Target{N: n, P: 0.01})
		rows, err := countStages().Run(t.Context(), lab, []*Point{p, point(t, sized, p.Target)})
		if err != nil || len(rows) != 3 {
			t.Fatalf("n = %d: %d rows, %v", n, len(rows), err)
		}
		for _, r := range rows {
			if want := theory.ScalableStages(n, 1000, 2); r.Metric != MetricStages || r.Filter != grownFrom || r.Value != float64(want) {
				t.Errorf("n = %d: %s has %v stages, want %d", n, r.Filter, r.Value, want)
			}
		}
	}
}

// A filter with a stage too many differs, however good its rate.
func TestGrowthJudgesStages(t *testing.T) {
	p := point(t, grownFrom, filters.Target{N: 5000, P: 0.01})
	pred, err := p.Variant.Predict(p.Target, 5000)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		stages float64
		want   string
	}{{3, Agree}, {4, Differ}, {2, Differ}} {
		rs := rows{with(p.row(""), MetricStages, x.stages, 0)}
		const q = 100_000_000
		for i := range 40 {
			rs = append(rs, seeds(p.row(""), q, pred.FPR*q*(1+0.0001*(float64(i)-19.5)))...)
		}
		for i := range rs {
			rs[i].Value = float64(int(rs[i].Value + 0.5))
		}
		c := cellsOf(t, Growth(), rs)[0]
		if c.Verdict != x.want {
			t.Errorf("%v stages: %s, want %s (%v)", x.stages, c.Verdict, x.want, c.Own)
		}
	}
}

// The finding names the size, the stages, and the space against a filter of the
// right size, by which the bits of the two are divided.
func TestGrowthFinding(t *testing.T) {
	target := filters.Target{N: 20_000, P: 0.01}
	var rs rows
	for i, name := range []string{sized, grownFrom} {
		p := point(t, name, target)
		p.Index = i
		rs = append(rs, seeds(p.row(""), 1000, 6, 7)...)
	}
	// 22.3 bits per key in five stages, the theory sheet's rule for n0 = 1000 and
	// r = 0.8, against 9.585.
	s := Growth().Finding(cellsOf(t, Growth(), rs))
	for _, want := range []string{"20000 keys in 5 stages of 22.3 bits", "2.33 times the space", "0.65%"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
}
