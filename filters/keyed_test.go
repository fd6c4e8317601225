package filters_test

import (
	"errors"
	"hash/fnv"
	"testing"

	"filterlab/filters"
)

// fnvHash is FNV-1a of the standard library behind a seed.
type fnvHash struct {
	name string
	seed uint64
}

func (h fnvHash) Name() string { return h.name }
func (h fnvHash) Seed() uint64 { return h.seed }
func (h fnvHash) Sum64(key []byte) uint64 {
	f := fnv.New64a()
	_, _ = f.Write(key) // never fails
	return f.Sum64() ^ h.seed
}
func (h fnvHash) SumMany(dst []uint64, keys [][]byte) {
	for i, k := range keys {
		dst[i] = h.Sum64(k)
	}
}

func keyed(name string, seed uint64) filters.Keyed {
	return filters.Keyed{Filter: &merging{exact{cap: 10}}, Hash: fnvHash{name, seed}}
}

// One path from key to hash for adding and asking; nil and empty are one key,
// and a new filter denies it.
func TestA16_A18_KeyedKeys(t *testing.T) {
	k := keyed("fnv", 1)
	if k.Contains(nil) || k.Contains([]byte{}) || k.Contains([]byte("abc")) {
		t.Error("a new filter contains something")
	}
	for _, key := range []string{"abc", ""} {
		if err := k.Add([]byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range [][]byte{[]byte("abc"), {}, nil} {
		if !k.Contains(key) {
			t.Errorf("%q is denied", key)
		}
	}
	for _, key := range []string{"abc\n", "abc\r\n", "ab", "\x00"} {
		if k.Contains([]byte(key)) {
			t.Errorf("%q is not a key of this filter", key)
		}
	}
}

// Filters cannot see which hash their keys went through; Keyed can, and a merge
// across hashes or seeds would lose every key.
func TestA20_KeyedMergeComparesHashes(t *testing.T) {
	key := []byte("abc")
	for _, c := range []struct {
		other filters.Keyed
		field string
	}{
		{keyed("other", 1), "hash"},
		{keyed("fnv", 2), "seed"},
		{filters.Keyed{Filter: &exact{cap: 10}, Hash: fnvHash{"fnv", 1}}, "type"},
		{filters.Keyed{Filter: static{&exact{}}, Hash: fnvHash{"fnv", 1}}, "type"},
	} {
		k := keyed("fnv", 1)
		err := k.Merge(c.other)
		var ie *filters.IncompatibleError
		if !errors.As(err, &ie) || ie.Field != c.field || ie.Have == ie.Other {
			t.Errorf("Merge of another %s: %v; want that field and two values", c.field, err)
		}
	}
	a, b := keyed("fnv", 1), keyed("fnv", 1)
	if err := b.Add(key); err != nil {
		t.Fatal(err)
	}
	if err := a.Merge(b); err != nil || !a.Contains(key) {
		t.Errorf("Merge of a filter with the same hash: %v; key found: %v", err, a.Contains(key))
	}
	// The receiver must be able to, too.
	k := filters.Keyed{Filter: static{&exact{}}, Hash: fnvHash{"fnv", 1}}
	var ie *filters.IncompatibleError
	if err := k.Merge(k); !errors.As(err, &ie) || ie.Have == ie.Other {
		t.Errorf("Merge of two static filters: %v", err)
	}
}

// Errors of the filter come through; a static filter refuses to grow.
func TestKeyedAdd(t *testing.T) {
	k := filters.Keyed{Filter: &exact{cap: 1}, Hash: fnvHash{"fnv", 1}}
	if err := k.Add([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := k.Add([]byte("b")); !errors.Is(err, filters.ErrFull) {
		t.Errorf("Add to a full filter: %v; want ErrFull", err)
	}
	// The error names the type; it does not print the table.
	k.Filter = static{&exact{hs: make([]uint64, 1000)}}
	if err := k.Add([]byte("a")); !errors.Is(err, filters.ErrParam) || len(err.Error()) > 200 {
		t.Errorf("Add to a static filter: %v; want a short ParamError", err)
	}
}
