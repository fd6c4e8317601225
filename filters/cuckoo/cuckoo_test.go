package cuckoo

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
)

// variants are the ones the shared suites run on: the default, and each way a
// bucket is laid out over loads.
func variants() []filters.Variant {
	return []filters.Variant{
		Variant{},
		Variant{F: 12, B: 4},
		Variant{F: 8, B: 2},
		Variant{F: 16, B: 1},
		Variant{F: 13, B: 8},
		Variant{F: 31, B: 4},
	}
}

func TestContract(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

func FuzzFilter(f *testing.F) { filtertest.Fuzz(f, Variant{F: 8, B: 2}) }

func BenchmarkFilter(b *testing.B) { filtertest.Bench(b, nil, variants()...) }
