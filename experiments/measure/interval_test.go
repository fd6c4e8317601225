package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near reports whether got equals a value printed with the given relative
// precision.
func near(got, want, rel float64) bool {
	return got == want || math.Abs(got-want) <= rel*math.Abs(want)
}

// printed is the precision of twelve significant digits, half a unit of the last.
const printed = 5e-12

func TestZTwoSided(t *testing.T) {
	// Theory sheet, section 9.1.
	if got := ZTwoSided(0.95); !near(got, 1.959963984540054, 1e-15) {
		t.Errorf("ZTwoSided(0.95) = %.16g", got)
	}
	for _, bad := range []float64{0, 1, -1, 2, math.NaN()} {
		if got := ZTwoSided(bad); !math.IsNaN(got) {
			t.Errorf("ZTwoSided(%v) = %v, want NaN", bad, got)
		}
	}
}

func TestPlanTrials(t *testing.T) {
	// Theory sheet, block 9.plan.
	for _, c := range []struct {
		p, r   float64
		trials uint64
		events float64
	}{
		{0.1, 0.10, 3458, 345.73129},
		{0.1, 0.05, 13830, 1382.9252},
		{0.1, 0.02, 86433, 8643.2823},
		{0.1, 0.01, 345732, 34573.129},
		{0.01, 0.10, 38031, 380.30442},
		{0.01, 0.05, 152122, 1521.2177},
		{0.01, 0.02, 950762, 9507.6106},
		{0.01, 0.01, 3803045, 38030.442},
		{0.001, 0.10, 383762, 383.76174},
		{0.001, 0.05, 1535047, 1535.0469},
		{0.001, 0.02, 9594044, 9594.0434},
		{0.001, 0.01, 38376174, 38376.174},
		{1e-4, 0.10, 3841075, 384.10747},
		{1e-4, 0.05, 15364299, 1536.4299},
		{1e-4, 0.02, 96026867, 9602.6867},
		{1e-4, 0.01, 384107468, 38410.747},
		{0x1p-8, 0.10, 97958, 382.64531},
		{0x1p-8, 0.05, 391829, 1530.5812},
		{0x1p-8, 0.02, 2448930, 9566.1328},
		{0x1p-8, 0.01, 9795720, 38264.531},
		{0x1p-16, 0.10, 25175001, 384.14002},
		{0x1p-16, 0.05, 100700002, 1536.5601},
		{0x1p-16, 0.02, 629375010, 9603.5005},
		{0x1p-16, 0.01, 2517500039, 38414.002},
	} {
		got := PlanTrials(c.p, c.r)
		if got != c.trials {
			t.Errorf("PlanTrials(%v, %v) = %d, want %d", c.p, c.r, got, c.trials)
		}
		// Eight digits are printed, of the number before rounding up.
		if events := float64(got) * c.p; events < c.events*(1-1e-7) || events > c.events*(1+1e-7)+c.p {
			t.Errorf("PlanTrials(%v, %v): %v events expected, want %v", c.p, c.r, events, c.events)
		}
	}
	for _, c := range []struct {
		p, r float64
		want uint64
	}{
		{0, 0.1, math.MaxUint64}, {-1, 0.1, math.MaxUint64}, {math.NaN(), 0.1, math.MaxUint64}, {0.01, 0, math.MaxUint64},
		{1e-18, 1e-3, math.MaxUint64}, {1, 0.1, 0}, {2, 0.1, 0},
	} {
		if got := PlanTrials(c.p, c.r); got != c.want {
			t.Errorf("PlanTrials(%v, %v) = %d, want %d", c.p, c.r, got, c.want)
		}
	}
}

