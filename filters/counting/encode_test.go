package counting_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/counting"
)

// A saturated counter is saved as such: the number of them is kept, deleting does
// not take it down afterwards, and a file that counts them wrongly is refused.
func TestSavedSaturation(t *testing.T) {
	for _, layout := range []counting.Layout{counting.Shared, counting.Blocked} {
		f, err := counting.New(counting.Config{M: 1024, K: 3, Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		const h = 0x0123456789abcdef
		for range 20 {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		b, err := f.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var g counting.Filter
		if err := g.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if f.Saturated() == 0 || g.Saturated() != f.Saturated() || g.Config() != f.Config() {
			t.Errorf("layout %v: %d counters saturated, %d after reading; %+v", layout, f.Saturated(), g.Saturated(), g.Config())
		}
		for range 20 {
			if !g.Delete(h) {
				t.Errorf("layout %v: a saturated key cannot be deleted", layout)
			}
		}
		if !g.Contains(h) {
			t.Errorf("layout %v: a saturated key is forgotten", layout)
		}

		wrong := bytes.Clone(b) // word 4 is the number of saturated counters
		binary.LittleEndian.PutUint64(wrong[112+8*4:], f.Saturated()-1)
		binary.LittleEndian.PutUint32(wrong[188:], crc32.Checksum(wrong[:188], crc32.MakeTable(crc32.Castagnoli)))
		if err := g.UnmarshalBinary(wrong); !errors.Is(err, filters.ErrCorrupt) || !strings.Contains(err.Error(), "saturated") {
			t.Errorf("layout %v: a wrong number of saturated counters: %v", layout, err)
		}
	}
}
