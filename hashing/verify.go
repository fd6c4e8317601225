package hashing

import "encoding/binary"

// Verify computes the verification value of an entry as SMHasher does (Appleby;
// VerificationTest in KeysetTest.cpp): the keys {}, {0}, {0,1}, ... of 0 to 255
// bytes are hashed with the seeds 256 down to 1, the digests are written one
// after the other as little-endian bytes (entry.Bits wide), that string is hashed
// with seed 0, and the first four bytes of the result are the value.
//
// It therefore covers every length from 0 to 255, one length of 1 or 2 KiB, and
// 257 seeds. For functions that SMHasher seeds in the same way the values are
// the published ones.
func Verify(e Entry) uint32 {
	width := e.Bits / 8
	var key [256]byte
	digests := make([]byte, 0, len(key)*8)
	for i := range key {
		key[i] = byte(i)
		digests = appendDigest(digests, e.New(uint64(256-i)).Sum64(key[:i]), width)
	}
	final := appendDigest(nil, e.New(0).Sum64(digests), width)
	return binary.LittleEndian.Uint32(final)
}

// appendDigest appends a digest as it was before it was laid out in 64 bits.
func appendDigest(dst []byte, h uint64, width int) []byte {
	if width == 4 {
		return binary.LittleEndian.AppendUint32(dst, Narrow32(h))
	}
	return binary.LittleEndian.AppendUint64(dst, h)
}
