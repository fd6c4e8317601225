package theory

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

func TestStandardSmall(t *testing.T) {
	for _, r := range block(t, "1.small") {
		m, n, k := r.uint("m"), r.uint("n"), r.int("k")
		r.check("classic", StandardClassic(m, n, k))
		r.check("one_minus_1_over_m", StandardOneStep(m, n, k))
		r.check("exact_with_replacement", Standard(m, n, k))
		r.check("exact_distinct_bits", StandardDistinct(m, n, k))
		if r.str("exact_partitioned") != "na" {
			r.check("exact_partitioned", Partitioned(m/uint64(k), n, k))
		}
		r.check("exact/classic-1", Standard(m, n, k)/StandardClassic(m, n, k)-1)
	}
	for _, r := range block(t, "1.fractions") {
		m, n, k := r.uint("m"), r.uint("n"), r.int("k")
		r.near("exact_with_replacement", Standard(m, n, k), 1e-13)
		r.near("exact_distinct_bits", StandardDistinct(m, n, k), 1e-13)
	}
}

func TestStandardMedium(t *testing.T) {
	for _, r := range block(t, "1.exact_medium") {
		m, n, k := r.uint("m"), r.uint("n"), r.int("k")
		r.check("classic", StandardClassic(m, n, k))
		r.check("one_minus_1_over_m", StandardOneStep(m, n, k))
		r.near("exact", Standard(m, n, k), 2e-11)
	}
	// Where doubles lose every digit of the inclusion-exclusion sum.
	for _, r := range block(t, "1.float64_error") {
		r.check("exact", Standard(r.uint("m"), r.uint("n"), r.int("k")))
	}
	for _, r := range block(t, "1.classic_table") {
		m, n := atBitsPerKey(r.num("bits_per_key"))
		r.check("classic_fpr", StandardClassic(m, n, r.int("k")))
		r.check("classic_fpr", Standard(m, n, r.int("k"))) // the limit of both
	}
}

// The expansion for large tables and the sum in extended precision must meet: the
// sum is exact, so this measures the expansion where it is first used, at loads
// from almost empty to overfilled.
func TestExpansionMeetsExactSum(t *testing.T) {
	for _, r := range []int{3, 4, 7, 10, 20, 40, 64, 128} {
		for _, lambda := range []float64{0.001, 0.01, 0.1, 0.3, 0.7, 1.5, 3, 6} {
			R := float64(r)
			m := expandCells * R * R
			N := math.Ceil(lambda * m)
			if m*N*N < 2e8*R*R*R*R {
				continue
			}
			p := fill(m, N)
			got := expandedMoment(m, N, r, p, occupancyVar(m, N))
			closeTo(t, fmt.Sprintf("E[(X/m)^%d] at m=%v, lambda=%v", r, m, lambda), got, sumMoment(m, N, r), 1e-10)
		}
	}
}

// sumMoment is the r-th moment through the exact sum, whatever the size.
func sumMoment(m, N float64, r int) float64 {
	return positiveMoment(m, allHit(r, fill(m, N), func(i int, prec uint) *big.Float {
		x := new(big.Float).SetPrec(prec).SetFloat64(m - float64(i))
		return power(x.Quo(x, big.NewFloat(m)), uint64(N))
	}))
}

// dpRate follows the number of set bits throw by throw (Christensen et al.
// 2010): slow, positive terms only, and a different road to the same number.
func dpRate(m, n, k int) float64 {
	p := make([]float64, m+1)
	p[0] = 1
	for range k * n {
		for i := m; i >= 0; i-- {
			p[i] *= float64(i) / float64(m)
			if i > 0 {
				p[i] += p[i-1] * float64(m-i+1) / float64(m)
			}
		}
	}
	f := 0.0
	for i, x := range p {
		f += x * math.Pow(float64(i)/float64(m), float64(k))
	}
	return f
}

func TestStandardAgainstRecursion(t *testing.T) {
	for _, c := range []struct{ m, n, k int }{
		{1, 1, 1}, {1, 5, 3}, {2, 1, 2}, {2, 3, 5}, {3, 1, 64}, {7, 2, 9}, {50, 5, 30}, {64, 1, 23}, {44, 1, 31},
		{200, 20, 64}, {300, 30, 7}, {500, 1, 10}, {700, 400, 3}, {100, 1000, 2},
	} {
		closeTo(t, fmt.Sprint("Standard", c), Standard(uint64(c.m), uint64(c.n), c.k), dpRate(c.m, c.n, c.k), 1e-11)
	}
}

