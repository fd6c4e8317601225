package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// upTo is 1, 2, ..., n in a fixed disorder, so that values are ranks.
func upTo(n int) []float64 {
	xs := make([]float64, n)
	for i, j := range rand.New(rand.NewPCG(uint64(n), 1)).Perm(n) {
		xs[i] = float64(j + 1)
	}
	return xs
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{1, 2, 3, 100}, 2.5}, {[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64}} {
		before := append([]float64(nil), c.xs...)
		if got := Median(c.xs); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.xs, got, c.want)
		}
		for i := range before {
			if before[i] != c.xs[i] {
				t.Errorf("Median reordered %v to %v", before, c.xs)
			}
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("Median of nothing = %v", got)
	}
}

func TestMedianInterval(t *testing.T) {
	// Theory sheet, block 9.median_ci.
	for _, c := range []struct {
		n, lo, hi int
		coverage  float64
	}{
		{6, 1, 6, 0.968750000000},
		{7, 1, 7, 0.984375000000},
		{8, 1, 8, 0.992187500000},
		{10, 2, 9, 0.978515625000},
		{15, 4, 12, 0.964843750000},
		{20, 6, 15, 0.958610534668},
		{25, 8, 18, 0.956714749336},
		{30, 10, 21, 0.957226054743},
		{50, 18, 33, 0.967160862436},
		{100, 40, 61, 0.964799799782},
	} {
		got := MedianInterval(upTo(c.n), 0.95)
		if got != (Interval{float64(c.lo), float64(c.hi)}) {
			t.Errorf("n = %d: %v, want ranks %d and %d", c.n, got, c.lo, c.hi)
		}
		b := distuv.Binomial{N: float64(c.n), P: 0.5}
		if cover := b.CDF(got.Hi-1) - b.CDF(got.Lo-1); !near(cover, c.coverage, printed) {
			t.Errorf("n = %d: coverage %.12f, want %.12f", c.n, cover, c.coverage)
		}
	}
	for n := range 6 {
		if got := MedianInterval(upTo(n), 0.95); got.Valid() {
			t.Errorf("%d samples have the interval %v", n, got)
		}
	}
}

func TestQuantileInterval(t *testing.T) {
	// Coverage sum_{i=lo}^{hi-1} C(n,i) q^i (1-q)^(n-i) (theory sheet, section
	// 9.4) is at least 95%, and either end one rank further in leaves more than
	// 2.5% outside on its side.
	for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
		for _, n := range []int{50, 367, 368, 1000} {
			i := QuantileInterval(upTo(n), q, 0.95)
			b := distuv.Binomial{N: float64(n), P: q}
			if !i.Valid() {
				if math.Pow(q, float64(n)) <= 0.025 && math.Pow(1-q, float64(n)) <= 0.025 {
					t.Errorf("q = %v, n = %d: no interval, though the extremes would do", q, n)
				}
				continue
			}
			if cover := b.CDF(i.Hi-1) - b.CDF(i.Lo-1); cover < 0.95 {
				t.Errorf("q = %v, n = %d: %v covers %v", q, n, i, cover)
			}
			if b.CDF(i.Lo) <= 0.025 || 1-b.CDF(i.Hi-2) <= 0.025 {
				t.Errorf("q = %v, n = %d: %v could be narrower", q, n, i)
			}
		}
	}
	// The number in QuantileInterval's comment: 0.99^368 = 0.0248.
	if QuantileInterval(upTo(367), 0.99, 0.95).Valid() || !QuantileInterval(upTo(368), 0.99, 0.95).Valid() {
		t.Error("the 99% quantile has an interval from 368 samples on")
	}
	for _, q := range []float64{0, 1, math.NaN()} {
		if got := QuantileInterval(upTo(10), q, 0.95); got.Valid() {
			t.Errorf("q = %v: %v", q, got)
		}
	}
}

func TestSamplesAbove(t *testing.T) {
	// Theory sheet, block 9.quantile_upper.
	for q, want := range map[float64]uint64{0.5: 5, 0.9: 29, 0.95: 59, 0.99: 299, 0.999: 2995, 0: 0, 1: 0} {
		if got := SamplesAbove(q, 0.95); got != want {
			t.Errorf("SamplesAbove(%v) = %d, want %d", q, got, want)
		}
	}
}

