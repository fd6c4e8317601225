package blocked

// The batch methods walk over a chunk twice. The first pass finds the block of
// every key and touches it with the key's first probe, so that the cache misses
// of a whole chunk are under way together; the second does the other probes, by
// then in cache. What waits between the passes is the first word of the block
// and the probe bits not used yet.

// AddMany stores hs. It never fails, so n is always len(hs).
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	if f.config.Probes == Distinct {
		for _, h := range hs {
			_ = f.Add(h) // never fails
		}
		return len(hs), nil
	}
	var base, probe [chunk]uint64
	n = len(hs)
	for len(hs) > 0 {
		part := hs[:min(len(hs), chunk)]
		hs = hs[len(part):]
		for i, h := range part {
			b, x := f.block(h), mix(h)
			base[i], probe[i] = b, x
			p := x & f.mask
			f.words[b+p>>6] |= 1 << (p & 63)
		}
		for i := range part {
			b, x := base[i], probe[i]
			for left := f.k; ; {
				y := x
				for j := min(left, f.fresh); j > 0; j-- {
					p := y & f.mask
					f.words[b+p>>6] |= 1 << (p & 63)
					y >>= f.log & 63
				}
				if left -= f.fresh; left <= 0 {
					break
				}
				x = mix(x)
			}
		}
	}
	return n, nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	if f.config.Probes == Distinct {
		for i, h := range hs {
			in := f.Contains(h)
			dst[i] = in
			if in {
				hits++
			}
		}
		return hits
	}
	var base, probe, first [chunk]uint64
	for len(hs) > 0 {
		n := min(len(hs), chunk)
		part, out := hs[:n], dst[:n]
		hs, dst = hs[n:], dst[n:]
		for i, h := range part {
			b, x := f.block(h), mix(h)
			base[i], probe[i] = b, x
			p := x & f.mask
			first[i] = f.words[b+p>>6] >> (p & 63)
		}
		for i := range out {
			b, x, hit := base[i], probe[i], first[i]
			for left := f.k; ; {
				y := x
				for j := min(left, f.fresh); j > 0; j-- {
					p := y & f.mask
					hit &= f.words[b+p>>6] >> (p & 63)
					y >>= f.log & 63
				}
				if left -= f.fresh; left <= 0 {
					break
				}
				x = mix(x)
			}
			hit &= 1
			out[i] = hit != 0
			hits += int(hit)
		}
	}
	return hits
}
