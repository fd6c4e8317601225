package hashing_test

import (
	"testing"

	"filterlab/hashing"
)

// D12: a hash that is another function in every process says so itself, since
// filters, which do not know the list, ask it before they are saved.
func TestD12_ReproducibleIsSaid(t *testing.T) {
	for _, e := range hashing.All() {
		r, ok := e.New(0).(interface{ Reproducible() bool })
		if says := !ok || r.Reproducible(); says != e.Reproducible {
			t.Errorf("%s: the entry is reproducible: %v, its hash says %v", e.Name, e.Reproducible, says)
		}
	}
}
