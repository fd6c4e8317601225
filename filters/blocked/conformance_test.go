package blocked_test

import (
	"testing"

	"filterlab/filters/blocked"
	"filterlab/filters/filtertest"
)

// variants are one for each kernel and some between; sizing of the largest
// blocks takes too long to run the whole suite on them.
func variants() []blocked.Variant {
	return []blocked.Variant{
		{},
		{K: 6},
		{BlockBits: 64},
		{BlockBits: 64, Probes: blocked.Distinct},
		{BlockBits: 256, K: 9, Probes: blocked.Distinct},
		{BlockBits: 1024, K: 7, Probes: blocked.Independent},
	}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}
