package theory

import (
	"math"
	"math/bits"
	"testing"
)

func TestSplitBlocks(t *testing.T) {
	// The figures of Parquet's BloomFilter.md, and the first of them as the theory
	// sheet checks it with binomial loads (1.26441255%); the agreement in 32 bits
	// adds 6e-9.
	closeTo(t, "1024 blocks, 26214 keys", SplitBlocks(1024, 26214), 0.0126441255+6e-9, 1e-7)
	closeTo(t, "1024 blocks, 52428 keys", SplitBlocks(1024, 52428), 0.18, 0.01)
	closeTo(t, "1024 blocks, 13107 keys", SplitBlocks(1024, 13107), 0.0004, 0.06)
	// Known failure B17: a hundred keys in 128 bytes, where Poisson loads give 1.136%.
	closeTo(t, "4 blocks, 100 keys", SplitBlocks(4, 100), 0.01053, 0.001)
	// The limit of many blocks, block 2.sbbf of the theory sheet. Agreement in 32
	// bits, no part of the limit, is 256/c/2^32.
	for _, r := range block(t, "2.sbbf") {
		c := r.num("c")
		n := uint64(math.Round((1 << 24) * 256 / c))
		closeTo(t, "many blocks", SplitBlocks(1<<24, n), r.num("sbbf_fpr")+256/c/(1<<32), 3e-6)
	}
	// One block: no mixture at all.
	for _, j := range []uint64{0, 1, 5, 24, 200, 5000} {
		want := math.Pow(1-math.Pow(31.0/32, float64(j)), 8)
		closeTo(t, "one block", SplitBlocks(1, j), want+(1-want)*float64(j)/(1<<32), 1e-9)
	}
	for _, bad := range []float64{SplitBlocks(0, 1), SplitBlocks(1<<31, 1), SplitBlocksFill(0, 1), SplitBlocksFill(1<<31, 1), SplitBlocksBuildSD(0, 1), SplitBlocksBuildSD(1<<31, 1)} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
	if SplitBlocks(10, 1<<40) != 1 || SplitBlocksBuildSD(10, 1<<40) != 0 {
		t.Error("overfilled")
	}
	closeTo(t, "fill", SplitBlocksFill(1024, 26214), -math.Expm1(26214*math.Log1p(-1.0/(32*1024))), 1e-9)
}

// Blocks by fast range of few values, counted one by one, and the rate of the
// classes against the sum over all blocks. With 2^32 values only filters of tens
// of GiB would show it.
func TestSplitBlockShares(t *testing.T) {
	const values = 64
	for blocks := uint64(1); blocks <= values; blocks++ {
		count := make([]uint64, blocks)
		for v := range uint64(values) {
			i, _ := bits.Mul64(v<<58, blocks)
			count[i]++
		}
		for _, n := range []uint64{1, 30, 200} {
			want := 0.0
			for _, c := range count {
				q, f := float64(c)/values, 0.0
				for j := uint64(0); j <= n; j++ {
					lg := func(x uint64) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
					w := math.Pow(q, float64(j)) * math.Pow(1-q, float64(n-j)) * math.Exp(lg(n)-lg(j)-lg(n-j))
					f += w * math.Pow(1-math.Pow(31.0/32, float64(j)), 8)
				}
				want += q * f
			}
			got := splitMean(splitShares(blocks, values), n)
			if math.Abs(got-want) > 1e-9*want+float64(n)/(1<<32) {
				t.Errorf("%d blocks, %d keys: %v, summed over blocks %v", blocks, n, got, want)
			}
		}
	}
	// What the documentation of SplitBlocks says.
	if got := SplitBlocks(1.5e9, uint64(math.Round(1.5e9*256/10.53))); got < 0.0113 || got > 0.0114 {
		t.Errorf("1.5e9 blocks at 10.53 bits a key: %v, documented as 1.14%%", got)
	}
}

func TestSizeSplitBlocks(t *testing.T) {
	for _, r := range block(t, "2.sbbf_sizing") {
		p, want := r.num("p"), r.num("sbbf_true")
		const n = 10_000_000
		blocks, ok := SizeSplitBlocks(n, p)
		if !ok {
			t.Fatalf("p = %v is refused", p)
		}
		// Agreement in 32 bits costs up to a thousandth.
		closeTo(t, "bits/key", float64(blocks)*256/n, want, 2e-3)
	}
	for _, n := range []uint64{1, 7, 100, 100_000, 300_000_000} {
		for _, p := range []float64{0.5, 0.01, 1e-5} {
			blocks, ok := SizeSplitBlocks(n, p)
			if !ok || SplitBlocks(blocks, n) > p || blocks > 1 && SplitBlocks(blocks-1, n) <= p {
				t.Errorf("n=%d p=%v: %d blocks (%v) are not the fewest", n, p, blocks, ok)
			}
		}
	}
	for _, c := range []struct {
		n uint64
		p float64
	}{{0, 0.1}, {1, 0}, {1, 1}, {1, math.NaN()}, {1e11, 0.01}, {1 << 63, 0.5}, {1e6, 1e-300}} {
		if blocks, ok := SizeSplitBlocks(c.n, c.p); ok {
			t.Errorf("n=%d p=%v: %d blocks", c.n, c.p, blocks)
		}
	}
}

// The spread between seeds against filters drawn at random. With 3 blocks the
// fixed total ties the loads together, which is reckoned with to first order.
func TestSplitBlocksBuildSD(t *testing.T) {
	for _, c := range []struct {
		blocks, n uint64
		tol       float64
	}{{1, 20, 0.08}, {3, 60, 0.2}, {40, 1000, 0.08}} {
		const seeds = 6000
		var sum, sq float64
		x := uint64(1)
		for range seeds {
			lanes := make([]uint32, 8*c.blocks)
			for range c.n {
				x ^= x << 13 // Marsaglia, Xorshift RNGs (2003)
				x ^= x >> 7
				x ^= x << 17
				at, _ := bits.Mul64(x, c.blocks)
				y := x * 0x9e3779b97f4a7c15
				for l := range uint64(8) {
					lanes[at*8+l] |= 1 << (y >> (5 * l) & 31)
				}
			}
			f := 0.0
			for b := range c.blocks {
				r := 1.0
				for _, l := range lanes[b*8:][:8] {
					r *= float64(bits.OnesCount32(l)) / 32
				}
				f += r / float64(c.blocks)
			}
			sum += f
			sq += f * f
		}
		mean := sum / seeds
		// The standard error of an sd from 6000 draws is near 1%, more with the
		// long tail of a single block.
		if want, sd := SplitBlocks(c.blocks, c.n), SplitBlocksBuildSD(c.blocks, c.n); math.Abs(mean-want) > 4.5*sd/math.Sqrt(seeds) {
			t.Errorf("%d blocks, %d keys: mean rate %v, want %v", c.blocks, c.n, mean, want)
		}
		closeTo(t, "sd", math.Sqrt(sq/seeds-mean*mean), SplitBlocksBuildSD(c.blocks, c.n), c.tol)
	}
}
