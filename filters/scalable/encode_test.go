package scalable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/scalable"
)

// grown is a filter of several stages, the newest of them begun.
func grown(t *testing.T) *scalable.Filter {
	t.Helper()
	f, err := scalable.New(scalable.Config{N0: 100, P: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.AddMany(filtertest.Members(1, 1000)); err != nil {
		t.Fatal(err)
	}
	if f.Stages() < 3 {
		t.Fatalf("%d stages", f.Stages())
	}
	return f
}

// Growth goes on after reading where it stopped: the stages that open later are
// those of a filter that was never saved.
func TestGrowthAfterReading(t *testing.T) {
	f := grown(t)
	b, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var g scalable.Filter
	if err := g.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	more := filtertest.Members(2, 5000)
	for _, x := range []*scalable.Filter{f, &g} {
		if _, err := x.AddMany(more); err != nil {
			t.Fatal(err)
		}
	}
	one, err1 := f.MarshalBinary()
	two, err2 := g.MarshalBinary()
	if err1 != nil || err2 != nil || f.Stages() != g.Stages() || !bytes.Equal(one, two) {
		t.Errorf("%d and %d stages, %d and %d bytes (%v, %v)", f.Stages(), g.Stages(), len(one), len(two), err1, err2)
	}
}

// Tables that a Reset keeps for later are not saved.
func TestSavedAfterReset(t *testing.T) {
	f := grown(t)
	f.Reset()
	fresh, err := scalable.New(f.Config())
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := f.MarshalBinary()
	two, err2 := fresh.MarshalBinary()
	if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
		t.Errorf("%d bytes after Reset, %d when new (%v, %v)", len(one), len(two), err1, err2)
	}
}

// Stages that do not follow from each other are refused by the number of the
// stage. Words 5 to 9 are stage 0: capacity, distinct, counted, m, k.
func TestStagesAreChecked(t *testing.T) {
	whole, err := grown(t).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		word  int
		value uint64
		says  string
	}{
		{0, 99, "stage 0: capacity"},
		{5, 99, "stage 0: capacity"},
		{6, 99, "stage 0: distinct"},
		{7, 99, "stage 0: counted = 99: want 100"},
		{7, 101, "stage 0: counted = 101: want at most 100"},
		{8, 1 << 49, "stage 0: m"},
		{8, 1 << 20, "payload length"},
		{9, 0, "k = 0"},
		{9, 65, "k = 65"},
		{10, 199, "stage 1: capacity = 199: want 200"},
		{2, 0, "geometry"},                  // s left open
		{2, 0x7ff8000000000001, "s = NaN"},  // NaN
		{1, 0x3ff0000000000000, "p = 1"},    // 1.0
		{3, 0x3ff0000000000000, "r = 1"},    // 1.0
		{4, 99, "scheme"},                   // no such scheme
		{17, 201, "stage 2: counted = 201"}, // stage 2, counted
	} {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(b[112+8*c.word:], c.value)
		size := (116 + 8*int(binary.LittleEndian.Uint32(b[12:])) + 63) / 64 * 64
		binary.LittleEndian.PutUint32(b[size-4:], crc32.Checksum(b[:size-4], crc32.MakeTable(crc32.Castagnoli)))
		var g scalable.Filter
		err := g.UnmarshalBinary(b)
		if !errors.Is(err, filters.ErrCorrupt) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("word %d is %d: %v; want %q", c.word, c.value, err, c.says)
		}
	}
}
