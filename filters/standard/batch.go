package standard

import (
	"filterlab/filters/internal/cpu"
	"filterlab/filters/internal/index"
	"filterlab/filters/internal/prefetch"
)

// The batch methods of the Independent scheme go through vectors if the table is
// small, and look ahead if it is large: lines are on their way while other keys are
// worked on.

// large is the table size, in words, from which lines are fetched ahead: 8 MiB.
// Below, the larger caches answer so soon that the processor itself hides the
// misses.
const large = 1 << 20

// looksAhead tells whether lines are fetched ahead. A single probe a key leaves
// nothing to hide.
func looksAhead(c Config) bool {
	return prefetch.Enabled && c.Scheme == Independent && c.K > 1 && c.Bits >= 64*large
}

// vectors tells whether batches of lookups go through the AVX2 kernel: shared
// tables of the Independent scheme below 8 MiB. The assembly takes positions of 32
// bits and knows no slices. Nor does it leave a key early: at 9 MB, from where lines
// are fetched ahead, it takes as long as the rounds of hasManyMul for present keys and
// half as long again for absent ones.
func vectors(c Config) bool {
	return cpu.AVX2() && c.Scheme == Independent && c.Layout == Shared && c.Bits < 64*large
}

// slice is how many keys go into the assembly at once, which cannot be interrupted:
// some 50 µs.
const slice = 8192

// Kernel is "avx2" for tables below 8 MiB with the Independent scheme and the shared
// layout, where there are vectors; "go+prefetch" for larger ones with that scheme,
// where the build has the instruction; else "go".
func (f *Filter) Kernel() string {
	if f.simd {
		return "avx2"
	}
	return f.AddKernel()
}

// AddKernel is what AddMany runs: "go+prefetch" for tables from 8 MiB on with the
// Independent scheme, where the build has the instruction, else "go".
func (f *Filter) AddKernel() string {
	if f.ahead {
		return "go+prefetch"
	}
	return "go"
}

// AddMany stores all of hs; it never fails.
//
// Up to 8 MiB it is a plain loop, whose stores the processor overlaps by itself.
// Beyond, the lines of the next keys are fetched while the present ones are
// stored: 1.1 to 1.3 times as fast at 12 MB and even at 36 (k = 7, on a busy
// machine); at 2.4 MB it would take nearly twice as long.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	switch {
	case f.config.Scheme != Independent:
		for _, h := range hs {
			f.testAdd(h)
		}
	case !f.ahead:
		for _, h := range hs {
			addMul(f.words, h, f.span, f.stride, f.k)
		}
	default:
		f.addAhead(hs)
	}
	return len(hs), nil
}

// addAhead is AddMany for large tables.
func (f *Filter) addAhead(hs []uint64) {
	some := lines / f.k // keys at a time, at least 2
	fetchKeys(f.words, hs[:min(some, len(hs))], f.span, f.stride, f.k)
	for len(hs) > 0 {
		part := hs[:min(some, len(hs))]
		hs = hs[len(part):]
		fetchKeys(f.words, hs[:min(some, len(hs))], f.span, f.stride, f.k)
		for _, h := range part {
			addMul(f.words, h, f.span, f.stride, f.k)
		}
	}
}

// lines is how many lines addAhead has on their way: what the first cache and the
// queue of misses take with ease.
const lines = 2 * MaxK

// fetchKeys has all lines of hs fetched, up to lines of them.
func fetchKeys(words, hs []uint64, span, stride uint64, k int) {
	var at [lines]uint64
	n := 0
	for _, h := range hs {
		for base, end := uint64(0), n+k; n < end; n++ {
			at[n%lines] = (index.FastRange(h, span) + base) >> 6
			h *= index.Multiplier
			base += stride
		}
	}
	prefetch.Lines(words, at[:n])
}

