package workload

import "math/bits"

// The generators below are written out rather than taken from math/rand, so that
// no Go release can change what a seed means.

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants
// of Stafford's variant 13): a bijection of 64 bits that leaves no structure.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// gamma is the increment of SplitMix64, 2^64 over the golden ratio.
const gamma = 0x9e3779b97f4a7c15

// rng is SplitMix64: 64-bit numbers from a counter.
type rng uint64

func (r *rng) next() uint64 {
	*r += gamma
	return mix(uint64(*r))
}

// below returns a number uniform on 0 ... n-1, n > 0, without bias (Lemire, ACM
// TOMACS 29, 2019).
func (r *rng) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.next(), n)
	if lo < n {
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(r.next(), n)
		}
	}
	return hi
}

// float returns a number uniform on [0, 1), a multiple of 2^-53.
func (r *rng) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// shuffle puts list into random order (Fisher and Yates).
func shuffle[T any](r *rng, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.below(uint64(i) + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// permutation is a bijection of 0 ... n-1 that needs no table: a bijection of the
// next power of two, repeated until it lands below n.
type permutation struct {
	n, mask uint64
	shift   int
	keys    [4]uint64
}

func newPermutation(n, seed uint64) permutation {
	width := bits.Len64(n - 1)
	p := permutation{n: n, mask: 1<<width - 1, shift: max(1, (width+1)/2)}
	r := rng(seed)
	for i := range p.keys {
		p.keys[i] = r.next()
	}
	return p
}

// at returns where i goes; i must be below n. Fewer than two rounds are needed on
// average.
func (p *permutation) at(i uint64) uint64 {
	for {
		for _, k := range p.keys {
			// Adding, an odd factor and a shift to the right are bijections of the
			// masked bits, and so is their chain.
			i = (i + k) & p.mask
			i = i * (k | 1) & p.mask
			i ^= i >> p.shift
		}
		if i < p.n {
			return i
		}
	}
}
