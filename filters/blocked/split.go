package blocked

import (
	"encoding/binary"
	"fmt"

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

// splitAt is the first word of the block of h: the fast range of the high half.
func splitAt(h, blocks uint64) uint64 { return (h >> 32) * blocks >> 32 * uint64(len(quad{})) }

// hitSplit has its lowest bit set if all eight bits of h are set in b. Shifting
// the table, not a mask, saves the eight masks.
func hitSplit(b *quad, h uint64) uint64 {
	x := uint32(h)
	return b[0] >> (x * salt0 >> 27) & (b[0] >> 32 >> (x * salt1 >> 27)) &
		(b[1] >> (x * salt2 >> 27)) & (b[1] >> 32 >> (x * salt3 >> 27)) &
		(b[2] >> (x * salt4 >> 27)) & (b[2] >> 32 >> (x * salt5 >> 27)) &
		(b[3] >> (x * salt6 >> 27)) & (b[3] >> 32 >> (x * salt7 >> 27))
}

// setSplit sets the eight bits of h in b.
func setSplit(b *quad, h uint64) {
	x := uint32(h)
	b[0] |= 1<<(x*salt0>>27) | 1<<32<<(x*salt1>>27)
	b[1] |= 1<<(x*salt2>>27) | 1<<32<<(x*salt3>>27)
	b[2] |= 1<<(x*salt4>>27) | 1<<32<<(x*salt5>>27)
	b[3] |= 1<<(x*salt6>>27) | 1<<32<<(x*salt7>>27)
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
