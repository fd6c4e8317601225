package blocked

// The batch methods walk over a chunk of keys twice if the table is large. The
// first pass does no more than touch the cache line of every key's first probe,
// so that the misses of the whole chunk are under way together; the second does
// the work, by then in cache. At 36 MB that takes 27 ns a lookup instead of 51,
// at 1.2 MB 12 either way, and in the first cache it would cost 2 ns more. To
// keep block and mix between the passes instead of computing them again was
// slower (31 ns).

// large is the table size, in words, from which chunks are touched ahead: 1 MiB.
const large = 1 << 17

// chunk is how many keys are touched ahead: enough that their misses overlap,
// few enough that the lines are still in the first cache when they are used.
const chunk = 64

// AddMany stores hs. It never fails, so n is always len(hs).
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	n = len(hs)
	for len(hs) > 0 {
		part := hs[:min(len(hs), chunk)]
		hs = hs[len(part):]
		// A load whose value nobody needs would be dropped by the compiler. The
		// first independent probe is part of the work in any case.
		if f.kernel != distinct && len(f.words) >= large {
			for _, h := range part {
				x := mix(h)
				f.block(h)[x&f.mask>>6] |= 1 << (x & 63)
			}
		}
		switch f.kernel {
		case independent512:
			for _, h := range part {
				set512(f.line(h), mix(h), f.k)
			}
		case independent:
			for _, h := range part {
				setAny(f.block(h), mix(h), f.k)
			}
		case distinct:
			for _, h := range part {
				setPattern(f.block(h), mix(h), f.k)
			}
		}
	}
	return n, nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	var first [chunk]uint64 // words touched, with their lowest bits set
	for i := range first {
		first[i] = 1
	}
	for len(hs) > 0 {
		n := min(len(hs), chunk)
		part, out := hs[:n], dst[:n]
		hs, dst = hs[n:], dst[n:]
		if len(f.words) >= large {
			for i, h := range part {
				// The lowest bit is all that counts below, so this changes no
				// answer, but the compiler has to load the word.
				first[i] = f.block(h)[mix(h)&f.mask>>6] | 1
			}
		}
		switch f.kernel {
		case independent512:
			for i, h := range part {
				hit := first[i] & hit512(f.line(h), mix(h), f.k) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		case independent:
			for i, h := range part {
				hit := first[i] & hitAny(f.block(h), mix(h), f.k) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		case distinct:
			for i, h := range part {
				hit := first[i] & hitPattern(f.block(h), mix(h), f.k) & 1
				out[i] = hit != 0
				hits += int(hit)
			}
		}
	}
	return hits
}
