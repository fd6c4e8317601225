package standard_test

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/standard"
)

// variants are the kinds of filter the family makes: every scheme and layout, and
// k fixed from outside, which for two of the stepping schemes saves the suite the
// search for the best. Textbook sizing is left out: it breaks its promise, and
// TestTextbookBreaksItsPromise says by how much.
func variants() []standard.Variant {
	return []standard.Variant{
		{},
		{K: 7},
		{K: 1},
		{Layout: standard.Partitioned},
		{Layout: standard.Partitioned, K: 5},
		{Scheme: standard.Double},
		{Scheme: standard.Enhanced, K: 6},
		{Scheme: standard.Double64},
		{Scheme: standard.Enhanced64},
		{Scheme: standard.Teaching, K: 4},
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
	filtertest.Bench(b, loops, standard.Variant{}, standard.Variant{Layout: standard.Partitioned},
		standard.Variant{Scheme: standard.Double}, standard.Variant{Scheme: standard.Enhanced}, standard.Variant{Scheme: standard.Enhanced64})
}

// loops calls the concrete type, so that no timed key pays for an interface.
func loops(q filters.Querier) filtertest.Loops {
	f := q.(*standard.Filter)
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
