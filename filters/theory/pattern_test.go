package theory

import (
	"math"
	"math/bits"
	"testing"
)

// simulate is the mean and the standard deviation of the rate of filters drawn at
// random, each rate being counted over all queries there are.
func simulatePatterns(bases []uint64, blocks, n uint64, seeds int) (mean, sd, fill float64) {
	x := uint64(1)
	draw := func() uint64 {
		x ^= x << 13 // Marsaglia, Xorshift RNGs (2003)
		x ^= x >> 7
		x ^= x << 17
		return x * 0x2545f4914f6cdd1d >> 16
	}
	for range seeds {
		words := make([]uint64, blocks*2*PatternWords)
		for range n {
			at := draw() % blocks * 2 * PatternWords
			for s := range uint64(2) {
				words[at+s*PatternWords+draw()%PatternWords] |= bits.RotateLeft64(bases[draw()%uint64(len(bases))], int(draw()%64))
			}
		}
		rate, set := 0.0, 0
		for at := uint64(0); at < uint64(len(words)); at += 2 * PatternWords {
			r := 1.0
			for s := range uint64(2) {
				hits := 0
				for _, w := range words[at+s*PatternWords:][:PatternWords] {
					set += bits.OnesCount64(w)
					for _, b := range bases {
						for turn := range 64 {
							if bits.RotateLeft64(b, turn)&^w == 0 {
								hits++
							}
						}
					}
				}
				r *= float64(hits) / float64(64*PatternWords*len(bases))
			}
			rate += r / float64(blocks)
		}
		mean += rate
		sd += rate * rate
		fill += float64(set) / float64(64*len(words))
	}
	s := float64(seeds)
	mean /= s
	return mean, math.Sqrt(sd/s - mean*mean), fill / s
}

// Rate, spread and fill against filters drawn at random, two-sided.
func TestPatternsSimulated(t *testing.T) {
	for _, c := range []struct {
		bases     []uint64
		blocks, n uint64
		seeds     int
	}{
		{[]uint64{0b1011}, 1, 40, 3000},
		{[]uint64{0b1011, 1 | 1<<9 | 1<<40}, 6, 300, 1500},
		{[]uint64{0b11, 0b101, 0b1001}, 2, 150, 1500},
		{[]uint64{1 | 1<<5 | 1<<17 | 1<<40}, 5, 200, 1500},
	} {
		p, ok := NewPatterns(c.bases)
		if !ok || p.K() != 2*bits.OnesCount64(c.bases[0]) {
			t.Fatalf("NewPatterns(%x) = %v, %v", c.bases, p, ok)
		}
		mean, sd, fill := simulatePatterns(c.bases, c.blocks, c.n, c.seeds)
		want := p.BuildSD(c.blocks, c.n)
		if err := 4.5 * sd / math.Sqrt(float64(c.seeds)); math.Abs(mean-p.Rate(c.blocks, c.n)) > err || err > 0.1*mean {
			t.Errorf("%x, %d blocks, %d keys: rate %v, want %v ± %v", c.bases, c.blocks, c.n, mean, p.Rate(c.blocks, c.n), err)
		}
		// The standard error of an sd from 1500 draws is 2% or a little more.
		closeTo(t, "sd", sd, want, 0.1)
		closeTo(t, "fill", fill, p.Fill(c.blocks, c.n), 0.01)
	}
}

func TestPatterns(t *testing.T) {
	p, ok := NewPatterns([]uint64{1 | 1<<1 | 1<<19, 1 | 1<<9 | 1<<45})
	if !ok {
		t.Fatal("refused")
	}
	// One key: the query must be the same, in word and pattern, in both sectors.
	closeTo(t, "one key in one block", p.Rate(1, 1), math.Pow(1.0/(4*128), 2), 1e-9)
	closeTo(t, "one key in 100 blocks", p.Rate(100, 1), math.Pow(1.0/(4*128), 2)/100, 1e-9)
	if f := p.Rate(100, 0); f > 1e-30 {
		t.Errorf("an empty filter has a rate of %v", f)
	}
	if p.Rate(3, 1<<40) != 1 || p.BuildSD(3, 1<<40) != 0 {
		t.Error("overfilled")
	}
	for _, bad := range []float64{p.Rate(0, 1), p.Fill(0, 1), p.BuildSD(0, 1)} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
	for _, n := range []uint64{1, 9, 1000, 3_000_000} {
		for _, rate := range []float64{0.3, 0.01, 1e-4} {
			blocks, ok := p.Size(n, rate)
			if !ok || p.Rate(blocks, n) > rate || blocks > 1 && p.Rate(blocks-1, n) <= rate {
				t.Errorf("n=%d rate=%v: %d blocks (%v) are not the fewest", n, rate, blocks, ok)
			}
		}
	}
	for _, c := range []struct {
		n    uint64
		rate float64
	}{{0, 0.1}, {1, 0}, {1, 1}, {1, math.NaN()}, {1 << 63, 0.01}} {
		if blocks, ok := p.Size(c.n, c.rate); ok {
			t.Errorf("n=%d rate=%v: %d blocks", c.n, c.rate, blocks)
		}
	}
	for _, bad := range [][]uint64{nil, {0}, {0b1011, 0b11}, {0b1011, 0b10110}, {1 | 1<<32}, {0b11111}} {
		if p, ok := NewPatterns(bad); ok {
			t.Errorf("NewPatterns(%x) = %v", bad, p)
		}
	}
}
