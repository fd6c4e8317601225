package theory

import (
	"fmt"
	"math"
	"testing"
)

// blockedAt is the rate at c bits per key in so many blocks that the binomial
// load is Poisson to 12 digits.
func blockedAt(B int, c float64, k int, distinct bool) float64 {
	const blocks = 1e12
	return Blocked(blocks, B, uint64(math.Round(blocks*float64(B)/c)), k, distinct)
}

func TestBlockedTables(t *testing.T) {
	for _, r := range block(t, "2.blocked512") {
		c, k := r.num("c"), r.int("k")
		r.check("B512_exact", blockedAt(512, c, k, false))
		r.check("B512_exact_distinct_bits", blockedAt(512, c, k, true))
		r.check("B1024_exact", blockedAt(1024, c, k, false))
		r.check("B256_exact", blockedAt(256, c, k, false))
		r.check("B512_putze_q", poissonMean(512/c, func(j float64) float64 { return StandardOneStep(512, uint64(j), k) }))
		m, n := atBitsPerKey(c)
		r.check("standard_classic", StandardClassic(m, n, k))
	}
	for _, r := range block(t, "2.register64") {
		c, k := r.num("c"), r.int("k")
		r.check("exact_with_replacement", blockedAt(64, c, k, false))
		r.check("exact_distinct_bits", blockedAt(64, c, k, true))
		r.check("putze_q(wrong)", poissonMean(64/c, func(j float64) float64 { return StandardOneStep(64, uint64(j), k) }))
	}
	// Four inner formulas for one filter: the classic one gives the value printed
	// in RocksDB's source, distinct bits the true best.
	inner := []float64{
		poissonMean(51.2, func(j float64) float64 { return StandardClassic(512, uint64(j), 6) }),
		poissonMean(51.2, func(j float64) float64 { return StandardOneStep(512, uint64(j), 6) }),
		blockedAt(512, 10, 6, true),
		blockedAt(512, 10, 6, false),
	}
	for i, r := range block(t, "2.rocksdb_10bpk_k6") {
		r.check("fpr", inner[i])
	}
	for _, r := range block(t, "2.rocksdb_two_point") {
		c, k := r.num("c"), r.int("k")
		exact := blockedAt(512, c, k, false)
		r.check("exact_B512", exact)
		// RocksDB's approximation: the classic rate one deviation of the load up and
		// down.
		lambda := 512 / c
		at := func(j float64) float64 { return math.Pow(-math.Expm1(-float64(k)*j/512), float64(k)) }
		two := (at(lambda+math.Sqrt(lambda)) + at(lambda-math.Sqrt(lambda))) / 2
		r.check("two_point", two)
		r.check("ratio", two/exact)
	}
}

func TestBlockedBestK(t *testing.T) {
	for _, r := range block(t, "2.best_k") {
		c, B := r.num("c"), r.int("B")
		const blocks = 1e9
		n := uint64(math.Round(blocks * float64(B) / c))
		k := BlockedBestK(blocks, B, n, false)
		if k != r.int("best_k") {
			t.Errorf("%v: best k = %d", r.fields, k)
		}
		f := blockedAt(B, c, k, false)
		r.check("fpr", f)
		m, keys := atBitsPerKey(c)
		standard := descend(c*math.Ln2, func(k int) float64 { return StandardClassic(m, keys, k) })
		r.check("ratio_to_standard", f/StandardClassic(m, keys, standard))
	}
	// No k up to 24 is better, distinct or not, few blocks or many.
	for _, distinct := range []bool{false, true} {
		for _, c := range []struct {
			blocks uint64
			B      int
			n      uint64
		}{{1, 64, 3}, {1, 512, 51}, {7, 256, 100}, {1000, 64, 30000}, {1e6, 128, 5e6}} {
			best := BlockedBestK(c.blocks, c.B, c.n, distinct)
			for k := 1; k <= 24; k++ {
				if Blocked(c.blocks, c.B, c.n, k, distinct) < Blocked(c.blocks, c.B, c.n, best, distinct) {
					t.Errorf("%+v distinct=%v: k=%d is better than the best, %d", c, distinct, k, best)
				}
			}
		}
	}
	if k := BlockedBestK(0, 512, 1, true) + BlockedBestK(10, 512, 0, true) + BlockedBestK(10, 32, 1, true); k != 0 {
		t.Errorf("best k outside the domain: %d", k)
	}
}

