package theory

import (
	"math"
	"testing"
)

func TestCardinality(t *testing.T) {
	for _, r := range block(t, "1.cardinality") {
		m, k, set := r.uint("m"), r.int("k"), r.uint("X_set_bits")
		n := EstimateN(m, k, set)
		r.check("n_hat", EstimateNClassic(m, k, set))
		r.check("n_hat_exact_inverse", n)
		// The sheet takes lambda from the fill, -ln(1-X/m) = k n_hat/m.
		hat := EstimateNClassic(m, k, set)
		r.check("sd_theory", EstimateSD(m, k, hat))
		r.check("bias_theory", EstimateBias(m, k, hat))
	}
	// The inverse of the expected fill, exactly.
	for _, n := range []uint64{1, 10, 1000, 5000} {
		m, k := uint64(1<<40), 7
		set := uint64(math.Round(StandardFill(m, n, k) * float64(m)))
		closeTo(t, "inverse", EstimateN(m, k, set), float64(n), 1e-4/float64(n))
	}
}

func TestSetOperations(t *testing.T) {
	for _, r := range block(t, "1.setops") {
		const m, k, t1, t2, or = 10000, 5, 3000, 3500, 5200
		r.check("n1", EstimateNClassic(m, k, t1))
		r.check("n2", EstimateNClassic(m, k, t2))
		r.check("n_union", EstimateNClassic(m, k, or))
		r.check("n_intersection_papapetrou", EstimateIntersection(m, k, t1, t2, or))
		// The estimator as Papapetrou et al. write it, in the bits of the AND.
		and := float64(t1 + t2 - or)
		p := (math.Log(m-(and*m-t1*t2)/(m-t1-t2+and)) - math.Log(m)) / (k * math.Log1p(-1.0/m))
		closeTo(t, "Papapetrou", EstimateIntersection(m, k, t1, t2, or), p, 1e-11)
		r.check("n_intersection_swamidass_baldi", EstimateNClassic(m, k, t1)+EstimateNClassic(m, k, t2)-EstimateNClassic(m, k, or))
	}
	// A set with itself, and with one that shares nothing but chance bits.
	if got, want := EstimateIntersection(1000, 3, 300, 300, 300), EstimateN(1000, 3, 300); got != want {
		t.Errorf("with itself: %v, want %v", got, want)
	}
	if got := EstimateIntersection(1000, 3, 300, 300, 510); math.Abs(got) > 1e-9 {
		t.Errorf("fills 0.3, 0.3 and 0.51 are independent: intersection %v, want 0", got)
	}
	if got := EstimateUnion(1000, 3, 300); got != EstimateN(1000, 3, 300) {
		t.Errorf("union: %v", got)
	}
}

func TestEstimatesAtTheEnds(t *testing.T) {
	for _, f := range []func(uint64, int, uint64) float64{EstimateN, EstimateNClassic} {
		if f(100, 3, 0) != 0 {
			t.Error("an empty filter holds nothing")
		}
		if !math.IsInf(f(100, 3, 100), 1) {
			t.Error("a full filter says nothing")
		}
		for _, bad := range []float64{f(0, 3, 0), f(100, 0, 5), f(100, 3, 101)} {
			if !math.IsNaN(bad) {
				t.Errorf("outside the domain: %v", bad)
			}
		}
	}
	for _, bad := range []float64{
		EstimateIntersection(100, 3, 50, 50, 40), EstimateIntersection(100, 3, 50, 10, 70), EstimateIntersection(100, 3, 50, 100, 100),
		EstimateSD(0, 3, 1), EstimateSD(10, 0, 1), EstimateSD(10, 3, math.NaN()), EstimateBias(0, 3, 1), EstimateBias(10, 3, -1),
	} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
}