func TestPairedRatio(t *testing.T) {
	// Ratios 1.1 ... 1.7 in disorder beside a drift of a factor 8: by hand the
	// median is 1.4, the interval of seven are the extremes, and 7 of 7 has
	// P = 2/128.
	ratios := []float64{1.4, 1.1, 1.7, 1.3, 1.5, 1.2, 1.6}
	a, b := make([]float64, 7), make([]float64, 7)
	for i := range b {
		b[i] = math.Pow(1.35, float64(i))
		a[i] = ratios[i] * b[i]
	}
	r := PairedRatio(a, b)
	if !near(r.Median, 1.4, 1e-12) || !near(r.Interval.Lo, 1.1, 1e-12) || !near(r.Interval.Hi, 1.7, 1e-12) || !near(r.P, 2.0/128, 1e-12) || r.Rounds != 7 {
		t.Errorf("PairedRatio = %+v", r)
	}
	s := PairedRatio(b, a)
	if !near(s.Median*r.Median, 1, 1e-12) || !near(s.Interval.Lo*r.Interval.Hi, 1, 1e-12) || s.P != r.P {
		t.Errorf("the other way round: %+v", s)
	}
	// Three above, one below, one tie: 2 P(Bin(4, 1/2) <= 1) = 10/16; five rounds
	// have no interval.
	r = PairedRatio([]float64{2, 2, 2, 1, 1}, []float64{1, 1, 1, 2, 1})
	if !near(r.P, 10.0/16, 1e-12) || r.Interval.Valid() || r.Median != 2 {
		t.Errorf("PairedRatio = %+v", r)
	}
	if r := PairedRatio([]float64{1, 1}, []float64{1, 1}); r.P != 1 || r.Median != 1 {
		t.Errorf("equal samples: %+v", r)
	}
	for _, bad := range [][2][]float64{{nil, nil}, {{1}, {1, 2}}, {{1, 0}, {1, 1}}, {{1, 1}, {-1, 1}}, {{math.NaN()}, {1}}} {
		if r := PairedRatio(bad[0], bad[1]); r.Rounds != 0 || !math.IsNaN(r.Median) || !math.IsNaN(r.P) || r.Interval.Valid() {
			t.Errorf("PairedRatio(%v) = %+v, want nothing compared", bad, r)
		}
	}
}

func TestMannWhitney(t *testing.T) {
	// Theory sheet, block 9.mann_whitney: least possible p, and the largest U with
	// p <= 5%.
	for _, c := range []struct {
		n1, n2, crit int
		least        float64
	}{
		{3, 3, -1, 0.100000000000},
		{4, 4, 0, 0.0285714285714},
		{5, 5, 2, 0.00793650793651},
		{6, 6, 5, 0.00216450216450},
		{8, 8, 13, 0.000155400155400},
		{10, 10, 23, 1.08250882245e-5},
		{20, 20, 127, 1.45088891038e-11},
	} {
		if got := MannWhitneyLeast(c.n1, c.n2); !near(got, c.least, printed) {
			t.Errorf("%d against %d: least p %.12g, want %.12g", c.n1, c.n2, got, c.least)
		}
		crit := -1
		for u := 0; u <= c.n1*c.n2/2 && 2*rankTail(c.n1, c.n2, u) <= 0.05; u++ {
			crit = u
		}
		if crit != c.crit {
			t.Errorf("%d against %d: critical U %d, want %d", c.n1, c.n2, crit, c.crit)
		}
	}
	// All of a above all of b reaches the least p, whichever side is called a.
	a, b := []float64{11, 12, 13, 14}, []float64{1, 2, 3, 4}
	if u, p := MannWhitney(a, b); u != 16 || !near(p, 2.0/70, 1e-12) {
		t.Errorf("separate samples: U = %v, p = %v; want 16, 2/70", u, p)
	}
	if u, p := MannWhitney(b, a); u != 0 || !near(p, 2.0/70, 1e-12) {
		t.Errorf("the other way round: U = %v, p = %v; want 0, 2/70", u, p)
	}
	// Ties, by hand: a = 1 2 2, b = 2 3 3; U = 2*0.5 = 1, groups of 3 and 2:
	// variance 9/12 (7 - 30/30) = 4.5, z = (4.5-1-0.5)/2.1213 = 1.41421.
	if u, p := MannWhitney([]float64{1, 2, 2}, []float64{2, 3, 3}); u != 1 || !near(p, math.Erfc(1), 1e-12) {
		t.Errorf("ties: U = %v, p = %v; want 1, %v", u, p, math.Erfc(1))
	}
	if u, p := MannWhitney([]float64{5, 5}, []float64{5, 5}); u != 2 || p != 1 {
		t.Errorf("all equal: U = %v, p = %v; want 2, 1", u, p)
	}
	if _, p := MannWhitney(nil, b); !math.IsNaN(p) {
		t.Errorf("no samples: p = %v", p)
	}
	// The exact tail sums to 1 and agrees with the normal approximation where that
	// takes over.
	if got := rankTail(50, 50, 2500); !near(got, 1, 1e-9) {
		t.Errorf("all of the distribution sums to %v", got)
	}
	z := (1250 - 1000 - 0.5) / math.Sqrt(2500.0/12*101)
	if exact, normal := rankTail(50, 50, 1000), math.Erfc(z/math.Sqrt2)/2; math.Abs(exact-normal) > 1e-3 {
		t.Errorf("50 against 50 at U = 1000: exact %v, normal %v", exact, normal)
	}
}

func TestH06_TooFewSamples(t *testing.T) {
	// One, three and four samples a side can at best reach 1, 0.10 and 0.029: only
	// four can say "different" at 5%.
	for n, want := range map[int]float64{1: 1, 3: 0.1, 4: 2.0 / 70} {
		if got := MannWhitneyLeast(n, n); !near(got, want, 1e-12) {
			t.Errorf("%d against %d: least p %v, want %v", n, n, got, want)
		}
	}
	// Paired: five rounds that all point one way have no interval, six have.
	for n, valid := range map[int]bool{1: false, 5: false, 6: true} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = 2, 1
		}
		if r := PairedRatio(a, b); r.Interval.Valid() != valid {
			t.Errorf("%d rounds: %+v", n, r)
		}
	}
}
