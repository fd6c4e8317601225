package theory

import (
	"math"
	"testing"
)

// The exact rates of the sheet. Small tables are enumerated and must agree to the
// printed digits; larger ones within the error the comments state.
func TestDoubleHashing(t *testing.T) {
	for _, r := range block(t, "1.double_hashing") {
		m, n, k := r.uint("m"), r.uint("n"), r.int("k")
		r.check("independent", Standard(m, n, k))
		if m <= 256 {
			r.check("double_b_any", DoubleHashing(m, n, k))
			r.check("double_b_nonzero", DoubleHashingNonzero(m, n, k))
		} else {
			r.near("double_b_any", DoubleHashing(m, n, k), 0.0013)
			r.near("double_b_nonzero", DoubleHashingNonzero(m, n, k), 0.0025)
		}
		if r.str("double_b_odd") != "na" {
			r.near("double_b_odd", DoubleHashingOdd(m, n, k), 0.0062)
		}
		if r.str("enhanced_double") != "na" {
			r.near("enhanced_double", EnhancedDouble(m, n, k), 1.1/float64(m))
		}
	}
	for _, r := range block(t, "1.double_hash_floor") {
		m, n, k := r.uint("m"), r.uint("n"), r.int("k")
		r.near("fpr_independent", Standard(m, n, k), 1e-11)
		unit := float64(m) * float64(m) / float64(n)
		r.near("A_b_any(mod 2^q)", (DoubleHashing(m, n, k)-Standard(m, n, k))*unit, 0.009)
		r.near("A_b_odd", (DoubleHashingOdd(m, n, k)-Standard(m, n, k))*unit, 0.06)
	}
}

// The leading term against enumeration where the sheet has no value: m a power of
// two, prime, and with many divisors, plain and enhanced, from sparse to
// overfilled. Each error must also shrink with m, as a leading term's does.
func TestSteppingTermAgainstEnumeration(t *testing.T) {
	cubic := func(k int) []int64 {
		c := make([]int64, k)
		for i := range c {
			x := int64(i)
			c[i] = (x*x*x - x) / 6
		}
		return c
	}
	for _, k := range []int{2, 3, 5} {
		for _, sizes := range [][2]uint64{{64, 256}, {61, 251}, {60, 240}, {90, 180}} {
			for _, load := range []float64{0.3, 0.69, 1.5} {
				for name, c := range map[string][]int64{"double": make([]int64, k), "enhanced": cubic(k)} {
					if name == "enhanced" && sizes[1] > 200 {
						continue // enumerating it takes m times as long
					}
					var errs [2]float64
					for i, m := range sizes {
						n := uint64(load*float64(m)/float64(k)) + 1
						exact := enumerate(m, n, c, anyStep)
						errs[i] = expandedStepping(m, n, k, c, anyStep)/exact - 1
						if limit := 25 / float64(m); math.Abs(errs[i]) > limit {
							t.Errorf("%s m=%d n=%d k=%d: off by %.2g of the exact rate %v, allowed %.2g", name, m, n, k, errs[i], exact, limit)
						}
					}
					if math.Abs(errs[1]) > math.Abs(errs[0])*0.7+1e-4 {
						t.Errorf("%s k=%d load=%v: error %.2g at m=%d, still %.2g at m=%d", name, k, load, errs[0], sizes[0], errs[1], sizes[1])
					}
				}
			}
		}
	}
}

// Double hashing inside a block of 512 bits, over the Poisson load of a block.
func TestDoubleHashingInsideBlock(t *testing.T) {
	for _, r := range block(t, "2.double_hashing_inside_block") {
		B, k, c := r.uint("B"), r.int("k"), r.num("c")
		rate := map[string]func(m, n uint64, k int) float64{"dh": DoubleHashing, "odd": DoubleHashingOdd, "edh": EnhancedDouble}[r.str("scheme")]
		got := poissonMean(float64(B)/c, func(j float64) float64 { return rate(B, uint64(j), k) })
		r.near("fpr", got, 0.006)
		r.near("independent_probes", poissonMean(float64(B)/c, func(j float64) float64 { return Standard(B, uint64(j), k) }), 1e-11)
	}
}

func TestDoubleHashingShape(t *testing.T) {
	for _, m := range []uint64{16, 60, 127, 1000, 4096, 1e6} {
		for _, k := range []int{3, 7} {
			if m < 2*uint64(k*k) && k > 3 {
				continue
			}
			n := m / 10
			double, enhanced, ind := DoubleHashing(m, n, k), EnhancedDouble(m, n, k), Standard(m, n, k)
			if !(double > enhanced && double > ind) {
				t.Errorf("m=%d k=%d: double %v, enhanced %v, independent %v", m, k, double, enhanced, ind)
			}
			if same := -math.Expm1(float64(n) * math.Log1p(-1/(float64(m)*float64(m)))); !(enhanced > same) {
				t.Errorf("m=%d k=%d: enhanced %v is below the chance %v of an equal pair (a, b)", m, k, enhanced, same)
			}
		}
	}
	// The additive term falls as n/m^2 at a fixed load (m prime).
	a := DoubleHashing(100003, 10000, 7) - Standard(100003, 10000, 7)
	b := DoubleHashing(1000003, 100000, 7) - Standard(1000003, 100000, 7)
	closeTo(t, "term at ten times the size", b, a/10, 0.001)
	// k = 1 and k = 2 by hand: one probe is a plain filter; two probes a and a+b
	// of a uniform b are independent.
	closeTo(t, "k=1", DoubleHashing(1000, 100, 1), Standard(1000, 100, 1), 1e-12)
	closeTo(t, "k=2", DoubleHashing(1000, 100, 2), Standard(1000, 100, 2), 1e-6)
	closeTo(t, "k=2, enumerated", DoubleHashing(61, 10, 2), Standard(61, 10, 2), 1e-12)
	closeTo(t, "overfilled", DoubleHashing(1000, 1e9, 7), 1, 1e-12)
	if DoubleHashing(1000, 0, 7) != 0 || EnhancedDouble(50, 0, 3) != 0 {
		t.Error("an empty filter answers no")
	}
	for _, bad := range []float64{
		DoubleHashing(0, 1, 3), DoubleHashing(100, 1, 0), DoubleHashing(100, 1, -1), DoubleHashing(700, 1, 20), DoubleHashingOdd(100, 1, 3),
		EnhancedDouble(0, 1, 3), EnhancedDouble(1e6, 1, 33), DoubleHashingNonzero(1, 1, 1), EnhancedDouble(100, 1, 65),
	} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
}
