// Package hashing lists the hash functions that filterlab measures, each under
// one name and behind one interface, as 64-bit functions of a byte string and a
// 64-bit seed.
//
// # What a seed means
//
// Two seeds stand for two functions: the digests of one key under different
// seeds differ, and keys that collide, or that share a filter's bits, under one
// seed do not do so under the next. Functions that take a seed of their own get
// it (xxhash64, xxh3, murmur3, siphash). Functions without one (blake3, fnv1a64,
// fnv1a32, leveldb, sha256, poly) hash the eight little-endian bytes of the seed
// in front of the key. Seed 0 is the published function itself, with nothing in front, so
// that published test vectors hold for the entries as they stand. Since every
// other seed puts eight bytes in front, no two seeds hash the same string for
// one key.
//
// A seed that the writer of the keys knows protects from nothing: whoever knows
// it can search for keys that a filter answers true for, at a cost of 1/p tries
// each. Where keys come from strangers, take siphash with a secret random seed.
//
// # What the digests are
//
// Digests depend on the bytes of the key alone: not on its alignment, the word
// size, the byte order or the features of the processor. The nil slice, the
// empty slice and the empty string are one key. maphash is the exception that is
// marked: its digests hold within one process.
//
// Every method is safe for concurrent use and allocates nothing, whatever the
// length of the key; the caller's bytes are never written to.
package hashing

import (
	"fmt"
	"strings"
	"unsafe"
)

// Hash is one function under one seed. It satisfies filters.Hasher.
type Hash interface {
	// Name is the name of the entry: "xxhash64".
	Name() string

	// Seed is the seed the hash was made with.
	Seed() uint64

	// Sum64 hashes key. Through this interface the compiler must assume that key
	// escapes: a local array sliced for it moves to the heap.
	Sum64(key []byte) uint64

	// SumString is Sum64([]byte(key)) without the copy.
	SumString(key string) uint64

	// SumUint64 hashes the eight little-endian bytes of key.
	SumUint64(key uint64) uint64

	// SumMany sets dst[i] to Sum64(keys[i]), by direct calls in one loop. dst
	// must be at least as long as keys: a shorter one is misuse and panics, like
	// a bad index. Entries of dst beyond len(keys) are left alone.
	SumMany(dst []uint64, keys [][]byte)
}

// Entry describes a hash function and makes hashes of it.
type Entry struct {
	Name  string // what it is called in tables, flags and files
	Alias string // another name that ByName takes, or ""
	Doc   string // one line: what it is and what it is for

	// Weak entries fail the avalanche test (package hashtest): some output bits
	// do not depend on some input bits as they should. They are here as teaching
	// examples and as controls, not for use.
	Weak bool

	// Bits is the width of the digest before it is laid out in 64 bits: 64, or
	// 32. A filter of n keys cannot have a false-positive rate below n / 2^Bits.
	Bits int

	// Seedable entries take the seed as the published function takes it. The
	// others fold it in as their Doc says.
	Seedable bool

	// Reproducible entries give the same digests in every process and on every
	// machine. The others must not be used for filters that are saved, and rows
	// measured with them cannot be repeated to the bit.
	Reproducible bool

	// Verification is the fingerprint of the whole function that [Verify]
	// computes, 0 where the entry is not reproducible. An implementation whose
	// value differs is another function.
	Verification uint32

	// New makes the hash with the given seed. It computes once what the seed
	// alone determines.
	New func(seed uint64) Hash
}

// All lists the entries, the ones to use first and the controls last. The slice
// belongs to the caller.
func All() []Entry {
	return []Entry{
		entryXXHash64(),
		entryXXH3(),
		entryMurmur3(),
		entryMapHash(),
		entrySipHash(),
		entryBLAKE3(),
		entrySHA256(),
		entryFNV1a64(),
		entryFNV1a32(),
		entryLevelDB(),
		entryPoly(),
		entryIdentity(),
	}
}

// ByName returns the entry with the given name or alias, in whatever case. The
// error for an unknown name lists the known ones.
func ByName(name string) (Entry, error) {
	entries := All()
	for _, e := range entries {
		if strings.EqualFold(name, e.Name) || name != "" && strings.EqualFold(name, e.Alias) {
			return e, nil
		}
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return Entry{}, fmt.Errorf("hash = %q: want one of %s", name, strings.Join(names, ", "))
}

// id is what every hash carries: Name and Seed.
type id struct {
	name string
	seed uint64
}

func (f id) Name() string { return f.name }
func (f id) Seed() uint64 { return f.seed }

// bytesOf views a string as a slice that must not be written to. The data
// pointer of an empty string may be anything, which unsafe.Slice allows for a
// length of 0.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// fmix64 is the finalizer of MurmurHash3 (Appleby): a bijection of 64 bits in
// which every output bit depends on every input bit.
func fmix64(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