// Putze's table is met with the in-block formula it used, (1-(1-1/B)^(kj))^k, both
// with k = round(c' ln 2), the rule that gives the published 30 entries, and with
// the best k.
func TestBlockedCompensation(t *testing.T) {
	for _, r := range block(t, "2.compensation") {
		c := r.num("c")
		m, n := atBitsPerKey(c)
		k := descend(c*math.Ln2, func(k int) float64 { return StandardClassic(m, n, k) })
		std := StandardClassic(m, n, k)
		r.check("std_fpr", std)
		putze := func(c float64, k int) float64 {
			return poissonMean(512/c, func(j float64) float64 { return math.Pow(fill(512, float64(k)*j), float64(k)) })
		}
		rule := func(c float64) int { return int(math.Round(c * math.Ln2)) }
		best := func(c float64) int {
			return descend(0.7*c*math.Ln2, func(k int) float64 { return putze(c, k) })
		}
		for _, x := range []struct {
			bits, k string
			choose  func(float64) int
		}{{"c_prime_putze_rule", "k_putze", rule}, {"c_prime_best_k", "k_best", best}} {
			more := c
			for putze(more, x.choose(more)) > std {
				more++
			}
			if more != r.num(x.bits) || x.choose(more) != r.int(x.k) {
				t.Errorf("%v: %s = %v with k = %d", r.fields, x.bits, more, x.choose(more))
			}
		}
	}
}

// One block is a small standard filter, exactly; and the mixture over few blocks
// is the sum over all ways to share the keys.
func TestBlockedFewBlocks(t *testing.T) {
	for _, B := range []int{64, 100, 512, 4096} {
		for _, k := range []int{1, 3, 7, 24} {
			for _, n := range []uint64{1, 2, 10, uint64(B) / 10} {
				name := fmt.Sprintf("B=%d k=%d n=%d", B, k, n)
				closeTo(t, name, Blocked(1, B, n, k, false), Standard(uint64(B), n, k), 1e-10)
				closeTo(t, name+" distinct", Blocked(1, B, n, k, true), StandardDistinct(uint64(B), n, k), 1e-9)
				closeTo(t, name+" fill", BlockedFill(1, B, n, k, false), StandardFill(uint64(B), n, k), 1e-12)
			}
		}
	}
	// Three keys on two blocks: 0, 1, 2, 3 in the one asked with chances 1:3:3:1.
	want := (3*Standard(64, 1, 4) + 3*Standard(64, 2, 4) + Standard(64, 3, 4)) / 8
	closeTo(t, "two blocks", Blocked(2, 64, 3, 4, false), want, 1e-12)
	// The Poisson load is too high: 11.6% for one block, 0.6% for 20, 0.06% for
	// 200, and 1e-5 at 10,000 blocks.
	poisson := blockedAt(512, 10, 6, false)
	for blocks, excess := range map[uint64]float64{20: 0.006, 200: 0.0006, 10000: 1.2e-5} {
		n := uint64(math.Round(float64(blocks) * 51.2))
		if got := poisson/Blocked(blocks, 512, n, 6, false) - 1; math.Abs(got-excess) > 0.25*excess {
			t.Errorf("%d blocks: the Poisson load is %.3g too high, want about %v", blocks, got, excess)
		}
	}
}

func TestBlockedFill(t *testing.T) {
	closeTo(t, "distinct, one key", BlockedFill(10, 512, 1, 8, true), 8.0/5120, 1e-12)
	closeTo(t, "independent, one key", BlockedFill(10, 512, 1, 8, false), (1-math.Pow(511.0/512, 8))/10, 1e-12)
	closeTo(t, "k=1", BlockedFill(10, 512, 700, 1, true), StandardFill(5120, 700, 1), 1e-12)
	if BlockedFill(10, 512, 0, 8, true) != 0 {
		t.Error("empty")
	}
}

func TestBlockedBuildSD(t *testing.T) {
	for _, r := range block(t, "9.blocked_build_relsd") {
		B, k, c, n := r.int("B"), r.int("k"), r.num("c"), r.uint("n")
		// The sheet divides by n c/B blocks, whole or not, of the Poisson load.
		const blocks = 1e12
		keys := uint64(math.Round(blocks * float64(B) / c))
		rel := BlockedBuildSD(blocks, B, keys, k, false) / Blocked(blocks, B, keys, k, false)
		r.check("relsd_full", rel*math.Sqrt(blocks/(float64(n)*c/float64(B))))
		r.check("fpr", Blocked(blocks, B, keys, k, false))
	}
	// One block: a standard filter of as many bits.
	closeTo(t, "one block", BlockedBuildSD(1, 512, 51, 6, false), StandardBuildSD(512, 51, 6), 1e-9)
	if sd := BlockedBuildSD(10, 512, 0, 6, true) + BlockedBuildSD(10, 512, 1<<40, 6, true); sd != 0 {
		t.Errorf("empty and full filters do not vary: %v", sd)
	}
}

