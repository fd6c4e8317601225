package counting_test

import (
	"errors"
	"fmt"

	"filterlab/filters"
	"filterlab/filters/counting"
)

// hash stands for a real hash function of the key; see package hashing.
func hash(key string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(key) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

func Example() {
	// A million sessions, at most one in a hundred strangers let through.
	f, err := counting.Variant{}.New(filters.Target{N: 1_000_000, P: 0.01})
	if err != nil {
		panic(err)
	}
	sessions := f.(*counting.Filter)
	_ = sessions.Add(hash("alice"))
	fmt.Println("alice:", sessions.Contains(hash("alice")))

	fmt.Println("logs out:", sessions.Delete(hash("alice")))
	fmt.Println("alice:", sessions.Contains(hash("alice")))
	fmt.Printf("%.1f MB\n", float64(sessions.SizeBits())/8e6)
	// Output:
	// alice: true
	// logs out: true
	// alice: false
	// 4.8 MB
}

func ExampleVariant_Predict() {
	// How full the counters get if three times the promised keys come.
	v := counting.Variant{Width: 2}
	for _, n := range []uint64{1000, 3000} {
		p, err := v.Predict(filters.Target{N: 1000, P: 0.01}, n)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d keys: rate %.2f%%, %.0f of %d counters saturated\n", n, 100*p.FPR, p.Overflow, p.Bits/2)
	}
	// Output:
	// 1000 keys: rate 1.00%, 363 of 9595 counters saturated
	// 3000 keys: rate 43.53%, 3591 of 9595 counters saturated
}

func ExampleFilter_Count() {
	f, err := counting.New(counting.Config{M: 1000, K: 5, Width: 2})
	if err != nil {
		panic(err)
	}
	for range 4 {
		n, saturated := f.Count(42)
		if saturated {
			fmt.Printf("at least %d; %d counters saturated\n", n, f.Saturated())
		} else {
			fmt.Println("at most", n)
		}
		_ = f.Add(42)
	}
	// Output:
	// at most 0
	// at most 1
	// at most 2
	// at least 3; 5 counters saturated
}

func ExampleFilter_Delete() {
	f, err := counting.New(counting.Config{M: 1000, K: 5})
	if err != nil {
		panic(err)
	}
	_ = f.Add(42)
	fmt.Println(f.Delete(43)) // certainly absent: refused
	fmt.Println(f.Delete(42))
	fmt.Println(f.Delete(42)) // gone already
	// Output:
	// false
	// true
	// false
}

func ExampleFilter_Merge() {
	v := counting.Variant{K: 7}
	t := filters.Target{N: 1000, P: 0.01}
	a, _ := v.New(t)
	b, _ := v.New(t)
	_ = a.Add(hash("alice"))
	_ = b.Add(hash("alice"))
	f := a.(*counting.Filter)
	if err := f.Merge(b); err != nil {
		panic(err)
	}
	n, _ := f.Count(hash("alice"))
	fmt.Println("alice in both:", n)

	other, _ := counting.Variant{K: 6}.New(t)
	err := f.Merge(other)
	fmt.Println(errors.Is(err, filters.ErrIncompatible))
	// Output:
	// alice in both: 2
	// true
}

func ExampleFilter_ContainsMany() {
	f, err := counting.New(counting.Config{M: 1000, K: 5})
	if err != nil {
		panic(err)
	}
	words := []uint64{hash("read"), hash("write"), hash("execute")}
	_, _ = f.AddMany(words[:2])
	dst := make([]bool, len(words))
	fmt.Println(f.ContainsMany(dst, words), dst)
	// Output: 2 [true true false]
}

func ExampleFilter_TestAndAdd() {
	f, err := counting.New(counting.Config{M: 1000, K: 5})
	if err != nil {
		panic(err)
	}
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		if seen, _ := f.TestAndAdd(hash(word)); seen {
			fmt.Println("again:", word)
		}
	}
	// Output:
	// again: to
	// again: be
}

func ExampleFilter_EstimatedN() {
	f, err := counting.New(counting.Config{M: 10_000, K: 7})
	if err != nil {
		panic(err)
	}
	for i := range 1000 {
		_ = f.Add(hash(fmt.Sprint("key ", i)))
	}
	fmt.Printf("about %.0f keys, fill %.1f%%, rate %.2f%%\n", f.EstimatedN(), 100*f.FillRatio(), 100*f.EstimatedFPR())
	f.Reset()
	fmt.Println(f.EstimatedN())
	// Output:
	// about 1001 keys, fill 50.4%, rate 0.82%
	// 0
}
