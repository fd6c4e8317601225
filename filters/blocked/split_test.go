package blocked

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
)

// Block 2.sbbf_vectors of the theory sheet, computed there from the text of the
// file format: the hash, its block of 1024 and of 1000, and its bit in each lane.
func TestSplitVectors(t *testing.T) {
	for _, c := range []struct {
		h          uint64
		z1024, z1k uint64
		lanes      [8]int
	}{
		{0xef46db3751d8e999, 957, 934, [8]int{29, 0, 25, 28, 14, 22, 29, 30}}, // XXH64 of nothing
		{0xd24ec4f1a98c6e5b, 841, 821, [8]int{18, 17, 1, 12, 17, 24, 27, 31}}, // of "a"
		{0x44bc2cf5ad770999, 274, 268, [8]int{13, 11, 23, 21, 6, 14, 29, 29}}, // of "abc"
		{0x26c7827d889f6da3, 155, 151, [8]int{20, 9, 10, 7, 9, 31, 28, 27}},   // of "hello"
		{0x9f29cb17a2a49995, 636, 621, [8]int{27, 25, 25, 17, 26, 27, 6, 8}},  // of the 64-bit integer 1
		{0xf42f94001fcb5351, 976, 953, [8]int{2, 26, 14, 2, 26, 13, 25, 11}},  // of the 32-bit integer 1
		{0xef18ddce14d0ee6b, 956, 933, [8]int{21, 21, 30, 17, 26, 7, 2, 30}},
		{0x0000000000000001, 0, 0, [8]int{8, 8, 17, 20, 14, 5, 19, 11}},
	} {
		for _, z := range [][2]uint64{{1024, c.z1024}, {1000, c.z1k}} {
			want := make([]byte, z[0]*32)
			for lane, bit := range c.lanes {
				at := want[z[1]*32+uint64(lane)*4:]
				binary.LittleEndian.PutUint32(at, 1<<bit)
			}
			// Through each way to add, four equal keys being enough for a kernel.
			for way, hs := range map[string][]uint64{"Add": {c.h}, "AddMany": {c.h, c.h, c.h, c.h}} {
				f := mustNew(t, Config{Layout: Split, Blocks: z[0]})
				if way == "Add" {
					_ = f.Add(c.h)
				} else {
					addAll(t, f, hs)
				}
				got, err := f.AppendParquet(nil)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%#x in %d blocks by %s: not the bytes of the theory sheet (%v)", c.h, z[0], way, err)
				}
				if !f.Contains(c.h) {
					t.Errorf("%#x in %d blocks by %s: not found", c.h, z[0], way)
				}
			}
		}
	}
}

// The bytes of a filter make the same filter, and what is not a bitset is
// refused.
func TestParquetBytes(t *testing.T) {
	f := mustNew(t, Config{Layout: Split, Blocks: 77})
	addAll(t, f, filtertest.Members(1, 1000))
	head := []byte("head")
	got, err := f.AppendParquet(head)
	if err != nil || !bytes.HasPrefix(got, head) || len(got) != len(head)+77*32 {
		t.Fatalf("%d bytes appended to %d (%v)", len(got), len(head), err)
	}
	g, err := FromParquet(got[len(head):])
	if err != nil {
		t.Fatal(err)
	}
	if g.Config() != f.Config() || g.SizeBits() != 77*256 || g.EstimatedN() != f.EstimatedN() {
		t.Errorf("read back: %+v with %v keys; want %+v with %v", g.Config(), g.EstimatedN(), f.Config(), f.EstimatedN())
	}
	again, _ := g.AppendParquet(nil)
	if !bytes.Equal(again, got[len(head):]) {
		t.Error("written again, the bytes differ")
	}
	clear(got)
	for _, h := range filtertest.Members(1, 1000) {
		if !g.Contains(h) {
			t.Fatalf("%#x is lost", h)
		}
	}
	for _, n := range []int{0, 1, 31, 33, 1000} {
		if f, err := FromParquet(make([]byte, n)); f != nil || !errors.Is(err, filters.ErrParam) {
			t.Errorf("FromParquet of %d bytes = %v, %v; want a ParamError", n, f, err)
		}
	}
	plain := mustNew(t, Config{Blocks: 10, K: 6})
	if b, err := plain.AppendParquet(head); !errors.Is(err, filters.ErrParam) || !bytes.Equal(b, head) {
		t.Errorf("a plain filter as Parquet: %d bytes, %v; want a ParamError", len(b), err)
	}
}