// fetchPairs has the lines of the next two probes of hs, up to a chunk of them,
// fetched.
func fetchPairs(words, hs []uint64, span, stride, base uint64) {
	var at [2 * chunk]uint64
	for i, h := range hs[:min(chunk, len(hs))] {
		at[2*i] = (index.FastRange(h, span) + base) >> 6
		at[2*i+1] = (index.FastRange(h*index.Multiplier, span) + base + stride) >> 6
	}
	prefetch.Lines(words, at[:2*min(chunk, len(hs))])
}

// fetchRest has the lines of the next k probes of each of hs fetched.
func fetchRest(words, hs []uint64, span, stride, base uint64, k int) {
	var at [lines]uint64
	n := 0
	for _, h := range hs {
		for i := range uint64(k) {
			at[n%lines] = (index.FastRange(h, span) + base + i*stride) >> 6
			h *= mul1
			if n++; n == lines {
				prefetch.Lines(words, at[:])
				n = 0
			}
		}
	}
	prefetch.Lines(words, at[:n])
}

// chunk is how many keys the batch loop keeps in flight. Its two arrays take
// 1,152 bytes of stack, well within the first-level cache.
const chunk = 128

// hasManyMul asks chunks of keys in two rounds of two probes each, and carries on
// with the keys that are still in question, so that no branch depends on a bit and
// the loads of different keys overlap. Of half-full tables one absent key in 16
// comes through; the others are present, and are asked for all their probes at
// once. It is for tables that are in no cache: at 1.2 MB present keys take 23 ns (k
// = 7), and 13 one by one; absent keys 11 and 12. Loading all lines of a chunk
// before testing any was slower than one by one everywhere, since a key that leaves
// early then still pays for all its lines.
//
// With ahead, the first pairs of the next chunk are fetched while this one is
// tested, the next pairs of the survivors before the second round, and all lines
// of the survivors of that before they are asked.
func hasManyMul(dst []bool, words []uint64, hs []uint64, span, stride uint64, k int, ahead bool) (hits int) {
	// The masks tell the compiler what the counts already ensure.
	const mask = chunk - 1
	var left [chunk]uint64 // hashes still in question, at their next probe
	var from [chunk]uint8  // which keys they are
	if ahead {
		fetchPairs(words, hs, span, stride, 0)
	}
	for len(hs) > 0 {
		n := min(chunk, len(hs))
		if ahead {
			fetchPairs(words, hs[n:], span, stride, 0)
		}
		for i, h := range hs[:n] {
			left[i&mask] = h
			from[i&mask] = uint8(i)
		}
		alive, base, probes := n, uint64(0), k
		for round := 0; round < 2 && probes > 1 && alive > 0; round++ {
			kept := 0
			for i := range alive {
				h, key := left[i&mask], from[i&mask]
				p := index.FastRange(h, span) + base
				q := index.FastRange(h*mul1, span) + base + stride
				left[kept&mask] = h * mul2
				from[kept&mask] = key
				kept += int(bit(words, p) & bit(words, q) & 1)
			}
			alive = kept
			base += 2 * stride
			probes -= 2
			if ahead && probes > 0 {
				if round == 0 {
					fetchPairs(words, left[:alive], span, stride, base)
				} else {
					fetchRest(words, left[:alive], span, stride, base, probes)
				}
			}
		}
		out := dst[:n]
		clear(out)
		for i := range alive {
			in := allMul(words, left[i&mask], span, base, stride, probes)
			out[from[i&mask]] = in&1 != 0
			hits += int(in & 1)
		}
		hs, dst = hs[n:], dst[n:]
	}
	return hits
}

// allMul has its lowest bit set if all of the next k probes of h hit.
func allMul(words []uint64, h, span, base, stride uint64, k int) uint64 {
	all := uint64(1)
	for ; k > 1; k -= 2 {
		all &= bit(words, index.FastRange(h, span)+base) & bit(words, index.FastRange(h*mul1, span)+base+stride)
		h *= mul2
		base += 2 * stride
	}
	if k > 0 {
		all &= bit(words, index.FastRange(h, span)+base)
	}
	return all
}
