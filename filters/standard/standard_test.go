package standard

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/internal/cpu"
	"filterlab/filters/internal/index"
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
	"filterlab/filters/theory"
)

// configs are small geometries of every scheme and layout, with odd and even k
// and sizes that are no multiple of a word.
func configs() []Config {
	cs := []Config{
		{Bits: 1, K: 1}, {Bits: 1, K: 64}, {Bits: 63, K: 2}, {Bits: 64, K: 3}, {Bits: 65, K: 64},
		{Bits: 1000, K: 7}, {Bits: 4099, K: 8},
		{Bits: 3, K: 3, Layout: Partitioned}, {Bits: 700, K: 7, Layout: Partitioned}, {Bits: 4096, K: 8, Layout: Partitioned},
	}
	for _, s := range Schemes()[1:] {
		cs = append(cs, Config{Bits: 1, K: 9, Scheme: s}, Config{Bits: 30, K: 40, Scheme: s}, Config{Bits: 1021, K: 7, Scheme: s}, Config{Bits: 1024, K: 10, Scheme: s})
	}
	return cs
}

func mustNew(t testing.TB, c Config) *Filter {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatalf("New(%+v): %v", c, err)
	}
	return f
}

func mustGeometry(t testing.TB, v Variant, target filters.Target) Config {
	t.Helper()
	c, err := v.Geometry(target)
	if err != nil {
		t.Fatalf("%v for %v: %v", v, target, err)
	}
	return c
}

// Every way to store and to look up touches the bits that AppendProbes names, and
// no others.
func TestLoopsFollowAppendProbes(t *testing.T) {
	hashes := append(filtertest.Members(1, 300), 0, 1, math.MaxUint64, 1<<63)
	for _, c := range configs() {
		want := make([]uint64, len(mustNew(t, c).words))
		one, many, tested, counted := mustNew(t, c), mustNew(t, c), mustNew(t, c), mustNew(t, c)
		fresh := 0
		for _, h := range hashes {
			present := true
			probes := c.AppendProbes(nil, h)
			for i, p := range probes {
				if p >= c.Bits {
					t.Fatalf("%+v: probe %d of %#x is %d", c, i, h, p)
				}
				if slice := c.Bits / uint64(c.K); c.Layout == Partitioned && p/slice != uint64(i) {
					t.Fatalf("%+v: probe %d of %#x is %d, outside its slice", c, i, h, p)
				}
				present = present && want[p/64]>>(p%64)&1 == 1
			}
			if got := one.Contains(h); got != present {
				t.Fatalf("%+v: Contains(%#x) = %v, want %v", c, h, got, present)
			}
			if got, err := tested.TestAndAdd(h); got != present || err != nil {
				t.Fatalf("%+v: TestAndAdd(%#x) = %v, %v, want %v", c, h, got, err, present)
			}
			for _, p := range probes {
				want[p/64] |= 1 << (p % 64)
			}
			if err := one.Add(h); err != nil {
				t.Fatal(err)
			}
			if !present {
				fresh++
			}
		}
		if n, err := many.AddMany(hashes); n != len(hashes) || err != nil {
			t.Errorf("%+v: AddMany = %d, %v", c, n, err)
		}
		if got := counted.AddManyCount(hashes); got != fresh {
			t.Errorf("%+v: AddManyCount = %d, want %d", c, got, fresh)
		}
		for name, f := range map[string]*Filter{"Add": one, "AddMany": many, "TestAndAdd": tested, "AddManyCount": counted} {
			if !slices.Equal(f.words, want) {
				t.Errorf("%+v: %s sets other bits than AppendProbes names", c, name)
			}
		}
	}
}

func TestContainsManyEqualsContains(t *testing.T) {
	stored, absent := filtertest.Members(2, 400), filtertest.NonMembers(2, 400)
	for _, c := range configs() {
		f := mustNew(t, c)
		f.AddMany(stored[:min(400, int(c.Bits)/c.K+1)])
		for _, n := range []int{0, 1, 127, 128, 129, 800} {
			hs := append(slices.Clone(stored), absent...)[:n]
			dst := make([]bool, n+1)
			dst[n] = true
			hits := f.ContainsMany(dst, hs)
			want := 0
			for i, h := range hs {
				if f.Contains(h) {
					want++
				}
				if dst[i] != f.Contains(h) {
					t.Fatalf("%+v: dst[%d] of %d = %v", c, i, n, dst[i])
				}
			}
			if hits != want || !dst[n] {
				t.Errorf("%+v: %d hits of %d, want %d; entry beyond kept: %v", c, hits, n, want, dst[n])
			}
		}
	}
}

// rate fills builds filters of geometry c with n members each and returns how
// many of queries absent hashes each are found.
func rate(t testing.TB, c Config, n, builds, queries int) (hits, trials int) {
	f := mustNew(t, c)
	dst := make([]bool, queries)
	for b := range builds {
		f.Reset()
		f.AddMany(filtertest.Members(uint64(100+b), n))
		hits += f.ContainsMany(dst, filtertest.NonMembers(uint64(100+b), queries))
	}
	return hits, builds * queries
}

// agree fails unless hits of trials is what p expects, two-sidedly: |z| < 4.4 is
// passed over by chance once in 100,000 cells. sd is the standard deviation of
// the mean rate over builds.
func agree(t testing.TB, what string, hits, trials int, p, sd float64) {
	t.Helper()
	got := float64(hits) / float64(trials)
	z := (got - p) / math.Sqrt(p*(1-p)/float64(trials)+sd*sd)
	if !(math.Abs(z) < 4.4) {
		t.Errorf("%s: rate %.6g, want %.6g (z = %.1f)", what, got, p, z)
	}
}

