package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"filterlab/filters"
)

// A sharded filter comes back from its file with whatever family inside: it answers,
// estimates and predicts as the one that was saved, and after the same adds and
// deletes both are saved as the same bytes.
func TestShardedFiles(t *testing.T) {
	queries := mixed(6000)
	members, fresh := queries[:2000], queries[2000:2200]
	for _, name := range []string{
		"sharded(1,standard(k=7))", "sharded(3,standard(k=7,adds=atomic))", "sharded(4,blocked(layout=split))",
		"sharded(5,counting(w=2,k=7))", "sharded(2,scalable(n0=100))", "sharded(4,cuckoo(f=12,b=4))", "sharded(64,blocked(k=6))",
	} {
		if testing.Short() && strings.Contains(name, "scalable") {
			continue // sizing takes its time
		}
		v, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := v.Build(filters.Target{N: 3000, P: 0.01}, members)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b := file(t, q.(filters.Saver))
		back, info, err := Read(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info.Family != "sharded" || info.Capacity != 3000 || !strings.HasPrefix(info.Variant.String(), name[:strings.IndexByte(name, ',')]) {
			t.Errorf("%s: %+v", name, info)
		}
		asked := q.(Saved)
		same := func(when string) {
			t.Helper()
			for _, h := range queries {
				if q.Contains(h) != back.Contains(h) {
					t.Fatalf("%s, %s: Contains(%#x) differs", name, when, h)
				}
			}
			// Filters for several goroutines estimate nothing, and are read back as
			// plain ones, which do.
			n, rate := asked.EstimatedN(), asked.EstimatedFPR()
			if strings.Contains(name, "atomic") != math.IsNaN(n) || math.IsNaN(n) != math.IsNaN(rate) {
				t.Errorf("%s, %s: %v keys at a rate of %v", name, when, n, rate)
			}
			if !math.IsNaN(n) && (n != back.EstimatedN() || rate != back.EstimatedFPR()) || asked.FillRatio() != back.FillRatio() || q.SizeBits() != back.SizeBits() {
				t.Errorf("%s, %s: estimates differ", name, when)
			}
			if !bytes.Equal(file(t, q.(filters.Saver)), file(t, back.(filters.Saver))) {
				t.Errorf("%s, %s: saved as other bytes", name, when)
			}
		}
		same("read")
		want, err := asked.Predict(3000)
		if got, berr := back.Predict(3000); err != nil || berr != nil || got.FPR != want.FPR || got.Bits != want.Bits || got.Capacity != want.Capacity {
			t.Errorf("%s: after reading %+v (%v), before %+v (%v)", name, got, berr, want, err)
		}
		_, deletes := q.(filters.Deleter)
		if _, ok := back.(filters.Deleter); ok != deletes {
			t.Errorf("%s: can delete: %v before, %v after", name, deletes, ok)
		}
		for _, f := range []filters.Filter{q.(filters.Filter), back.(filters.Filter)} {
			for i, h := range fresh {
				if err := f.Add(h); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if d, ok := f.(filters.Deleter); ok && i%2 == 0 && !d.Delete(h) {
					t.Fatalf("%s: %#x cannot be deleted", name, h)
				}
			}
		}
		same("used")
	}
}

// What the checksums of a sharded file cannot tell is refused by name: words of its
// geometry that somebody changed, who mends the checksums.
func TestShardedFieldsAreChecked(t *testing.T) {
	v, err := Parse("sharded(4,cuckoo(f=12,b=4))")
	if err != nil {
		t.Fatal(err)
	}
	q, err := v.Build(filters.Target{N: 400, P: 0.03}, mixed(400))
	if err != nil {
		t.Fatal(err)
	}
	whole := file(t, q.(filters.Saver))
	text := func(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s)) }
	for _, c := range []struct {
		word  int
		value uint64
		says  string
	}{
		{0, 0, "shards = 0: want 1 to 4096"},
		{0, 1 << 13, "shards = 8192: want 1 to 4096"},
		{0, 3, "geometry words"},
		{0, 5, "shard 4: capacity is missing"},
		{1, text("sharded\x00"), "family inside"},
		{1, text("xor\x00\x00\x00\x00\x00"), `family = "xor"`},
		{1, text("standard"), "shard 0"},
		{2, 1, "family inside"},
		{3, 77, "shards that are alike"},
		{4, 1 << 40, "the sum over the shards"},
		{5, 1 << 31, "shard 0: geometry words = 2147483648"},
		{5, 1 << 20, "at most the"},
		{5, 2, "shard 1"},
		{8, 13, "shards that are alike"},
	} {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(b[112+8*c.word:], c.value)
		repair(b)
		_, _, err := Read(bytes.NewReader(b))
		var fe *filters.FormatError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("word %d is %#x: %v; want %q", c.word, c.value, err, c.says)
		}
	}
}

// A file that is written while goroutines add holds one moment: its checksum is right,
// and every key is in it that was added before.
func TestShardedIsSavedWhileOthersAdd(t *testing.T) {
	v, err := Parse("sharded(8,blocked(k=6))")
	if err != nil {
		t.Fatal(err)
	}
	hs := mixed(20_000)
	q, err := v.Build(filters.Target{N: uint64(len(hs)), P: 0.01}, hs[:1000])
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for g := range 2 {
		wait.Go(func() {
			for i := 1000 + g; i < len(hs); i += 2 {
				_ = q.(filters.Filter).Add(hs[i]) // never fails
			}
		})
	}
	for range 20 {
		back, _, err := Read(bytes.NewReader(file(t, q.(filters.Saver))))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hs[:1000] {
			if !back.Contains(h) {
				t.Fatalf("%#x is lost", h)
			}
		}
	}
	wait.Wait()
}
