package standard_test

import (
	"fmt"
	"hash/fnv"

	"filterlab/filters"
	"filterlab/filters/standard"
)

// hash stands for any good 64-bit hash; package hashing lists several.
func hash(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	// FNV leaves its high bits weak, and the filter uses those most.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func Example() {
	f, err := standard.Variant{}.New(filters.Target{N: 1000, P: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Add(hash("apple"))
	fmt.Println(f.Contains(hash("apple")), f.Contains(hash("pear")))
	fmt.Println(f.SizeBits(), "bits")
	// Output:
	// true false
	// 9595 bits
}

func ExampleNew() {
	f, err := standard.New(standard.Config{Bits: 1 << 20, K: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := f.Predict(100_000)
	fmt.Printf("%.2f%% after 100,000 keys\n", 100*p.FPR)
	_, err = standard.New(standard.Config{Bits: 1 << 20, K: 65})
	fmt.Println(err)
	// Output:
	// 0.65% after 100,000 keys
	// standard: k = 65: want 1 to 64 probes a key
}

func ExampleVariant_Predict() {
	target := filters.Target{N: 1_000_000, P: 0.01}
	for _, v := range []standard.Variant{{}, {Sizing: standard.Textbook}, {Layout: standard.Partitioned}} {
		p, err := v.Predict(target, target.N)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-31v %d bits, k = %d, %.4f%%\n", v, p.Bits, p.K, 100*p.FPR)
	}
	// Output:
	// standard                        9592957 bits, k = 7, 1.0000%
	// standard(sizing=textbook)       9585059 bits, k = 7, 1.0039%
	// standard(layout=partitioned)    9592961 bits, k = 7, 1.0000%
}

func ExampleFilter_ContainsMany() {
	f, _ := standard.New(standard.Config{Bits: 9600, K: 7})
	f.AddMany([]uint64{hash("apple"), hash("pear")})
	dst := make([]bool, 3)
	hits := f.ContainsMany(dst, []uint64{hash("pear"), hash("plum"), hash("apple")})
	fmt.Println(hits, dst)
	// Output: 2 [true false true]
}

func ExampleFilter_TestAndAdd() {
	f, _ := standard.New(standard.Config{Bits: 9600, K: 7})
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		if present, _ := f.TestAndAdd(hash(word)); !present {
			fmt.Println(word)
		}
	}
	// Output:
	// to
	// be
	// or
	// not
}

func ExampleFilter_Merge() {
	a, _ := standard.New(standard.Config{Bits: 9600, K: 7})
	b, _ := standard.New(standard.Config{Bits: 9600, K: 7})
	a.Add(hash("apple"))
	b.Add(hash("pear"))
	fmt.Println(a.Merge(b), a.Contains(hash("pear")))

	other, _ := standard.New(standard.Config{Bits: 9600, K: 6})
	fmt.Println(a.Merge(other))
	// Output:
	// <nil> true
	// cannot merge: k is 7 here and 6 in the other filter
}

func ExampleUnionSize() {
	a, _ := standard.New(standard.Config{Bits: 96_000, K: 7})
	b, _ := standard.New(standard.Config{Bits: 96_000, K: 7})
	for i := range 6000 {
		a.Add(hash(fmt.Sprint(i)))
		b.Add(hash(fmt.Sprint(i + 4000)))
	}
	union, _ := standard.UnionSize(a, b)
	fmt.Printf("about %.0f of 10000\n", union)
	// Output: about 10015 of 10000
}

func ExampleIntersectionSize() {
	a, _ := standard.New(standard.Config{Bits: 96_000, K: 7})
	b, _ := standard.New(standard.Config{Bits: 96_000, K: 7})
	for i := range 6000 {
		a.Add(hash(fmt.Sprint(i)))
		b.Add(hash(fmt.Sprint(i + 4000)))
	}
	common, _ := standard.IntersectionSize(a, b)
	fmt.Printf("about %.0f of 2000\n", common)
	// Output: about 2001 of 2000
}

func ExampleFilter_EstimatedFPR() {
	f, _ := standard.Variant{}.New(filters.Target{N: 1000, P: 0.01})
	for i := range 2000 { // twice as many as it was made for
		f.Add(hash(fmt.Sprint(i)))
	}
	e := f.(filters.Estimator)
	fmt.Printf("rate about %.0f%%, about %.0f keys\n", 100*e.EstimatedFPR(), e.EstimatedN())
	// Output: rate about 17%, about 2046 keys
}

func ExampleFilter_Reset() {
	f, _ := standard.New(standard.Config{Bits: 9600, K: 7})
	f.Add(hash("apple"))
	fmt.Printf("%.4f\n", f.FillRatio())
	f.Reset()
	fmt.Printf("%.4f %v\n", f.FillRatio(), f.Contains(hash("apple")))
	// Output:
	// 0.0007
	// 0.0000 false
}

func ExampleParse() {
	v, err := standard.Parse("standard(layout=partitioned, k=5)")
	fmt.Println(v, err)
	_, err = standard.Parse("standard(scheme=triple)")
	fmt.Println(err)
	// Output:
	// standard(layout=partitioned,k=5) <nil>
	// standard: scheme = "triple": want one of ["independent" "double" "enhanced" "double64" "enhanced64" "teaching"]
}

func ExampleConfig_AppendProbes() {
	c := standard.Config{Bits: 16, K: 3, Scheme: standard.Teaching}
	// The halves of the hash are 5 and 7: 5, 5+7, 5+14 mod 16.
	fmt.Println(c.AppendProbes(nil, 5<<32|7))
	// Output: [5 12 3]
}
