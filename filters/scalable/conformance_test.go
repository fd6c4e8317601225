package scalable_test

import (
	"testing"

	"filterlab/filters/filtertest"
	"filterlab/filters/scalable"
	"filterlab/filters/standard"
)

func variants() []scalable.Variant {
	return []scalable.Variant{
		{},
		{N0: 100, Growth: 4, Tighten: 0.5},
		{Growth: 1.5, Tighten: 0.9},
		{Scheme: standard.Double64},
	}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}
