package filtertest

import "math/bits"

// Members returns n distinct hashes that behave as uniform random bits and are
// reproducible from the seed. Every one differs from all NonMembers of the same
// seed, whatever the two lengths: the hashes are a bijection of counters, even
// ones for members and odd ones for non-members.
func Members(seed uint64, n int) []uint64 { return stream(seed, 0, n) }

// NonMembers returns n distinct hashes, none of which is among the Members of
// the same seed.
func NonMembers(seed uint64, n int) []uint64 { return stream(seed, 1, n) }

// golden is the increment of splitmix64, 2^64 over the golden ratio, made odd.
const golden = 0x9e3779b97f4a7c15

// stream returns splitmix64 outputs for the counters first, first+2, ... An odd
// multiple plus a constant and then mix are both bijections of 64-bit words, so
// that different counters give different hashes.
func stream(seed, first uint64, n int) []uint64 {
	state := mix(seed ^ golden)
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = mix(state + (2*uint64(i)+first)*golden)
	}
	return hs
}

// mix is the output function of splitmix64 (Steele, Lea, Flood 2014; constants of
// Stafford's variant 13).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// keySet is a named way to make hashes.
type keySet struct {
	name string
	hash func(i uint64) uint64
}

// take returns the first n hashes of the set.
func (k keySet) take(n int) []uint64 {
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = k.hash(uint64(i))
	}
	return hs
}

// degenerate lists key sets that no good hash would produce. Rates mean nothing
// on them; lost keys and panics still count.
func degenerate() []keySet {
	return []keySet{
		{"sequential", func(i uint64) uint64 { return i }},
		{"descending", func(i uint64) uint64 { return ^i }},
		{"all zero", func(uint64) uint64 { return 0 }},
		{"all ones", func(uint64) uint64 { return ^uint64(0) }},
		{"high bits only", bits.Reverse64},
		{"high half only", func(i uint64) uint64 { return mix(i) << 32 }},
		{"low half only", func(i uint64) uint64 { return mix(i) >> 32 }},
		{"one bit", func(i uint64) uint64 { return 1 << (i % 64) }},
	}
}
