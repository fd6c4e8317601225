//go:build (amd64 || arm64) && !purego

package cuckoo

import "unsafe"

// load8 is the twin of the portable one without its two bounds checks, which cost
// a fifth of a lookup. Offsets come from bucket numbers, which a fast range keeps
// below the number of buckets whatever the hash.
func load8(table []byte, offset uint64) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(table)), offset))
}

// store8 writes what load8 reads.
func store8(table []byte, offset, w uint64) {
	*(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(table)), offset)) = w
}

// loadHalf is load8 of four bytes.
func loadHalf(table []byte, offset uint64) uint64 {
	return uint64(*(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(table)), offset)))
}

// load4 is the number of a fingerprint in the list of partners, which has one for
// each.
func load4(odds []uint32, tag uint64) uint64 {
	return uint64(*(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(odds)), tag*4)))
}
