package cuckoo

// AddMany stores hs in order up to the first that is refused.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	for n, h := range hs {
		if err := f.Add(h); err != nil {
			return n, err
		}
	}
	return len(hs), nil
}

// ContainsMany sets dst[i] to Contains(hs[i]).
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