// Rates against the exact values of the theory sheet, in tables so small that
// the schemes differ. Blocks 1.small (independent, partitioned at 64 bits) and
// 1.double_hashing (m = 1024, n = 107, k = 7: double +13.4%; enhanced has no
// value there and is held to theory.EnhancedDouble). The 64-bit schemes are in no
// table: their values were measured once over other seeds, 20,000 filters with 4,000
// queries each (standard error 0.0012%), and are held to within 0.3%.
func TestRate(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	const none = 0
	for _, x := range []struct {
		c    Config
		n    int
		want float64
	}{
		{Config{Bits: 16, K: 3}, 3, 0.0905962250449},
		{Config{Bits: 16, K: 3}, 8, 0.502928968779},
		{Config{Bits: 64, K: 5}, 8, 0.0234160874769},
		{Config{Bits: 256, K: 7}, 25, 0.00755974441032},
		{Config{Bits: 1024, K: 7}, 107, 0.0101995517371},
		{Config{Bits: 64, K: 4, Layout: Partitioned}, 10, 0.0511383225853},
		{Config{Bits: 1024, K: 7, Scheme: Double}, 107, 0.0115665616177},
		{Config{Bits: 1024, K: 7, Scheme: Teaching}, 107, 0.0115665616177},
		{Config{Bits: 1021, K: 7, Scheme: Double}, 107, 0.0112155836710},
		{Config{Bits: 512, K: 7, Scheme: Enhanced}, 53, 0.0100198175202},
		{Config{Bits: 1024, K: 7, Scheme: Enhanced}, 107, none},
		{Config{Bits: 1024, K: 7, Scheme: Double64}, 107, 0.010566},
		{Config{Bits: 1024, K: 7, Scheme: Enhanced64}, 107, 0.010226},
	} {
		p, err := x.c.Predict(uint64(x.n))
		if err != nil {
			t.Fatalf("%+v: %v", x.c, err)
		}
		if x.want != none && math.Abs(p.FPR/x.want-1) > 3e-3 {
			t.Errorf("%+v: predicted %v, the sheet says %v", x.c, p.FPR, x.want)
		}
		const builds = 400
		hits, trials := rate(t, x.c, x.n, builds, 5000)
		agree(t, fmt.Sprintf("%+v with %d keys", x.c, x.n), hits, trials, p.FPR, p.BuildSD/math.Sqrt(builds))
	}
}

// The least sizes of the issue and of the theory sheet, block 1.sizing.
func TestSizing(t *testing.T) {
	for _, x := range []struct {
		n    uint64
		p    float64
		bits uint64 // 0: compare bits per key only
		per  float64
		k    int
	}{
		{10, 0.01, 98, 9.8, 6},
		{1000, 0.01, 9595, 9.595, 7},
		{10_000_000, 0.01, 0, 9.59295471708, 7},
		{10_000_000, 0.1, 0, 4.80832736109, 3},
		{10_000_000, 0.001, 0, 14.3776393386, 10},
		{10_000_000, 1e-6, 0, 28.7552786772, 20},
	} {
		c := mustGeometry(t, Variant{}, filters.Target{N: x.n, P: x.p})
		if per := float64(c.Bits) / float64(x.n); math.Abs(per/x.per-1) > 2e-7 || c.K != x.k || x.bits != 0 && c.Bits != x.bits {
			t.Errorf("n = %d, p = %v: %d bits, %.9g a key, k = %d; want %.9g and k = %d", x.n, x.p, c.Bits, per, c.K, x.per, x.k)
		}
	}
}

// No other k does with fewer bits, for every scheme with a formula.
func TestSizingIsLeast(t *testing.T) {
	for _, v := range []Variant{{}, {Layout: Partitioned}, {Scheme: Double}, {Scheme: Enhanced}, {Scheme: Double64}, {Scheme: Enhanced64}} {
		for _, n := range []uint64{100, 1000, 30_000} {
			target := filters.Target{N: n, P: 0.01}
			c := mustGeometry(t, v, target)
			for k := max(c.K-2, 1); k <= c.K+2; k++ {
				fixed := v
				fixed.K = k
				// The stepping schemes are sized to a four-thousandth.
				if other := mustGeometry(t, fixed, target); float64(other.Bits) < float64(c.Bits)*(1-1.0/4096) {
					t.Errorf("%v needs %d bits for %v, less than the %d of k = %d", fixed, other.Bits, target, c.Bits, c.K)
				}
			}
			less := c
			less.Bits -= c.Bits/1000 + uint64(c.K)
			less.Bits -= less.Bits % uint64(c.K)
			if p, err := less.Predict(n); err != nil || p.FPR <= target.P {
				t.Errorf("%+v meets %v with fewer bits than %d (%v, %v)", less, target, c.Bits, p.FPR, err)
			}
		}
	}
}

// The reference sizes of the known failures. Slips that gave other numbers: 4606
// bits and k = 4 for (1000, 0.01) from a missing parenthesis (steakknife/bloomfilter issue
// 6, B01), 6644 from ln 2 applied twice (risingwave PR 7339, B22).
func TestB01_B22_TextbookSizes(t *testing.T) {
	for _, x := range []struct {
		n, m uint64
		p    float64
		k    int
	}{
		{1_000, 9_586, 0.01, 7},
		{1_000, 4_793, 0.1, 3},
		{10_000, 81_424, 0.02, 6},
		{10_000, 287_552, 1e-6, 20},
		{100_000, 958_506, 0.01, 7},
		{10_000_000, 143_775_876, 0.001, 10},
		{350_000_000, 3_354_770_433, 0.01, 7},
		{400_000_000, 5_751_035_027, 0.001, 10},
		{5_000_000_000, 47_925_291_887, 0.01, 7},
		{1, 44, 1e-9, 30},
	} {
		c := mustGeometry(t, Variant{Sizing: Textbook}, filters.Target{N: x.n, P: x.p})
		if c.Bits != x.m || c.K != x.k {
			t.Errorf("n = %d, p = %v: m = %d, k = %d; want %d, %d", x.n, x.p, c.Bits, c.K, x.m, x.k)
		}
	}
}

// Theory sheet, blocks 1.exact_medium and 1.overfill: the textbook filter for a
// million keys at 1% has 1.0039%, 15.745% at twice the keys, 67.867% at four times.
func TestTextbookBreaksItsPromise(t *testing.T) {
	v, target := Variant{Sizing: Textbook}, filters.Target{N: 1_000_000, P: 0.01}
	for n, want := range map[uint64]float64{1_000_000: 0.0100392236135, 2_000_000: 0.157452986650, 4_000_000: 0.678674026923} {
		p, err := v.Predict(target, n)
		if err != nil || math.Abs(p.FPR/want-1) > 1e-9 {
			t.Errorf("after %d keys %v (%v), want %v", n, p.FPR, err, want)
		}
	}
}

