package scalable_test

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/scalable"
)

func variants() []scalable.Variant {
	return []scalable.Variant{
		{},
		{N0: 100, Growth: 4, Tighten: 0.5},
		{Growth: 1.5, Tighten: 0.9},
	}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

func FuzzFilter(f *testing.F) {
	vs := make([]filters.Variant, 0, len(variants()))
	for _, v := range variants() {
		vs = append(vs, v)
	}
	filtertest.Fuzz(f, vs...)
}

func BenchmarkFilter(b *testing.B) {
	filtertest.Bench(b, loops, scalable.Variant{}, scalable.Variant{Growth: 4})
}

// loops calls the concrete type, so that no timed key pays for an interface.
func loops(q filters.Querier) filtertest.Loops {
	f := q.(*scalable.Filter)
	return filtertest.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			for i, h := range hs {
				in := f.Contains(h)
				dst[i] = in
				if in {
					hits++
				}
			}
			return hits
		},
		Add: func(hs []uint64) (n int, err error) {
			for i, h := range hs {
				if err := f.Add(h); err != nil {
					return i, err
				}
			}
			return len(hs), nil
		},
	}
}
