package hashing

import (
	"encoding/binary"
	"hash/maphash"
)

func entryMapHash() Entry {
	return Entry{
		Name: "maphash",
		Doc: "hash/maphash, the hash of Go's maps: random in every process, so not for saved filters; " +
			"the seed is mixed into the digest afterwards",
		Bits: 64,
		New:  func(seed uint64) Hash { return mapHash{id{"maphash", seed}} },
	}
}

// processSeed selects the function for this process. It is one for all hashes:
// two hashes of the same name and seed must agree, or filters that compare equal
// could not be merged.
var processSeed = maphash.MakeSeed()

type mapHash struct{ id }

// Sum64 cannot hand the seed on, since a maphash.Seed is drawn, not set. A
// bijective mix after the fact gives other positions in a filter for every seed,
// and costs a key two multiplications; a prefix would cost the one-shot call.
func (f mapHash) Sum64(key []byte) uint64 {
	h := maphash.Bytes(processSeed, key)
	if f.seed == 0 {
		return h
	}
	return fmix64(h ^ f.seed)
}

// Reproducible is false: what filters ask before they are saved.
func (f mapHash) Reproducible() bool { return false }

func (f mapHash) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f mapHash) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f mapHash) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