func TestBitsPerKey(t *testing.T) {
	for _, x := range []struct {
		v    Variant
		n    uint64
		c    float64
		bits uint64
		k    int
	}{
		{Variant{}, 1000, 10, 10_000, 7},
		{Variant{}, 3, 2.5, 8, 2}, // rounds 7.5 up; theory.Standard(8, 3, k) is least at k = 2
		{Variant{}, 1, 0.1, 1, 1}, // at least one bit
		{Variant{K: 3}, 1000, 10, 10_000, 3},
		{Variant{Sizing: Textbook}, 1000, 8, 8000, 6}, // round(8 ln 2 = 5.55)
		{Variant{Sizing: Textbook}, 10, 1000, 10_000, 64},
		{Variant{Layout: Partitioned, K: 7}, 1000, 10, 10_003, 7}, // the nearest multiple of 7
	} {
		c := mustGeometry(t, x.v, filters.Target{N: x.n, BitsPerKey: x.c})
		if c.Bits != x.bits || c.K != x.k {
			t.Errorf("%v, %d keys, %v bits a key: m = %d, k = %d; want %d, %d", x.v, x.n, x.c, c.Bits, c.K, x.bits, x.k)
		}
	}
}

func TestVariantText(t *testing.T) {
	for text, want := range map[string]Variant{
		"standard":                          {},
		"standard(k=7)":                     {K: 7},
		"standard(scheme=double)":           {Scheme: Double},
		"standard(layout=partitioned,k=5)":  {Layout: Partitioned, K: 5},
		"standard(sizing=textbook)":         {Sizing: Textbook},
		"standard(scheme=teaching,k=3)":     {Scheme: Teaching, K: 3},
		"standard(scheme=enhanced64)":       {Scheme: Enhanced64},
		"standard(scheme=double64,k=64)":    {Scheme: Double64, K: 64},
		"standard(scheme=enhanced,k=1)":     {Scheme: Enhanced, K: 1},
		"standard(sizing=textbook,k=2)":     {Sizing: Textbook, K: 2},
		"standard(layout=partitioned)":      {Layout: Partitioned},
		"standard(scheme=double,k=2)":       {Scheme: Double, K: 2},
		"standard(layout=partitioned,k=64)": {Layout: Partitioned, K: 64},
		"standard(scheme=enhanced64,k=10)":  {Scheme: Enhanced64, K: 10},
		"standard(scheme=double64)":         {Scheme: Double64},
		"standard(scheme=teaching)":         {Scheme: Teaching},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if s := want.String(); s != text {
			t.Errorf("%+v prints %q, want %q", want, s, text)
		}
	}
	if v, err := Parse(" standard( k = 7 , scheme=independent,layout=shared,sizing=exact ) "); err != nil || v != (Variant{K: 7}) {
		t.Errorf("defaults spelt out: %+v, %v", v, err)
	}
	for text, names := range map[string]string{
		"blocked": "standard", "standard(7)": "k=", "standard(k=0)": "1 to 64", "standard(k=65)": "1 to 64", "standard(k=x)": "1 to 64",
		"standard(scheme=foo)": "enhanced64", "standard(layout=foo)": "partitioned", "standard(sizing=foo)": "textbook", "standard(f=8)": "layout", "standard(": "parenthes",
	} {
		if _, err := Parse(text); !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), names) {
			t.Errorf("Parse(%q) says %v, want a ParamError that names %q", text, err, names)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []Config{
		{}, {Bits: 100}, {K: 3}, {Bits: 100, K: -1}, {Bits: 100, K: 65}, {Bits: filters.MaxBits + 1, K: 3},
		{Bits: 100, K: 3, Layout: Partitioned}, {Bits: 99, K: 3, Layout: Partitioned, Scheme: Double},
		{Bits: 100, K: 3, Scheme: 6}, {Bits: 100, K: 3, Layout: 2}, {Bits: MaxTeachingBits + 1, K: 3, Scheme: Teaching},
	} {
		if f, err := New(c); f != nil || !errors.Is(err, filters.ErrParam) || !strings.HasPrefix(err.Error(), "standard: ") {
			t.Errorf("New(%+v) = %v, %v; want a ParamError", c, f, err)
		}
		if _, err := c.Predict(1); !errors.Is(err, filters.ErrParam) {
			t.Errorf("%+v: Predict says %v, want a ParamError", c, err)
		}
	}
	for _, v := range []Variant{{K: -1}, {K: 65}, {Scheme: 6}, {Layout: 2}, {Sizing: 2}, {Scheme: Double, Layout: Partitioned}} {
		if _, err := v.New(filters.Target{N: 10, P: 0.1}); !errors.Is(err, filters.ErrParam) {
			t.Errorf("%+v: New says %v, want a ParamError", v, err)
		}
	}
	if c := (Config{Bits: filters.MaxBits, K: 64}); c.validate() != nil {
		t.Error("2^48 bits are refused")
	}
}

// A rate below the floor of 64-bit hashes cannot be kept: the floor is n/2^64,
// 5.42e-14 for a million keys (theory sheet, block 1.hashfloor).
func TestFloor(t *testing.T) {
	for _, v := range []Variant{{}, {Sizing: Textbook}, {Layout: Partitioned}, {Scheme: Double}} {
		_, err := v.Geometry(filters.Target{N: 1_000_000, P: 5.4e-14})
		if !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "5.42e-14") {
			t.Errorf("%v: %v, want the floor named", v, err)
		}
	}
	c := mustGeometry(t, Variant{}, filters.Target{N: 1_000_000, P: 6e-14})
	if p, err := c.Predict(1_000_000); err != nil || p.FPR > 6e-14 || p.FPR < 5.5e-14 {
		t.Errorf("just above the floor: %v (%v)", p.FPR, err)
	}
}

