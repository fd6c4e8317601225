package packed

import (
	"math/bits"
	"sync/atomic"
)

// The functions below read and write a table that others write at the same time
// with the same functions. Words are 64-bit aligned on every platform (the first
// word of an allocated slice always is, and tables start at a cache line), which
// is what 64-bit atomics need on 32-bit machines.

// SetAtomic sets the bits of mask in *w and reports whether all of them were set
// before. Of several callers that set one bit, exactly one is told that it was
// clear. A word that has the bits already is only read, so that keys stored again
// do not take its cache line from the other cores.
func SetAtomic(w *uint64, mask uint64) (were bool) {
	if atomic.LoadUint64(w)&mask == mask {
		return true
	}
	return atomic.OrUint64(w, mask)&mask == mask
}

// OrAtomic sets every bit of dst that is set in src, which nobody writes to
// meanwhile. Both have the same length.
func OrAtomic(dst, src []uint64) {
	src = src[:len(dst)]
	for i, w := range src {
		if w != 0 {
			atomic.OrUint64(&dst[i], w)
		}
	}
}

// OnesCountAtomic is the number of bits set in the table, each word as it stands
// when it is read.
func OnesCountAtomic(words []uint64) uint64 {
	n := 0
	for i := range words {
		n += bits.OnesCount64(atomic.LoadUint64(&words[i]))
	}
	return uint64(n)
}