// The exact sum for tables too large for the recursion and too empty for the
// expansion: n = 1 by hand. With k = 2 the query's two probes hit with chance
// E[(X/m)^2], X = 1 with chance 1/m and else 2.
func TestStandardNearlyEmpty(t *testing.T) {
	for _, m := range []float64{1e3, 1e6, 1e9, 1e12, 1 << 47} {
		want := (1/m + (1-1/m)*4) / (m * m)
		closeTo(t, fmt.Sprint("k=2, n=1, m=", m), Standard(uint64(m), 1, 2), want, 1e-9)
		// k = 3: X = 1, 2, 3 with chances 1/m^2, 3(m-1)/m^2, (m-1)(m-2)/m^2.
		want = (1 + 3*(m-1)*8 + (m-1)*(m-2)*27) / (m * m) / (m * m * m)
		closeTo(t, fmt.Sprint("k=3, n=1, m=", m), Standard(uint64(m), 1, 3), want, 1e-9)
		// Distinct positions: the query must draw the very 3-subset.
		want = 6 / (m * (m - 1) * (m - 2))
		closeTo(t, fmt.Sprint("distinct, k=3, n=1, m=", m), StandardDistinct(uint64(m), 1, 3), want, 1e-9)
	}
}

// Distinct bits in large tables: the expansion against the exact sum.
func TestStandardDistinctExpansion(t *testing.T) {
	for _, k := range []int{2, 7, 20} {
		m := uint64(17000 * k * k)
		n := uint64(1e5*float64(k)) + 1
		N, K, M := float64(n), float64(k), float64(m)
		p := -math.Expm1(N * math.Log1p(-K/M))
		hit := allHit(k, p, func(i int, prec uint) *big.Float {
			x := new(big.Float).SetPrec(prec).SetInt64(1)
			for s := range k {
				x.Mul(x, big.NewFloat(M-float64(i+s)))
				x.Quo(x, big.NewFloat(M-float64(s)))
			}
			return power(x, n)
		})
		closeTo(t, fmt.Sprint("StandardDistinct k=", k), StandardDistinct(m, n, k), hit[k], 1e-9)
	}
}

func TestOverfilled(t *testing.T) {
	for _, r := range block(t, "1.overfill") {
		n := r.uint("n_inserted")
		r.check("classic", StandardClassic(9585059, n, 7))
		r.check("one_minus_1_over_m", StandardOneStep(9585059, n, 7))
		r.check("exact", Standard(9585059, n, 7))
		// The sheet gives the limit 1-e^-lambda, off by (1-fill) lambda/2m.
		r.check("expected_fill", math.Pow(StandardClassic(9585059, n, 7), 1.0/7))
		r.near("expected_fill", StandardFill(9585059, n, 7), 1e-7)
	}
	for _, r := range block(t, "1.overfill_real_k") {
		r.check("fpr", StandardOverfilled(r.num("p"), r.num("r")))
	}
}

func TestStandardBuildSD(t *testing.T) {
	for _, r := range block(t, "1.build_sd") {
		m, n, k := r.uint("m"), r.uint("n"), r.int("k")
		r.check("sd_set_bits", float64(m)*math.Sqrt(occupancyVar(float64(m), float64(n)*float64(k))))
		// The sheet divides by the exact rate in sd_build and by p^k here.
		r.check("relsd_fpr", StandardBuildSD(m, n, k)/StandardOneStep(m, n, k))
	}
	for _, r := range block(t, "9.variance_split") {
		n := r.uint("n")
		m, k, _ := SizeTextbook(n, 0.01)
		rel := StandardBuildSD(m, n, k) / StandardOneStep(m, n, k)
		r.check("fpr", Standard(m, n, k))
		r.check("sd_build", rel*Standard(m, n, k))
	}
	// Exact below 4096 bits: m = 2, n = 1, k = 2 leaves one bit set (rate 1/4) or
	// both (rate 1) with equal chance.
	closeTo(t, "sd at m=2", StandardBuildSD(2, 1, 2), 0.375, 1e-12)
	// And continuous across the switch, up to the second order that it drops.
	closeTo(t, "sd at the switch", StandardBuildSD(4096, 400, 7), StandardBuildSD(4097, 400, 7), 0.01)
}

