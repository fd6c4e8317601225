package filters_test

import (
	"errors"
	"fmt"
	"hash/fnv"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/filtertest"
)

// fnv1a hashes a string with the standard library. Packages of filterlab that
// have better hashes satisfy the same interface.
type fnv1a struct{}

func (fnv1a) Name() string { return "fnv1a" }
func (fnv1a) Seed() uint64 { return 0 }
func (fnv1a) Sum64(key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key) // never fails
	return h.Sum64()
}
func (f fnv1a) SumMany(dst []uint64, keys [][]byte) {
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}

// hashes hashes words.
func hashes(words ...string) []uint64 {
	hs := make([]uint64, len(words))
	for i, w := range words {
		hs[i] = fnv1a{}.Sum64([]byte(w))
	}
	return hs
}

// newFilter makes an empty filter of the named variant for 1000 keys at 1%.
func newFilter(variant string) filters.Filter {
	v, err := catalog.Parse(variant)
	if err != nil {
		panic(err)
	}
	f, err := v.(filters.Maker).New(filters.Target{N: 1000, P: 0.01})
	if err != nil {
		panic(err)
	}
	return f
}

// The whole way: a variant by name, a target, keys in, questions.
func Example() {
	v, err := catalog.Parse("blocked")
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := v.Build(filters.Target{N: 1000, P: 0.01}, hashes("ant", "bee", "cat"))
	if err != nil {
		fmt.Println(err)
		return
	}
	f := filters.Keyed{Filter: q, Hash: fnv1a{}}
	fmt.Println(f.Contains([]byte("bee")), f.Contains([]byte("dog")))
	// Output: true false
}

// Theory answers before anything is built: what will it cost, what will it be
// like when more keys come than expected?
func ExampleVariant_predict() {
	v, err := catalog.Parse("standard")
	if err != nil {
		fmt.Println(err)
		return
	}
	t := filters.Target{N: 1_000_000, P: 0.01}
	for _, n := range []uint64{t.N, 2 * t.N} {
		p, err := v.Predict(t, n)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d keys: %.2f%% wrong, %.1f%% of the bits set, %.3f bits/key, k = %d\n", n, 100*p.FPR, 100*p.Fill, p.BitsPerKey(), p.K)
	}
	// Output:
	// 1000000 keys: 1.00% wrong, 51.8% of the bits set, 9.593 bits/key, k = 7
	// 2000000 keys: 15.71% wrong, 76.8% of the bits set, 4.796 bits/key, k = 7
}

// Targets that make no sense are errors that say what would.
func ExampleTarget_Validate() {
	fmt.Println(filters.Target{N: 1000, P: 1.5}.Validate())
	fmt.Println(filters.Target{P: 0.01}.Validate())
	// Output:
	// p = 1.5: want 0 < p < 1 (a false-positive rate; were n and p swapped?)
	// n = 0: want at least 1 key
}

func ExampleAddMany() {
	f := newFilter("standard")
	n, err := filters.AddMany(f, hashes("ant", "bee"))
	fmt.Println(n, err, f.Contains(hashes("bee")[0]))
	// Output: 2 <nil> true
}

func ExampleContainsMany() {
	f := newFilter("standard")
	_, _ = filters.AddMany(f, hashes("ant", "bee")) // a standard filter is never full
	in := make([]bool, 3)
	hits := filters.ContainsMany(f, in, hashes("ant", "dog", "bee"))
	fmt.Println(hits, in)
	// Output: 2 [true false true]
}

func ExampleTestAdder() {
	f := newFilter("blocked").(filters.TestAdder)
	for _, h := range hashes("ant", "bee", "ant") {
		seen, err := f.TestAndAdd(h)
		fmt.Println(seen, err)
	}
	// Output:
	// false <nil>
	// false <nil>
	// true <nil>
}

// Only families that count or hold fingerprints can delete; ask by type
// assertion.
func ExampleDeleter() {
	h := hashes("ant")[0]
	for _, name := range []string{"standard", "counting", "cuckoo"} {
		f := newFilter(name)
		d, ok := f.(filters.Deleter)
		if !ok {
			fmt.Println(name, "cannot delete")
			continue
		}
		fmt.Println(name, f.Add(h), d.Delete(h), f.Contains(h), d.Delete(h))
	}
	// Output:
	// standard cannot delete
	// counting <nil> true false false
	// cuckoo <nil> true false false
}

func ExampleCounter() {
	f := newFilter("counting")
	_, _ = filters.AddMany(f, hashes("ant", "ant", "bee")) // a counting filter is never full
	for _, h := range hashes("ant", "bee", "cat") {
		n, saturated := f.(filters.Counter).Count(h)
		fmt.Println(n, saturated)
	}
	// Output:
	// 2 false
	// 1 false
	// 0 false
}

// Two filters of one geometry become the filter of all their keys; others are
// refused with the reason.
func ExampleMerger() {
	a, b := newFilter("standard"), newFilter("standard")
	_, _ = filters.AddMany(a, hashes("ant"))
	_, _ = filters.AddMany(b, hashes("bee"))
	m := a.(filters.Merger)
	fmt.Println(m.Merge(b), a.Contains(hashes("bee")[0]))
	err := m.Merge(newFilter("blocked"))
	fmt.Println(errors.Is(err, filters.ErrIncompatible))
	// Output:
	// <nil> true
	// true
}

func ExampleResetter() {
	f := newFilter("cuckoo")
	h := hashes("ant")[0]
	fmt.Println(f.Add(h), f.Contains(h))
	f.(filters.Resetter).Reset()
	fmt.Println(f.Contains(h))
	// Output:
	// <nil> true
	// false
}

// What a filter says of itself from its content alone: three times the promised
// keys, and it shows.
func ExampleEstimator() {
	f := newFilter("standard")
	_, _ = filters.AddMany(f, filtertest.Members(1, 3000)) // a standard filter is never full
	e := f.(filters.Estimator)
	fmt.Printf("about %.1f thousand keys, %.0f%% wrong, %.0f%% of the bits set\n",
		e.EstimatedN()/1000, 100*e.EstimatedFPR(), 100*f.(filters.FillReporter).FillRatio())
	// Output: about 3.0 thousand keys, 44% wrong, 89% of the bits set
}
