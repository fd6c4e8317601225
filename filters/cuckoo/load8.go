//go:build !(amd64 || arm64) || purego

package cuckoo

import "encoding/binary"

// load8 reads the eight bytes from offset on, lowest first.
func load8(table []byte, offset uint64) uint64 {
	return binary.LittleEndian.Uint64(table[offset:])
}

// store8 writes what load8 reads.
func store8(table []byte, offset, w uint64) {
	binary.LittleEndian.PutUint64(table[offset:], w)
}

// loadHalf reads the four bytes from offset on, lowest first.
func loadHalf(table []byte, offset uint64) uint64 {
	return uint64(binary.LittleEndian.Uint32(table[offset:]))
}

// load4 is the number of a fingerprint in the list of partners.
func load4(odds []uint32, tag uint64) uint64 { return uint64(odds[tag]) }
