package cuckoo

import (
	"math/bits"
	"unsafe"

	"filterlab/filters/internal/prefetch"
)

// chunk is the number of keys whose buckets AddMany reads ahead.
const chunk = 32

// large is the table size, in bytes, from which AddMany prefetches instead of
// reading, and ContainsMany does where it gains by it: 8 MiB.
const large = 8 << 20

// Kernel is "go+prefetch" for tables from 8 MiB on with buckets of 32 bits, where
// the build has the instruction, else "go".
func (f *Filter) Kernel() string {
	if f.ahead && f.stride == half {
		return "go+prefetch"
	}
	return "go"
}

// AddKernel is "go+prefetch" for tables from 8 MiB on where the build has the
// instruction, else "go".
func (f *Filter) AddKernel() string {
	if f.ahead {
		return "go+prefetch"
	}
	return "go"
}

// AddMany stores hs in order up to the first that is refused, as Add would one by
// one.
//
// Both buckets of a chunk of keys are read before its keys are stored, so that
// their cache misses overlap: 10 to 25% faster in DRAM, 5 to 10% slower while the
// table is in cache and nearly empty. From 8 MiB on they are prefetched instead,
// while the chunk before is stored: 1.4 times as fast as reading at 16 MB, 1.04 at
// 47 (f=12, b=4, on a busy machine); at 1.6 MB it would lose a tenth.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	if f.ahead {
		return f.addAhead(hs)
	}
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

// addAhead is AddMany for large tables.
func (f *Filter) addAhead(hs []uint64) (n int, err error) {
	f.fetch(hs)
	for n < len(hs) {
		part := hs[n:min(n+chunk, len(hs))]
		f.fetch(hs[n+len(part):])
		for _, h := range part {
			if err := f.Add(h); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// fetch has both buckets of the first keys, up to a chunk, fetched.
func (f *Filter) fetch(hs []uint64) {
	var at [2 * chunk]uint64 // words
	hs = hs[:min(len(hs), chunk)]
	for k, h := range hs {
		i, tag := f.place(h)
		at[2*k%len(at)] = i * f.width / 64
		at[(2*k+1)%len(at)] = f.partner(i, tag) * f.width / 64
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(f.table))), len(f.table)/8) // as New made it
	prefetch.Lines(words, at[:2*len(hs)])
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
//
// The loops have no branch that depends on a key, so the processor has the loads
// of some ten keys under way at once, and nothing is gained by computing or loading
// the places of 32 keys first. Prefetching gains only where no load crosses into a
// line that was not fetched, which is with buckets of 32 bits: 28 instead of 31 ns
// a key at 32 MiB, 21 instead of 26 at 16 (f=8, b=4, on a busy machine); with
// buckets of 48 bits it was 35 instead of 37 at 16 MB and 43 instead of 40 at 47.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	switch {
	case f.stride == half && f.ahead:
		return f.containsAhead(dst, hs)
	case f.stride == half:
		return f.containsPairs(dst, hs)
	case f.stride != 0:
		return f.containsListed(dst, hs)
	case f.span != f.width:
		return f.containsWide(dst, hs)
	case f.width%8 != 0:
		return f.containsShifted(dst, hs)
	}
	// Every bucket starts at a byte and is one load. Here and below, place and
	// partner are written out: fields would be read again after each write to dst.
	table, buckets, stratum, tags := f.table, f.buckets, f.stratum, f.tags
	width, ones, highs := f.width/8, f.ones, f.highs
	for k, h := range hs {
		i, _ := bits.Mul64(h, buckets)
		tag := uint64(uint32(h)*(golden>>32))*tags>>32 + 1
		j := wrap(draw(tag, stratum, buckets)-i, buckets)

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

// containsPairs is ContainsMany for buckets of half a word.
func (f *Filter) containsPairs(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	table, odds, buckets, tags := f.table, f.odds, f.buckets, f.tags
	ones, highs := f.pairOnes, f.pairHighs
	for k, h := range hs {
		i, _ := bits.Mul64(h, buckets)
		tag := uint64(uint32(h)*(golden>>32))*tags>>32 + 1
		j := wrap(load4(odds, tag)-i, buckets)

		w := loadHalf(table, i*half) | loadHalf(table, j*half)<<32
		in := fulls(w^^(tag*ones), ones)&highs != 0
		dst[k] = in
		if in {
			hits++
		}
	}
	return hits
}

// containsAhead is containsPairs for large tables: both lines of a key are on their
// way while the chunk before is tested.
func (f *Filter) containsAhead(dst []bool, hs []uint64) (hits int) {
	f.fetch(hs)
	for len(hs) > 0 {
		n := min(len(hs), chunk)
		part := hs[:n]
		hs = hs[n:]
		f.fetch(hs)
		hits += f.containsPairs(dst, part)
		dst = dst[n:]
	}
	return hits
}

// containsListed is ContainsMany for the buckets that Contains has a path for.
func (f *Filter) containsListed(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	table, odds, buckets, tags := f.table, f.odds, f.buckets, f.tags
	stride, ones, highs := f.stride, f.ones, f.highs
	for k, h := range hs {
		i, _ := bits.Mul64(h, buckets)
		tag := uint64(uint32(h)*(golden>>32))*tags>>32 + 1
		j := wrap(load4(odds, tag)-i, buckets)

		others := ^(tag * ones)
		x := load8(table, i*stride) ^ others
		y := load8(table, j*stride) ^ others
		in := (fulls(x, ones)|fulls(y, ones))&highs != 0
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
	dst = dst[:len(hs)]
	table, odds, buckets, stratum, tags := f.table, f.odds, f.buckets, f.stratum, f.tags
	width, ones, highs := f.width, f.ones, f.highs
	for k, h := range hs {
		i, _ := bits.Mul64(h, buckets)
		tag := uint64(uint32(h)*(golden>>32))*tags>>32 + 1
		var odd uint64
		if odds != nil {
			odd = load4(odds, tag)
		} else {
			odd = draw(tag, stratum, buckets)
		}
		j := wrap(odd-i, buckets)

		others := ^(tag * ones)
		i *= width
		j *= width
		x := load8(table, i>>3)>>(i&7) ^ others
		y := load8(table, j>>3)>>(j&7) ^ others
		in := (fulls(x, ones)|fulls(y, ones))&highs != 0
		dst[k] = in
		if in {
			hits++
		}
	}
	return hits
}

// containsWide is ContainsMany for buckets of several loads.
func (f *Filter) containsWide(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	for k, h := range hs {
		i, tag := f.place(h)
		j := f.partner(i, tag)
		others, found := ^(tag * f.ones), uint64(0)
		i *= f.width
		j *= f.width
		for at := uint64(0); at < f.width; at += f.span {
			found |= fulls(f.load(i+at)^others, f.ones) | fulls(f.load(j+at)^others, f.ones)
		}
		in := found&f.highs != 0
		dst[k] = in
		if in {
			hits++
		}
	}
	return hits
}
