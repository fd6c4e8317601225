package hashing

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

func entryBLAKE3() Entry {
	return Entry{
		Name:         "blake3",
		Doc:          "BLAKE3 (O'Connor and others), the first 8 bytes as a little-endian word: cryptographic, for scale",
		Bits:         64,
		Reproducible: true,
		Verification: 0x535f858f,
		New:          func(seed uint64) Hash { return blake3Hash{id{"blake3", seed}} },
	}
}

// blake3Hash puts the seed in front of the key. The keyed mode of BLAKE3 would
// serve as well, but the library offers it only through a hasher of 11 KiB that
// must be cleared for every key.
type blake3Hash struct{ id }

func (f blake3Hash) Sum64(key []byte) uint64 {
	if f.seed == 0 {
		sum := blake3.Sum256(key)
		return binary.LittleEndian.Uint64(sum[:])
	}
	if len(key) <= maxPrefixed {
		var buf [8 + maxPrefixed]byte
		sum := blake3.Sum256(prefixed(&buf, f.seed, key))
		return binary.LittleEndian.Uint64(sum[:])
	}
	var prefix [8]byte
	binary.LittleEndian.PutUint64(prefix[:], f.seed)
	d := blake3.New()
	_, _ = d.Write(prefix[:]) // Write never fails
	_, _ = d.Write(key)
	var sum [32]byte
	d.Sum(sum[:0])
	return binary.LittleEndian.Uint64(sum[:])
}

func (f blake3Hash) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f blake3Hash) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f blake3Hash) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}

// maxPrefixed is the longest key that is copied behind its seed on the stack.
// Longer ones go through a streaming digest, whose cost then no longer shows.
const maxPrefixed = 248

// prefixed writes the seed and the key into buf and returns what it wrote.
func prefixed(buf *[8 + maxPrefixed]byte, seed uint64, key []byte) []byte {
	binary.LittleEndian.PutUint64(buf[:], seed)
	return buf[:8+copy(buf[8:], key)]
}
