package hashing

func entryIdentity() Entry {
	return Entry{
		Name: "identity",
		Doc: "no hash at all: the first 8 bytes as a little-endian word padded with zeros, XOR the seed; " +
			"the control that must fail",
		Weak:         true,
		Bits:         64,
		Reproducible: true,
		Verification: 0x00000100,
		New:          func(seed uint64) Hash { return identity{id{"identity", seed}} },
	}
}

// identity ignores all but the first eight bytes, and a key's trailing zeros
// among them: it is one-to-one on keys of exactly eight bytes.
type identity struct{ id }

func (f identity) Sum64(key []byte) uint64 { return word(key) ^ f.seed }

func (f identity) SumString(key string) uint64 { return f.Sum64(bytesOf(key)) }

func (f identity) SumUint64(key uint64) uint64 { return key ^ f.seed }

func (f identity) SumMany(dst []uint64, keys [][]byte) {
	dst = dst[:len(keys)]
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}
