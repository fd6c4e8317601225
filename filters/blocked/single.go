package blocked

import "math/bits"

// Patterns is a filter of the pattern layout as a type of its own: the same table
// under calls so short that the compiler inlines them, which those of Filter, who
// has five kinds of blocks to tell apart, are not. One key at a time it is 1.4
// times as fast. The zero value is not usable; see [Filter.Patterns].
type Patterns struct{ lines []line }

// Patterns returns the filter as a type of its own if its layout is Pattern. Both
// share one table: what one stores, the other finds.
func (f *Filter) Patterns() (p Patterns, ok bool) {
	if f.kernel != patterned {
		return Patterns{}, false
	}
	return Patterns{f.lines}, true
}

// Contains reports whether h may have been stored.
func (p Patterns) Contains(h uint64) bool {
	i, _ := bits.Mul64(h, uint64(len(p.lines)))
	return missPattern(&p.lines[i], h) == 0
}

// Add stores h.
func (p Patterns) Add(h uint64) {
	i, _ := bits.Mul64(h, uint64(len(p.lines)))
	setPatterns(&p.lines[i], h)
}