func TestBestK(t *testing.T) {
	for _, r := range block(t, "1.best_integer_k") {
		m, n := r.uint("m"), r.uint("n")
		k := StandardBestK(m, n)
		if k != r.int("k_exact_with_replacement") {
			t.Errorf("%v: best k = %d", r.fields, k)
		}
		r.near("fpr_at_k_exact_wr", Standard(m, n, k), 2e-11)
		classic := descend(1, func(k int) float64 { return StandardClassic(m, n, k) })
		if classic != r.int("k_classic") {
			t.Errorf("%v: best classic k = %d", r.fields, classic)
		}
		distinct := 1
		for k := 2; k <= min(20, int(m)); k++ {
			if StandardDistinct(m, n, k) < StandardDistinct(m, n, distinct) {
				distinct = k
			}
		}
		if distinct != r.int("k_exact_distinct") {
			t.Errorf("%v: best distinct k = %d", r.fields, distinct)
		}
		r.near("fpr_at_k_distinct", StandardDistinct(m, n, distinct), 1e-9)
	}
	// No k at all is better than the best, at loads from one key to overfilled.
	for _, c := range []struct{ m, n uint64 }{{1, 1}, {5, 1}, {20, 1}, {60, 2}, {100, 10}, {1000, 3}, {1000, 2000}, {1e5, 1e4}, {1e9, 3e7}, {1e9, 1}} {
		best := StandardBestK(c.m, c.n)
		for k := 1; k <= maxK; k++ {
			if Standard(c.m, c.n, k) < Standard(c.m, c.n, best) {
				t.Errorf("m=%d n=%d: k=%d is better than the best, %d", c.m, c.n, k, best)
			}
		}
	}
}

func TestStandardShape(t *testing.T) {
	// Too low, lower, lowest: exact > one step > classic for k >= 2 (Christensen
	// et al. 2010); all grow with n and fall with m.
	for _, m := range []uint64{20, 333, 4096, 20000, 1e6} {
		for _, k := range []int{2, 3, 7, 12} {
			last := 0.0
			for _, n := range []uint64{1, 2, m / 20, m / 10, m / 5} {
				f := Standard(m, n, k)
				if !(f > StandardOneStep(m, n, k) && StandardOneStep(m, n, k) > StandardClassic(m, n, k)) {
					t.Errorf("m=%d n=%d k=%d: order of exact, one step and classic", m, n, k)
				}
				if n > 1 && n > m/20 && !(f > last) {
					t.Errorf("m=%d n=%d k=%d: does not grow with n", m, n, k)
				}
				if !(Standard(m+m/10+1, n, k) < f) {
					t.Errorf("m=%d n=%d k=%d: does not fall with m", m, n, k)
				}
				last = f
			}
		}
	}
	// Limits.
	for _, c := range []struct {
		what string
		got  float64
		want float64
	}{
		{"empty", Standard(1000, 0, 7), 0},
		{"one bit", Standard(1, 1, 7), 1},
		{"one bit, distinct", StandardDistinct(1, 1, 1), 1},
		{"overfilled", Standard(1000, 1<<60, 7), 1},
		{"most keys", Standard(1<<48, math.MaxUint64, 64), 1},
		{"k = 1", Standard(1000, 100, 1), 1 - math.Pow(0.999, 100)},
		{"all bits of a key", StandardDistinct(5, 1, 5), 1},
	} {
		closeTo(t, c.what, c.got, c.want, 1e-13)
	}
}

func TestStandardDomain(t *testing.T) {
	for what, got := range map[string]float64{
		"m=0": Standard(0, 1, 1), "k=0": Standard(10, 1, 0), "k<0": Standard(10, 1, -1), "k=65": Standard(10, 1, 65),
		"classic": StandardClassic(0, 1, 1), "one step": StandardOneStep(0, 1, 1), "distinct k>m": StandardDistinct(3, 1, 4),
		"fill": StandardFill(0, 1, 1), "sd": StandardBuildSD(10, 1, 0), "partitioned": Partitioned(0, 1, 1),
		"partitioned fill": PartitionedFill(0, 1), "partitioned sd": PartitionedBuildSD(1, 1, 0),
		"bound 0": LowerBound(0), "bound 1": LowerBound(1), "bound NaN": LowerBound(math.NaN()),
		"finite n>u": LowerBoundFinite(1, 2, 0.1), "overfilled": StandardOverfilled(0.1, -1), "floor": HashFloor(1, 0),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s: %v, want NaN", what, got)
		}
	}
	if k := StandardBestK(0, 1) + StandardBestK(1, 0); k != 0 {
		t.Errorf("best k outside the domain: %d", k)
	}
}

func TestPartitionedBuildSD(t *testing.T) {
	// k = 1 is a standard filter; two slices of two bits after one key have one
	// bit set each, always.
	closeTo(t, "k=1", PartitionedBuildSD(1000, 100, 1), StandardBuildSD(1000, 100, 1), 1e-9)
	closeTo(t, "certain", PartitionedBuildSD(2, 1, 2)+1, 1, 1e-12)
	// Two keys, two slices of two bits: each slice is half or wholly full with
	// equal chance; rates 1/4, 1/2, 1/2, 1.
	closeTo(t, "two keys", PartitionedBuildSD(2, 2, 2), math.Sqrt((1.0/16+2.0/4+1)/4-math.Pow(2.25/4, 2)), 1e-12)
}
