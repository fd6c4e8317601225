package counting_test

import (
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/counting"
	"filterlab/filters/filtertest"
)

func variants() []filters.Variant {
	return []filters.Variant{
		counting.Variant{},
		counting.Variant{Width: 2},
		counting.Variant{Width: 8, K: 4},
		counting.Variant{Width: 16},
		counting.Variant{Layout: counting.Blocked},
		counting.Variant{Layout: counting.Blocked, Width: 8},
	}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}

func FuzzFilter(f *testing.F) { filtertest.Fuzz(f, variants()...) }

func BenchmarkFilter(b *testing.B) { filtertest.Bench(b, catalog.Loop, variants()...) }
