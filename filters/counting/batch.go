package counting

import "filterlab/filters/internal/index"

// AddMany stores one copy of each of hs. It never fails, so n is always len(hs).
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	for _, h := range hs {
		for i := f.k; i > 0; i-- {
			if f.counters.Inc(index.FastRange(h, f.m)) {
				f.saturated++
			}
			h *= index.Multiplier
		}
	}
	return len(hs), nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	for i, h := range hs {
		in := f.Contains(h)
		dst[i] = in
		if in {
			hits++
		}
	}
	return hits
}
