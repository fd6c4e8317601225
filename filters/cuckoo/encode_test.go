package cuckoo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/cuckoo"
	"filterlab/filters/filtertest"
)

// Every width of a fingerprint and every bucket is saved to the bit, at a load that
// relocates, and goes on deleting and taking keys. A count that is not that of the
// slots is refused: it would be wrong for ever.
func TestSavedTables(t *testing.T) {
	for f := cuckoo.MinFingerprintBits; f <= cuckoo.MaxFingerprintBits; f++ {
		for _, b := range []int{1, 2, 4, 8} {
			x, err := cuckoo.New(cuckoo.Config{Buckets: 62, SlotsPerBucket: b, FingerprintBits: f})
			if err != nil {
				t.Fatal(err)
			}
			// The first refusal ends the filling; what was taken is what is saved.
			hs := filtertest.Members(uint64(f), 62*b)
			n, _ := x.AddMany(hs)
			file, err := x.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			var y cuckoo.Filter
			if err := y.UnmarshalBinary(file); err != nil {
				t.Fatalf("f=%d b=%d: %v", f, b, err)
			}
			if y.Len() != uint64(n) || y.Config() != x.Config() {
				t.Errorf("f=%d b=%d: %d of %d keys after reading", f, b, y.Len(), n)
			}
			for _, h := range hs[:n] {
				if !y.Contains(h) || !y.Delete(h) {
					t.Fatalf("f=%d b=%d: %#x is lost", f, b, h)
				}
			}
			if y.Len() != 0 || y.FillRatio() != 0 {
				t.Errorf("f=%d b=%d: %d keys after all were deleted", f, b, y.Len())
			}

			wrong := bytes.Clone(file)
			binary.LittleEndian.PutUint64(wrong[56:], uint64(n)+1)
			binary.LittleEndian.PutUint32(wrong[188:], crc32.Checksum(wrong[:188], crc32.MakeTable(crc32.Castagnoli)))
			if err := y.UnmarshalBinary(wrong); !errors.Is(err, filters.ErrCorrupt) || !strings.Contains(err.Error(), "count") {
				t.Errorf("f=%d b=%d: a wrong count: %v", f, b, err)
			}
		}
	}
}
