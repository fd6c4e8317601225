package hashtest

import (
	"fmt"
	"strings"

	"filterlab/hashing"
)

// Answer is a published digest.
type Answer struct {
	Hash   string
	Seed   uint64
	Key    string
	Digest uint64
	Source string
}

// Answers lists published digests of the hashes that have any. FNV and XXH64 are
// in the theory sheet too, blocks 10.hash_vectors and 2.sbbf_vectors.
func Answers() []Answer {
	const (
		fnv     = "draft-eastlake-fnv, test vectors"
		xxh     = "xxHash, xxhash_spec and sanity checks"
		parquet = "apache/parquet-format, BloomFilter.md: XXH64 of plain-encoded values"
		d03     = "OneOfOne/xxhash issue 8"
		sip     = "SipHash paper, Appendix A; vectors_sip64 of the reference implementation"
		blake   = "BLAKE3 test_vectors.json, first 8 bytes of hash"
		fips    = "FIPS 180-4 examples, first 8 bytes"
	)
	// The key of SipHash's vectors is 00 01 ... 0f; its second half is built in.
	const sipSeed = 0x0706050403020100
	return []Answer{
		{"xxhash64", 0, "", 0xef46db3751d8e999, xxh},
		{"xxhash64", 0, "a", 0xd24ec4f1a98c6e5b, xxh},
		{"xxhash64", 0, "abc", 0x44bc2cf5ad770999, xxh},
		{"xxhash64", 0, "foobar", 0xa2aa05ed9085aaf9, xxh},
		{"xxhash64", 0, "hello", 0x26c7827d889f6da3, xxh},
		{"xxhash64", 0, "\x01\x00\x00\x00\x00\x00\x00\x00", 0x9f29cb17a2a49995, parquet},
		{"xxhash64", 0, "\x01\x00\x00\x00", 0xf42f94001fcb5351, parquet},
		{"xxhash64", 0, "\xf2\x2f\xce\x73\x3a\x0b\x00\x00", 0xef18ddce14d0ee6b, parquet},
		{"xxhash64", 0, "www.", 17563882986220463421, d03},
		{"xxhash64", 1, "", 0xd5afba1336a3be4b, d03},

		{"xxh3", 0, "", 0x2d06800538d394c2, xxh},
		{"xxh3", 0x9e3779b185ebca8d, "", 0xa8a6b918b2f0364a, xxh},

		{"siphash", sipSeed, "", 0x726fdb47dd0e0e31, sip},
		{"siphash", sipSeed, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e", 0xa129ca6149be45e5, sip},

		{"blake3", 0, "", 0xa6a1f9f5b94913af, blake},
		{"blake3", 0, "\x00", 0xf1611bf1dfde3a2d, blake},

		{"sha256", 0, "abc", 0xeacf018fbf1678ba, fips},

		{"fnv1a64", 0, "", 0xcbf29ce484222325, fnv},
		{"fnv1a64", 0, "a", 0xaf63dc4c8601ec8c, fnv},
		{"fnv1a64", 0, "abc", 0xe71fa2190541574b, fnv},
		{"fnv1a64", 0, "foobar", 0x85944171f73967e8, fnv},
		{"fnv1a64", 0, "hello", 0xa430d84680aabd0b, fnv},
	}
}

// Check holds an entry to its verification value and to the published digests. A
// nil error means that on this machine, with its word size, byte order and
// processor features, the hash is the function it is named after. It costs 514
// hashes.
func Check(e hashing.Entry) error {
	var faults []string
	if got := hashing.Verify(e); e.Reproducible && got != e.Verification {
		faults = append(faults, fmt.Sprintf("verification value %#08x, want %#08x", got, e.Verification))
	}
	for _, a := range Answers() {
		if a.Hash != e.Name {
			continue
		}
		if got := e.New(a.Seed).SumString(a.Key); got != a.Digest {
			faults = append(faults, fmt.Sprintf("seed %#x, key %q: %#x, want %#x (%s)", a.Seed, a.Key, got, a.Digest, a.Source))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("hash %s is not itself here: %s", e.Name, strings.Join(faults, "; "))
	}
	return nil
}