// Theory sheet, block 1.cardinality and 1.setops (m = 10000, k = 5; 3000 and 3500
// bits set, 5200 in either).
func TestSetSizes(t *testing.T) {
	fill := func(c Config, from, to uint64) *Filter {
		f := mustNew(t, c)
		for p := from; p < to; p++ {
			f.words[p/64] |= 1 << (p % 64)
		}
		return f
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-8*math.Abs(want) {
			t.Errorf("%s = %.12g, want %.12g", what, got, want)
		}
	}
	near("EstimatedN, m = 1000", fill(Config{Bits: 1000, K: 3}, 0, 300).EstimatedN(), 118.832192243)
	near("EstimatedN, m = 1024", fill(Config{Bits: 1024, K: 7}, 0, 512).EstimatedN(), 101.348011838)

	c := Config{Bits: 10_000, K: 5}
	a, b := fill(c, 0, 3000), fill(c, 1700, 5200)
	union, err := UnionSize(a, b)
	if err != nil {
		t.Fatal(err)
	}
	common, err := IntersectionSize(a, b)
	if err != nil {
		t.Fatal(err)
	}
	// The sheet's union is the Swamidass-Baldi form, -m ln(1-1/m) times the exact
	// inverse; its intersection is the exact one.
	near("UnionSize", union*-1e4*math.Log1p(-1e-4), 1467.93835016)
	near("IntersectionSize", common, 106.972020944)

	full := fill(c, 0, c.Bits)
	if u, _ := UnionSize(a, full); !math.IsInf(u, 1) {
		t.Errorf("the union with a full filter has %v keys, want +Inf", u)
	}
	if n, _ := IntersectionSize(a, full); !math.IsNaN(n) {
		t.Errorf("the intersection with a full filter has %v keys, want NaN", n)
	}
	if _, err := IntersectionSize(a, mustNew(t, Config{Bits: 10_000, K: 6})); !errors.Is(err, filters.ErrIncompatible) {
		t.Errorf("k = 5 and k = 6: %v", err)
	}
}

// The sizes of real sets: 30,000 and 20,000 keys, 10,000 of them common, within
// five of the standard deviations of the estimates (theory.EstimateSD).
func TestSetSizesOfKeys(t *testing.T) {
	for _, v := range []Variant{{}, {Layout: Partitioned}, {Scheme: Enhanced64}} {
		c := mustGeometry(t, v, filters.Target{N: 40_000, P: 0.01})
		hs := filtertest.Members(3, 40_000)
		a, b := mustNew(t, c), mustNew(t, c)
		a.AddMany(hs[:30_000])
		b.AddMany(hs[20_000:])
		sd := theory.EstimateSD(c.Bits, c.K, 40_000)
		if n, err := UnionSize(a, b); err != nil || math.Abs(n-40_000) > 5*sd {
			t.Errorf("%v: union of %.0f keys (%v), want 40000 ± %.0f", v, n, err, 5*sd)
		}
		if n, err := IntersectionSize(a, b); err != nil || math.Abs(n-10_000) > 5*2*sd {
			t.Errorf("%v: %.0f common keys (%v), want 10000 ± %.0f", v, n, err, 5*2*sd)
		}
	}
}

// Plain filters cannot delete (bloomfilter-rb issue 37): clearing a shared bit
// loses another key.
func TestA10_NoDelete(t *testing.T) {
	if _, ok := any(mustNew(t, Config{Bits: 16, K: 3})).(filters.Deleter); ok {
		t.Error("a standard filter has a Delete method")
	}
}

// Probes beyond 2^32 without a table: m is that of 400,000,000 keys at 0.1%.
func TestA14_ProbesBeyond32Bits(t *testing.T) {
	for _, s := range []Scheme{Independent, Double, Enhanced, Double64, Enhanced64} {
		c := Config{Bits: 5_751_035_027, K: 10, Scheme: s}
		const n = 20_000
		want := n * (1 - (1<<32)/float64(c.Bits))
		var beyond [10]int
		var probes []uint64
		for _, h := range filtertest.Members(4, n) {
			probes = c.AppendProbes(probes[:0], h)
			for i, p := range probes {
				if p >= 1<<32 {
					beyond[i]++
				}
			}
		}
		for i, got := range beyond {
			if math.Abs(float64(got)-want) > 4.4*math.Sqrt(want*(1-want/n)) {
				t.Errorf("%v: %d of %d probes number %d lie beyond 2^32, want %.0f", s, got, n, i, want)
			}
		}
	}
}

// The hash zero, which the empty key may have, is a key like any other
// (containers/storage PR 1904).
func TestA18_HashZero(t *testing.T) {
	for _, c := range configs() {
		f := mustNew(t, c)
		if f.Contains(0) {
			t.Errorf("%+v: a new filter contains hash 0", c)
		}
		f.Add(0)
		if !f.Contains(0) {
			t.Errorf("%+v: hash 0 was added and is denied", c)
		}
	}
}

// Correlated probes (holiman/bloomfilter PR 4: the second probe hit in 53% instead
// of 9.3% of the cases where the first had). n = 100,000, 40 bits a key, k = 4:
// each probe of an absent key hits with the fill, 1-e^(-1/10) = 9.516%, whatever
// the others did.
func TestB02_ConditionalHitRate(t *testing.T) {
	for _, s := range Schemes() {
		c := Config{Bits: 4_000_000, K: 4, Scheme: s}
		f := mustNew(t, c)
		f.AddMany(filtertest.Members(5, 100_000))
		fill := f.FillRatio()
		if want := -math.Expm1(-0.1); math.Abs(fill/want-1) > 0.01 {
			t.Errorf("%v: fill %.5f, want %.5f", s, fill, want)
		}
		var before, both [4][4]int // [i][j]: probe i hit; and probe j hit as well
		all := 0
		probes := make([]uint64, 0, 4)
		const n = 300_000
		for _, h := range filtertest.NonMembers(5, n) {
			probes = c.AppendProbes(probes[:0], h)
			hit := [4]bool{}
			hits := 0
			for i, p := range probes {
				if hit[i] = f.words[p/64]>>(p%64)&1 == 1; hit[i] {
					hits++
				}
			}
			if hits == 4 {
				all++
			}
			for i := range 4 {
				for j := range 4 {
					if i != j && hit[i] {
						before[i][j]++
						if hit[j] {
							both[i][j]++
						}
					}
				}
			}
		}
		for i := range 4 {
			for j := range 4 {
				if i != j {
					agree(t, fmt.Sprintf("%v: probe %d given probe %d", s, j, i), both[i][j], before[i][j], fill, 0)
				}
			}
		}
		agree(t, s.String()+": all four", all, n, math.Pow(fill, 4), 0)
	}
}

