package hashing

import (
	"crypto/sha256"
	"encoding/binary"
)

func entrySHA256() Entry {
	return Entry{
		Name:         "sha256",
		Doc:          "SHA-256 (FIPS 180-4), the first 8 bytes as a little-endian word: the slow reference that nobody doubts",
		Bits:         64,
		Reproducible: true,
		Verification: 0x9f37b9b6,
		New:          func(seed uint64) Hash { return sha256Hash{id{"sha256", seed}} },
	}
}

// sha256Hash puts the seed in front of the key.
type sha256Hash struct{ id }

func (f sha256Hash) Sum64(key []byte) uint64 {
	if f.seed == 0 {
		sum := sha256.Sum256(key)
		return binary.LittleEndian.Uint64(sum[:])
	}
	if len(key) <= maxPrefixed {
		var buf [8 + maxPrefixed]byte
		sum := sha256.Sum256(prefixed(&buf, f.seed, key))
		return binary.LittleEndian.Uint64(sum[:])
	}
	var prefix [8]byte
	binary.LittleEndian.PutUint64(prefix[:], f.seed)
	d := sha256.New() // stays on the stack: the compiler knows its type
	d.Write(prefix[:])
	d.Write(key)
	var sum [sha256.Size]byte
	d.Sum(sum[:0])
	return binary.LittleEndian.Uint64(sum[:])
}

func (f sha256Hash) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f sha256Hash) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f sha256Hash) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
