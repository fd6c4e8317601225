package theory

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

func TestCountingOverflow(t *testing.T) {
	// Limits of large m at load ln 2.
	const m = 1e15
	n := uint64(math.Round(math.Ln2 * m))
	for _, r := range block(t, "3.overflow_per_counter") {
		w, a := r.int("counter_bits"), r.uint("overflow_at_count")
		r.check("fan_bound (e ln2/a)^a", FanBound(m, n, 1, int(a))/m)
		r.check("poisson_tail P(X>=a)", CountingTail(m, n, 1, a))
		r.check("poisson_tail P(X>=a)", CountingOverflow(m, n, 1, w))
	}
	for _, r := range block(t, "3.overflow") {
		a := r.uint("a")
		tail := CountingTail(9585059, 1e6, 7, a)
		r.check("binomial P(X>=a)", tail)
		r.check("expected_counters_overflowing", 9585059*tail)
		r.check("P(any) (indep.)", -math.Expm1(9585059*math.Log1p(-tail)))
		r.check("union bound m(e kn/(m a))^a", FanBound(9585059, 1e6, 7, int(a)))
	}
	for _, r := range block(t, "3.overflow_when_overfilled") {
		times := r.uint("r")
		r.check("lambda", 7e6*float64(times)/9585059)
		// The sheet gives the Poisson limit: the same load in 1e9 times the size.
		r.check("expected_overflowing_counters", 9585059*CountingTail(9585059e9, 1e15*times, 7, 16))
	}
	for _, r := range block(t, "3.bogus_delete") {
		k := r.int("k")
		n := uint64(math.Round(math.Ln2 * m / float64(k)))
		r.check("P(counter==1 | counter>=1)", BogusDelete(m, n, k)/float64(k))
		r.check("expected members turned into false negatives", BogusDelete(m, n, k))
	}
}

// exactTail is P(X >= a) in 300-bit arithmetic, term by term.
func exactTail(N, m, a int64) float64 {
	const prec = 300
	p := new(big.Float).SetPrec(prec).Quo(new(big.Float).SetPrec(prec).SetInt64(1), new(big.Float).SetInt64(m))
	q := new(big.Float).SetPrec(prec).Sub(new(big.Float).SetInt64(1), p)
	sum := new(big.Float).SetPrec(prec)
	for j := a; j <= min(N, a+400); j++ {
		term := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Binomial(N, j))
		pp, qq := new(big.Float).Copy(p), new(big.Float).Copy(q)
		term.Mul(term, power(pp, uint64(j)))
		term.Mul(term, power(qq, uint64(N-j)))
		sum.Add(sum, term)
	}
	f, _ := sum.Float64()
	return f
}

func TestCountingTailIsExact(t *testing.T) {
	for _, c := range []struct{ N, m, a int64 }{
		{10, 3, 1}, {10, 3, 4}, {10, 3, 10}, {100, 7, 3}, {100, 7, 15}, {100, 7, 60}, {3000, 1000, 3},
		{1000, 1000, 16}, {5000, 1000, 15}, {5000, 1000, 100}, {700, 1000, 140}, {40000, 1000, 15}, {20000, 100, 255},
	} {
		got := CountingTail(uint64(c.m), uint64(c.N), 1, uint64(c.a))
		want := exactTail(c.N, c.m, c.a)
		closeTo(t, fmt.Sprint("tail ", c), got, want, 1e-10)
		if c.a == 140 && !(want < 1e-200) {
			t.Errorf("%v is %v: not as deep as meant", c, want)
		}
	}
}

func TestCountingShape(t *testing.T) {
	for _, w := range []int{1, 2, 4, 8, 16} {
		for _, n := range []uint64{1e3, 1e5, 1e7, 1e9} {
			over, sat := CountingOverflow(1e6, n, 4, w), CountingSaturated(1e6, n, 4, w)
			if !(over >= 0 && over <= sat && sat <= 1) {
				t.Errorf("w=%d n=%d: overflow %v, saturated %v", w, n, over, sat)
			}
			if bound := FanBound(1e6, n, 4, 1<<w) / 1e6; float64(4*n)/1e6 < float64(int(1)<<w) && !(over <= bound) {
				t.Errorf("w=%d n=%d: overflow %v above the bound %v", w, n, over, bound)
			}
		}
	}
	// A one-bit counter has reached its ceiling when its bit would be set.
	closeTo(t, "w=1", CountingSaturated(1000, 100, 3, 1), StandardFill(1000, 100, 3), 1e-12)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"a=0", CountingTail(10, 5, 2, 0), 1}, {"a>N", CountingTail(10, 5, 2, 11), 0},
		{"one counter", CountingTail(1, 5, 2, 10), 1}, {"no keys", CountingOverflow(10, 0, 3, 4), 0},
		{"drowned", CountingTail(10, 1<<50, 3, 15), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	for _, bad := range []float64{
		CountingTail(0, 1, 1, 1), CountingOverflow(10, 1, 1, 0), CountingSaturated(10, 1, 1, 33), CountingOverflow(10, 1, 0, 4),
		FanBound(0, 1, 1, 16), FanBound(10, 1, 1, 0), BogusDelete(10, 0, 3), BogusDelete(0, 5, 3),
	} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
}

// The mixture over block loads, against what it must agree with: one block is a
// table of B counters; with k = 1 blocks make no difference; and a block's own
// distribution, counted out for two keys in two blocks of 64 counters.
func TestBlockedCountingSaturated(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"one block", BlockedCountingSaturated(1, 128, 60, 6, 4), CountingSaturated(128, 60, 6, 4)},
		{"k = 1", BlockedCountingSaturated(100, 128, 50_000, 1, 4), CountingSaturated(12_800, 50_000, 1, 4)},
		// Both keys in the block (1/4): four throws, at least three hits; else (1/2
		// for one key) two throws cannot reach three.
		{"two keys", BlockedCountingSaturated(2, 64, 2, 2, 2), (4*63 + 1) / (4 * 64. * 64 * 64 * 64)},
		{"no keys", BlockedCountingSaturated(2, 64, 0, 2, 2), 0},
		{"overfull", BlockedCountingSaturated(1, 64, 1e12, 6, 4), 1},
	} {
		if math.Abs(c.got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if x := BlockedCountingSaturated(0, 64, 1, 1, 4); !math.IsNaN(x) {
		t.Errorf("no blocks: %v", x)
	}
	// The factor that the documentation states.
	if r := BlockedCountingSaturated(84_745, 128, 1e6, 6, 4) / CountingSaturated(10_847_360, 1e6, 6, 4); math.Abs(r-82) > 1 {
		t.Errorf("blocks make saturation %v times as likely, want some 82", r)
	}
}
