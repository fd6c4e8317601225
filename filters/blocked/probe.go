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
	// coincide. It is the default by measurement: at 10 bits a key, k = 6 and
	// blocks of 512 bits its rate is 0.9665%, where distinct bits reach 0.9550%,
	// a gain that 0.03 bits a key buy as well. For that, an operation in cache
	// with distinct bits takes three times as long (25 against 8 ns), twice with
	// blocks of 64 bits (21 against 11 ns, 1.784% against 1.694%).
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
// the low half of the product from below, every bit of the high half with the
// carries; hence every bit of the fold depends on them, and given the block the
// fold is as good as uniform (measured against the exact rate for k from 1 to 20
// and all block sizes). The high bits of h times several constants would do as
// well, at one multiplication a probe. The low bits of such products would not:
// all of them depend on the same few bits of h, and probes would coincide
// together.
//
// This repairs no weak hash: h itself, as it is, chooses the block.
func mix(x uint64) uint64 {
	// 2^64 divided by the golden ratio, odd (Knuth, The Art of Computer
	// Programming 3, 6.4).
	hi, lo := bits.Mul64(x, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// line is a block of the default size, a cache line.
type line = [DefaultBlockBits / 64]uint64

// perMix is how many probes of 9 bits one mix feeds.
const perMix = 7

// hit512 has its lowest bit set if all k bits of a key are set in b; x is the mix
// of the key's hash. It does not leave early: hits and misses cost the same, and
// no branch depends on the answer. The probes are written out because a loop
// over them, with the shifts in variables, takes 10.3 instead of 7.2 ns at k = 6.
func hit512(b *line, x uint64, k int) uint64 {
	hit := ^uint64(0)
	for ; ; k -= perMix {
		switch {
		case k >= 7:
			hit &= b[x>>60&7] >> (x >> 54 & 63)
			fallthrough
		case k == 6:
			hit &= b[x>>51&7] >> (x >> 45 & 63)
			fallthrough
		case k == 5:
			hit &= b[x>>42&7] >> (x >> 36 & 63)
			fallthrough
		case k == 4:
			hit &= b[x>>33&7] >> (x >> 27 & 63)
			fallthrough
		case k == 3:
			hit &= b[x>>24&7] >> (x >> 18 & 63)
			fallthrough
		case k == 2:
			hit &= b[x>>15&7] >> (x >> 9 & 63)
			fallthrough
		default:
			hit &= b[x>>6&7] >> (x & 63)
		}
		if k <= perMix {
			return hit
		}
		x = mix(x)
	}
}

// set512 sets the k bits of a key in b.
func set512(b *line, x uint64, k int) {
	for ; ; k -= perMix {
		switch {
		case k >= 7:
			b[x>>60&7] |= 1 << (x >> 54 & 63)
			fallthrough
		case k == 6:
			b[x>>51&7] |= 1 << (x >> 45 & 63)
			fallthrough
		case k == 5:
			b[x>>42&7] |= 1 << (x >> 36 & 63)
			fallthrough
		case k == 4:
			b[x>>33&7] |= 1 << (x >> 27 & 63)
			fallthrough
		case k == 3:
			b[x>>24&7] |= 1 << (x >> 18 & 63)
			fallthrough
		case k == 2:
			b[x>>15&7] |= 1 << (x >> 9 & 63)
			fallthrough
		default:
			b[x>>6&7] |= 1 << (x & 63)
		}
		if k <= perMix {
			return
		}
		x = mix(x)
	}
}

// hitAny is hit512 for blocks of any size. It takes the probe bits in the same
// order: with 512 bits the two agree.
func hitAny(b []uint64, x uint64, k int) uint64 {
	log := uint(bits.TrailingZeros(uint(len(b)))) + 6
	mask, fresh := uint64(len(b))*64-1, 64/int(log)
	hit := ^uint64(0)
	for ; ; k -= fresh {
		y := x
		for i := min(k, fresh); i > 0; i-- {
			hit &= b[y&mask>>6] >> (y & 63)
			y >>= log & 63
		}
		if k <= fresh {
			return hit
		}
		x = mix(x)
	}
}

// setAny is set512 for blocks of any size.
func setAny(b []uint64, x uint64, k int) {
	log := uint(bits.TrailingZeros(uint(len(b)))) + 6
	mask, fresh := uint64(len(b))*64-1, 64/int(log)
	for ; ; k -= fresh {
		y := x
		for i := min(k, fresh); i > 0; i-- {
			b[y&mask>>6] |= 1 << (y & 63)
			y >>= log & 63
		}
		if k <= fresh {
			return
		}
		x = mix(x)
	}
}

// pattern sets k different bits in p, which is clear and as long as a block,
// every set of k equally likely: Floyd's algorithm (Bentley and Floyd, "A sample
// of brilliance", CACM 30:9, 1987). It takes k draws and rejects none, so that
// its time does not depend on the key.
func pattern(p []uint64, x uint64, k int) {
	size := uint64(len(p)) * 64
	for i := 0; i < k; i++ {
		last := size - uint64(k-i) // draw from 0 to last; earlier draws are below last
		bit := x & half * (last + 1) >> 32
		if p[bit>>6]>>(bit&63)&1 != 0 {
			bit = last
		}
		p[bit>>6] |= 1 << (bit & 63)
		if i&1 == 0 {
			x = bits.RotateLeft64(x, 32) // the other half
		} else {
			x = mix(bits.RotateLeft64(x, 32))
		}
	}
}

// half masks a draw, which takes half of a mix.
const half = 1<<32 - 1

// hitPattern is hit512 for distinct probes.
func hitPattern(b []uint64, x uint64, k int) uint64 {
	var buf [MaxBlockBits / 64]uint64
	p := buf[:len(b)]
	pattern(p, x, k)
	miss := uint64(0)
	for i, w := range b {
		miss |= p[i] &^ w
	}
	if miss != 0 {
		return 0
	}
	return 1
}

// setPattern is set512 for distinct probes.
func setPattern(b []uint64, x uint64, k int) {
	var buf [MaxBlockBits / 64]uint64
	p := buf[:len(b)]
	pattern(p, x, k)
	for i, w := range p {
		b[i] |= w
	}
}

func validBlockBits(b int) bool {
	return b >= MinBlockBits && b <= MaxBlockBits && b&(b-1) == 0
}

func refuseBlockBits(v any) error {
	return filters.Refuse("blocked: block", v, fmt.Sprintf("a power of two from %d to %d bits", MinBlockBits, MaxBlockBits))
}
