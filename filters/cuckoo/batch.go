package cuckoo

import "math/bits"

// chunk is the number of keys whose buckets AddMany reads ahead.
const chunk = 32

// AddMany stores hs in order up to the first that is refused, as Add would one by
// one. Both buckets of a chunk of keys are read before its keys are stored, so
// that their cache misses overlap: 10 to 25% faster in DRAM, 5 to 10% slower while
// the table is in cache and nearly empty.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	var ahead [chunk]uint64 // keeps the compiler from dropping the loads
	for n < len(hs) {
		part := hs[n:min(n+chunk, len(hs))]
		for k, h := range part {
			i, tag := f.place(h)
			ahead[k%chunk] = f.load(i*f.width) | f.load(f.partner(i, tag)*f.width)
		}
		for _, h := range part {
			if err := f.Add(h); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
//
// The loops have no branch that depends on a key, so the processor has the loads
// of some ten keys under way at once. Computing the places of 32 keys first, and
// loading them first, was measured: 6.4 instead of 5.8 ns a key in cache, 38
// instead of 40 in DRAM.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	switch {
	case f.span != f.width:
		return f.containsWide(dst, hs)
	case f.width%8 != 0:
		return f.containsShifted(dst, hs)
	}
	// Every bucket starts at a byte and is one load.
	table, buckets, stratum, tags := f.table, f.buckets, f.stratum, f.tags
	width, ones, highs := f.width/8, f.ones, f.highs
	for k, h := range hs {
		// place and partner, written out: fields would be read again after each
		// write to dst.
		i, _ := bits.Mul64(h, buckets)
		tag := uint64(uint32(h)*(golden>>32))*tags>>32 + 1
		r, _ := bits.Mul64(tag*stratum|tag*tag*golden&(stratum-1), buckets>>1)
		j := 2*r + 1 - i
		j += buckets & -(j >> 63)

		all := tag * ones
		x := load8(table, i*width) ^ all
		y := load8(table, j*width) ^ all
		in := ((x-ones)&^x|(y-ones)&^y)&highs != 0
		dst[k] = in
		if in {
			hits++
		}
	}
	return hits
}

// containsShifted is ContainsMany for buckets that are one load but do not all
// start at a byte.
func (f *Filter) containsShifted(dst []bool, hs []uint64) (hits int) {
	table, buckets, stratum, tags := f.table, f.buckets, f.stratum, f.tags
	width, ones, highs := f.width, f.ones, f.highs
	for k, h := range hs {
		i, _ := bits.Mul64(h, buckets)
		tag := uint64(uint32(h)*(golden>>32))*tags>>32 + 1
		r, _ := bits.Mul64(tag*stratum|tag*tag*golden&(stratum-1), buckets>>1)
		j := 2*r + 1 - i
		j += buckets & -(j >> 63)

		all := tag * ones
		i *= width
		j *= width
		x := load8(table, i>>3)>>(i&7) ^ all
		y := load8(table, j>>3)>>(j&7) ^ all
		in := ((x-ones)&^x|(y-ones)&^y)&highs != 0
		dst[k] = in
		if in {
			hits++
		}
	}
	return hits
}

// containsWide is ContainsMany for buckets of several loads.
func (f *Filter) containsWide(dst []bool, hs []uint64) (hits int) {
	for k, h := range hs {
		i, tag := f.place(h)
		j := f.partner(i, tag)
		all, found := tag*f.ones, uint64(0)
		i *= f.width
		j *= f.width
		for at := uint64(0); at < f.width; at += f.span {
			found |= f.zeros(f.load(i+at)^all) | f.zeros(f.load(j+at)^all)
		}
		dst[k] = found != 0
		if found != 0 {
			hits++
		}
	}
	return hits
}