func TestPlanRuns(t *testing.T) {
	// Without scatter between builds the plan is PlanTrials, spread over the seeds.
	seeds, queries, err := PlanRuns(0.01, 0, 0.05, 1)
	if err != nil || seeds != 1 || queries != 152122 {
		t.Errorf("PlanRuns without scatter = %d seeds of %d, %v; want 1 of 152122", seeds, queries, err)
	}
	for _, c := range []struct{ p, sd, r float64 }{
		{0.0100435839901, 0.000392317074790, 0.05}, // theory sheet, block 9.variance_split, n = 1000
		{0.0100435839901, 0.000392317074790, 0.01},
		{0.5, 0.2, 0.05},
		{1e-6, 1e-7, 0.1},
	} {
		seeds, queries, err := PlanRuns(c.p, c.sd, c.r, 3)
		if err != nil || seeds < 3 {
			t.Fatalf("PlanRuns(%v) = %d, %v", c, seeds, err)
		}
		r, q := float64(seeds), float64(queries)
		sd := math.Sqrt(c.sd*c.sd/r + c.p*(1-c.p)/(r*q))                       // theory sheet, section 9.3
		if half := ZTwoSided(0.95) * sd / c.p; half > c.r || half < 0.95*c.r { // queries are rounded up
			t.Errorf("PlanRuns(%v): %d seeds of %d give a half-width of %v", c, seeds, queries, half)
		}
	}
	for _, c := range []struct {
		p, sd, r float64
		seeds    int
	}{{0, 0, 0.1, 1}, {1, 0, 0.1, 1}, {0.1, -1, 0.1, 1}, {0.1, math.NaN(), 0.1, 1}, {0.1, 0, 0, 1}, {0.1, 0, 0.1, 0}, {1e-9, 0.1, 1e-3, 1}} {
		if _, _, err := PlanRuns(c.p, c.sd, c.r, c.seeds); err == nil {
			t.Errorf("PlanRuns(%v): no error", c)
		}
	}
}

func TestIntervals(t *testing.T) {
	// Theory sheet, block 9.intervals, 95%.
	for _, c := range []struct {
		x, n            uint64
		wilson, pearson Interval
	}{
		{0, 1000, Interval{0, 0.00382675848556}, Interval{0, 0.00368208389687}},
		{0, 1000000, Interval{0, 3.84144406394e-6}, Interval{0, 3.68887265021e-6}},
		{1, 1000, Interval{0.000176546370626, 0.00564255859796}, Interval{2.53174874913e-5, 0.00555892427983}},
		{10, 1000, Interval{0.00544075444553, 0.0183094688703}, Interval{0.00480551069105, 0.0183132430551}},
		{100, 10000, Interval{0.00822933614815, 0.0121469822551}, Interval{0.00814359656761, 0.0121495048861}},
		{1000, 100000, Interval{0.00940185881339, 0.0106357860369}, Interval{0.00939255608910, 0.0106361115294}},
		{10000, 1000000, Interval{0.00980685964400, 0.0101969049712}, Interval{0.00980590624075, 0.0101969398135}},
	} {
		if w := Wilson(c.x, c.n, 0.95); !near(w.Lo, c.wilson.Lo, printed) || !near(w.Hi, c.wilson.Hi, printed) {
			t.Errorf("Wilson(%d, %d) = %.12g, want %.12g", c.x, c.n, w, c.wilson)
		}
		// The incomplete beta of gonum takes its scale from differences of
		// lgamma, which at a million trials leaves eleven digits of the twelve.
		if e := ClopperPearson(c.x, c.n, 0.95); !near(e.Lo, c.pearson.Lo, 2*printed) || !near(e.Hi, c.pearson.Hi, 2*printed) {
			t.Errorf("ClopperPearson(%d, %d) = %.12g, want %.12g", c.x, c.n, e, c.pearson)
		}
	}
}

func TestIntervalEdges(t *testing.T) {
	for name, f := range map[string]func(x, n uint64, conf float64) Interval{"ClopperPearson": ClopperPearson, "Wilson": Wilson} {
		if got := f(0, 0, 0.95); got != (Interval{0, 1}) {
			t.Errorf("%s without trials = %v, want [0, 1]", name, got)
		}
		if got := f(2, 1, 0.95); got.Valid() {
			t.Errorf("%s of 2 events in 1 trial = %v, want none", name, got)
		}
		if got := f(1, 2, 1); got.Valid() {
			t.Errorf("%s at confidence 1 = %v, want none", name, got)
		}
		for _, n := range []uint64{1, 7, 1000, 1e6, 1e9, 1e12} {
			// All events is no events seen from the other side.
			none, all := f(0, n, 0.95), f(n, n, 0.95)
			if none.Lo != 0 || all.Hi != 1 || math.Abs(none.Hi-(1-all.Lo)) > 1e-9*none.Hi+1e-15 {
				t.Errorf("%s: none of %d gives %v, all %v", name, n, none, all)
			}
			for _, x := range []uint64{1, n / 1000, n / 3, n - 1} {
				if x == 0 || x >= n {
					continue
				}
				i := f(x, n, 0.95)
				if p := float64(x) / float64(n); !(i.Lo > 0 && i.Lo < p && p < i.Hi && i.Hi < 1) {
					t.Errorf("%s(%d, %d) = %v does not surround %v", name, x, n, i, p)
				}
				if wide := f(x, n, 0.99); wide.Lo >= i.Lo || wide.Hi <= i.Hi {
					t.Errorf("%s(%d, %d) at 99%% = %v is no wider than %v", name, x, n, wide, i)
				}
			}
		}
	}
}

