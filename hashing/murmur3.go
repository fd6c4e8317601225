package hashing

import (
	"encoding/binary"
	"math/bits"
)

func entryMurmur3() Entry {
	return Entry{
		Name:         "murmur3",
		Doc:          "MurmurHash3 x64 128 (Appleby), the low 64 bits: the hash of many older Bloom filters; collisions can be made by hand for every seed",
		Bits:         64,
		Seedable:     true,
		Reproducible: true,
		Verification: 0x443d8c6d,
		New:          func(seed uint64) Hash { return murmur3Hash{id{"murmur3", seed}} },
	}
}

// murmur3Hash goes through the library for the published 32-bit seeds, where the
// library is right (see murmur3_library.go), and through the twin below for the
// rest.
type murmur3Hash struct{ id }

func (f murmur3Hash) Sum64(key []byte) uint64 {
	if f.seed>>32 == 0 {
		return murmur3Sum(key, uint32(f.seed))
	}
	return murmur3Twin(key, f.seed)
}

func (f murmur3Hash) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

// SumUint64 goes through the twin because the library lets its argument escape,
// which would put the eight bytes on the heap.
func (f murmur3Hash) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return murmur3Twin(b[:], f.seed)
}

func (f murmur3Hash) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}

// murmur3Twin is MurmurHash3_x64_128 without unsafe reads, for every byte order.
// Both halves of the state start from the seed, as published for seeds of 32
// bits; longer seeds follow the same rule.
func murmur3Twin(key []byte, seed uint64) uint64 {
	h1, _ := murmur3Twin128(key, seed)
	return h1
}

func murmur3Twin128(key []byte, seed uint64) (h1, h2 uint64) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	scramble1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	scramble2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

	h1, h2 = seed, seed
	length := uint64(len(key))
	for len(key) >= 16 {
		h1 ^= scramble1(binary.LittleEndian.Uint64(key))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= scramble2(binary.LittleEndian.Uint64(key[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
		key = key[16:]
	}

	// The rest counts as two words padded with zeros; scrambling 0 gives 0, so
	// that the cases of the original need no telling apart.
	var k1, k2 uint64
	if len(key) >= 8 {
		k1 = binary.LittleEndian.Uint64(key)
		k2 = word(key[8:])
	} else {
		k1 = word(key)
	}
	h1 ^= scramble1(k1)
	h2 ^= scramble2(k2)

	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	h1 = fmix64(h1)
	h2 = fmix64(h2)
	h1 += h2
	h2 += h1
	return h1, h2
}

// word reads at most the first eight bytes as a little-endian word padded with
// zeros.
func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return w
}
