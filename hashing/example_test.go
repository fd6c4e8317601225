package hashing_test

import (
	"fmt"

	"filterlab/hashing"
)

func ExampleByName() {
	entry, err := hashing.ByName("xxhash64")
	if err != nil {
		fmt.Println(err)
		return
	}
	h := entry.New(0)
	fmt.Printf("%016x\n", h.SumString("abc"))
	fmt.Println(h.SumString("abc") == h.Sum64([]byte("abc")))
	// Output:
	// 44bc2cf5ad770999
	// true
}

// The tutorial's hash sets three bits of a 16-bit filter for a word.
func ExamplePolynomial() {
	for _, base := range hashing.PolynomialBases() {
		h := hashing.Polynomial(base, []byte("cat"))
		fmt.Println(base, h, h%16)
	}
	// Output:
	// 31 98262 6
	// 37 139236 4
	// 41 170512 0
}