// Tiny filters with a tiny promise (bits-and-blooms issue 97, guava issue 2767):
// 44 bits and 31 probes for one key do not have the rate 1e-9 but, with
// independent probes, the exact one; New asks for as many bits as the scheme
// really needs.
func TestB05_TinyFilters(t *testing.T) {
	c := Config{Bits: 44, K: 31}
	p, err := c.Predict(1)
	if err != nil || p.FPR < 1e-9 {
		t.Fatalf("predicted %v (%v)", p.FPR, err)
	}
	const builds = 1000
	hits, trials := rate(t, Config{Bits: 44, K: 8}, 1, builds, 2000)
	q, _ := Config{Bits: 44, K: 8}.Predict(1)
	agree(t, "44 bits, k = 8", hits, trials, q.FPR, q.BuildSD/math.Sqrt(builds))

	for _, s := range []Scheme{Independent, Double, Enhanced} {
		v := Variant{Scheme: s}
		c := mustGeometry(t, v, filters.Target{N: 1, P: 1e-6})
		p, err := c.Predict(1)
		if err != nil || p.FPR > 1e-6 || p.FPR < 1e-7 {
			t.Errorf("%v: %+v has the rate %v (%v), want at most 1e-6", v, c, p.FPR, err)
		}
		// Expected: at most 2 of 2,000,000, and 13 or more once in a million runs.
		if hits, _ := rate(t, c, 1, 10, 200_000); hits > 12 {
			t.Errorf("%v: %d false positives among 2,000,000", v, hits)
		}
	}
}

// Narrow hashes over large tables (guava issue 1119 and others): with 31 bits the
// low third of m = 3·2^29 is hit twice as often. Each third gets 33.3 ± 0.3% of
// 300,000, at every probe.
func TestB07_Thirds(t *testing.T) {
	for _, s := range []Scheme{Independent, Double, Enhanced, Double64, Enhanced64} {
		c := Config{Bits: 3 << 29, K: 7, Scheme: s}
		var count [7][3]int
		var probes []uint64
		const n = 300_000
		for _, h := range filtertest.Members(6, n) {
			probes = c.AppendProbes(probes[:0], h)
			for i, p := range probes {
				count[i][p>>29]++
			}
		}
		for i := range count {
			for third, got := range count[i] {
				if share := float64(got) / n; math.Abs(share-1.0/3) > 0.003*4/3.5 {
					t.Errorf("%v: probe %d falls into third %d with %.3f%%", s, i, third, 100*share)
				}
			}
		}
	}
	if _, err := New(Config{Bits: 3 << 29, K: 7, Scheme: Teaching}); !errors.Is(err, filters.ErrParam) {
		t.Errorf("the teaching scheme with its 32-bit halves takes 3·2^29 bits: %v", err)
	}
}

// A hash split into halves too narrow for the table (Meziantou PR 2145: 5.32% at
// 10,000 keys, 99.97% at 100,000, for 1%).
func TestB08_NoNarrowHalves(t *testing.T) {
	for _, s := range Schemes() {
		for _, n := range []int{10_000, 100_000} {
			c := mustGeometry(t, Variant{Scheme: s}, filters.Target{N: uint64(n), P: 0.01})
			p, err := c.Predict(uint64(n))
			if err != nil || p.FPR > 0.01 || p.FPR < 0.0098 {
				t.Fatalf("%v: predicted %v (%v), want 1%%", s, p.FPR, err)
			}
			hits, trials := rate(t, c, n, 3, 100_000)
			agree(t, fmt.Sprintf("%v, %d keys", s, n), hits, trials, p.FPR, p.BuildSD/math.Sqrt(3))
		}
	}
}

// Two hashes that are one (jasondavies/bloomfilter.js issues 15, 26, 31): n = 1e6,
// m = 28,755,176, k = 20 gave 150 times 1e-6; here a tenth of it, with the same
// bits per key. And 20 keys in 1024 bits with k = 16, where 4 collisions came up in
// 500 runs and 1 in 1.3e9 is expected.
func TestB11_TwoHashesThatAreOne(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	for _, s := range []Scheme{Independent, Enhanced, Enhanced64} {
		c := Config{Bits: 2_875_518, K: 20, Scheme: s}
		// theory.Standard gives 1.0002e-6, EnhancedDouble 3% more: Poisson with mean
		// 4 is between 0 and 17 in all but 1 of a million runs, 600 if they were one.
		if hits, _ := rate(t, c, 100_000, 1, 4_000_000); hits > 17 {
			t.Errorf("%v: %d false positives among 4,000,000, want about 4", s, hits)
		}
	}
	f := mustNew(t, Config{Bits: 1024, K: 16})
	for run := range uint64(500) {
		f.Reset()
		for i, h := range filtertest.Members(1000+run, 20) {
			if present, _ := f.TestAndAdd(h); present {
				t.Errorf("run %d: key %d of 20 was found before it was added", run, i)
			}
		}
	}
}

// A size is what the promise needs or an error, never clamped (blex issue 7,
// storj issue 6686).
func TestB21_NeverClamped(t *testing.T) {
	for _, v := range []Variant{{}, {Sizing: Textbook}, {Layout: Partitioned}, {Scheme: Double}} {
		target := filters.Target{N: 400_000_000, P: 0.001}
		p, err := v.Predict(target, target.N)
		if err != nil || p.Bits < 5_751_035_027 || p.Bits > 5_752_000_000 {
			t.Errorf("%v: %d bits (%v), want 5,751,035,027 or a little more", v, p.Bits, err)
		}
		target.N *= 100_000 // 5.75e14 bits, twice the limit
		if _, err := v.Predict(target, 1); !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "needs 575") || !strings.Contains(err.Error(), "2^48") {
			t.Errorf("%v: %v, want the need and the limit", v, err)
		}
	}
	_, err := Variant{}.Geometry(filters.Target{N: 1 << 40, BitsPerKey: 1000})
	if !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "needs 1099511627776000 bits") {
		t.Errorf("bits per key: %v, want the need and the limit", err)
	}
}

// What is promised is kept, and not by far too much (bloomex issue 11: 3 bits for
// 1000 keys; pybloom PR 5: 0.0003 for 0.01).
func TestB23_NeitherHighNorWasteful(t *testing.T) {
	for _, p := range []float64{0.5, 0.393, 0.1, 0.01, 1e-4, 1e-9} {
		got, err := Variant{}.Predict(filters.Target{N: 1000, P: p}, 1000)
		if err != nil || got.FPR > p || got.FPR < 0.98*p {
			t.Errorf("p = %v: %v (%v)", p, got.FPR, err)
		}
	}
	hits, trials := rate(t, mustGeometry(t, Variant{}, filters.Target{N: 20_000, P: 0.01}), 20_000, 3, 100_000)
	agree(t, "20,000 keys at 1%", hits, trials, 0.01, 0.00005)
}

