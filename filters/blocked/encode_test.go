package blocked_test

import (
	"bytes"
	"testing"

	"filterlab/filters/blocked"
	"filterlab/filters/filtertest"
)

// The payload of a split-block filter begins with the bitset of Parquet: the two
// ways out agree.
func TestPayloadIsParquet(t *testing.T) {
	f, err := blocked.New(blocked.Config{Layout: blocked.Split, Blocks: 13})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.AddMany(filtertest.Members(1, 200)); err != nil {
		t.Fatal(err)
	}
	file, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	bitset, err := f.AppendParquet(nil)
	if err != nil {
		t.Fatal(err)
	}
	const header = 192
	if len(file) != header+14*32 || !bytes.Equal(file[header:header+13*32], bitset) || !bytes.Equal(file[header+13*32:], make([]byte, 32)) {
		t.Errorf("%d bytes that differ from %d of Parquet", len(file), len(bitset))
	}
}

// Pages are a matter of the memory: a filter on huge pages is saved as any other.
func TestPagesAreNotSaved(t *testing.T) {
	var files [2][]byte
	for i, pages := range []blocked.Pages{blocked.SystemPages, blocked.HugePages} {
		f, err := blocked.New(blocked.Config{Blocks: 100, K: 5, Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = f.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
		var g blocked.Filter
		if err := g.UnmarshalBinary(files[i]); err != nil || g.Config().Pages != blocked.SystemPages {
			t.Errorf("%v pages: %+v, %v", pages, g.Config(), err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("pages show in the file")
	}
}
