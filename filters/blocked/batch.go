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

// locate sets at[i] to the first word of the block of hs[i], and has it fetched
// if the table is large.
func (f *Filter) locate(at *[chunk]uint64, hs []uint64) {
	n := min(len(hs), chunk)
	blocks := f.config.Blocks
	if f.kernel == split {
		for i, h := range hs[:n] {
			at[i] = splitAt(h, blocks)
		}
	} else {
		per := (f.mask + 1) / 64
		for i, h := range hs[:n] {
			b, _ := bits.Mul64(h, blocks)
			at[i] = b * per
		}
	}
	if len(f.words) >= large {
		prefetch.Lines(f.words, at[:n])
	}
}

// AddMany stores hs. It never fails, so n is always len(hs).
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	n = len(hs)
	hs = hs[f.addSIMD(hs):]
	var at [2][chunk]uint64 // of this chunk and the next, in turn
	f.locate(&at[0], hs)
	for turn := 0; len(hs) > 0; turn ^= 1 {
		part := hs[:min(len(hs), chunk)]
		hs = hs[len(part):]
		f.locate(&at[turn^1], hs)
		here := at[turn][:len(part)]
		switch per := (f.mask + 1) / 64; f.kernel {
		case independent512:
			for i, h := range part {
				set512((*line)(f.words[here[i]:]), mix(h), f.k)
			}
		case independent:
			for i, h := range part {
				setAny(f.words[here[i]:][:per], mix(h), f.k)
			}
		case split:
			for i, h := range part {
				setSplit((*quad)(f.words[here[i]:]), h)
			}
		case distinct:
			for i, h := range part {
				setPattern(f.words[here[i]:][:per], mix(h), f.k)
			}
		}
	}
	return n, nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	done, hits := f.containsSIMD(dst, hs)
	hs, dst = hs[done:], dst[done:len(hs)]
	var at [2][chunk]uint64 // of this chunk and the next, in turn
	f.locate(&at[0], hs)
	for turn := 0; len(hs) > 0; turn ^= 1 {
		n := min(len(hs), chunk)
		part, out := hs[:n], dst[:n]
		hs, dst = hs[n:], dst[n:]
		f.locate(&at[turn^1], hs)
		here := at[turn][:n]
		switch per := (f.mask + 1) / 64; f.kernel {
		case independent512:
			for i, h := range part {
				hit := hit512((*line)(f.words[here[i]:]), mix(h), f.k) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		case independent:
			for i, h := range part {
				hit := hitAny(f.words[here[i]:][:per], mix(h), f.k) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		case split:
			for i, h := range part {
				hit := hitSplit((*quad)(f.words[here[i]:]), h) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		case distinct:
			for i, h := range part {
				hit := hitPattern(f.words[here[i]:][:per], mix(h), f.k) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		}
	}
	return hits
}
