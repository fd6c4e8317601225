package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestVerdictVariance(t *testing.T) {
	// Theory sheet, block 9.variance_split: sd from the build and from the queries
	// of one filter. R filters have a root of R less of both.
	for _, c := range []struct {
		q             uint64
		p, sdB, sdQ   float64
		share, design float64
	}{
		{100000, 0.0100435839901, 0.000392317074790, 0.000315320636984, 0.607534593735, 2.54797979310},
		{1000000, 0.0100435839901, 0.000392317074790, 9.97131406124e-5, 0.939320214302, 16.4799372506},
		{100000, 0.0100392236135, 1.24014067880e-5, 0.000315252876318, 0.00154508455304, 1.00154746006},
	} {
		for _, seeds := range []int{1, 10} {
			counts := make([]Count, seeds)
			for i := range counts {
				counts[i] = Count{uint64(math.Round(c.p * float64(c.q))), c.q}
			}
			v := VerdictOf(counts, c.p, c.sdB)
			want := math.Hypot(c.sdB, c.sdQ) / math.Sqrt(float64(seeds))
			if !near(v.SD, want, printed*2) {
				t.Errorf("%d seeds of %d queries: sd %.12g, want %.12g", seeds, c.q, v.SD, want)
			}
			queriesOnly := VerdictOf(counts, c.p, 0).SD
			if share := 1 - queriesOnly*queriesOnly/(v.SD*v.SD); !near(share, c.share, 1e-10) {
				t.Errorf("%d seeds of %d queries: build share %.12g, want %.12g", seeds, c.q, share, c.share)
			}
			if v.Tail || math.Abs(v.Z) > 0.05 || v.P < 0.95 {
				t.Errorf("counts at the expectation: %+v", v)
			}
		}
	}
	// Unequal trials: by hand, weights 1/4 and 3/4.
	v := VerdictOf([]Count{{100, 10000}, {300, 30000}}, 0.01, 0.001)
	if want := math.Sqrt(0.001*0.001*10/16 + 0.01*0.99/40000); !near(v.SD, want, 1e-12) {
		t.Errorf("unequal trials: sd %v, want %v", v.SD, want)
	}
}

func TestVerdictNormal(t *testing.T) {
	// 10,200 of a million against 1%: z = 200/sqrt(9900) = 2.010076, p = 0.044424.
	v := VerdictOf([]Count{{10200, 1000000}}, 0.01, 0)
	if v.Tail || !near(v.Z, 2.0100756305, 1e-9) || !near(v.P, 0.0444231, 1e-4) || !near(v.Ratio(), 1.02, 1e-12) {
		t.Errorf("verdict %+v", v)
	}
	// Too good is as wrong as too bad.
	low := VerdictOf([]Count{{9800, 1000000}}, 0.01, 0)
	if !near(low.Z, -v.Z, 1e-9) || !near(low.P, v.P, 1e-9) {
		t.Errorf("mirrored verdict %+v", low)
	}
	// Half-width as planned: theory sheet, block 9.plan, p = 1%, r = 5%.
	if w := VerdictOf([]Count{{1521, 152122}}, 0.01, 0).RelHalfWidth(); !near(w, 0.05, 1e-5) {
		t.Errorf("relative half-width %v, want 0.05", w)
	}
}

func TestVerdictTail(t *testing.T) {
	// The tail probabilities are summed here term by term.
	for _, c := range []struct {
		x, n uint64
		p    float64
	}{{0, 1000, 0.01}, {10, 1000, 0.01}, {25, 1000, 0.01}, {3, 100, 0.2}, {19, 40, 0.5}, {995, 1000, 0.99}, {1000, 1000, 0.99}, {1, 1, 0.5}} {
		var below, above float64
		for x := uint64(0); x <= c.n; x++ {
			pmf := binomialPMF(x, c.n, c.p)
			if x <= c.x {
				below += pmf
			}
			if x >= c.x {
				above += pmf
			}
		}
		want := math.Min(1, 2*math.Min(below, above))
		v := VerdictOf([]Count{{c.x, c.n}}, c.p, 0)
		if !v.Tail || !near(v.P, want, 1e-9) {
			t.Errorf("%d of %d against %v: P = %v (tail %v), want %v", c.x, c.n, c.p, v.P, v.Tail, want)
		}
		if z := distuv.UnitNormal.Quantile(1 - v.P/2); !near(math.Abs(v.Z), z, 1e-9) && v.P < 1 {
			t.Errorf("%d of %d against %v: Z = %v for P = %v", c.x, c.n, c.p, v.Z, v.P)
		}
	}
	// Impossible and certain expectations.
	for _, c := range []struct {
		x uint64
		p float64
		P float64
	}{{0, 0, 1}, {1, 0, 0}, {1000, 1, 1}, {999, 1, 0}} {
		v := VerdictOf([]Count{{c.x, 1000}}, c.p, 0)
		if v.P != c.P || math.IsInf(v.Z, 0) || math.IsNaN(v.Z) {
			t.Errorf("%d of 1000 against %v: P = %v, Z = %v; want P = %v", c.x, c.p, v.P, v.Z, c.P)
		}
	}
	// No theory, no trials.
	for _, v := range []Verdict{
		VerdictOf([]Count{{1, 10}}, math.NaN(), 0), VerdictOf([]Count{{1, 10}}, 1.5, 0), VerdictOf([]Count{{1, 10}}, 0.5, math.NaN()),
		VerdictOf(nil, 0.5, 0), VerdictOf([]Count{{0, 0}}, 0.5, 0),
	} {
		if !math.IsNaN(v.P) || !math.IsNaN(v.Z) {
			t.Errorf("verdict without ground: %+v", v)
		}
	}
}

