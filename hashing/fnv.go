package hashing

import "encoding/binary"

func entryFNV1a64() Entry {
	return Entry{
		Name:         "fnv1a64",
		Alias:        "fnv",
		Doc:          "FNV-1a 64 (Fowler, Noll, Vo): a byte at a time, two operations a byte; fails avalanche at every length",
		Weak:         true,
		Bits:         64,
		Reproducible: true,
		Verification: 0x42650993,
		New: func(seed uint64) Hash {
			f := fnv1a64{id{"fnv1a64", seed}, fnvOffset64}
			if seed != 0 {
				f.start = f.Sum64(binary.LittleEndian.AppendUint64(nil, seed))
			}
			return f
		},
	}
}

func entryFNV1a32() Entry {
	return Entry{
		Name:         "fnv1a32",
		Doc:          "FNV-1a 32, spread over 64 bits by an odd multiplier: the teaching choice; 32 bits floor the rate at n / 2^32",
		Weak:         true,
		Bits:         32,
		Reproducible: true,
		Verification: 0x651c562f,
		New: func(seed uint64) Hash {
			f := fnv1a32{id{"fnv1a32", seed}, fnvOffset32}
			if seed != 0 {
				f.start = f.sum32(binary.LittleEndian.AppendUint64(nil, seed))
			}
			return f
		},
	}
}

// Offsets and primes of the reference (draft-eastlake-fnv).
const (
	fnvOffset64 = 0xcbf29ce484222325
	fnvPrime64  = 0x100000001b3
	fnvOffset32 = 0x811c9dc5
	fnvPrime32  = 0x01000193
)

// fnv1a64 starts from the state after the seed, which costs a key nothing.
type fnv1a64 struct {
	id
	start uint64
}

func (f fnv1a64) Sum64(key []byte) uint64 {
	h := f.start
	for _, c := range key {
		h = (h ^ uint64(c)) * fnvPrime64
	}
	return h
}

func (f fnv1a64) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f fnv1a64) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f fnv1a64) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}

type fnv1a32 struct {
	id
	start uint32
}

func (f fnv1a32) Sum64(key []byte) uint64 { return widen32(f.sum32(key)) }

func (f fnv1a32) sum32(key []byte) uint32 {
	h := f.start
	for _, c := range key {
		h = (h ^ uint32(c)) * fnvPrime32
	}
	return h
}

func (f fnv1a32) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f fnv1a32) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f fnv1a32) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}

// Filters take the block from the top of a hash, so that 32 bits must be spread
// over 64 before they are one. An odd multiplier (2^64 over the golden ratio)
// does that and loses nothing; it does not hide the faults of the 32 bits, which
// stand in the low half times a constant.
const (
	widen        = 0x9e3779b97f4a7c15
	widenInverse = 0x9937733d // widen * widenInverse = 1 mod 2^32
)

func widen32(h uint32) uint64 { return uint64(h) * widen }

// Narrow32 gives back the 32 bits of a digest of an entry whose Bits are 32.
func Narrow32(h uint64) uint32 { return uint32(h) * widenInverse }
