//go:build purego || armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64

package hashing

func murmur3Sum(key []byte, seed uint32) uint64 { return murmur3Twin(key, uint64(seed)) }
