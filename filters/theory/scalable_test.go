package theory

import (
	"math"
	"testing"
)

func TestScalableCompound(t *testing.T) {
	for _, r := range block(t, "4.compound") {
		ratio := r.num("r")
		p0 := ScalableStageRate(0.01, ratio, 0)
		r.check("P0", p0)
		r.check("bound", p0/(1-ratio))
		var rates []float64
		for i := range 400 {
			rates = append(rates, ScalableStageRate(0.01, ratio, i))
		}
		got := ScalableCompound(rates...)
		r.check("exact_infinite_stages", got)
		if !(got < 0.01) {
			t.Errorf("r=%v: the compound %v breaks the promise", ratio, got)
		}
		r.check("stage0_bits_ratio", StandardBitsPerKey(p0)/StandardBitsPerKey(0.01))
	}
	closeTo(t, "two halves", ScalableCompound(0.5, 0.5), 0.75, 1e-15)
	closeTo(t, "tiny", ScalableCompound(1e-18, 1e-18), 2e-18, 1e-15)
	if ScalableCompound() != 0 || ScalableCompound(0.1, 1) != 1 {
		t.Error("no stage, or a full one")
	}
	for _, bad := range []float64{ScalableCompound(-0.1), ScalableCompound(math.NaN()), ScalableStageRate(0, 0.5, 0), ScalableStageRate(0.1, 1, 0), ScalableStageRate(0.1, 0.5, -1)} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
}

func TestScalableGrowth(t *testing.T) {
	for _, r := range block(t, "4.growth") {
		s, ratio, N := r.uint("s"), r.num("r"), r.uint("N")
		const n0 = 1000
		stages := ScalableStages(N, n0, float64(s))
		if stages != r.int("stages") {
			t.Errorf("%v: %d stages", r.fields, stages)
		}
		left, size, bits := N, uint64(n0), 0.0
		var rates []float64
		for i := range stages {
			p := ScalableStageRate(0.01, ratio, i)
			bits += float64(size) * StandardBitsPerKey(p)
			m, k, _ := SizeTextbook(size, p)
			take := min(size, left)
			rates = append(rates, StandardClassic(m, take, k))
			left -= take
			size *= s
		}
		r.check("bits_per_key", bits/float64(N))
		r.check("ratio_to_single_filter", bits/float64(N)/StandardBitsPerKey(0.01))
		r.check("compound_fpr", ScalableCompound(rates...))
	}
}

func TestScalableStages(t *testing.T) {
	for _, r := range block(t, "4.stages") {
		if l := ScalableStages(r.uint("N"), 1000, r.num("s")); l != r.int("l") {
			t.Errorf("%v: %d stages", r.fields, l)
		}
	}
	// At and just past the end of a stage: 1000, 3000, 7000 ... keys.
	for l, end := 1, uint64(1000); l < 40; l++ {
		if got := ScalableStages(end, 1000, 2); got != l {
			t.Errorf("%d keys: %d stages, want %d", end, got, l)
		}
		if got := ScalableStages(end+1, 1000, 2); got != l+1 {
			t.Errorf("%d keys: %d stages, want %d", end+1, got, l+1)
		}
		end = 2*end + 1000
	}
	for _, c := range []struct {
		N, n0 uint64
		s     float64
		want  int
	}{{0, 10, 2, 1}, {10, 0, 2, 0}, {10, 10, 0.5, 0}, {10, 10, math.NaN(), 0}, {10, 10, math.Inf(1), 0}, {31, 10, 1, 4}, {11, 10, 1.1, 2}} {
		if got := ScalableStages(c.N, c.n0, c.s); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The first stage must be tightened too: P0 = P (1-r), not P. Six stages from 100
// keys on; without it five stages make 4.9% of 1%.
func TestB18_FirstStageTightened(t *testing.T) {
	if l := ScalableStages(5000, 100, 2); l != 6 {
		t.Fatalf("%d stages, want 6", l)
	}
	for r, want := range map[float64]struct{ all, six float64 }{0.5: {0.00997, 0.00981}, 0.9: {0.00995, 0.00468}} {
		var rates []float64
		for i := range 300 {
			rates = append(rates, ScalableStageRate(0.01, r, i))
		}
		closeTo(t, "all stages", ScalableCompound(rates...), want.all, 0.001)
		closeTo(t, "six stages", ScalableCompound(rates[:6]...), want.six, 0.002)
	}
	closeTo(t, "untightened", ScalableCompound(0.01, 0.01, 0.01, 0.01, 0.01), 0.049, 0.002)
}
