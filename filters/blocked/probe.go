package blocked

import (
	"fmt"
	"math/bits"
	"strconv"

	"filterlab/filters"
)

// Probes says how the k bits of a key are drawn inside its block.
type Probes uint8

const (
	// DefaultProbes stands for Independent.
	DefaultProbes Probes = iota

	// Independent draws each bit for itself, so that two of a key's bits may
	// coincide. It is the default by measurement. At 10 bits a key, k = 6 and
	// blocks of 512 bits its rate is 0.9665% where distinct bits reach 0.9550%:
	// 0.03 bits a key would buy the same. For that, distinct bits cost
	// measureMe times the time of a lookup in cache.
	Independent

	// Distinct draws k different bits, every set of k equally likely.
	Distinct
)

// String prints the name that ParseProbes reads; the default prints as nothing.
func (p Probes) String() string {
	switch p {
	case DefaultProbes:
		return ""
	case Independent:
		return "independent"
	case Distinct:
		return "distinct"
	}
	return "Probes(" + strconv.Itoa(int(p)) + ")"
}

// ParseProbes is the inverse of Probes.String.
func ParseProbes(s string) (Probes, error) {
	for p := DefaultProbes; p <= Distinct; p++ {
		if s == p.String() {
			return p, nil
		}
	}
	return 0, filters.Refuse("blocked: probes", strconv.Quote(s), "independent or distinct")
}

// mix makes the next 64 probe bits of a key: both halves of a 128-bit product,
// folded. The block of a key is the fast range of h, that is, its high bits, so
// inside one block only the low bits of h still vary. They reach every bit of
// the low half of the product from below and, with the carries, of the high
// half; hence every bit of the fold depends on them, and given the block the
// fold is uniform. Taking the high bits of h times a few constants is as good
// but gives only one probe a multiplication; plain low bits of such products are
// not, because they all depend on the same few bits of h, and probes coincide
// together.
//
// It is not a repair of weak hashes: the block is chosen by h as it is.
func mix(x uint64) uint64 {
	// 2^64 divided by the golden ratio, odd (Knuth, The Art of Computer
	// Programming 3, section 6.4).
	hi, lo := bits.Mul64(x, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// geometry is what the kernels need to know about a block.
type geometry struct {
	words []uint64
	count uint64 // blocks
	mask  uint64 // block bits - 1
	log   uint   // log2 of the block bits
	fresh int    // probes that one mix feeds
	k     int
}

// block returns the first word of the block of h, the fast range of h.
func (g *geometry) block(h uint64) uint64 {
	i, _ := bits.Mul64(h, g.count)
	return i << ((g.log - 6) & 63)
}

// subset fills pos with k different positions in a block, every set equally
// likely, by Floyd's algorithm (Bentley and Floyd, "A sample of brilliance",
// CACM 30:9, 1987): k draws, no rejection, so its time does not depend on the
// key.
func (g *geometry) subset(pos *[MaxK]uint16, h uint64) []uint16 {
	out := pos[:g.k]
	size := g.mask + 1
	x := h
	for i := range out {
		var draw uint32
		if i&1 == 0 {
			x = mix(x)
			draw = uint32(x)
		} else {
			draw = uint32(x >> 32)
		}
		last := size - uint64(g.k-i) // draw from 0 to last
		p := uint16(uint64(draw) * (last + 1) >> 32)
		for _, q := range out[:i] {
			if p == q {
				p = uint16(last) // taken; last itself cannot be
				break
			}
		}
		out[i] = p
	}
	return out
}

func validBlockBits(b int) bool {
	return b >= MinBlockBits && b <= MaxBlockBits && b&(b-1) == 0
}

func refuseBlockBits(v any) error {
	return filters.Refuse("blocked: block", v, fmt.Sprintf("a power of two from %d to %d bits", MinBlockBits, MaxBlockBits))
}
