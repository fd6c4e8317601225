package counting

import "filterlab/filters/internal/index"

// AddMany stores one copy of each of hs. It never fails, so n is always len(hs).
// It is a plain loop: stores to different counters overlap by themselves.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	for _, h := range hs {
		_ = f.Add(h) // never fails
	}
	return len(hs), nil
}

// chunk is how many keys ContainsMany keeps in flight; its two arrays take 1,152
// bytes of stack.
const chunk = 128

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
//
// It asks a chunk of keys in rounds of two probes and carries on with the keys
// still in question, so that no branch depends on a counter and the loads of
// different keys overlap. With 4 bits and k = 7 absent keys took 7.1 ns in cache
// and 50 at 38 MB, against 9.9 and 61 one by one; present keys, which must be
// followed through all their probes, gain nothing (17.5 and 130 against 12.1 and
// 106).
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	const mask = chunk - 1 // tells the compiler what the counts ensure
	var left [chunk]uint64 // hashes still in question, at their next probe
	var from [chunk]uint8  // which keys they are
	for len(hs) > 0 {
		n := min(chunk, len(hs))
		for i, h := range hs[:n] {
			left[i&mask] = h
			from[i&mask] = uint8(i)
		}
		alive, probes := n, f.k
		for ; probes > 1 && alive > 0; probes -= 2 {
			kept := 0
			for i := range alive {
				h, key := left[i&mask], from[i&mask]
				p := index.FastRange(h, f.m)
				h *= index.Multiplier
				q := index.FastRange(h, f.m)
				left[kept&mask] = h * index.Multiplier
				from[kept&mask] = key
				kept += int(min(f.counters.Get(p), f.counters.Get(q), 1))
			}
			alive = kept
		}
		if probes == 1 {
			kept := 0
			for i := range alive {
				p := index.FastRange(left[i&mask], f.m)
				from[kept&mask] = from[i&mask]
				kept += int(min(f.counters.Get(p), 1))
			}
			alive = kept
		}
		out := dst[:n]
		clear(out)
		for i := range alive {
			out[from[i&mask]] = true
		}
		hits += alive
		hs, dst = hs[n:], dst[n:]
	}
	return hits
}