// falseAlarms is the share of runs in which counts drawn from the expectation
// have P <= level.
func falseAlarms(t *testing.T, level float64, seeds, q int, p, relSD float64) float64 {
	t.Helper()
	const runs = 4000
	rng := rand.New(rand.NewPCG(uint64(q), uint64(1/p)))
	gamma := distuv.Gamma{Alpha: 1 / (relSD * relSD), Beta: 1 / (p * relSD * relSD), Src: rng}
	counts := make([]Count, seeds)
	alarms := 0
	for range runs {
		for i := range counts {
			counts[i] = Count{binomial(rng, q, gamma.Rand()), uint64(q)}
		}
		if VerdictOf(counts, p, p*relSD).P <= level {
			alarms++
		}
	}
	return float64(alarms) / runs
}

func TestVerdictKeepsItsLevel(t *testing.T) {
	// A level of 2% kept: never above by more than chance (4 sd of 4,000 runs is
	// 0.9%), and not far below unless counts are so few that no smaller step
	// exists.
	for _, c := range []struct {
		seeds, q int
		p, relSD float64
	}{
		{10, 10000, 0.01, 0.039},  // filters of 1,000 keys
		{3, 100000, 1e-4, 0.039},  // tail, builds hardly matter
		{10, 20000, 0.001, 0.5},   // tail because builds differ
		{3, 20000, 0.001, 1},      // very skewed
		{10, 1000000, 2e-6, 0.01}, // 20 events
	} {
		got := falseAlarms(t, 0.02, c.seeds, c.q, c.p, c.relSD)
		if got < 0.008 || got > 0.029 {
			t.Errorf("%+v: %.4f of true expectations had P <= 0.02", c, got)
		}
	}
}

func TestHolm(t *testing.T) {
	// By hand: 0.01*4, 0.02*3, 0.03*2, 0.04*1, made monotone.
	got := Holm([]float64{0.04, 0.01, 0.03, 0.02})
	for i, want := range []float64{0.06, 0.04, 0.06, 0.06} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("Holm[%d] = %v, want %v", i, got[i], want)
		}
	}
	got = Holm([]float64{math.NaN(), 0.5, 0.9})
	if !math.IsNaN(got[0]) || got[1] != 1 || got[2] != 1 {
		t.Errorf("Holm with NaN = %v, want NaN, 1, 1", got)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm of nothing = %v", got)
	}
	// The largest deviation of 100 cells at a family level of 1e-3 that passes is
	// |T| = 4.42 (theory sheet, section 9.3; the smallest p is multiplied by 100).
	ps := make([]float64, 100)
	for i := range ps {
		ps[i] = 1
	}
	for z, differs := range map[float64]bool{4.41: false, 4.42: true} {
		ps[0] = math.Erfc(z / math.Sqrt2)
		if got := Holm(ps)[0] <= 1e-3; got != differs {
			t.Errorf("z = %v among 100: differs = %v", z, got)
		}
	}
}

func TestHalfWidths(t *testing.T) {
	for _, c := range []struct {
		count       Count
		p, sd       float64
		closeEnough bool
	}{
		{Count{1521, 152200}, 0.01, 0, true},       // planned for 5%
		{Count{10, 1000}, 0.01, 0, false},          // 62%
		{Count{390, 390000000}, 1e-6, 0, true},     // 10% suffices below 1e-5
		{Count{1521, 152200}, 0.01, 0.0005, false}, // one build may be far off
	} {
		v := VerdictOf([]Count{c.count}, c.p, c.sd)
		if got := v.RelHalfWidth() <= HalfWidthLimit(c.p); got != c.closeEnough {
			t.Errorf("%+v: half-width %v within the limit: %v", c, v.RelHalfWidth(), got)
		}
	}
}

func TestH01_RateOverAbsentQueriesOnly(t *testing.T) {
	// 100 false positives among 10,000 absent queries and no present ones: 1%, not
	// FP/(FP+TP) = 1. Without absent queries there is no rate.
	if got := (Count{100, 10000}).Rate(); got != 0.01 {
		t.Errorf("rate %v, want 0.01", got)
	}
	none := Count{}
	if !math.IsNaN(none.Rate()) || none.String() != "n/a" {
		t.Errorf("no queries: rate %v printed as %q, want NaN and n/a", none.Rate(), none)
	}
}

func TestH08_TooFewQueriesForTheRate(t *testing.T) {
	// p = 1e-6 with 10,000 queries: no event, at most 3e-4, and no agreement.
	c := Count{0, 10000}
	if got := c.String(); got != "<= 0.0003" {
		t.Errorf("0 of 10,000 printed as %q", got)
	}
	if got := UpperZero(10000); got != 3e-4 {
		t.Errorf("UpperZero(10000) = %v, want 3e-4", got)
	}
	if v := VerdictOf([]Count{c}, 1e-6, 0); v.P < 0.9 || v.RelHalfWidth() < 10 {
		t.Errorf("0 of 10,000 against 1e-6: %+v with half-width %v; it proves nothing", v, v.RelHalfWidth())
	}
	// 3/N is the one-sided limit: -ln(0.05) = 2.996 (theory sheet, section 9.1).
	if miss := math.Pow(1-UpperZero(10000), 10000); miss > 0.05 || miss < 0.0495 {
		t.Errorf("a rate of 3/N shows no event with probability %v, want just under 0.05", miss)
	}
	for n, want := range map[uint64]float64{0: 1, 1: 1, 3: 1, 6: 0.5} {
		if got := UpperZero(n); got != want {
			t.Errorf("UpperZero(%d) = %v, want %v", n, got, want)
		}
	}
}
