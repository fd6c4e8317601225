package blocked_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/filtertest"
)

// concurrentVariants are all layouts and ways to draw bits.
func concurrentVariants() []blocked.Variant {
	return []blocked.Variant{
		{Atomic: true},
		{Atomic: true, BlockBits: 64},
		{Atomic: true, BlockBits: 4096, K: 6},
		{Atomic: true, Probes: blocked.Distinct, BlockBits: 1024, K: 5},
		{Atomic: true, Layout: blocked.Split},
		{Atomic: true, Layout: blocked.Pattern},
	}
}

// The catalog holds the variant without other knobs to the contract; the rest
// follow from TestF04, by which they are plain filters bit for bit.
func TestConcurrentConformance(t *testing.T) {
	filtertest.Run(t, blocked.Variant{Atomic: true, Probes: blocked.Distinct, BlockBits: 1024, K: 5})
}

// parallel runs work in n goroutines that start together.
func parallel(n int, work func(g int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for g := range n {
		wg.Go(func() {
			<-start
			work(g)
		})
	}
	close(start)
	wg.Wait()
}

// F04: eight goroutines add 10,000 keys each, in three ways, and look up what they
// stored. Nothing is lost, and the filter answers as a plain one with the same
// keys to everything.
func TestF04_ConcurrentAdds(t *testing.T) {
	const writers, each = 8, 10_000
	hs := filtertest.Members(61, writers*each)
	others := filtertest.NonMembers(61, 5*len(hs))
	for _, v := range concurrentVariants() {
		target := filters.Target{N: writers * each, BitsPerKey: 8}
		q, err := v.New(target)
		if err != nil {
			t.Fatal(err)
		}
		f := q.(*blocked.ConcurrentFilter)
		v.Atomic = false
		p, err := v.Build(target, hs)
		if err != nil {
			t.Fatal(err)
		}
		plain := p.(*blocked.Filter)
		var denied atomic.Int64
		parallel(writers, func(g int) {
			mine := hs[g*each:][:each]
			for i, h := range mine {
				switch g % 3 {
				case 0:
					_ = f.Add(h)
				case 1:
					_, _ = f.TestAndAdd(h)
				case 2:
					if i%100 == 0 {
						_, _ = f.AddMany(mine[i : i+100])
					}
				}
				if !f.Contains(mine[i*7919%(i+1)]) {
					denied.Add(1)
				}
			}
		})
		if n := denied.Load(); n > 0 {
			t.Errorf("%v: %d lookups of stored keys were denied while others added", v, n)
		}
		if hits := f.ContainsMany(make([]bool, len(hs)), hs); hits != len(hs) {
			t.Errorf("%v: %d of %d keys are lost", v, len(hs)-hits, len(hs))
		}
		// Equal in number of bits and in answers, one by one and in batches, is equal.
		if a, b := f.FillRatio(), plain.FillRatio(); a != b {
			t.Errorf("%v: fill %v, and %v of a plain filter with the same keys", v, a, b)
		}
		same := make([]bool, len(others))
		want := plain.ContainsMany(same, others)
		if got := f.ContainsMany(make([]bool, len(others)), others); got != want {
			t.Errorf("%v: %d false positives, and %d of a plain filter with the same keys", v, got, want)
		}
		for i, h := range others {
			if f.Contains(h) != same[i] {
				t.Errorf("%v: Contains(%#x) differs from a plain filter with the same keys", v, h)
				break
			}
		}
	}
}

// Where a key lies in one word, exactly one of several goroutines that store a new
// key is told that it was absent; elsewhere at least one. (A key that is a false
// positive of those before it has nobody told: less than 0.04 keys are expected.)
func TestConcurrentTestAndAdd(t *testing.T) {
	const n = 20_000
	workers := max(4, runtime.GOMAXPROCS(0))
	hs := filtertest.Members(67, n)
	for _, c := range []struct {
		v    blocked.Variant
		bits float64
		once bool
	}{
		{blocked.Variant{Atomic: true, BlockBits: 64, K: 10}, 800, true},
		{blocked.Variant{Atomic: true, K: 10}, 80, false},
	} {
		q, err := c.v.New(filters.Target{N: n, BitsPerKey: c.bits})
		if err != nil {
			t.Fatal(err)
		}
		f := q.(*blocked.ConcurrentFilter)
		told := make([]atomic.Int32, n)
		parallel(workers, func(int) {
			for i, h := range hs {
				if in, _ := f.TestAndAdd(h); !in {
					told[i].Add(1)
				}
			}
		})
		none, several := 0, 0
		for i := range told {
			switch told[i].Load() {
			case 0:
				none++
			case 1:
			default:
				several++
			}
		}
		if none > 3 {
			t.Errorf("%v: of %d keys nobody was told that they were absent", c.v, none)
		}
		if c.once && several > 0 {
			t.Errorf("%v: of %d keys more than one was told that they were absent", c.v, several)
		}
		t.Logf("%v: %d keys added by %d goroutines at once: %d had more than one told that it was absent", c.v, n, workers, several)
	}
}

// A concurrent filter takes in plain and concurrent ones while others add to it.
func TestConcurrentMerge(t *testing.T) {
	target := filters.Target{N: 3000, P: 0.01}
	hs := filtertest.Members(71, 3000)
	build := func(atomic bool, hs []uint64) filters.Filter {
		q, err := blocked.Variant{Atomic: atomic}.Build(target, hs)
		if err != nil {
			t.Fatal(err)
		}
		return q.(filters.Filter)
	}
	f := build(true, nil).(*blocked.ConcurrentFilter)
	parts := []filters.Filter{build(false, hs[:1000]), build(true, hs[1000:2000])}
	parallel(3, func(g int) {
		if g == 2 {
			_, _ = f.AddMany(hs[2000:])
			return
		}
		if err := f.Merge(parts[g]); err != nil {
			t.Error(err)
		}
	})
	all := build(false, hs).(*blocked.Filter)
	if hits := f.Plain().ContainsMany(make([]bool, len(hs)), hs); hits != len(hs) || f.FillRatio() != all.FillRatio() {
		t.Errorf("the merger of three parts holds %d of %d keys with fill %v, not %v", hits, len(hs), f.FillRatio(), all.FillRatio())
	}
}
