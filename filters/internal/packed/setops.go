package packed

import "math/bits"

// OnesCountRange is the number of bits set from position from up to, not
// including, position to.
func OnesCountRange(words []uint64, from, to uint64) uint64 {
	if from >= to {
		return 0
	}
	first, last := from>>6, (to-1)>>6
	head := ^uint64(0) << (from & 63)
	tail := ^uint64(0) >> (63 - (to-1)&63)
	if first == last {
		return uint64(bits.OnesCount64(words[first] & head & tail))
	}
	n := bits.OnesCount64(words[first]&head) + bits.OnesCount64(words[last]&tail)
	return uint64(n) + OnesCount(words[first+1:last])
}

// Or sets every bit of dst that is set in src. Both have the same length.
func Or(dst, src []uint64) {
	src = src[:len(dst)]
	for i, w := range src {
		dst[i] |= w
	}
}

// OnesCountOr is the number of bits set in a, in b or in both, which have the same
// length. It changes neither.
func OnesCountOr(a, b []uint64) uint64 {
	b = b[:len(a)]
	n := 0
	for i, w := range a {
		n += bits.OnesCount64(w | b[i])
	}
	return uint64(n)
}
