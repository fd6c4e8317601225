package standard_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/standard"
)

// concurrentVariants are the three loops of the type, and the other layout.
func concurrentVariants() []standard.Variant {
	return []standard.Variant{
		{Atomic: true},
		{Atomic: true, Layout: standard.Partitioned, K: 5},
		{Atomic: true, Scheme: standard.Enhanced, K: 6},
		{Atomic: true, Scheme: standard.Double64, K: 7},
	}
}

// The catalog holds the variant without other knobs to the contract; the rest
// follow from TestF04, by which they are plain filters bit for bit.
func TestConcurrentConformance(t *testing.T) {
	filtertest.Run(t, standard.Variant{Atomic: true, Layout: standard.Partitioned, K: 5})
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

// F04: eight goroutines add 10,000 keys each, one by one, in batches and by
// TestAndAdd, while others look the keys up that are in already. Nothing is lost,
// and the table is that of a plain filter with the same keys, bit for bit: an OR
// that was not atomic would leave bits out. The table is small, so that many
// goroutines write to the same words.
func TestF04_ConcurrentAdds(t *testing.T) {
	const writers, each = 8, 10_000
	hs := filtertest.Members(61, writers*each)
	for _, v := range concurrentVariants() {
		plain := v
		plain.Atomic = false
		target := filters.Target{N: writers * each, P: 0.01}
		q, err := v.New(target)
		if err != nil {
			t.Fatal(err)
		}
		f := q.(*standard.ConcurrentFilter)
		want, err := plain.Build(target, hs)
		if err != nil {
			t.Fatal(err)
		}
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
				if !f.Contains(mine[i*7919%(i+1)]) { // one of those that are in
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
		if !f.Plain().Equal(want.(*standard.Filter)) {
			t.Errorf("%v: the table differs from that of a plain filter with the same keys", v)
		}
	}
}

// What TestAndAdd says when all goroutines store the same keys in the same order:
// of each key at least one is told that it was absent, unless it was a false
// positive of the keys before it, and whoever comes later is told that it is
// present. How often two are told so is printed, not judged: it is the machine's.
func TestConcurrentTestAndAdd(t *testing.T) {
	const n = 40_000
	workers := max(4, runtime.GOMAXPROCS(0))
	hs := filtertest.Members(67, n)
	f := concurrent(t, filters.Target{N: n, P: 1e-6})
	told := make([]atomic.Int32, n) // how many were told that key i was absent
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
	// The rate of the filling table is below 1e-6 throughout: 0.04 keys expected.
	if none > 3 {
		t.Errorf("of %d keys nobody was told that they were absent", none)
	}
	t.Logf("%d keys added by %d goroutines at once: %d had more than one told that it was absent", n, workers, several)
	for _, h := range hs {
		if in, _ := f.TestAndAdd(h); !in {
			t.Fatalf("key %#x is absent after all have stored it", h)
		}
	}
}

func concurrent(t *testing.T, target filters.Target) *standard.ConcurrentFilter {
	t.Helper()
	f, err := standard.Variant{Atomic: true}.New(target)
	if err != nil {
		t.Fatal(err)
	}
	return f.(*standard.ConcurrentFilter)
}

// A concurrent filter takes in plain and concurrent ones, while others add to it.
func TestConcurrentMerge(t *testing.T) {
	target := filters.Target{N: 3000, P: 0.01}
	hs := filtertest.Members(71, 3000)
	f, other := concurrent(t, target), concurrent(t, target)
	plain, err := standard.Variant{}.Build(target, hs[:1000])
	if err != nil {
		t.Fatal(err)
	}
	_, _ = other.AddMany(hs[1000:2000])
	parallel(3, func(g int) {
		switch g {
		case 0:
			err = f.Merge(plain.(*standard.Filter))
		case 1:
			if err := f.Merge(other); err != nil {
				t.Error(err)
			}
		case 2:
			_, _ = f.AddMany(hs[2000:])
		}
	})
	if err != nil {
		t.Error(err)
	}
	all, err := standard.Variant{}.Build(target, hs)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Plain().Equal(all.(*standard.Filter)) {
		t.Error("the merger of three parts differs from one filter with all keys")
	}
	if err := plain.(*standard.Filter).Merge(f); !errors.Is(err, filters.ErrIncompatible) {
		t.Errorf("a plain filter took in a view that others may write to: %v", err)
	}
	if err := all.(*standard.Filter).Merge(f.Plain()); err != nil {
		t.Error(err)
	}
}

func ExampleFilter_Concurrent() {
	f, err := standard.New(standard.Config{Bits: 1 << 20, K: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	shared := f.Concurrent()
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			for _, h := range filtertest.Members(g, 10_000) {
				_ = shared.Add(h) // never fails
			}
		})
	}
	wg.Wait()
	hs := slices.Concat(filtertest.Members(0, 10_000), filtertest.Members(1, 10_000), filtertest.Members(2, 10_000), filtertest.Members(3, 10_000))
	fmt.Println("found:", f.ContainsMany(make([]bool, len(hs)), hs)) // the plain filter again, at full speed
	fmt.Printf("bits set: %.3f\n", f.FillRatio())
	// Output:
	// found: 40000
	// bits set: 0.234
}
