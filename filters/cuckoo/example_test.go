package cuckoo_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/cuckoo"
)

// hash stands for a good 64-bit hash; SHA-256 is one, if a slow one.
func hash(key string) uint64 {
	sum := sha256.Sum256([]byte(key))
	return binary.LittleEndian.Uint64(sum[:])
}

// numbered returns the hashes of prefix0, prefix1, and so on.
func numbered(prefix string, n int) []uint64 {
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = hash(prefix + strconv.Itoa(i))
	}
	return hs
}

// small makes a filter for 1,000 keys at a rate of 0.1%.
func small() *cuckoo.Filter {
	f, err := cuckoo.Variant{}.New(filters.Target{N: 1000, P: 0.001})
	if err != nil {
		panic(err)
	}
	return f.(*cuckoo.Filter)
}

func Example() {
	f, err := cuckoo.Variant{}.New(filters.Target{N: 1000, P: 0.001})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := f.Add(hash("apple")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(f.Contains(hash("apple")), f.Contains(hash("pear")))
	// Output: true false
}

func ExampleNew() {
	f, err := cuckoo.New(cuckoo.Config{Buckets: 1000, SlotsPerBucket: 4, FingerprintBits: 12})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.SizeBits(), "bits for", f.Config().Capacity(), "keys")
	_, err = cuckoo.New(cuckoo.Config{Buckets: 1001, SlotsPerBucket: 4, FingerprintBits: 12})
	fmt.Println(err)
	// Output:
	// 48000 bits for 3840 keys
	// cuckoo: buckets = 1001: want an even number, at least 2
}

func ExampleVariant_Geometry() {
	for _, v := range []cuckoo.Variant{{}, {F: 12}, {B: 2}, {F: 7}, {F: 4, B: 2}} {
		c, err := v.Geometry(filters.Target{N: 1e6, P: 0.01})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%v: %+v\n", v, c)
	}
	// Output:
	// cuckoo: {Buckets:260418 SlotsPerBucket:4 FingerprintBits:10}
	// cuckoo(f=12): {Buckets:126904 SlotsPerBucket:8 FingerprintBits:12}
	// cuckoo(b=2): {Buckets:588236 SlotsPerBucket:2 FingerprintBits:9}
	// cuckoo: f = 7: want at least 8 bits, to keep p = 0.01 for 1000000 keys in at most 2 times the slots they need
	// cuckoo: f = 4: want at least 8 bits for 1000000 keys: with shorter ones, more keys than two buckets hold may share their pair of buckets, even in 2 times the slots they need
}

func ExampleParse() {
	v, err := cuckoo.Parse("cuckoo(f=12,b=4)")
	fmt.Println(v.F, v.B, v, err)
	_, err = cuckoo.Parse("cuckoo(b=3)")
	fmt.Println(err)
	// Output:
	// 12 4 cuckoo(f=12,b=4) <nil>
	// cuckoo: b = 3: want 1, 2, 4 or 8 slots a bucket
}

func ExampleVariant_Predict() {
	p, err := cuckoo.Variant{F: 12, B: 4}.Predict(filters.Target{N: 1e6, P: 0.002}, 1e6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rate %.4f%% at a load of %.2f, %.2f bits a key, room for %d\n", 100*p.FPR, p.Fill, p.BitsPerKey(), p.Capacity)
	// Output: rate 0.1874% at a load of 0.96, 12.50 bits a key, room for 1000005
}

func ExampleFilter_Add() {
	f := small()
	h := hash("apple")
	for i := 1; ; i++ {
		if err := f.Add(h); errors.Is(err, filters.ErrFull) {
			fmt.Printf("copy %d is refused, %d are stored\n", i, f.Len())
			break
		}
	}
	// Output: copy 9 is refused, 8 are stored
}

func ExampleFilter_AddMany() {
	f := small()
	n, err := f.AddMany(numbered("key", 1000))
	fmt.Println(n, err)
	// Output: 1000 <nil>
}

func ExampleFilter_ContainsMany() {
	f := small()
	_, _ = f.AddMany(numbered("key", 1000))
	dst := make([]bool, 10_000)
	fmt.Println(f.ContainsMany(dst[:1000], numbered("key", 1000)), "of 1000 members")
	fmt.Println(f.ContainsMany(dst, numbered("other", 10_000)), "of 10000 others")
	// Output:
	// 1000 of 1000 members
	// 7 of 10000 others
}

func ExampleFilter_TestAndAdd() {
	f := small()
	for range 2 {
		present, err := f.TestAndAdd(hash("apple"))
		fmt.Println(present, err)
	}
	// Output:
	// false <nil>
	// true <nil>
}

func ExampleFilter_Delete() {
	f := small()
	_ = f.Add(hash("apple"))
	fmt.Println(f.Delete(hash("apple")), f.Contains(hash("apple")), f.Delete(hash("apple")))
	// Output: true false false
}

func ExampleFilter_Count() {
	f := small()
	for range 3 {
		_ = f.Add(hash("apple"))
	}
	n, _ := f.Count(hash("apple"))
	fmt.Println("at most", n)
	// Output: at most 3
}

func ExampleFilter_Reset() {
	f := small()
	_ = f.Add(hash("apple"))
	f.Reset()
	fmt.Println(f.Contains(hash("apple")), f.Len())
	// Output: false 0
}

func ExampleFilter_EstimatedFPR() {
	f := small()
	for _, n := range []int{250, 500, 1000} {
		f.Reset()
		_, _ = f.AddMany(numbered("key", n))
		fmt.Printf("%v keys, load %.3f, rate %.4f%%\n", f.EstimatedN(), f.FillRatio(), 100*f.EstimatedFPR())
	}
	// Output:
	// 250 keys, load 0.235, rate 0.0229%
	// 500 keys, load 0.470, rate 0.0459%
	// 1000 keys, load 0.940, rate 0.0918%
}
