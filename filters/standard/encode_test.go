package standard_test

import (
	"testing"

	"filterlab/filters/filtertest"
	"filterlab/filters/standard"
)

// Every scheme and layout is saved as such: a filter read back is Equal, has the
// same Config and merges with the one that was saved.
func TestSavedSchemes(t *testing.T) {
	for _, scheme := range standard.Schemes() {
		for _, layout := range []standard.Layout{standard.Shared, standard.Partitioned} {
			if layout == standard.Partitioned && scheme != standard.Independent {
				continue // no such filter
			}
			f, err := standard.New(standard.Config{Bits: 10003 * 5, K: 5, Scheme: scheme, Layout: layout})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.AddMany(filtertest.Members(1, 3000)); err != nil {
				t.Fatal(err)
			}
			b, err := f.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			var g standard.Filter
			if err := g.UnmarshalBinary(b); err != nil {
				t.Fatalf("%v, %v: %v", scheme, layout, err)
			}
			if !g.Equal(f) || g.Config() != f.Config() || g.Merge(f) != nil || f.Merge(&g) != nil || !g.Equal(f) {
				t.Errorf("%v, %v: another filter after reading: %+v", scheme, layout, g.Config())
			}
		}
	}
}
