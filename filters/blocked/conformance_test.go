package blocked_test

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/catalog"
	"filterlab/filters/filtertest"
)

// variants are one or more for each kernel; sizing the largest blocks takes too
// long to run the whole suite on them.
func variants() []filters.Variant {
	return []filters.Variant{
		blocked.Variant{},
		blocked.Variant{K: 6},
		blocked.Variant{K: 8},
		blocked.Variant{Layout: blocked.Split},
		blocked.Variant{Layout: blocked.Pattern},
		blocked.Variant{BlockBits: 64},
		blocked.Variant{BlockBits: 64, Probes: blocked.Distinct},
		blocked.Variant{BlockBits: 256, K: 9, Probes: blocked.Distinct},
		blocked.Variant{BlockBits: 1024, K: 7, Probes: blocked.Independent},
	}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

func FuzzFilter(f *testing.F) { filtertest.Fuzz(f, variants()...) }

func BenchmarkFilter(b *testing.B) { filtertest.Bench(b, catalog.Loop, variants()...) }
