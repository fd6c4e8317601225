//go:build !(purego || armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64)

package hashing

import "github.com/spaolacci/murmur3"

// murmur3Sum calls the library's 128-bit function. Its 32-bit one aborts under
// the race detector, and both read words in the machine's own byte order, which
// is why other machines take the twin.
func murmur3Sum(key []byte, seed uint32) uint64 {
	h1, _ := murmur3.Sum128WithSeed(key, seed)
	return h1
}