func TestSizeBlocked(t *testing.T) {
	for _, B := range []int{64, 512} {
		for _, n := range []uint64{1, 10, 1000, 1e9} {
			for _, p := range []float64{0.5, 0.01, 1e-5} {
				for _, distinct := range []bool{false, true} {
					blocks, k, ok := SizeBlocked(B, n, p, 0, distinct)
					if !ok {
						t.Errorf("B=%d n=%d p=%v: not sized", B, n, p)
						continue
					}
					if f := Combine(Blocked(blocks, B, n, k, distinct), HashFloor(n, 64)); f > p*(1+1e-12) {
						t.Errorf("B=%d n=%d p=%v: %d blocks, k=%d: %v", B, n, p, blocks, k, f)
					}
					if blocks > 1 && Combine(Blocked(blocks-1, B, n, k, distinct), HashFloor(n, 64)) <= p*(1-1e-12) {
						t.Errorf("B=%d n=%d p=%v k=%d: a block less would do", B, n, p, k)
					}
					for _, other := range []int{k - 1, k + 1} {
						if x, _, ok := SizeBlocked(B, n, p, other, distinct); other > 0 && ok && x < blocks {
							t.Errorf("B=%d n=%d p=%v: k=%d takes %d blocks, best k=%d takes %d", B, n, p, other, x, k, blocks)
						}
					}
				}
			}
		}
	}
	for _, bad := range []float64{
		Blocked(0, 512, 1, 6, true), Blocked(1, 63, 1, 6, true), Blocked(1, 4097, 1, 6, true), Blocked(1, 512, 1, 0, true),
		Blocked(1, 512, 1, 65, false), BlockedFill(0, 512, 1, 6, true), BlockedBuildSD(0, 512, 1, 6, true),
	} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
	if _, _, ok := SizeBlocked(32, 10, 0.01, 0, true); ok {
		t.Error("blocks of 32 bits accepted")
	}
	if Blocked(10, 512, 0, 6, true) != 0 || Blocked(10, 512, 1<<50, 6, true) != 1 {
		t.Error("empty or overfilled")
	}
}

func TestSplitBlock(t *testing.T) {
	for _, r := range block(t, "2.sbbf") {
		c := r.num("c")
		r.check("sbbf_fpr", SplitBlock(c))
		m, n := atBitsPerKey(c)
		r.check("classic_k8(wrong for sbbf)", StandardClassic(m, n, 8))
	}
	for _, r := range block(t, "2.sbbf_sizing") {
		r.check("sbbf_true", SplitBlockBitsPerKey(r.num("p")))
		r.check("standard", StandardBitsPerKey(r.num("p")))
	}
	for _, r := range block(t, "2.sbbf_naive_sizing_actual_fpr") {
		r.check("sbbf_fpr_got", SplitBlock(-8/math.Log1p(-math.Pow(r.num("p_asked"), 1.0/8))))
	}
	for _, r := range block(t, "2.sectorized") {
		r.check("sbbf256", SplitBlock(r.num("c")))
		r.check("blocked512", blockedAt(512, r.num("c"), 8, false))
	}
	for _, bad := range []float64{SplitBlock(0), SplitBlock(math.NaN()), SplitBlockBitsPerKey(0), SplitBlockBitsPerKey(1), SplitBlockBitsPerKey(1e-30)} {
		if !math.IsNaN(bad) {
			t.Errorf("outside the domain: %v", bad)
		}
	}
	if SplitBlock(1e-9) != 1 {
		t.Error("overfilled")
	}
}

// The classic formula for a blocked filter: the values the true ones must have.
func TestB17_BlockedIsNotStandard(t *testing.T) {
	for c, want := range map[float64][2]float64{10: {0.009665, 0.009550}, 16: {0.000844, 0.000822}, 20: {0.000198, 0.000191}} {
		const blocks = 1e9
		n := uint64(math.Round(blocks * 512 / c))
		closeTo(t, "independent", blockedAt(512, c, BlockedBestK(blocks, 512, n, false), false), want[0], 0.002)
		closeTo(t, "distinct", blockedAt(512, c, BlockedBestK(blocks, 512, n, true), true), want[1], 0.003)
	}
	for c, want := range map[float64]float64{9.585: 0.0153, 10.5: 0.0101, 10.24: 0.01136, 20.48: 0.00037} {
		closeTo(t, "split block", SplitBlock(c), want, 0.01)
	}
	if c := SplitBlockBitsPerKey(0.01); c < 10.5 {
		t.Errorf("a split block of 1%% takes %v bits per key, want at least 10.5", c)
	}
}
