// Package envelope is the file format of the filters: one header for all
// families, and the tables as they stand in memory.
//
// All numbers are little-endian on every machine. A file is a header of H bytes
// and a payload of P bytes, with nothing in between and nothing behind; a stream
// may go on after it.
//
//	offset  bytes  field
//	0       8      magic: 89 46 4c 54 0d 0a 1a 0a ("\x89FLT\r\n\x1a\n")
//	8       4      version: 1
//	12      4      G, the number of geometry words, 1 to 32768
//	16      16     family: its name in ASCII, filled up with zeros
//	32      8      P, the length of the payload in bytes, a multiple of 64
//	40      4      CRC-32C (Castagnoli) of the payload
//	44      4      0
//	48      8      capacity: keys the filter was sized for, 0 if that is not known
//	56      8      count: keys stored, where the family counts them, else 0
//	64      32     hash: name of the hash function the keys went through, in ASCII,
//	               filled up with zeros; all zeros if that was not said
//	96      8      seed of the hash function, 0 without one
//	104     8      digest of the 9 bytes "filterlab" by the hash function, 0 without
//	               one: another function of the same name is noticed
//	112     8 G    geometry words, their meaning given by the family, see below
//	112+8G         zeros up to H-4
//	H-4     4      CRC-32C of the bytes 0 to H-5
//	H       P      payload
//
// H is 116 + 8 G rounded up to a multiple of 64: the payload of a mapped file lies
// on a cache line, and no table needs to be moved.
//
// The magic has a byte above 127, a line end of each kind and the end-of-file mark
// of old systems, as that of PNG has, so that a transfer as text is noticed at
// once.
//
// # Geometry words and payload of each family
//
//	standard   m, k, scheme (0 independent, 1 double, 2 enhanced, 3 double64, 4
//	           enhanced64, 5 teaching), layout (0 shared, 1 partitioned)
//	blocked    blocks, bits of a block, k, probes (0 by the layout, 1 independent,
//	           2 distinct), layout (1 plain, 2 split, 3 pattern)
//	counting   m, k, bits of a counter, layout (1 shared, 2 blocked), counters at
//	           their ceiling
//	scalable   n0, then as IEEE 754 binary64 p, s and r, scheme as above, and for
//	           each stage: capacity, distinct keys it is sized for, keys counted,
//	           m, k
//	cuckoo     buckets, slots of a bucket, fingerprint bits
//	sharded    shards, the name of the family inside as 16 bytes (2 words), and for
//	           each shard: capacity, count, number of geometry words, and those words
//
// The payload is the table, its bits filled up with zeros to a multiple of 64
// bytes, at least 64; for scalable those of all stages, the oldest first, and for
// sharded those of all shards, in order. Bit i of
// a table is bit i mod 8 of byte i/8, counted from the lowest; so counter i of w
// bits is the number in the bits i w to i w + w - 1, and so are the slots of a
// cuckoo filter, after whose table 64 zero bits come before it is filled up. The
// first 32 bytes per block of a blocked filter with the split layout are the
// bitset of a Parquet Bloom filter.
//
// # Reading
//
// Every number is checked before it is used, and lengths before anything is
// allocated: a header that promises more than its stream delivers costs less than
// 1 MiB. A CRC-32C finds every error of one to three flipped bits up to 2^31 bits
// and every burst of up to 32; of other damage it misses one in four billion. It
// protects from accidents, not from people: whoever can write the file can make it
// answer as they like.
package envelope

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"filterlab/filters"
)

// Version is the one that is written, and the latest that is read.
const Version = 1

// magic begins every file.
const magic = "\x89FLT\r\n\x1a\n"

// Offsets of the header.
const (
	atVersion  = 8
	atWords    = 12
	atFamily   = 16
	atPayload  = 32
	atSum      = 40
	atCapacity = 48
	atCount    = 56
	atHash     = 64
	atSeed     = 96
	atDigest   = 104
	atGeometry = 112

	line     = 64       // what the payload is aligned to
	first    = 2 * line // bytes of the shortest header
	maxWords = 1 << 15  // geometry words: 6,500 stages, 4,096 shards
)

// Sample is the key whose digest stands in the header.
const Sample = "filterlab"

// Header is all that a file says before its tables.
type Header struct {
	Family   string
	Payload  uint64 // bytes
	Sum      uint32 // CRC-32C of the payload
	Capacity uint64
	Count    uint64
	Hash     string // empty if not known
	Seed     uint64
	Digest   uint64 // of Sample
	Geometry []uint64
}

// Size is the length of the header in bytes, a multiple of 64.
func (h *Header) Size() int { return headerSize(len(h.Geometry)) }

func headerSize(words int) int { return (atGeometry + 8*words + 4 + line - 1) / line * line }

// castagnoli is the table of CRC-32C, for which processors have an instruction.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once, by crc32

