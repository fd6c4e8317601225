package hashing

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

func entryXXHash64() Entry {
	return Entry{
		Name:         "xxhash64",
		Alias:        "xxhash",
		Doc:          "XXH64 (Collet): the common default of databases and file formats; seed 0 has a faster path than the other seeds",
		Bits:         64,
		Seedable:     true,
		Reproducible: true,
		Verification: 0x024b7cf4,
		New:          func(seed uint64) Hash { return xxHash64{id{"xxhash64", seed}} },
	}
}

type xxHash64 struct{ id }

func (f xxHash64) Sum64(key []byte) uint64 {
	if f.seed == 0 {
		return xxhash.Sum64(key)
	}
	// The one-shot function takes no seed. The digest stays on the stack.
	var d xxhash.Digest
	d.ResetWithSeed(f.seed)
	_, _ = d.Write(key) // never fails
	return d.Sum64()
}

func (f xxHash64) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f xxHash64) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f xxHash64) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
