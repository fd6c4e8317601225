package counting_test

import (
	"testing"

	"filterlab/filters/counting"
	"filterlab/filters/filtertest"
)

func variants() []counting.Variant {
	return []counting.Variant{{}, {Width: 2}, {Width: 8, K: 4}, {Width: 16}}
}

func TestConformance(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v) })
	}
}
