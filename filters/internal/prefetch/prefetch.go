// Package prefetch starts cache misses before their data is needed. Go has no
// such instruction. A plain load in its place makes the processor wait in the
// end: it retires instructions in order, and a load that misses holds up all
// behind it, so that touching ahead stops gaining where some hundred
// instructions are in flight. A prefetch retires at once.
//
// Batch methods work through their keys in chunks: they compute where the next
// chunk will read, call [Lines], and meanwhile test the chunk before it. Where
// there is no prefetch ([Enabled] is false) Lines does nothing.
package prefetch

// Lines asks for the cache lines of words[i] for every i of idx. It reads
// nothing of words itself and is safe for any index, but an index beyond the
// table buys nothing. It costs about a nanosecond for four lines, does not
// allocate, and does not let idx escape.
func Lines(words, idx []uint64) {
	if len(words) > 0 && len(idx) > 0 {
		lines(&words[0], &idx[0], len(idx))
	}
}
