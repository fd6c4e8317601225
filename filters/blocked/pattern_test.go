package blocked

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
	"filterlab/filters/theory"
)

// The measured rate is the exact one, two-sided, from one block to thousands.
func TestPatternRate(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	for _, c := range []struct {
		blocks  uint64
		perKey  float64
		queries int
		seeds   int
	}{{1, 8, 20_000, 400}, {3, 6, 10_000, 60}, {50, 8, 40_000, 40}, {2049, 10, 200_000, 4}, {2049, 5, 60_000, 3}, {2049, 16, 1_500_000, 2}} {
		config := Config{Layout: Pattern, Blocks: c.blocks}
		n := int(math.Round(float64(c.blocks) * 512 / c.perKey))
		got, want, sd := measured(t, config, n, c.queries, c.seeds)
		agree(t, fmt.Sprintf("%d blocks, %v bits a key", c.blocks, c.perKey), got, want, sd, 0.08)
	}
}

// The table: 1,024 different patterns of three bits, every bit in 48 of them, no
// two bits in more than three, which random patterns would exceed. What the
// documentation says of its rate, at 10 bits a key.
func TestPatternTable(t *testing.T) {
	seen := map[uint64]bool{}
	var each [64]int
	pairs := map[[2]int]int{}
	for _, p := range patterns {
		if bits.OnesCount64(p) != 3 || seen[p] {
			t.Fatalf("pattern %#x", p)
		}
		seen[p] = true
		for i := range 64 {
			for j := range i + 1 {
				if p>>i&1 != 0 && p>>j&1 != 0 {
					pairs[[2]int{i, j}]++
				}
			}
		}
	}
	for ij, n := range pairs {
		if ij[0] == ij[1] {
			each[ij[0]] = n
		} else if n > 3 {
			t.Errorf("bits %v are in %d patterns together", ij, n)
		}
	}
	for i, n := range each {
		if n != 48 {
			t.Errorf("bit %d is in %d patterns, not 48", i, n)
		}
	}
	const n = 10_000_000
	p, err := Variant{Layout: Pattern}.Predict(filters.Target{N: n, BitsPerKey: 10}, n)
	if err != nil || math.Abs(100*p.FPR-1.13) > 0.005 || p.K != 6 {
		t.Errorf("10 bits a key: %.4f%%, k=%d, documented as 1.13%% and 6 (%v)", 100*p.FPR, p.K, err)
	}
	p, err = Variant{Layout: Pattern}.Predict(filters.Target{N: n, P: 0.01}, n)
	if err != nil || math.Abs(p.BitsPerKey()-10.33) > 0.005 || p.FPR > 0.01 {
		t.Errorf("1%%: %.4f bits/key, documented as 10.33 (%v)", p.BitsPerKey(), err)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The estimate counts patterns by laying a word over itself; here they are
// counted one by one.
func TestPatternEstimate(t *testing.T) {
	f := mustNew(t, Config{Layout: Pattern, Blocks: 3})
	addAll(t, f, filtertest.Members(3, 120))
	want := 0.0
	for _, b := range f.lines[:3] {
		r := 1.0
		for half := range 2 {
			found := 0
			for _, w := range b[half*theory.PatternWords:][:theory.PatternWords] {
				for _, p := range patterns {
					found += btoi(p&^w == 0)
				}
			}
			r *= float64(found) / (theory.PatternWords * 1024)
		}
		want += r / 3
	}
	if got := f.EstimatedFPR(); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("EstimatedFPR = %v, counted %v", got, want)
	}
}

// Bits of the hash by their part, so that the layout cannot change unseen: the
// lowest ten are the first pattern, the next ten the second, then two and two the
// words.
func TestPatternPlaces(t *testing.T) {
	for _, c := range []struct {
		h    uint64
		want line
	}{
		{0, line{0: 1 | 1<<1 | 1<<19, 4: 1 | 1<<1 | 1<<19}},
		{1, line{0: 1<<1 | 1<<2 | 1<<20, 4: 1 | 1<<1 | 1<<19}},
		{1023, line{0: 1<<63 | 1<<55 | 1<<61, 4: 1 | 1<<1 | 1<<19}},
		{64 << 10, line{0: 1 | 1<<1 | 1<<19, 4: 1 | 1<<9 | 1<<45}},
		{1<<20 | 3<<22, line{1: 1 | 1<<1 | 1<<19, 7: 1 | 1<<1 | 1<<19}},
	} {
		f := mustNew(t, Config{Layout: Pattern, Blocks: 2})
		_ = f.Add(c.h)
		if f.lines[0] != c.want {
			t.Errorf("%#x sets %x, want %x", c.h, f.lines[0], c.want)
		}
		_ = f.Add(c.h | 1<<63)
		if f.lines[1] != c.want || f.lines[0] != c.want {
			t.Errorf("%#x sets %x in the second block, want %x", c.h|1<<63, f.lines[1], c.want)
		}
	}
}

func TestPatternRefuses(t *testing.T) {
	for _, c := range []struct {
		v     Variant
		field string
	}{
		{Variant{Layout: Pattern, BlockBits: 256}, "blocked: block"},
		{Variant{Layout: Pattern, K: 7}, "blocked: k"},
		{Variant{Layout: Pattern, Probes: Distinct}, "blocked: probes"},
	} {
		_, err := c.v.New(filters.Target{N: 10, P: 0.01})
		var pe *filters.ParamError
		if !errors.As(err, &pe) || pe.Field != c.field {
			t.Errorf("%+v: %v; want %s refused", c.v, err, c.field)
		}
	}
	// More than a block a key is refused, just that much is not.
	for _, layout := range []Layout{Split, Pattern} {
		v := Variant{Layout: layout}
		blocks := Config{Layout: layout, Blocks: 1000}
		blocks, err := blocks.normal()
		if err != nil {
			t.Fatal(err)
		}
		least := blocks.predict(1000, 0).FPR
		if _, err := v.Predict(filters.Target{N: 1000, P: least * 1.001}, 1); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		if _, err := v.Predict(filters.Target{N: 1000, P: least * 0.99}, 1); !errors.Is(err, filters.ErrParam) {
			t.Errorf("%v: p = %v is taken: %v", v, least*0.99, err)
		}
	}
}

// The filter and its short form are one table with the same answers.
func TestPatternsShareTheTable(t *testing.T) {
	f, one := mustNew(t, Config{Layout: Pattern, Blocks: 77}), mustNew(t, Config{Layout: Pattern, Blocks: 77})
	p, ok := f.Patterns()
	if !ok {
		t.Fatal("a filter of the pattern layout has no short form")
	}
	for _, h := range append(filtertest.Members(31, 3000), 0, ^uint64(0)) {
		_ = one.Add(h)
		p.Add(h)
		if !f.Contains(h) {
			t.Fatalf("%#x was stored and is not found", h)
		}
	}
	if !slices.Equal(f.words, one.words) {
		t.Error("Patterns.Add makes another table than Add")
	}
	hits := 0
	for _, h := range filtertest.NonMembers(31, 3000) {
		if p.Contains(h) != f.Contains(h) {
			t.Fatalf("%#x: answers differ", h)
		}
		if p.Contains(h) {
			hits++
		}
	}
	if hits == 0 || hits == 3000 {
		t.Errorf("%d of 3000 answers were true, so that nothing was compared", hits)
	}
	for _, c := range []Config{{Layout: Split, Blocks: 77}, {K: 6, Blocks: 77}} {
		if _, ok := mustNew(t, c).Patterns(); ok {
			t.Errorf("%+v passes for the pattern layout", c)
		}
	}
}
