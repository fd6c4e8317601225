// Package prefetch starts cache misses before their data is needed.
//
// Batch methods work through their keys in chunks: they compute where the next
// chunk will read, call [Lines], and meanwhile test the chunk before it.
//
// Go has no instruction for it, hence a few lines of assembly on amd64 and arm64.
// A plain load in its place makes the processor wait in the end: it retires
// instructions in order, and a load that misses holds up all behind it, so that
// reading ahead stops gaining where some hundred instructions are in flight. A
// prefetch retires at once. Elsewhere, and with the tag purego, Lines reads, which
// still lets the misses of a chunk overlap.
package prefetch

// Lines asks for the cache lines of words[i] for every i of idx. It cannot fault:
// an index beyond the table buys nothing. It costs about a nanosecond for four
// lines that are cached, does not allocate, and does not let idx escape. When
// others write to the table at the same time, reading is a data race as any
// lookup would be.
func Lines(words, idx []uint64) { lines(words, idx) }
