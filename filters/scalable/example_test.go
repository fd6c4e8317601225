package scalable_test

import (
	"fmt"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/scalable"
)

func Example() {
	// A thousand keys were expected, ten thousand come.
	f, err := scalable.New(scalable.Config{N0: 1000, P: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys := filtertest.Members(1, 10_000) // hashes of keys
	for _, h := range keys {
		if err := f.Add(h); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(f.Contains(keys[0]), f.Contains(keys[9999]))
	fmt.Printf("%d stages, rate %.2f%%\n", f.Stages(), 100*f.EstimatedFPR())
	// Output:
	// true true
	// 4 stages, rate 0.49%
}

func ExampleVariant_Predict() {
	v := scalable.Variant{N0: 1000}
	for _, n := range []uint64{1000, 10_000, 1_000_000} {
		p, err := v.Predict(filters.Target{N: n, P: 0.01}, n)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%7d keys: %2d stages, %.1f bits per key, rate %.2f%%\n", n, p.Stages, p.BitsPerKey(), 100*p.FPR)
	}
	// Output:
	//    1000 keys:  1 stages, 12.9 bits per key, rate 0.20%
	//   10000 keys:  4 stages, 21.0 bits per key, rate 0.49%
	// 1000000 keys: 10 stages, 17.0 bits per key, rate 0.88%
}

func ExampleFilter_TestAndAdd() {
	f, _ := scalable.New(scalable.Config{N0: 10, P: 0.01})
	first, _ := f.TestAndAdd(42)
	again, _ := f.TestAndAdd(42)
	fmt.Println(first, again)
	// Output: false true
}

func ExampleFilter_AddMany() {
	f, _ := scalable.New(scalable.Config{N0: 100, P: 0.01})
	n, err := f.AddMany(filtertest.Members(1, 700))
	fmt.Println(n, err, f.Stages())
	// Output: 700 <nil> 3
}

func ExampleFilter_Reset() {
	f, _ := scalable.New(scalable.Config{N0: 100, P: 0.01})
	f.AddMany(filtertest.Members(1, 700))
	f.Reset()
	fmt.Println(f.Stages(), f.Contains(42))
	// Output: 1 false
}

func ExampleParse() {
	v, err := scalable.Parse("scalable(n0=1000, s=4, r=0.85)")
	fmt.Println(v, err)
	_, err = scalable.Parse("scalable(r=1)")
	fmt.Println(err)
	// Output:
	// scalable(n0=1000,s=4,r=0.85) <nil>
	// scalable: r = 1: want a tightening ratio above 0 and below 1
}