// Two filters asked with the same hash do not multiply their rates (fastbloom
// issue 22), not even with different sizes in which a key lies at the same
// fraction; with the hash multiplied for one of them they do.
func TestB26_TwoFiltersOneHash(t *testing.T) {
	c := mustGeometry(t, Variant{}, filters.Target{N: 10_000, P: 0.01})
	a, b, other := mustNew(t, c), mustNew(t, c), mustNew(t, c)
	for _, h := range filtertest.Members(7, 10_000) {
		a.Add(h)
		b.Add(h)
		other.Add(h * index.StageMultiplier)
	}
	both, chained := 0, 0
	const n = 2_000_000
	for _, h := range filtertest.NonMembers(7, n) {
		if a.Contains(h) {
			if b.Contains(h) {
				both++
			}
			if other.Contains(h * index.StageMultiplier) {
				chained++
			}
		}
	}
	agree(t, "same hash", both, n, a.EstimatedFPR(), 0)
	agree(t, "multiplied hash", chained, n, a.EstimatedFPR()*other.EstimatedFPR(), 0)
}

// An overfull filter says so (guava issue 3952: 5,000 keys at 1%, loaded with
// 100,000, answers true always). Expected rate 0.999997.
func TestB27_OverfullFilterSaysSo(t *testing.T) {
	for _, v := range []Variant{{}, {Layout: Partitioned}} {
		c := mustGeometry(t, v, filters.Target{N: 5_000, P: 0.01})
		f := mustNew(t, c)
		f.AddMany(filtertest.Members(8, 5_000))
		if got := f.EstimatedFPR(); math.Abs(got-0.01) > 0.001 {
			t.Errorf("%v: at its capacity the filter estimates %v, want 1%%", v, got)
		}
		hits := f.ContainsMany(make([]bool, 100_000), filtertest.NonMembers(8, 100_000))
		agree(t, v.String()+": estimate from the content", hits, 100_000, f.EstimatedFPR(), 0)

		f.AddMany(filtertest.Members(8, 100_000))
		p, _ := f.Predict(100_000)
		if got := f.EstimatedFPR(); got < 0.99999 || math.Abs(got-p.FPR) > 5*p.BuildSD || math.Abs(p.FPR-0.999997) > 1e-6 {
			t.Errorf("%v: overfull, the filter estimates %v, theory says %v, want 0.999997", v, got, p.FPR)
		}
		if got := f.FillRatio(); got < 0.999 {
			t.Errorf("%v: overfull with a fill of %v", v, got)
		}
	}
}

// n = 0 is an error (bits-and-blooms issues 32, 34: a division by zero at the
// first query), and so is a geometry without bits or probes.
func TestC01_NoKeys(t *testing.T) {
	for _, target := range []filters.Target{{P: 0.01}, {BitsPerKey: 10}} {
		if f, err := (Variant{}).New(target); f != nil || !errors.Is(err, filters.ErrParam) {
			t.Errorf("New(%v) = %v, %v; want nil and a ParamError", target, f, err)
		}
	}
	f, err := Variant{}.New(filters.Target{N: 1, P: 0.5})
	if err != nil || f.Contains(42) {
		t.Errorf("the smallest filter: %v", err)
	}
}

// p outside (0, 1), NaN and n and p swapped (RedisBloom issue 10: p = 2 meant 2^32-1
// probes); 1e-320 would take 1,063 probes.
func TestC03_RateOutOfRange(t *testing.T) {
	for _, p := range []float64{-0.1, 1, 1.5, 2, 10.1, math.NaN(), math.Inf(1), 1e-320, 1000} {
		for _, v := range []Variant{{}, {Sizing: Textbook}} {
			_, err := v.New(filters.Target{N: 1000, P: p})
			if !errors.Is(err, filters.ErrParam) {
				t.Errorf("%v with p = %v: %v, want a ParamError", v, p, err)
			}
		}
	}
}