func TestIntervalsOfManyEvents(t *testing.T) {
	// Where the exact interval gives way to Wilson's there is no step to be seen.
	const n = 40 * manyEvents
	for _, x := range []uint64{manyEvents, manyEvents + 1} {
		e, w := ClopperPearson(x, n, 0.95), Wilson(x, n, 0.95)
		if width := w.Hi - w.Lo; math.Abs(e.Lo-w.Lo) > 1e-4*width || math.Abs(e.Hi-w.Hi) > 1e-4*width {
			t.Errorf("%d events: exact %.9g, Wilson %.9g", x, e, w)
		}
	}
	// Here the inverse of the incomplete beta function gave an upper end below the
	// rate itself.
	if i := ClopperPearson(9464673561, 98223959076, 0.95); !i.Contains(9464673561.0 / 98223959076) {
		t.Errorf("interval %v does not hold the rate", i)
	}
}

func TestDesignEffect(t *testing.T) {
	// Theory sheet, block 9.variance_split.
	for _, c := range []struct {
		q           uint64
		p, sd, want float64
	}{
		{100000, 0.0100435839901, 0.000392317074790, 2.54797979310},
		{1000000, 0.0100435839901, 0.000392317074790, 16.4799372506},
		{100000, 0.0100399159088, 0.000124022141991, 1.15475559288},
		{1000000, 0.0100399159088, 0.000124022141991, 2.54756985698},
		{100000, 0.0100393001240, 3.92169793267e-5, 1.01547471089},
		{1000000, 0.0100393001240, 3.92169793267e-5, 1.15474850161},
		{100000, 0.0100392236135, 1.24014067880e-5, 1.00154746006},
		{1000000, 0.0100392236135, 1.24014067880e-5, 1.01547473986},
	} {
		if got := DesignEffect(c.q, c.p, c.sd); !near(got, c.want, 1e-11) {
			t.Errorf("DesignEffect(%d, %v, %v) = %.12g, want %.12g", c.q, c.p, c.sd, got, c.want)
		}
	}
	if got := DesignEffect(1, 0.5, 0.4); got != 1 {
		t.Errorf("one query per filter: design effect %v, want 1", got)
	}
	for _, p := range []float64{0, 1, math.NaN()} {
		if got := DesignEffect(10, p, 0.1); !math.IsNaN(got) {
			t.Errorf("DesignEffect at p = %v is %v, want NaN", p, got)
		}
	}
}

func TestClusterInterval(t *testing.T) {
	// By hand: rates 1%, 2%, 3% of 1000 trials each; mean 2%, s = 1%, t(2) = 4.302653.
	got := ClusterInterval([]Count{{10, 1000}, {20, 1000}, {30, 1000}}, 0.95)
	if half := 4.30265272991 * 0.01 / math.Sqrt(3); !near(got.Hi, 0.02+half, 1e-9) || got.Lo != 0 {
		t.Errorf("interval %v, want [0, %v]", got, 0.02+half)
	}
	// Equal rates say nothing of the scatter: as wide as the pooled exact one.
	for _, counts := range [][]Count{{{0, 1000}, {0, 1000}}, {{7, 1000}, {7, 1000}, {7, 1000}}, {{1, 100}, {3, 300}}} {
		sum := Pool(counts)
		if got, want := ClusterInterval(counts, 0.95), ClopperPearson(sum.Events, sum.Trials, 0.95); got != want {
			t.Errorf("%v: %v, want %v", counts, got, want)
		}
	}
	for _, counts := range [][]Count{nil, {{1, 10}}, {{0, 0}, {0, 0}}} {
		if got := ClusterInterval(counts, 0.95); got.Valid() {
			t.Errorf("%v: %v, want no interval", counts, got)
		}
	}
}

func TestRateInterval(t *testing.T) {
	counts := []Count{{10, 1000}, {20, 1000}, {30, 1000}}
	if i, m := RateInterval(counts, 1.01, 0.95); m != Exact || i != ClopperPearson(60, 3000, 0.95) {
		t.Errorf("design effect 1.01: %v by %s", i, m)
	}
	for _, design := range []float64{1.5, math.NaN(), math.Inf(1)} {
		if i, m := RateInterval(counts, design, 0.95); m != Cluster || i != ClusterInterval(counts, 0.95) {
			t.Errorf("design effect %v: %v by %s", design, i, m)
		}
	}
	if i, _ := RateInterval(counts[:1], 16, 0.95); i.Valid() {
		t.Errorf("one seed with a design effect of 16 has the interval %v", i)
	}
}