// Append appends the header. It refuses a hash name that does not fit and more
// geometry words than a reader takes.
func (h *Header) Append(dst []byte) ([]byte, error) {
	switch {
	case len(h.Hash) > atSeed-atHash || strings.ContainsFunc(h.Hash, unprintable):
		return dst, filters.Refuse("hash", fmt.Sprintf("%q", h.Hash), "a name of at most 32 printable ASCII characters")
	case len(h.Geometry) > maxWords:
		return dst, filters.Refuse(h.Family+": stages or shards", fmt.Sprintf("%d numbers in the header", len(h.Geometry)), fmt.Sprintf("at most %d", maxWords))
	}
	le := binary.LittleEndian
	b := make([]byte, h.Size())
	copy(b, magic)
	le.PutUint32(b[atVersion:], Version)
	le.PutUint32(b[atWords:], uint32(len(h.Geometry)))
	copy(b[atFamily:atPayload], h.Family)
	le.PutUint64(b[atPayload:], h.Payload)
	le.PutUint32(b[atSum:], h.Sum)
	le.PutUint64(b[atCapacity:], h.Capacity)
	le.PutUint64(b[atCount:], h.Count)
	copy(b[atHash:atSeed], h.Hash)
	le.PutUint64(b[atSeed:], h.Seed)
	le.PutUint64(b[atDigest:], h.Digest)
	for i, w := range h.Geometry {
		le.PutUint64(b[atGeometry+8*i:], w)
	}
	end := len(b) - 4
	le.PutUint32(b[end:], crc32.Checksum(b[:end], castagnoli()))
	return append(dst, b...), nil
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// ReadHeader reads the header and nothing behind it, and returns how many bytes
// it took. At the very end of r the error wraps io.EOF.
func ReadHeader(r io.Reader) (h *Header, n int64, err error) {
	b := make([]byte, first)
	got, err := io.ReadFull(r, b)
	if err != nil {
		return nil, int64(got), shortHeader(b[:got], first, err)
	}
	if err := begins(b); err != nil {
		return nil, first, err
	}
	words := binary.LittleEndian.Uint32(b[atWords:])
	if words < 1 || words > maxWords {
		return nil, first, corrupt("geometry words", words, fmt.Sprintf("1 to %d", maxWords))
	}
	size := headerSize(int(words))
	b = append(b, make([]byte, size-first)...)
	more, err := io.ReadFull(r, b[first:])
	if err != nil {
		return nil, int64(first + more), short("header", uint64(first+more), uint64(size), err)
	}
	h, err = parse(b)
	return h, int64(size), err
}

// begins tells whether b begins as a file that this version reads.
func begins(b []byte) error {
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return &filters.FormatError{Kind: filters.ErrNotFilter, Field: "magic", Value: fmt.Sprintf("%q", b[:n]), Accepted: fmt.Sprintf("%q", magic)}
	}
	if len(b) < atWords {
		return nil
	}
	if v := binary.LittleEndian.Uint32(b[atVersion:]); v != Version {
		return &filters.FormatError{Kind: filters.ErrVersion, Field: "version", Value: fmt.Sprint(v), Accepted: fmt.Sprint(Version)}
	}
	return nil
}

// parse reads a whole header whose first bytes are known to be right. Whatever it
// takes, Append writes again to the byte.
func parse(b []byte) (*Header, error) {
	le := binary.LittleEndian
	end := len(b) - 4
	if has, want := le.Uint32(b[end:]), crc32.Checksum(b[:end], castagnoli()); has != want {
		return nil, corrupt("header checksum", inHex(has), inHex(want))
	}
	h := &Header{
		Family:   name(b[atFamily:atPayload]),
		Payload:  le.Uint64(b[atPayload:]),
		Sum:      le.Uint32(b[atSum:]),
		Capacity: le.Uint64(b[atCapacity:]),
		Count:    le.Uint64(b[atCount:]),
		Hash:     name(b[atHash:atSeed]),
		Seed:     le.Uint64(b[atSeed:]),
		Digest:   le.Uint64(b[atDigest:]),
		Geometry: make([]uint64, le.Uint32(b[atWords:])),
	}
	for i := range h.Geometry {
		h.Geometry[i] = le.Uint64(b[atGeometry+8*i:])
	}
	switch {
	case h.Payload%line != 0 || h.Payload > filters.MaxBits/8+line*maxWords:
		return nil, corrupt("payload length", h.Payload, "a multiple of 64 bytes for tables of at most 2^48 bits")
	case h.Hash == "" && (h.Seed != 0 || h.Digest != 0):
		return nil, corrupt("seed", h.Seed, "0 where no hash is named")
	}
	if again, err := h.Append(nil); err != nil || !bytes.Equal(again, b) {
		return nil, corrupt("header", "bytes that are not zero between the fields, or a name that is not in ASCII", "what a writer of this format puts there")
	}
	return h, nil
}

// name is a string that is filled up with zeros.
func name(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// corrupt is the error for a field that no writer leaves like this.
func corrupt(field string, value any, accepted string) error {
	return &filters.FormatError{Kind: filters.ErrCorrupt, Field: field, Value: fmt.Sprint(value), Accepted: accepted}
}

// Corrupt is the error for a field of the file that no filter has. Families use it
// for what only they can judge.
func Corrupt(field string, value any, accepted string) error { return corrupt(field, value, accepted) }

// Refused is the error for geometry that the constructor of the family refuses.
func Refused(err error) error {
	return &filters.FormatError{Kind: filters.ErrCorrupt, Cause: err}
}

// short is the error for a part that ends too early. Errors of the reader other
// than its end are passed on.
func short(part string, got, want uint64, err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading the %s of a filter, after %d of %d bytes: %w", part, got, want, err)
	}
	return &filters.FormatError{Kind: filters.ErrCorrupt, Field: part, Value: fmt.Sprintf("cut short after %d bytes", got), Accepted: fmt.Sprintf("%d bytes", want), Cause: io.ErrUnexpectedEOF}
}

// shortHeader is short for the first part of a header, which may not be one at
// all.
func shortHeader(b []byte, want uint64, err error) error {
	if wrong := begins(b); wrong != nil {
		return wrong
	}
	err = short("header", uint64(len(b)), want, err)
	var fe *filters.FormatError
	if len(b) == 0 && errors.As(err, &fe) {
		fe.Cause = io.EOF // the idiom of readers: nothing begun, nothing broken
	}
	return err
}

func inHex(x uint32) string { return fmt.Sprintf("%#08x", x) }