// Absurd n are refused before anything is allocated (RedisBloom issue 699). 1e18
// keys have a floor of 5.3%, so 6% is asked for: 5.9e18 bits.
func TestC06_AbsurdSizes(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, target := range []filters.Target{
		{N: 1e18, P: 0.06}, {N: 1e18, P: 0.01}, {N: math.MaxUint64, P: 0.7}, {N: math.MaxUint64, BitsPerKey: 10},
		{N: 1e11, P: 0.01}, // 9.6e11 bits, below 2^48 and above the memory limit set here
	} {
		if _, err := (Variant{}).New(target); !errors.Is(err, filters.ErrParam) {
			t.Errorf("New(%v): %v, want a ParamError", target, err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("refusing allocated %d bytes", grown)
	}
	// The size itself can be had.
	p, err := Variant{}.Predict(filters.Target{N: 1e11, P: 0.01}, 1e11)
	if err != nil || math.Abs(float64(p.Bits)/1e11/9.59295471708-1) > 2e-7 {
		t.Errorf("%d bits for 1e11 keys (%v)", p.Bits, err)
	}
}

// No hash reaches beyond the table (bitset issue 57: an absurd index grew it).
func TestC13_NoIndexBeyondTheTable(t *testing.T) {
	for _, c := range configs() {
		f := mustNew(t, c)
		for h := uint64(1); h != 0; h <<= 1 {
			for _, x := range []uint64{h, ^h, h - 1, 123456789012345 * h} {
				f.Add(x)
			}
		}
		if spill := packed.OnesCount(f.words) - packed.OnesCountRange(f.words, 0, c.Bits); spill != 0 {
			t.Errorf("%+v: %d bits set beyond m", c, spill)
		}
	}
}

// A run with twice the keys has two expected rates, that of the promise and that
// of the real number (scylladb issue 3113: wrong estimates of n). Theory sheet,
// block 1.overfill for the textbook filter; here the exact one.
func TestC14_TwiceTheKeys(t *testing.T) {
	target := filters.Target{N: 20_000, P: 0.01}
	at, err := Variant{}.Predict(target, target.N)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Variant{}.Predict(target, 2*target.N)
	if err != nil {
		t.Fatal(err)
	}
	if at.Capacity != target.N || twice.Capacity != target.N || twice.Inserted != 2*target.N || at.Bits != twice.Bits {
		t.Errorf("predictions do not tell the keys promised from those inserted: %+v, %+v", at, twice)
	}
	if math.Abs(twice.FPR-0.157) > 0.001 {
		t.Errorf("twice the keys have the rate %v, want 15.7%%", twice.FPR)
	}
	hits, trials := rate(t, mustGeometry(t, Variant{}, target), 40_000, 3, 50_000)
	agree(t, "twice the keys", hits, trials, twice.FPR, twice.BuildSD/math.Sqrt(3))
}

// Steps that are zero or share a factor with m (ipfs/bbloom issue 11, clkhash
// issue 33). In 1024 bits with k = 20 a step of 0 reaches 1 position, 512 reaches 2,
// 256 4, an odd one 20: a hazard of the published scheme that stays, since it is
// published so, and is in its prediction. The default scheme has no step, and
// the 64-bit ones cannot have a zero one.
func TestD07_ZeroOrEvenStep(t *testing.T) {
	for step, want := range map[uint64]int{0: 1, 512: 2, 256: 4, 255: 20} {
		w := walk{x: 77, y: step}
		seen := map[uint64]bool{}
		for range 20 {
			seen[w.x] = true
			w = w.nextMod(1024)
		}
		if len(seen) != want {
			t.Errorf("step %d reaches %d positions, want %d", step, len(seen), want)
		}
	}
	if d := (Config{Bits: 1024, K: 20, Scheme: Double}).distinctSteps(); math.Abs(d-(20-float64(19+18+2*16+4*12+8*4)/1024)) > 1e-12 {
		t.Errorf("mean distinct positions %v", d)
	}
	distinct := func(s Scheme, h uint64) int {
		seen := map[uint64]bool{}
		for _, p := range (Config{Bits: 1024, K: 20, Scheme: s}).AppendProbes(nil, h) {
			seen[p] = true
		}
		return len(seen)
	}
	// 1, 2 or 3 positions out of 20 throws have a chance below 1e-45 each when they are
	// independent; Double has one in 1024 of each kind.
	least := map[Scheme]int{}
	for _, h := range filtertest.Members(9, 20_000) {
		for _, s := range Schemes() {
			if n := distinct(s, h); least[s] == 0 || n < least[s] {
				least[s] = n
			}
		}
	}
	if least[Independent] < 11 || least[Enhanced64] < 7 || least[Double] != 1 || least[Teaching] != 1 {
		t.Errorf("fewest positions of a key: %v", least)
	}
	for _, s := range []Scheme{Double64, Enhanced64} {
		for _, h := range []uint64{0, 1 << 63, 1 << 32, 2} {
			if w := s.walk(h, 1024); w.y&1 == 0 {
				t.Errorf("%v: the step of %#x is even", s, h)
			}
		}
	}
}

// k follows from the bits spent (elasticsearch issue 93034: k = 1 at 10 bits a
// key). k = 1 has 9.5%, 7 has 0.82% (theory sheet, block 1.classic_table), and no
// other k is better.
func TestD15_KFollowsFromTheBits(t *testing.T) {
	target := filters.Target{N: 1_000_000, BitsPerKey: 10}
	got := map[int]float64{}
	for k := 0; k <= 12; k++ {
		p, err := Variant{K: k}.Predict(target, target.N)
		if err != nil {
			t.Fatal(err)
		}
		got[k] = p.FPR
		if k == 0 && p.K != 7 {
			t.Errorf("the default is k = %d, want 7", p.K)
		}
	}
	if math.Abs(got[1]-0.0951625819640) > 1e-6 || math.Abs(got[7]-0.00819372206586) > 1e-7 {
		t.Errorf("k = 1: %v, k = 7: %v", got[1], got[7])
	}
	for k := 1; k <= 12; k++ {
		if got[0] > got[k] {
			t.Errorf("k = %d beats the default", k)
		}
	}
}

// Merging names what differs and changes nothing (bits-and-blooms PR 109 printed m
// for a difference in k), and 8 shards of 20,000 keys make one filter bit for bit.
func TestE07_Merge(t *testing.T) {
	c := Config{Bits: 9_600, K: 7}
	f := mustNew(t, c)
	f.AddMany(filtertest.Members(10, 1000))
	before := slices.Clone(f.words)
	for field, o := range map[string]Config{
		"m is 9600 here and 9601":               {Bits: 9_601, K: 7},
		"k is 7 here and 6":                     {Bits: 9_600, K: 6},
		"scheme is independent here and double": {Bits: 9_600, K: 7, Scheme: Double},
		"layout is shared here and partitioned": {Bits: 9_600 / 7 * 7, K: 7, Layout: Partitioned},
	} {
		if o.Layout == Partitioned {
			f = mustNew(t, Config{Bits: o.Bits, K: 7})
			before = slices.Clone(f.words)
		}
		err := f.Merge(mustNew(t, o))
		if !errors.Is(err, filters.ErrIncompatible) || !strings.Contains(err.Error(), field) || !slices.Equal(f.words, before) {
			t.Errorf("%v; want %q and no change", err, field)
		}
		f = mustNew(t, c)
		f.AddMany(filtertest.Members(10, 1000))
		before = slices.Clone(f.words)
	}
	for _, other := range []filters.Filter{nil, stranger{}} {
		if err := f.Merge(other); !errors.Is(err, filters.ErrIncompatible) || !strings.Contains(err.Error(), "type is *standard.Filter here") {
			t.Errorf("Merge(%T): %v", other, err)
		}
	}
	if err := f.Merge(f); err != nil || !slices.Equal(f.words, before) {
		t.Errorf("a merge with itself changes the filter (%v)", err)
	}

	target := filters.Target{N: 160_000, P: 0.01}
	geometry := mustGeometry(t, Variant{}, target)
	hs := filtertest.Members(11, 160_000)
	whole, merged := mustNew(t, geometry), mustNew(t, geometry)
	whole.AddMany(hs)
	for i := range 8 {
		shard := mustNew(t, geometry)
		shard.AddMany(hs[i*20_000 : (i+1)*20_000])
		if err := merged.Merge(shard); err != nil {
			t.Fatal(err)
		}
	}
	if !merged.Equal(whole) {
		t.Error("eight shards do not make the filter of all keys")
	}
}

// stranger is a filter of another package.
type stranger struct{ filters.Filter }

// Equality is equality of bits (Callidon/bloom-filters PR 31): a key added twice
// changes neither it nor the reported rate.
func TestE12_EqualityIsOfBits(t *testing.T) {
	c := Config{Bits: 1000, K: 7}
	once, twice := mustNew(t, c), mustNew(t, c)
	once.Add(42)
	twice.Add(42)
	twice.Add(42)
	if !once.Equal(twice) || once.EstimatedFPR() != twice.EstimatedFPR() {
		t.Error("adding a key twice makes another filter")
	}
	twice.Add(43)
	if once.Equal(twice) {
		t.Error("filters of other keys are equal")
	}
	if once.Equal(mustNew(t, Config{Bits: 1001, K: 7})) || mustNew(t, c).Equal(mustNew(t, Config{Bits: 1000, K: 6})) {
		t.Error("filters of other geometry are equal")
	}
}

// No operation allocates (bits-and-blooms issue 28: 97 bytes a test).
func TestG01_NoAllocations(t *testing.T) {
	hs := filtertest.Members(12, 300)
	dst := make([]bool, len(hs))
	for _, c := range []Config{{Bits: 10_007, K: 7}, {Bits: 10_003, K: 7, Layout: Partitioned}, {Bits: 10_007, K: 7, Scheme: Double}, {Bits: 10_007, K: 7, Scheme: Enhanced64}} {
		f, o := mustNew(t, c), mustNew(t, c)
		for name, call := range map[string]func(){
			"Add": func() { f.Add(hs[0]) }, "TestAndAdd": func() { f.TestAndAdd(hs[1]) }, "Contains": func() { f.Contains(hs[2]) },
			"AddMany": func() { f.AddMany(hs) }, "AddManyCount": func() { f.AddManyCount(hs) }, "ContainsMany": func() { f.ContainsMany(dst, hs) },
			"Merge": func() { f.Merge(o) }, "Equal": func() { f.Equal(o) }, "Reset": func() { f.Reset() },
			"FillRatio": func() { f.FillRatio() }, "EstimatedFPR": func() { f.EstimatedFPR() }, "EstimatedN": func() { f.EstimatedN() },
			"UnionSize": func() { UnionSize(f, o) }, "IntersectionSize": func() { IntersectionSize(f, o) },
		} {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%+v: %s allocates %v times", c, name, n)
			}
		}
	}
}

// BenchmarkRemix is the alternative to the Independent scheme that its comment
// speaks of: probe i from a full remix of h + i·odd.
func BenchmarkRemix(b *testing.B) {
	for _, n := range []uint64{10_000, 1_000_000} {
		c := mustGeometry(b, Variant{}, filters.Target{N: n, P: 0.01})
		f := mustNew(b, c)
		f.AddMany(filtertest.Members(13, int(n)))
		absent := filtertest.NonMembers(13, 1<<16)
		remix := func(h uint64) bool {
			for i := range uint64(f.k) {
				x := h + i*0x9e3779b97f4a7c15
				x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
				x = (x ^ x>>27) * 0x94d049bb133111eb
				if bit(f.words, index.FastRange(x^x>>31, f.span))&1 == 0 {
					return false
				}
			}
			return true
		}
		multiply := func(h uint64) bool {
			for range f.k {
				if bit(f.words, index.FastRange(h, f.span))&1 == 0 {
					return false
				}
				h *= index.Multiplier
			}
			return true
		}
		for name, has := range map[string]func(uint64) bool{"remix": remix, "multiply": multiply} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				hits := 0
				for i := range b.N {
					if has(absent[i%len(absent)]) {
						hits++
					}
				}
				b.ReportMetric(float64(hits)/float64(b.N), "rate")
			})
		}
	}
}

