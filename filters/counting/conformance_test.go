package counting_test

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/counting"
	"filterlab/filters/filtertest"
)

func variants() []filters.Variant {
	return []filters.Variant{
		counting.Variant{},
		counting.Variant{Width: 2},
		counting.Variant{Width: 8, K: 4},
		counting.Variant{Width: 16},
	}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

func FuzzFilter(f *testing.F) { filtertest.Fuzz(f, variants()...) }

func BenchmarkFilter(b *testing.B) { filtertest.Bench(b, loops, variants()...) }

// loops call the filter without an interface in between.
func loops(q filters.Querier) filtertest.Loops {
	f := q.(*counting.Filter)
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
		Add: func(hs []uint64) (int, error) {
			for i, h := range hs {
				if err := f.Add(h); err != nil {
					return i, err
				}
			}
			return len(hs), nil
		},
	}
}
