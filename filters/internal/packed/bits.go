// Package packed holds the tables of the filters: allocation with a checked
// size, and populations counts.
package packed

import (
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"unsafe"

	"filterlab/filters"
)

// CacheLine is the alignment of every table in bytes. It is fixed, not read
// from the host, so that layouts are the same everywhere.
const CacheLine = 64

// Size is the number of words that [Words] makes of a table of nbits bits: whole
// cache lines, at least one. nbits is at most filters.MaxBits.
func Size(nbits uint64) uint64 {
	const line = CacheLine / 8 // words in a cache line
	words := (nbits + 63) / 64
	return max((words+line-1)/line*line, line)
}

// Words allocates a zeroed table of the given number of bits, rounded up to
// whole cache lines, with its first word on a cache-line boundary. It refuses
// more than filters.MaxBits, more than the address space of the platform, more
// than the memory of the machine (on Linux, where it can be told) and more than a
// memory limit set with GOMEMLIMIT, before anything is allocated: an allocation
// that fails in Go cannot be recovered from. field names the table in the error.
func Words(field string, nbits uint64) ([]uint64, error) {
	if err := Fits(field, nbits); err != nil {
		return nil, err
	}
	const line = CacheLine / 8 // words in a cache line
	words := Size(nbits)
	// Go aligns large blocks to pages but small ones only to their size class:
	// take a line more than needed and slice to the boundary.
	raw := make([]uint64, words+line)
	skip := 0
	if r := uintptr(unsafe.Pointer(&raw[0])) % CacheLine; r != 0 {
		skip = int(CacheLine-r) / 8
	}
	return raw[skip : skip+int(words) : skip+int(words)], nil
}

// Fits is the error of [Words] for a table of nbits bits, without making one.
func Fits(field string, nbits uint64) error {
	if nbits > filters.MaxBits {
		return filters.Refuse(field, nbits, fmt.Sprintf("at most 2^48 bits; this needs %.4g bytes", float64(nbits)/8))
	}
	bytes := Size(nbits)*8 + CacheLine
	limit := min(uint64(math.MaxInt), uint64(debug.SetMemoryLimit(-1)), physicalMemory())
	if bytes > limit {
		return filters.Refuse(field, nbits, fmt.Sprintf("at most %d bits under the memory limit of %d bytes; this needs %d bytes", limit*8, limit, bytes))
	}
	return nil
}

// Bytes is the memory of the table: the bytes of each word in the order of the
// machine.
func Bytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

// View is the inverse of Bytes. b starts on a multiple of 8; bytes that do not fill
// a word are left out.
func View(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// Blocks is the table seen as blocks of 4 or 8 words: the same memory, so that
// blocks[i][j] is words[len(T)*i+j]. To slice a block out of a table costs two
// checks and an addition more than to index one. Words that do not fill a block
// are left out.
func Blocks[T [4]uint64 | [8]uint64](words []uint64) []T {
	var t T
	n := len(words) / len(t)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&words[0])), n)
}

// hugeFrom is the size in bytes from which WordsHuge asks for huge pages: less
// than a few of them cannot pay.
const hugeFrom = 8 << 20

// WordsHuge is Words on pages of 2 MiB, where the system has them: a random access
// to a table of hundreds of MiB on pages of 4 KiB misses the translation cache as
// well as the data cache. Tables of 8 MiB and more are advised (Linux,
// MADV_HUGEPAGE) before they are touched; refusal is no error, and elsewhere it
// is Words. The table is ordinary memory of the Go heap, with nothing to release;
// where the heap reuses memory that was in use before, pages may stay small.
func WordsHuge(field string, nbits uint64) ([]uint64, error) {
	words, err := Words(field, nbits)
	if err == nil && len(words) >= hugeFrom/8 {
		adviseHuge(words)
	}
	return words, err
}

// OnesCount is the number of bits set in the table.
func OnesCount(words []uint64) uint64 {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}