// binomial draws from Bin(n, p) by inversion along the distribution, which costs
// about n*p steps.
func binomial(rng *rand.Rand, n int, p float64) uint64 {
	u := rng.Float64()
	prob := math.Pow(1-p, float64(n))
	x := 0
	for cum := prob; u > cum && x < n; cum += prob {
		prob *= float64(n-x) / float64(x+1) * p / (1 - p)
		x++
	}
	return uint64(x)
}

func TestExactIntervalCovers(t *testing.T) {
	// The exact interval covers at least 95% whatever the rate. The true coverage
	// for each (n, p) is summed, not simulated, over all outcomes.
	for _, c := range []struct {
		n uint64
		p float64
	}{{10, 0.1}, {10, 0.5}, {100, 0.01}, {100, 0.37}, {1000, 0.01}, {1000, 0.0005}, {1000, 0.999}} {
		var covered float64
		for x := uint64(0); x <= c.n; x++ {
			if ClopperPearson(x, c.n, 0.95).Contains(c.p) {
				covered += binomialPMF(x, c.n, c.p)
			}
		}
		if covered < 0.95 || covered > 1+1e-9 {
			t.Errorf("n = %d, p = %v: covered %.4f of the time", c.n, c.p, covered)
		}
	}
	// And over 10,000 seeded runs: the three-sigma band of a coverage that is
	// summed above to be between 0.95 and 1.
	rng := rand.New(rand.NewPCG(9, 2))
	intervals := map[uint64]Interval{}
	const runs, n, p = 10000, 2000, 0.01
	covered := 0
	for range runs {
		x := binomial(rng, n, p)
		if _, ok := intervals[x]; !ok {
			intervals[x] = ClopperPearson(x, n, 0.95)
		}
		if intervals[x].Contains(p) {
			covered++
		}
	}
	if got := float64(covered) / runs; got < 0.95 || got > 0.98 {
		t.Errorf("exact interval covered %.4f of %d runs, want 0.95 to 0.98", got, runs)
	}
}

func binomialPMF(x, n uint64, p float64) float64 {
	lg := func(x uint64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return math.Exp(lg(n) - lg(x) - lg(n-x) + float64(x)*math.Log(p) + float64(n-x)*math.Log1p(-p))
}

// clustered draws one measured count: a filter whose own rate scatters about p,
// asked q times.
func clustered(rng *rand.Rand, q int, p, sd float64) Count {
	own := math.Max(p+sd*rng.NormFloat64(), 1e-9)
	return Count{binomial(rng, q, own), uint64(q)}
}

func TestClusterIntervalCovers(t *testing.T) {
	// Ten filters of 1,000 keys (relative scatter 3.9%, theory sheet, block
	// 1.build_sd) with 20,000 queries each, exaggerated to 10% so that pooling
	// would fail visibly: coverage must be nominal for clusters and is not for
	// pooled counts.
	const runs, seeds, q, p, sd = 10000, 10, 20000, 0.01, 0.001
	rng := rand.New(rand.NewPCG(9, 3))
	var cluster, pooled int
	counts := make([]Count, seeds)
	for range runs {
		for i := range counts {
			counts[i] = clustered(rng, q, p, sd)
		}
		if ClusterInterval(counts, 0.95).Contains(p) {
			cluster++
		}
		sum := Pool(counts)
		if Wilson(sum.Events, sum.Trials, 0.95).Contains(p) {
			pooled++
		}
	}
	if got := float64(cluster) / runs; got < 0.93 || got > 0.97 {
		t.Errorf("cluster interval covered %.4f of %d runs, want 0.93 to 0.97", got, runs)
	}
	// The design effect is 3.02, so pooling covers 2 Phi(1.96/sqrt(3.02)) - 1 = 74.1%.
	design := DesignEffect(q, p, sd)
	want := math.Erf(ZTwoSided(0.95) / math.Sqrt(2*design))
	if got := float64(pooled) / runs; math.Abs(got-want) > 0.02 {
		t.Errorf("pooled interval covered %.4f of %d runs, want %.3f", got, runs, want)
	}
}