func TestSplitText(t *testing.T) {
	for text, want := range map[string]Variant{
		"blocked(layout=split)":                   {Layout: Split},
		"blocked(256,k=8,layout=split)":           {BlockBits: 256, K: 8, Layout: Split},
		"blocked(layout=split,pages=huge)":        {Layout: Split, Pages: HugePages},
		"blocked(layout=plain,pages=system)":      {Layout: Plain, Pages: SystemPages},
		"blocked(k=6,probes=distinct,pages=huge)": {K: 6, Probes: Distinct, Pages: HugePages},
	} {
		if got, err := Parse(text); err != nil || got != want || got.String() != text {
			t.Errorf("Parse(%q) = %v, %v; want %+v", text, got, err, want)
		}
	}
	for _, bad := range []string{"blocked(layout=parquet)", "blocked(pages=4k)", "blocked(layout=Layout(7))"} {
		if v, err := Parse(bad); !errors.Is(err, filters.ErrParam) {
			t.Errorf("Parse(%q) = %v, %v; want a ParamError", bad, v, err)
		}
	}
	if a, b := Layout(9).String(), Pages(9).String(); a != "Layout(9)" || b != "Pages(9)" {
		t.Errorf("unknown values print as %q and %q", a, b)
	}
}

// What the layout cannot do is refused by name, alike by both constructors.
func TestSplitRefuses(t *testing.T) {
	for _, c := range []struct {
		v     Variant
		field string
	}{
		{Variant{Layout: Split, BlockBits: 512}, "blocked: block"},
		{Variant{Layout: Split, K: 7}, "blocked: k"},
		{Variant{Layout: Split, Probes: Independent}, "blocked: probes"},
		{Variant{Layout: 9}, "blocked: layout"},
		{Variant{Pages: 9}, "blocked: pages"},
	} {
		_, byTarget := c.v.New(filters.Target{N: 10, P: 0.01})
		k := c.v.K
		if k == 0 && c.v.Layout != Split {
			k = 6
		}
		_, byConfig := New(Config{Blocks: 10, BlockBits: c.v.BlockBits, K: k, Probes: c.v.Probes, Layout: c.v.Layout, Pages: c.v.Pages})
		for _, err := range []error{byTarget, byConfig} {
			var pe *filters.ParamError
			if !errors.As(err, &pe) || pe.Field != c.field {
				t.Errorf("%+v: %v; want %s refused", c.v, err, c.field)
			}
		}
	}
	for _, blocks := range []uint64{0, 1 << 31} {
		if _, err := New(Config{Layout: Split, Blocks: blocks}); !errors.Is(err, filters.ErrParam) {
			t.Errorf("%d blocks: %v", blocks, err)
		}
	}
	// 2^31 blocks hold 5.2e10 keys at 10.53 bits.
	for _, target := range []filters.Target{{N: 6e10, P: 0.01}, {N: 6e10, BitsPerKey: 10}, {N: 1e6, P: 1e-15}} {
		_, err := Variant{Layout: Split}.Predict(target, 1)
		if !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "2^31-1 blocks") {
			t.Errorf("%v: %v; want the limit of the format", target, err)
		}
	}
	if _, err := (Variant{Layout: Split}).Predict(filters.Target{N: 5e10, P: 0.02}, 1); err != nil {
		t.Errorf("5e10 keys at 2%%: %v", err)
	}
	a, b := mustNew(t, Config{Layout: Split, Blocks: 10}), mustNew(t, Config{BlockBits: 256, K: 8, Blocks: 10})
	var ie *filters.IncompatibleError
	if err := a.Merge(b); !errors.As(err, &ie) || ie.Field != "layout" {
		t.Errorf("a merge across layouts: %v", err)
	}
}

// The measured rate is the exact one, two-sided, from a filter of one block to
// one of thousands, and the classic formula would miss it.
func TestSplitRate(t *testing.T) {
	for _, c := range []struct {
		blocks  uint64
		perKey  float64
		queries int
		seeds   int
	}{{1, 10, 20_000, 400}, {3, 6, 10_000, 60}, {100, 8, 40_000, 40}, {4099, 10, 200_000, 4}, {4099, 5, 60_000, 3}, {4099, 16, 1_500_000, 2}} {
		config := Config{Layout: Split, Blocks: c.blocks}
		n := int(math.Round(float64(c.blocks) * 256 / c.perKey))
		got, want, sd := measured(t, config, n, c.queries, c.seeds)
		agree(t, fmt.Sprintf("%d blocks, %v bits a key", c.blocks, c.perKey), got, want, sd, 0.08)
	}
}

// Known failure B17 for split blocks: sized by the formula of the standard
// filter, 1% becomes 1.46%. Bits a key from block 2.sbbf_sizing of the theory
// sheet.
func TestB17_SplitBlocksHaveTheirOwnFormula(t *testing.T) {
	for p, perKey := range map[float64]float64{0.1: 5.98854, 0.01: 10.52923, 0.001: 16.88981, 1e-4: 26.34158} {
		const n = 10_000_000
		got, err := Variant{Layout: Split}.Predict(filters.Target{N: n, P: p}, n)
		if err != nil || math.Abs(got.BitsPerKey()/perKey-1) > 2e-4 || got.FPR > p || got.FPR < 0.999*p || got.K != 8 {
			t.Errorf("p=%v: %.5f bits/key at %v, k=%d; want %v and 8 (%v)", p, got.BitsPerKey(), got.FPR, got.K, perKey, err)
		}
	}
}
