package counting

import (
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/index"
)

// Layout says where in the table the counters of a key may lie.
type Layout uint8

const (
	// DefaultLayout stands for Shared.
	DefaultLayout Layout = iota

	// Shared lets every probe fall on every counter, as published: the fewest
	// bits for a rate, and a cache miss for every probe.
	Shared

	// Blocked keeps all counters of a key in one block of 512 bits, a cache line:
	// one cache miss a key, and no multiplication of 128 bits but the one that
	// chooses the block. Some blocks get more keys than others, and that costs
	// bits: 10.85 counters a key for 1% where Shared takes 9.59 (4 bits each, 128
	// in a block), 12.14 with 8 bits and 10.22 with 2. Sizing and prediction use
	// the mixture over the load of a block ([filterlab/filters/theory.Blocked]). A
	// block of 32 counters of 16 bits would be too small to be of use, and is
	// refused.
	Blocked
)

// String prints the name that ParseLayout reads; the default prints as nothing.
func (l Layout) String() string {
	switch l {
	case DefaultLayout:
		return ""
	case Shared:
		return "shared"
	case Blocked:
		return "blocked"
	}
	return "Layout(" + strconv.Itoa(int(l)) + ")"
}

// ParseLayout is the inverse of Layout.String.
func ParseLayout(s string) (Layout, error) {
	for l := DefaultLayout; l <= Blocked; l++ {
		if s == l.String() {
			return l, nil
		}
	}
	return 0, refuseLayout(strconv.Quote(s))
}

func refuseLayout(v any) error {
	return filters.Refuse("counting: layout", v, "shared or blocked")
}

// blockBits is the size of a block of the blocked layout: a cache line, fixed, not
// read from the host, so that filters are alike everywhere.
const blockBits = 512

// line is a block of the blocked layout.
type line = [blockBits / 64]uint64

// The block of a key is the fast range of h, and probe i of the block that of
// h·c^(i+1), c = index.Multiplier: with a power of two of counters, its leading
// bits. Given the block only the low bits of h vary, and they reach the leading
// bits of a product from below; that it is as good as independent probes is
// measured (TestBlockedRate).

// The powers of the multiplier mod 2^64.
const (
	mul1 = index.Multiplier
	mul2 = mul1 * mul1 & (1<<64 - 1)
	mul3 = mul2 * mul1 & (1<<64 - 1)
	mul4 = mul3 * mul1 & (1<<64 - 1)
	mul5 = mul4 * mul1 & (1<<64 - 1)
	mul6 = mul5 * mul1 & (1<<64 - 1)
)

// hit asks a block for all counters of a key without leaving early, so that no
// branch depends on the key; x is the hash. The nine leading bits of x are the
// place of a bit in the block; without the lowest, which lie within a counter,
// they are the place of the counter.
func hit(b *line, x uint64, k int, within, top uint64) bool {
	none := uint64(0) // its highest bit tells of a counter at zero
	if k == 6 {       // what 1% takes: without a loop, an eighth faster
		none = counter(b, x*mul1, within, top) - 1
		none |= counter(b, x*mul2, within, top) - 1
		none |= counter(b, x*mul3, within, top) - 1
		none |= counter(b, x*mul4, within, top) - 1
		none |= counter(b, x*mul5, within, top) - 1
		none |= counter(b, x*mul6, within, top) - 1
		return none>>63 == 0
	}
	for ; k > 1; k -= 2 {
		none |= (counter(b, x*mul1, within, top) - 1) | (counter(b, x*mul2, within, top) - 1)
		x *= mul2
	}
	if k > 0 {
		none |= counter(b, x*mul1, within, top) - 1
	}
	return none>>63 == 0
}

// counter is the counter at the leading bits of x.
func counter(b *line, x, within, top uint64) uint64 {
	return b[x>>61] >> (x >> 55 & within & 63) & top
}

// raise adds one to all counters of a key, two to one that two probes share, and
// returns how many reached the ceiling by it. In the loop over a batch it takes a
// quarter longer when it is inlined: too many values for the registers.
//
//go:noinline
func raise(b *line, x uint64, k int, within, top uint64) (saturated uint64) {
	for ; k > 0; k-- {
		x *= index.Multiplier
		y := x >> (64 - 9)
		s := y & within & 63
		switch b[y>>6] >> s & top {
		case top:
		case top - 1:
			saturated++
			fallthrough
		default:
			b[y>>6] += 1 << s
		}
	}
	return saturated
}
