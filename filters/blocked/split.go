package blocked

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// The split-block filter as Parquet's BloomFilter.md describes it: the high half
// of a hash chooses the block, the low half times eight odd numbers the bit in
// each of eight lanes. Two lanes share a word of the table, the first in the low
// half, so that the bytes of a table, each word in little-endian order, are those
// of the file format.

// Its geometry.
const (
	splitBits = theory.SplitBlockBits
	splitK    = 8 // lanes of 32 bits
)

// quad is a block of a split-block filter.
type quad = [splitBits / 64]uint64

// The salts of the file format.
const (
	salt0 uint32 = 0x47b6137b
	salt1 uint32 = 0x44974d91
	salt2 uint32 = 0x8824ad5b
	salt3 uint32 = 0xa2b7289d
	salt4 uint32 = 0x705495c7
	salt5 uint32 = 0x2df1424b
	salt6 uint32 = 0x9efc4947
	salt7 uint32 = 0x5c6bfb31
)

// splitBlock is the block of h: the fast range of the high half.
func splitBlock(h, blocks uint64) uint64 { return (h >> 32) * blocks >> 32 }

// lanes sets the bits of two lanes in their word. To set a bit at a variable place
// is one instruction on amd64, to shift by a variable takes three on older
// processors; therefore nothing is shifted, here and in missSplit (5.2 against
// 7.3 ns).
func lanes(w uint64, x, low, high uint32) uint64 {
	w |= 1 << (x * low >> 27 & 63)
	w |= 1 << ((x*high>>27 | 32) & 63)
	return w
}

// missSplit is zero if all eight bits of h are set in b: setting them changes
// nothing. It is too long for the compiler to inline, so that the loop over a
// batch has its own copy.
func missSplit(b *quad, h uint64) uint64 {
	x := uint32(h)
	return (lanes(b[0], x, salt0, salt1) ^ b[0]) | (lanes(b[1], x, salt2, salt3) ^ b[1]) |
		(lanes(b[2], x, salt4, salt5) ^ b[2]) | (lanes(b[3], x, salt6, salt7) ^ b[3])
}

// setSplit sets the eight bits of h in b.
func setSplit(b *quad, h uint64) {
	x := uint32(h)
	b[0] = lanes(b[0], x, salt0, salt1)
	b[1] = lanes(b[1], x, salt2, salt3)
	b[2] = lanes(b[2], x, salt4, salt5)
	b[3] = lanes(b[3], x, salt6, salt7)
}

// splitRate is the share of hashes that find their bits in b.
func splitRate(b *quad) float64 {
	r := 1.0
	for _, w := range b {
		r *= float64(bits.OnesCount32(uint32(w))*bits.OnesCount32(uint32(w>>32))) / (32 * 32)
	}
	return r
}

// AppendParquet appends the bitset of a Parquet Bloom filter to dst: 32 bytes a
// block. It is what follows the Thrift header in the file, and the length that
// the header states. Only the split layout has it; a filter of another is
// refused. Readers expect hashes of XXH64 with seed 0 over the plain encoding of
// the value.
func (f *Filter) AppendParquet(dst []byte) ([]byte, error) {
	if f.config.Layout != Split {
		return dst, filters.Refuse("blocked: layout", f.config.Layout, "split, the one layout that Parquet has")
	}
	for _, w := range f.words[:f.SizeBits()/64] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst, nil
}

// FromParquet makes a filter of the bitset of a Parquet Bloom filter, which is
// copied. Its length is 32 bytes for each of 1 to 2^31-1 blocks.
func FromParquet(bitset []byte) (*Filter, error) {
	if len(bitset) == 0 || len(bitset)%(splitBits/8) != 0 {
		return nil, filters.Refuse("blocked: bitset", fmt.Sprintf("%d bytes", len(bitset)), "32 bytes for each block")
	}
	f, err := New(Config{Layout: Split, Blocks: uint64(len(bitset)) / (splitBits / 8)})
	if err != nil {
		return nil, err
	}
	for i := range f.words[:len(bitset)/8] {
		f.words[i] = binary.LittleEndian.Uint64(bitset[i*8:])
	}
	return f, nil
}
