package hashing

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

func entryXXH3() Entry {
	return Entry{
		Name:         "xxh3",
		Doc:          "XXH3-64 (Collet): the fastest here on short keys, and on long ones through vector instructions",
		Bits:         64,
		Seedable:     true,
		Reproducible: true,
		Verification: 0x9a636405,
		New:          func(seed uint64) Hash { return xxh3Hash{id{"xxh3", seed}} },
	}
}

type xxh3Hash struct{ id }

func (f xxh3Hash) Sum64(key []byte) uint64 { return xxh3.HashSeed(key, f.seed) }

func (f xxh3Hash) SumString(key string) uint64 { return xxh3.HashStringSeed(key, f.seed) }

func (f xxh3Hash) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f xxh3Hash) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
