package hashing

import "encoding/binary"

func entryLevelDB() Entry {
	return Entry{
		Name:         "leveldb",
		Doc:          "32-bit hash of LevelDB's filters, which goleveldb, Badger and Pebble took over: no finalization, and padded numbers collide",
		Weak:         true,
		Bits:         32,
		Reproducible: true,
		Verification: 0x05c9cd97,
		New: func(seed uint64) Hash {
			f := levelDB{id: id{"leveldb", seed}}
			if seed != 0 {
				f.prefix = binary.LittleEndian.AppendUint64(nil, seed)
			}
			return f
		},
	}
}

// LevelDBSeed is the seed that the filters of LevelDB and its descendants give
// their hash.
const LevelDBSeed = 0xbc9f1d34

const levelDBMultiplier = 0xc6a4a793

// LevelDB is the hash of LevelDB (util/hash.cc) with a seed: four bytes at a time
// are added as a little-endian word, multiplied, and the upper half folded onto
// the lower once. Of one to three last bytes the fold takes only the top byte.
// There is no finalization.
func LevelDB(key []byte, seed uint32) uint32 {
	return levelDBTail(levelDBWords(seed^uint32(len(key))*levelDBMultiplier, key), key)
}

func levelDBWords(h uint32, key []byte) uint32 {
	for ; len(key) >= 4; key = key[4:] {
		h = (h + binary.LittleEndian.Uint32(key)) * levelDBMultiplier
		h ^= h >> 16
	}
	return h
}

// levelDBTail takes in the bytes of key that fill no word. They count as
// unsigned, as they do in LevelDB since its version 1.18 (elsewhere and before,
// the sign of a char was the compiler's).
func levelDBTail(h uint32, key []byte) uint32 {
	tail := key[len(key)&^3:]
	if len(tail) == 0 {
		return h
	}
	for i, c := range tail {
		h += uint32(c) << (8 * i)
	}
	h *= levelDBMultiplier
	return h ^ h>>24
}

// levelDB puts the eight bytes of a seed other than 0 in front of the key: two
// words, so that the key keeps its alignment to words, and with it its faults.
type levelDB struct {
	id
	prefix []byte
}

func (f levelDB) Sum64(key []byte) uint64 { return widen32(f.sum32(key)) }

func (f levelDB) sum32(key []byte) uint32 {
	h := uint32(LevelDBSeed) ^ uint32(len(f.prefix)+len(key))*levelDBMultiplier
	return levelDBTail(levelDBWords(levelDBWords(h, f.prefix), key), key)
}

func (f levelDB) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f levelDB) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f levelDB) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
