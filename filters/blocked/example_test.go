package blocked_test

import (
	"errors"
	"fmt"

	"filterlab/filters"
	"filterlab/filters/blocked"
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
	// A million keys, at most one in a hundred strangers let through.
	f, err := blocked.Variant{}.New(filters.Target{N: 1_000_000, P: 0.01})
	if err != nil {
		panic(err)
	}
	_ = f.Add(hash("alice"))
	fmt.Println(f.Contains(hash("alice")), f.Contains(hash("bob")))
	fmt.Printf("%.2f MB\n", float64(f.SizeBits())/8e6)
	// Output:
	// true false
	// 1.24 MB
}

func ExampleVariant_Predict() {
	// What a block costs in rate: 10 bits a key, the best k for each block.
	for _, b := range []int{64, 256, 512, 4096} {
		v := blocked.Variant{BlockBits: b}
		p, err := v.Predict(filters.Target{N: 1_000_000, BitsPerKey: 10}, 1_000_000)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v: k=%d, %.2f%%\n", v, p.K, 100*p.FPR)
	}
	// Output:
	// blocked(64): k=5, 1.78%
	// blocked(256): k=6, 1.09%
	// blocked(512): k=6, 0.97%
	// blocked(4096): k=7, 0.84%
}

func ExampleParse() {
	v, err := blocked.Parse("blocked(256,k=5,probes=distinct)")
	fmt.Println(v.BlockBits, v.K, v.Probes, err)
	_, err = blocked.Parse("blocked(500)")
	fmt.Println(err)
	// Output:
	// 256 5 distinct <nil>
	// blocked: block = 500: want a power of two from 64 to 4096 bits
}

func ExampleFilter_ContainsMany() {
	f, err := blocked.New(blocked.Config{Blocks: 20, K: 6})
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
	f, err := blocked.New(blocked.Config{Blocks: 20, K: 6})
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

func ExampleFilter_Merge() {
	t := filters.Target{N: 1000, BitsPerKey: 10}
	monday, _ := blocked.Variant{K: 6}.New(t)
	tuesday, _ := blocked.Variant{K: 6}.New(t)
	_ = monday.Add(hash("alice"))
	_ = tuesday.Add(hash("bob"))
	if err := monday.(*blocked.Filter).Merge(tuesday); err != nil {
		panic(err)
	}
	fmt.Println(monday.Contains(hash("alice")), monday.Contains(hash("bob")))

	other, _ := blocked.Variant{K: 5}.New(t)
	err := monday.(*blocked.Filter).Merge(other)
	fmt.Println(errors.Is(err, filters.ErrIncompatible), err)
	// Output:
	// true true
	// true cannot merge: k is 6 here and 5 in the other filter
}

func ExampleFilter_EstimatedFPR() {
	f, err := blocked.New(blocked.Config{Blocks: 200, K: 6})
	if err != nil {
		panic(err)
	}
	for i := range 10_000 {
		_ = f.Add(hash(fmt.Sprint("key ", i)))
	}
	fmt.Printf("about %.0f keys, fill %.1f%%, rate %.2f%%\n", f.EstimatedN(), 100*f.FillRatio(), 100*f.EstimatedFPR())
	f.Reset()
	fmt.Println(f.EstimatedN(), f.EstimatedFPR())
	// Output:
	// about 9985 keys, fill 44.1%, rate 0.88%
	// 0 0
}
