package sharded_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"testing"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/counting"
	"filterlab/filters/cuckoo"
	"filterlab/filters/filtertest"
	"filterlab/filters/sharded"
	"filterlab/filters/standard"
)

// One family that never fills up and one that does; knobs are fixed where that
// saves the suite the search for them. The catalog tests more.
func TestConformance(t *testing.T) {
	for _, v := range []sharded.Variant{
		{Shards: 16, Inner: counting.Variant{K: 5}},
		{Shards: 4, Inner: cuckoo.Variant{F: 12, B: 4}},
	} {
		if testing.Short() && v.Inner != (cuckoo.Variant{F: 12, B: 4}) {
			continue // sizing takes its time
		}
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

// build fills a filter of v, or ends the test.
func build(t *testing.T, v sharded.Variant, target filters.Target, hs []uint64) filters.Querier {
	t.Helper()
	q, err := v.Build(target, hs)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// F02: readers look for keys that are in while writers fill a cuckoo filter, which
// carries fingerprints from bucket to bucket and has one in hand meanwhile. Under
// the locks none is ever denied.
func TestF02_LookupsDuringRelocations(t *testing.T) {
	const early, late = 1000, 40_000
	hs := filtertest.Members(83, early+late)
	v := sharded.Variant{Shards: 4, Inner: cuckoo.Variant{F: 12, B: 4}}
	// Room for 40,000 keys takes nearly all of these, and refuses the last ones.
	f := build(t, v, filters.Target{N: 39_000, BitsPerKey: 13.1}, hs[:early]).(filters.Concurrent)
	var stored, denied, asked atomic.Int64
	var wg sync.WaitGroup
	const writers = 2
	writing := atomic.Int64{}
	writing.Store(writers)
	for g := range writers {
		wg.Go(func() {
			defer writing.Add(-1)
			for i := early + g; i < len(hs); i += writers {
				if f.Add(hs[i]) == nil {
					stored.Add(1)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for writing.Load() > 0 {
				for _, h := range hs[:early] {
					if !f.Contains(h) {
						denied.Add(1)
					}
				}
				asked.Add(early)
			}
		})
	}
	wg.Wait()
	if n := denied.Load(); n > 0 {
		t.Errorf("%d of %d lookups of stored keys were denied during relocations", n, asked.Load())
	}
	fill := 0.0
	f.(*sharded.DeletingFilter).Each(func(_ int, inner filters.Filter) { fill += inner.(filters.FillReporter).FillRatio() / 4 })
	if fill < 0.9 {
		t.Errorf("the table ended up only %.3f full: few relocations", fill)
	}
	t.Logf("%d keys stored to a load of %.3f, %d lookups meanwhile", stored.Load(), fill, asked.Load())
}

// F04: goroutines add, delete and count at once; afterwards exactly those keys are
// in that were left in, every one of them as often.
func TestF04_ConcurrentAdds(t *testing.T) {
	const workers, each = 8, 10_000
	hs := filtertest.Members(89, workers*each)
	f := build(t, sharded.Variant{Shards: 16, Inner: counting.Variant{Width: 8, K: 5}}, filters.Target{N: workers * each, P: 0.01}, nil).(*sharded.DeletingFilter)
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			for i, h := range hs[g*each:][:each] {
				_ = f.Add(h)
				if i%2 == 0 && !f.Delete(h) { // every second one goes again
					wrong.Add(1)
				}
				if n, _ := f.Count(h); i%2 == 1 && n < 1 {
					wrong.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d calls gave a wrong answer", n)
	}
	half := build(t, sharded.Variant{Shards: 16, Inner: counting.Variant{Width: 8, K: 5}}, filters.Target{N: workers * each, P: 0.01}, nil).(*sharded.DeletingFilter)
	for i, h := range hs {
		if i%2 == 1 {
			_ = half.Add(h)
		}
	}
	for _, h := range hs {
		a, _ := f.Count(h)
		if b, _ := half.Count(h); a != b {
			t.Fatalf("Count(%#x) is %d, and %d in a filter that one goroutine filled", h, a, b)
		}
	}
}

// Of several goroutines that store one new key at once, exactly one is told that it
// was absent.
func TestTestAndAddTellsOne(t *testing.T) {
	const n, workers = 20_000, 8
	hs := filtertest.Members(97, n)
	f := build(t, sharded.Variant{Shards: 16, Inner: standard.Variant{}}, filters.Target{N: n, P: 1e-6}, nil).(filters.TestAdder)
	told := make([]atomic.Int32, n)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i, h := range hs {
				if in, _ := f.TestAndAdd(h); !in {
					told[i].Add(1)
				}
			}
		})
	}
	wg.Wait()
	none, several := 0, 0
	for i := range told {
		switch n := told[i].Load(); {
		case n == 0:
			none++ // a false positive of the keys before it: 0.01 are expected
		case n > 1:
			several++
		}
	}
	if several > 0 || none > 2 {
		t.Errorf("of %d keys %d had more than one told that they were absent, %d nobody", n, several, none)
	}
}

// A shard gets the part of a hash that chose nothing yet: shard and rest as the
// package says, and every bit of the low half of a rest is as often set as clear,
// also where the number of shards ends in zeros.
func TestShardAndRest(t *testing.T) {
	const n = 20_000
	hs := filtertest.Members(101, n)
	for _, shards := range []int{1, 2, 3, 12, 16, 4096} {
		v := sharded.Variant{Shards: shards, Inner: spy{}}
		f := build(t, v, filters.Target{N: n, P: 0.01}, hs).(*sharded.Filter)
		var rests []uint64
		got := make([]map[uint64]bool, shards)
		f.Each(func(i int, inner filters.Filter) {
			got[i] = map[uint64]bool{}
			for _, r := range *inner.(*recorder) {
				got[i][r] = true
				rests = append(rests, r)
			}
		})
		if len(rests) != n {
			t.Fatalf("%d shards got %d of %d keys", shards, len(rests), n)
		}
		zeros := uint64(shards&-shards) - 1
		for _, h := range hs {
			i, rest := bits.Mul64(h, uint64(shards))
			if !got[i][rest|rest>>32&zeros] {
				t.Fatalf("%d shards: the rest of %#x is not in shard %d", shards, h, i)
			}
		}
		for bit := range 64 {
			set := 0
			for _, r := range rests {
				set += int(r >> bit & 1)
			}
			// 6 standard deviations: exceeded once in 5e8.
			if z := (float64(set) - n/2) / math.Sqrt(n/4.); math.Abs(z) > 6 {
				t.Errorf("%d shards: bit %d of the rest is set in %d of %d", shards, bit, set, n)
			}
		}
	}
}

// recorder keeps the hashes it gets.
type recorder []uint64

func (f *recorder) Contains(uint64) bool { return false }
func (f *recorder) SizeBits() uint64     { return 1 }
func (f *recorder) Add(h uint64) error   { *f = append(*f, h); return nil }

// spy makes recorders and has the theory of a standard filter.
type spy struct{ standard.Variant }

func (spy) New(filters.Target) (filters.Filter, error) { return new(recorder), nil }

// Capabilities tell the truth: a type assertion finds Delete and Count where the
// shards have them, and nothing is offered for some shards only.
func TestCapabilities(t *testing.T) {
	for _, c := range []struct {
		inner   filters.Maker
		deletes bool
	}{
		{standard.Variant{}, false}, {blocked.Variant{}, false}, {counting.Variant{}, true}, {cuckoo.Variant{}, true}, {spy{}, false},
	} {
		q := build(t, sharded.Variant{Shards: 3, Inner: c.inner}, filters.Target{N: 3000, P: 0.01}, nil)
		_, deletes := q.(filters.Deleter)
		_, counts := q.(filters.Counter)
		if deletes != c.deletes || counts != c.deletes {
			t.Errorf("%v: Delete %v, Count %v; want %v", c.inner, deletes, counts, c.deletes)
		}
		if _, ok := q.(filters.Concurrent); !ok {
			t.Errorf("%v is not Concurrent", c.inner)
		}
	}
}

// The promise is kept for many shards of few keys as for few of many, at no more
// than the spread costs: bits for the fullest shard where a family fills up, a lower
// rate elsewhere.
func TestSizing(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	for _, c := range []struct {
		v    sharded.Variant
		n    uint64
		most float64 // bits, over those of one filter
	}{
		{sharded.Variant{Shards: 4, Inner: standard.Variant{}}, 100_000, 1.001},
		{sharded.Variant{Shards: 16, Inner: standard.Variant{}}, 16_000, 1.005},
		{sharded.Variant{Shards: 64, Inner: blocked.Variant{}}, 64_000, 1.07}, // whole blocks
		{sharded.Variant{Shards: 16, Inner: cuckoo.Variant{F: 12, B: 4}}, 1_000_000, 1.04},
		{sharded.Variant{Shards: 16, Inner: cuckoo.Variant{F: 12, B: 4}}, 16_000, 1.25},
	} {
		target := filters.Target{N: c.n, P: 0.01}
		p, err := c.v.Predict(target, c.n)
		one, err1 := c.v.Inner.Predict(target, c.n)
		if err := errors.Join(err, err1); err != nil {
			t.Errorf("%v for %d keys: %v", c.v, c.n, err)
			continue
		}
		if over := float64(p.Bits) / float64(one.Bits); p.FPR > 0.01 || over > c.most {
			t.Errorf("%v for %d keys: rate %v, %.4f of the bits of one filter; want at most %v", c.v, c.n, p.FPR, over, c.most)
		}
		// The loads average out: what the shards hold together is what was added.
		q := build(t, c.v, target, filtertest.Members(103, int(c.n)))
		if q.SizeBits() != p.Bits {
			t.Errorf("%v: %d bits, %d predicted", c.v, q.SizeBits(), p.Bits)
		}
	}
}

func TestParse(t *testing.T) {
	inner := func(s string) (filters.Variant, error) { return counting.Parse(s) }
	for _, s := range []string{"sharded(16,counting)", "sharded(1,counting(w=8,k=4))"} {
		v, err := sharded.Parse(s, inner)
		if err != nil || v.String() != s {
			t.Errorf("Parse(%q) = %v, %v", s, v, err)
		}
	}
	if v, err := sharded.Parse(" sharded ( 4 , counting( k=5 ) ) ", inner); err != nil || v != (sharded.Variant{Shards: 4, Inner: counting.Variant{K: 5}}) {
		t.Errorf("with spaces: %v, %v", v, err)
	}
	for _, s := range []string{"", "sharded", "sharded()", "sharded(16)", "sharded(16,counting", "sharded(0,counting)", "sharded(4097,counting)", "sharded(x,counting)",
		"sharded(-1,counting)", "sharded(4,)", "sharded(4,cuckoo)", "sharded(2,sharded(2,counting))", "counting(4,counting)"} {
		if v, err := sharded.Parse(s, inner); !errors.Is(err, filters.ErrParam) {
			t.Errorf("Parse(%q) = %v, %v; want a ParamError", s, v, err)
		}
	}
	if _, err := (sharded.Variant{Shards: 3}).New(filters.Target{N: 10, P: 0.1}); !errors.Is(err, filters.ErrParam) {
		t.Errorf("shards of nothing: %v", err)
	}
}

// A cuckoo filter that eight goroutines fill and thin out at once.
func ExampleVariant() {
	v := sharded.Variant{Shards: 16, Inner: cuckoo.Variant{}}
	f, err := v.New(filters.Target{N: 80_000, P: 0.001})
	if err != nil {
		fmt.Println(err)
		return
	}
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			for i, h := range filtertest.Members(g, 10_000) {
				if err := f.Add(h); err != nil {
					fmt.Println(err)
				}
				if i%2 == 0 {
					f.(filters.Deleter).Delete(h)
				}
			}
		})
	}
	wg.Wait()
	keys := 0.0
	f.(*sharded.DeletingFilter).Each(func(_ int, shard filters.Filter) { keys += shard.(filters.Estimator).EstimatedN() })
	fmt.Println(v, "holds", keys, "keys")
	// Output: sharded(16,cuckoo) holds 40000 keys
}
