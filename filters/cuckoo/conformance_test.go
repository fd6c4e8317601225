package cuckoo_test

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/cuckoo"
	"filterlab/filters/filtertest"
)

// variants are the ones the shared suites run on: the default, and each way a
// bucket is spread over loads.
func variants() []filters.Variant {
	return []filters.Variant{
		cuckoo.Variant{},
		cuckoo.Variant{F: 12, B: 4},
		cuckoo.Variant{F: 8, B: 2},
		cuckoo.Variant{F: 16, B: 1},
		cuckoo.Variant{F: 13, B: 8},
		cuckoo.Variant{F: 31, B: 4},
	}
}

func TestContract(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

func FuzzFilter(f *testing.F) { filtertest.Fuzz(f, cuckoo.Variant{F: 8, B: 2}) }

func FuzzWide(f *testing.F) { filtertest.Fuzz(f, cuckoo.Variant{F: 31, B: 4}) }

func BenchmarkFilter(b *testing.B) { filtertest.Bench(b, catalog.Loop, variants()...) }