// Looking ahead is for large tables, but what it must not change shows on small
// ones, in every geometry and for lengths around its chunks.
func TestAheadEqualsPlain(t *testing.T) {
	stored, absent := filtertest.Members(14, 400), filtertest.NonMembers(14, 400)
	queries := slices.Concat(absent[:100], stored, absent[100:])
	geometries := configs()
	for k := 1; k <= MaxK; k++ {
		geometries = append(geometries, Config{Bits: 4000, K: k}, Config{Bits: uint64(100 * k), K: k, Layout: Partitioned})
	}
	for _, c := range geometries {
		if c.Scheme != Independent {
			continue
		}
		for _, n := range []int{0, 1, 2, 63, 64, 127, 128, 129, 256, 400} {
			plain, ahead := mustNew(t, c), mustNew(t, c)
			plain.ahead, ahead.ahead = false, true
			plain.simd = false
			plain.AddMany(stored[:n])
			if got, err := ahead.AddMany(stored[:n]); got != n || err != nil {
				t.Fatalf("%+v: AddMany ahead = %d, %v", c, got, err)
			}
			if !plain.Equal(ahead) {
				t.Fatalf("%+v: AddMany ahead of %d keys sets other bits", c, n)
			}
			q := queries[:2*n]
			want, got := make([]bool, len(q)), make([]bool, len(q))
			if h, w := ahead.ContainsMany(got, q), plain.ContainsMany(want, q); h != w || !slices.Equal(got, want) {
				t.Fatalf("%+v: ContainsMany ahead of %d keys: %d hits, want %d", c, n, h, w)
			}
		}
	}
}

func TestAheadAllocatesNothing(t *testing.T) {
	f := mustNew(t, Config{Bits: 10_000, K: 7})
	f.ahead = true
	hs, dst := filtertest.Members(15, 300), make([]bool, 300)
	if n := testing.AllocsPerRun(5, func() { f.AddMany(hs); f.ContainsMany(dst, hs) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The name is that of what runs: vectors for small tables of the default scheme, the
// instruction for large ones, where the build and the machine have them.
func TestKernel(t *testing.T) {
	fetched, vector := "go", "go"
	if prefetch.Enabled {
		fetched = "go+prefetch"
	}
	if cpu.AVX2() {
		vector = "avx2"
	}
	for _, c := range []struct {
		config    Config
		asks, add string
	}{
		{Config{Bits: 1, K: 1}, vector, "go"},
		{Config{Bits: 64*large - 1, K: 7}, vector, "go"},
		{Config{Bits: 7000, K: 7, Layout: Partitioned}, "go", "go"},
		{Config{Bits: 64 * large, K: 7}, fetched, fetched},
		{Config{Bits: 64 * large, K: 1}, "go", "go"},
		{Config{Bits: 7000, K: 7, Scheme: Double64}, "go", "go"},
		{Config{Bits: 64 * large, K: 7, Scheme: Double64}, "go", "go"},
	} {
		f := mustNew(t, c.config)
		if f.Kernel() != c.asks || f.AddKernel() != c.add {
			t.Errorf("%+v runs %q and adds by %q, want %q and %q", c.config, f.Kernel(), f.AddKernel(), c.asks, c.add)
		}
		if got := f.Concurrent().Kernel(); got != c.add {
			t.Errorf("%+v, for several goroutines, runs %q, want %q", c.config, got, c.add)
		}
	}
}
