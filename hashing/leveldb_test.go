package hashing

import (
	"encoding/binary"
	"testing"
)

// Values from LevelDB's own util/hash_test.cc.
func TestLevelDBVectors(t *testing.T) {
	long := make([]byte, 48)
	for at, b := range map[int]byte{0: 1, 1: 0xc0, 16: 0x14, 22: 4, 27: 0x14, 31: 0x18, 32: 0x28, 40: 2} {
		long[at] = b
	}
	for _, c := range []struct {
		key  string
		seed uint32
		want uint32
	}{
		{"", LevelDBSeed, 0xbc9f1d34},
		{"\x62", LevelDBSeed, 0xef1345c4},
		{"\xc3\x97", LevelDBSeed, 0x5b663814},
		{"\xe2\x99\xa5", LevelDBSeed, 0x323c078f},
		{"\xe1\x80\xb9\x32", LevelDBSeed, 0xed21633a},
		{string(long), 0x12345678, 0xf333dabb},
	} {
		if got := LevelDB([]byte(c.key), c.seed); got != c.want {
			t.Errorf("%x with seed %#x: %#x, want %#x", c.key, c.seed, got, c.want)
		}
	}
}

// Seed 0 is what the products use; another seed stands in front of the key.
func TestLevelDBSeedStandsInFront(t *testing.T) {
	for _, seed := range []uint64{0, 1, 0xfedcba9876543210} {
		h := must(t, "leveldb").New(seed)
		for n := range 40 {
			in := ramp(n)
			if seed != 0 {
				in = append(binary.LittleEndian.AppendUint64(nil, seed), in...)
			}
			if got, want := Narrow32(h.Sum64(ramp(n))), LevelDB(in, LevelDBSeed); got != want {
				t.Fatalf("seed %#x, %d bytes: %#x, want %#x", seed, n, got, want)
			}
		}
	}
}
