package adapter

import (
	"bytes"
	"slices"
	"testing"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/catalog"
	"filterlab/filters/filtertest"
)

// The split layout of package blocked is the Parquet format: the same bytes as
// parquet-go and arrow-go write for the same hashes and as many blocks, read back
// to the same answers.
func TestSplitLayoutIsParquet(t *testing.T) {
	v, err := catalog.Parse("blocked(layout=split)")
	if err != nil {
		t.Fatal(err)
	}
	// arrow-go has powers of two only: 2^k blocks hold n keys at this many bits.
	for _, n := range []int{3, 32, 1000, 100_000} {
		target := filters.Target{N: uint64(n), BitsPerKey: 16}
		if n == 100_000 {
			target.BitsPerKey = float64(1<<21) / float64(n)
		}
		ours, err := v.(filters.Maker).New(target)
		if err != nil {
			t.Fatal(err)
		}
		peer, err := ParquetGo{}.New(filters.Target{N: uint64(n), BitsPerKey: float64(ours.SizeBits()) / float64(n)})
		if err != nil {
			t.Fatal(err)
		}
		hs := filtertest.Members(7, n)
		for _, f := range []filters.Filter{ours, peer} {
			if _, err := filters.AddMany(f, hs); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ours.(*blocked.Filter).AppendParquet(nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := peer.(*parquetGo).Bytes(); !bytes.Equal(got, want) {
			t.Errorf("%d keys: %d bytes of ours differ from the %d of parquet-go", n, len(got), len(want))
		}
		back, err := blocked.FromParquet(peer.(*parquetGo).Bytes())
		if err != nil {
			t.Fatal(err)
		}
		queries := append(filtertest.NonMembers(7, 50_000), hs...)
		answers := func(q filters.Querier) []bool {
			dst := make([]bool, len(queries))
			filters.ContainsMany(q, dst, queries)
			return dst
		}
		if !slices.Equal(answers(back), answers(peer)) {
			t.Errorf("%d keys: what parquet-go wrote gives other answers in ours", n)
		}
		if bits := ours.SizeBits(); bits&(bits-1) == 0 {
			arrow, err := ArrowGo{}.New(filters.Target{N: uint64(n), BitsPerKey: float64(bits) / float64(n)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := filters.AddMany(arrow, hs); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := arrow.(*arrowGo).f.WriteTo(&b, nil); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, b.Bytes()) {
				t.Errorf("%d keys: %d bytes of ours differ from the %d of arrow-go", n, len(got), b.Len())
			}
			if !slices.Equal(answers(arrow), answers(ours)) {
				t.Errorf("%d keys: arrow-go gives other answers", n)
			}
		} else if n == 100_000 {
			t.Errorf("%d bits: no power of two, so that arrow-go was not compared", bits)
		}
	}
}
