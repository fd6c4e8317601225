package standard_test

import (
	"testing"

	"filterlab/filters/filtertest"
	"filterlab/filters/standard"
)

// variants are the kinds of filter the family makes: every scheme and layout,
// and k fixed from outside. Textbook sizing is left out: it breaks its promise, which
// TestTextbookBreaksItsPromise holds it to.
func variants() []standard.Variant {
	vs := []standard.Variant{
		{K: 7},
		{K: 1},
		{Layout: standard.Partitioned},
		{Layout: standard.Partitioned, K: 5},
	}
	for _, s := range standard.Schemes() {
		vs = append(vs, standard.Variant{Scheme: s})
	}
	return vs
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}
