package blocked

import (
	"math/bits"

	"filterlab/filters/internal/prefetch"
)

// The batch methods look ahead if the table is large: while the keys of one chunk
// are tested, the lines of the next are on their way.

// large is the table size, in words, from which lines are fetched ahead: 256 KiB.
// Below, a miss of the first cache is hidden by the processor itself.
const large = 1 << 15

// chunk is how many keys are fetched ahead: enough that their misses overlap, few
// enough that their lines are still in the first cache when they are used.
const chunk = 64

// ahead is how many keys before its use a kernel of assembly has a block fetched,
// at most a chunk. From 32 to 64 the difference is within a few per cent; 16 is
// too few.
const ahead = 48

// slice is how many keys a kernel works on at most before it returns: assembly
// cannot be interrupted, and whoever stops the world must not wait long.
const slice = 8192

// fetch has the blocks of the first keys, up to a chunk, fetched.
func (f *Filter) fetch(hs []uint64) {
	var at [chunk]uint64 // the first words of the blocks
	hs = hs[:min(len(hs), chunk)]
	blocks := f.config.Blocks
	if f.kernel == split {
		for i, h := range hs {
			at[i] = splitBlock(h, blocks) * uint64(len(quad{}))
		}
	} else {
		per := (f.mask + 1) / 64
		for i, h := range hs {
			b, _ := bits.Mul64(h, blocks)
			at[i] = b * per
		}
	}
	prefetch.Lines(f.words, at[:len(hs)])
}

// AddMany stores hs. It never fails, so n is always len(hs).
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	n = len(hs)
	hs = hs[f.addSIMD(hs):]
	if len(f.words) < large {
		f.add(hs)
		return n, nil
	}
	f.fetch(hs)
	for len(hs) > 0 {
		part := hs[:min(len(hs), chunk)]
		hs = hs[len(part):]
		f.fetch(hs)
		f.add(part)
	}
	return n, nil
}

// AddManyCount stores hs, as AddMany does, and returns for how many of them Contains
// answered false just before.
func (f *Filter) AddManyCount(hs []uint64) (fresh int) {
	ahead := len(f.words) >= large
	if ahead {
		f.fetch(hs)
	}
	for len(hs) > 0 {
		part := hs[:min(len(hs), chunk)]
		hs = hs[len(part):]
		if ahead {
			f.fetch(hs)
		}
		for _, h := range part {
			if !f.Contains(h) {
				_ = f.Add(h) // it never fails
				fresh++
			}
		}
	}
	return fresh
}

// add is AddMany without a look ahead.
func (f *Filter) add(hs []uint64) {
	switch f.kernel {
	case patterned:
		for _, h := range hs {
			setPatterns(f.line(h), h)
		}
	case independent512:
		for _, h := range hs {
			set512(f.line(h), mix(h), f.k)
		}
	case independent:
		for _, h := range hs {
			setAny(f.block(h), mix(h), f.k)
		}
	case split:
		for _, h := range hs {
			b, x := f.quad(h), uint32(h)
			b[0] = lanes(b[0], x, salt0, salt1)
			b[1] = lanes(b[1], x, salt2, salt3)
			b[2] = lanes(b[2], x, salt4, salt5)
			b[3] = lanes(b[3], x, salt6, salt7)
		}
	case distinct:
		for _, h := range hs {
			setPattern(f.block(h), mix(h), f.k)
		}
	}
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	done, hits := f.containsSIMD(dst, hs)
	hs, dst = hs[done:], dst[done:]
	if len(f.words) < large {
		return hits + f.contains(dst, hs)
	}
	f.fetch(hs)
	for len(hs) > 0 {
		n := min(len(hs), chunk)
		part, out := hs[:n], dst[:n]
		hs, dst = hs[n:], dst[n:]
		f.fetch(hs)
		hits += f.contains(out, part)
	}
	return hits
}

// contains is ContainsMany without a look ahead.
func (f *Filter) contains(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	switch f.kernel {
	case patterned:
		for i, h := range hs {
			in := missPattern(f.line(h), h) == 0
			dst[i] = in
			hits += one(in)
		}
	case independent512:
		for i, h := range hs {
			hit := hit512(f.line(h), mix(h), f.k) & 1
			dst[i] = hit != 0
			hits += int(hit)
		}
	case independent:
		for i, h := range hs {
			hit := hitAny(f.block(h), mix(h), f.k) & 1
			dst[i] = hit != 0
			hits += int(hit)
		}
	case split:
		for i, h := range hs {
			b, x := f.quad(h), uint32(h)
			in := (lanes(b[0], x, salt0, salt1)^b[0])|(lanes(b[1], x, salt2, salt3)^b[1])|
				(lanes(b[2], x, salt4, salt5)^b[2])|(lanes(b[3], x, salt6, salt7)^b[3]) == 0
			dst[i] = in
			hits += one(in)
		}
	case distinct:
		for i, h := range hs {
			hit := hitPattern(f.block(h), mix(h), f.k) & 1
			dst[i] = hit != 0
			hits += int(hit)
		}
	}
	return hits
}

// one counts a true answer without a branch.
func one(in bool) int {
	n := 0
	if in {
		n = 1
	}
	return n
}
