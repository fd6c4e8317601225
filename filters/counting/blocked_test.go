package counting

import (
	"math"
	"os/exec"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/theory"
)

// The rate of the blocked layout against the mixture over block loads, two-sided,
// over seeds: one block, where the load is fixed, few, and many, where a hash has
// few bits left to say which counters of its block are meant. At z = 4.5 a cell
// fails by chance in 7 of a million.
func TestBlockedRate(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	for _, c := range []struct {
		width, k       int
		blocks, n      uint64
		queries, seeds int
	}{
		{4, 6, 1, 12, 20_000, 120},
		{4, 6, 19, 224, 20_000, 60},
		{4, 6, 1000, 11_800, 100_000, 8},
		{4, 1, 1000, 11_800, 30_000, 3},
		{4, 12, 1000, 11_800, 100_000, 8},
		{2, 6, 500, 12_500, 100_000, 8},
		{8, 5, 2000, 10_500, 100_000, 8},
		{4, 6, 85_000, 1_000_000, 400_000, 1},
	} {
		per := blockBits / c.width
		config := Config{M: c.blocks * uint64(per), K: c.k, Width: c.width, Layout: Blocked}
		p, err := mustNew(t, config).Predict(c.n)
		if err != nil {
			t.Fatal(err)
		}
		sum, estimated, fill := 0.0, 0.0, 0.0
		for seed := range uint64(c.seeds) {
			f := mustNew(t, config)
			addAll(t, f, filtertest.Members(seed+300, int(c.n)))
			hits := f.ContainsMany(make([]bool, c.queries), filtertest.NonMembers(seed+300, c.queries))
			sum += float64(hits) / float64(c.queries)
			estimated += f.EstimatedFPR()
			fill += f.FillRatio()
		}
		seeds := float64(c.seeds)
		got, estimated, fill := sum/seeds, estimated/seeds, fill/seeds
		sd := math.Sqrt((p.FPR*(1-p.FPR)/float64(c.queries) + p.BuildSD*p.BuildSD) / seeds)
		if 2*sd > 0.06*p.FPR {
			t.Errorf("%+v: half-width %.1f%% is too wide to tell anything", config, 200*sd/p.FPR)
		}
		if z := (got - p.FPR) / sd; math.Abs(z) > 4.5 {
			t.Errorf("%+v n=%d: rate %.5f, want %.5f (z = %.1f)", config, c.n, got, p.FPR, z)
		}
		if build := p.BuildSD / math.Sqrt(seeds); math.Abs(estimated-p.FPR) > 4.5*build+1e-9 {
			t.Errorf("%+v n=%d: EstimatedFPR %.5f, want %.5f (sd %.5f)", config, c.n, estimated, p.FPR, build)
		}
		if math.Abs(fill/p.Fill-1) > 0.01 {
			t.Errorf("%+v n=%d: fill %.4f, want %.4f", config, c.n, fill, p.Fill)
		}
	}
}

// A blocked layout keeps its promise at its own size, not that of a shared one,
// whose formula would miss it: B17 of the known failures.
func TestB17_BlockedCountersHaveTheirOwnFormula(t *testing.T) {
	target := filters.Target{N: 20_000, P: 0.01}
	shared, err := Variant{}.Predict(target, target.N)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		width    int
		counters float64 // a key, from theory.SizeBlocked for a million keys
	}{{2, 10.2236}, {4, 10.8474}, {8, 12.1388}} {
		v := Variant{Width: c.width, Layout: Blocked}
		million, err := v.Predict(filters.Target{N: 1e6, P: 0.01}, 1e6)
		if err != nil || math.Abs(million.BitsPerKey()/float64(c.width)-c.counters) > 1e-4 {
			t.Errorf("%v: %v counters a key, want %v (%v)", v, million.BitsPerKey()/float64(c.width), c.counters, err)
		}
		p, err := v.Predict(target, target.N)
		if err != nil || p.FPR > target.P || p.FPR < 0.99*target.P {
			t.Errorf("%v predicts %v for %v (%v)", v, p.FPR, target, err)
		}
		// At the size of the shared layout the rate is above the promise.
		per := uint64(blockBits / c.width)
		if rate := theory.Blocked(shared.Bits/DefaultWidth/per, int(per), target.N, 7, false); rate < 1.1*target.P {
			t.Errorf("w=%d: %v at the size of the shared layout", c.width, rate)
		}
	}
	// Space: whole blocks, the nearest number, at least one.
	for _, c := range []struct {
		bits float64
		want uint64
	}{{44, 86 * 512}, {0.01, 512}} {
		p, err := Variant{Layout: Blocked}.Predict(filters.Target{N: 1000, BitsPerKey: c.bits}, 1000)
		if err != nil || p.Bits != c.want {
			t.Errorf("%v bits a key: %d bits, want %d (%v)", c.bits, p.Bits, c.want, err)
		}
	}
}

// What the filter says of itself at half, full and triple load. The spread of
// EstimatedN is that of linear counting, a little wider for the uneven blocks.
func TestBlockedEstimates(t *testing.T) {
	const n = 5000
	for _, load := range []float64{0.5, 1, 3} {
		f, err := Variant{Layout: Blocked}.New(filters.Target{N: n, P: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		c := f.(*Filter)
		hs := filtertest.Members(11, int(load*n))
		addAll(t, c, hs)
		addAll(t, c, hs[:n/4]) // copies do not count
		N := float64(len(hs))
		if got, sd := c.EstimatedN(), 2*theory.EstimateSD(c.m, c.k, N); math.Abs(got-N) > 4.5*sd {
			t.Errorf("load %v: EstimatedN = %v, want %v (sd %v)", load, got, N, sd)
		}
	}
	one := mustNew(t, Config{M: 128, K: 64, Layout: Blocked})
	if one.EstimatedN() != 0 || one.EstimatedFPR() != 0 {
		t.Errorf("an empty filter estimates n = %v, rate %v", one.EstimatedN(), one.EstimatedFPR())
	}
	addAll(t, one, filtertest.Members(12, 100))
	if !math.IsInf(one.EstimatedN(), 1) || one.EstimatedFPR() != 1 {
		t.Errorf("a full filter estimates n = %v, rate %v", one.EstimatedN(), one.EstimatedFPR())
	}
}

// The compiler is asked what it made of the work on a block: no check of an index
// in there, since nine bits cannot lead out of it.
func TestBlockHasNoBoundsChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m -d=ssa/check_bce", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler to ask: %v\n%s", err, out)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "layout.go") && strings.Contains(line, "InBounds") {
			t.Error(line)
		}
	}
	if !strings.Contains(string(out), "batch.go") || !strings.Contains(string(out), "inlining call to counter\n") {
		t.Error("the compiler says nothing of the loops, or does not inline counter")
	}
}
