package hashing

import (
	"encoding/binary"
	"math/bits"
)

func entryPoly() Entry {
	return Entry{
		Name:         "poly",
		Doc:          "polynomial hash of the tutorials, bases 31, 37 and 41 side by side in one word: the teaching example of a bad one",
		Weak:         true,
		Bits:         64,
		Reproducible: true,
		Verification: 0xbe40117d,
		New: func(seed uint64) Hash {
			f := poly{id: id{"poly", seed}}
			if seed != 0 {
				b := binary.LittleEndian.AppendUint64(nil, seed)
				for i, base := range PolynomialBases() {
					f.start[i] = Polynomial(base, b)
				}
			}
			return f
		},
	}
}

// PolynomialBases are the three bases of the tutorial's Bloom filter, which sets
// the bits Polynomial(31, word), Polynomial(37, word) and Polynomial(41, word)
// modulo m.
func PolynomialBases() [3]uint64 { return [3]uint64{31, 37, 41} }

// Polynomial is Horner's scheme over the bytes of key: h = h*base + byte, from 0,
// modulo 2^64. Polynomial(31, "cat") is 98262.
//
// Modulo a power of two an odd base preserves parity: the lowest bit is that of
// the sum of the bytes, whatever the base, so three odd bases give one word three
// positions that are all even or all odd.
func Polynomial(base uint64, key []byte) uint64 { return polynomial(0, base, key) }

func polynomial(h, base uint64, key []byte) uint64 {
	for _, c := range key {
		h = h*base + uint64(c)
	}
	return h
}

// poly makes one 64-bit hash of the three values: p31 ^ rotl(p37, 21) ^
// rotl(p41, 42). Words of up to three letters have values below 2^21 and stand
// side by side unchanged.
type poly struct {
	id
	start [3]uint64
}

func (f poly) Sum64(key []byte) uint64 {
	// One pass for the three; with constant bases the multiplications become
	// shifts and additions.
	p31, p37, p41 := f.start[0], f.start[1], f.start[2]
	for _, c := range key {
		p31 = p31*31 + uint64(c)
		p37 = p37*37 + uint64(c)
		p41 = p41*41 + uint64(c)
	}
	return p31 ^ bits.RotateLeft64(p37, 21) ^ bits.RotateLeft64(p41, 42)
}

func (f poly) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f poly) SumUint64(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.Sum64(b[:])
}

func (f poly) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
