package theory

import (
	"fmt"
	"math"
	"testing"
)

func TestSizing(t *testing.T) {
	for _, r := range block(t, "1.sizing") {
		p := r.num("p")
		r.check("bits_per_key_real", StandardBitsPerKey(p))
		r.check("k_real", LowerBound(p))
		m, k, ok := SizeTextbook(1e15, p)
		if !ok || k != r.int("k_round") {
			t.Errorf("%v: textbook k = %d, %v", r.fields, k, ok)
		}
		r.check("classic_fpr_at_k_round", StandardClassic(m, 1e15, k))
		// Least bits with a whole k: the limit of large n, by the unrounded size.
		best := descend(-math.Log2(p), func(k int) float64 { m, _ := classicSize(1, p, k); return m })
		if best != r.int("k_integer") || best != r.int("k_best") {
			t.Errorf("%v: best k = %d", r.fields, best)
		}
		bits, _ := classicSize(1, p, best)
		r.check("bits_per_key_integer_k", bits)
		// And by the real sizing, at n = 1e7: 7e-8 of it are the order 1/m, and the
		// hash floor is 5e-13.
		m, k, ok = SizeStandard(1e7, p, 0)
		if !ok || k != r.int("k_integer") {
			t.Errorf("%v: sized k = %d, %v", r.fields, k, ok)
		}
		r.near("bits_per_key_integer_k", float64(m)/1e7, 3e-7)
	}
	for _, r := range block(t, "1.memory") {
		m, _, _ := SizeTextbook(r.uint("n"), r.num("p"))
		if m != r.uint("m_bits_ceil") {
			t.Errorf("%v: m = %d", r.fields, m)
		}
		r.check("MB(1e6)", float64(m)/8e6)
		r.check("MiB(2^20)", float64(m)/8/(1<<20))
	}
}

// The stated sizes at 1%: 9.593 bits/key for large n, 9.595 at n = 1000, 9.80 with
// k = 6 at n = 10. The digits beyond them were computed in 40-digit arithmetic.
func TestSizeStandardStated(t *testing.T) {
	for _, c := range []struct {
		n, m uint64
		k    int
	}{{10, 98, 6}, {1000, 9595, 7}, {1e6, 9592957, 7}, {1e9, 9592954730, 7}} {
		m, k, ok := SizeStandard(c.n, 0.01, 0)
		if m != c.m || k != c.k || !ok {
			t.Errorf("n=%d: m=%d k=%d ok=%v, want %d, %d", c.n, m, k, ok, c.m, c.k)
		}
	}
}

// Whatever k is asked for, m passes and m-1 fails; and no k needs fewer bits than
// the best.
func TestSizesAreLeast(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 77, 1000, 123456, 1e9, 1 << 43} {
		for _, p := range []float64{0.9, 0.5, 0.393, 0.1, 0.01, 1e-4, 1e-8} {
			floor := HashFloor(n, 64)
			meets := func(f float64) bool { return Combine(f, floor) <= p*(1+1e-12) }
			best, bestK, ok := SizeStandard(n, p, 0)
			slice, sliceK, ok2 := SizePartitioned(n, p, 0)
			if p <= floor {
				if ok || ok2 {
					t.Errorf("n=%d p=%v: sized below the hash floor %v", n, p, floor)
				}
				continue
			}
			if !ok || !ok2 {
				t.Errorf("n=%d p=%v: not sized", n, p)
				continue
			}
			for _, k := range []int{1, bestK - 1, bestK, bestK + 1, sliceK - 1, sliceK, sliceK + 1} {
				if k < 1 {
					continue
				}
				m, _, ok := SizeStandard(n, p, k)
				if !ok || m < best {
					t.Errorf("n=%d p=%v k=%d: %d bits (ok %v), best has %d with k=%d", n, p, k, m, ok, best, bestK)
				}
				if !meets(Standard(m, n, k)) {
					t.Errorf("n=%d p=%v k=%d: %d bits have %v", n, p, k, m, Standard(m, n, k))
				}
				// A bit less fails, seen through the noise of doubles up to 2^43.
				if less := m - 1 - m>>43; m > 1 && meets(Standard(less, n, k)*(1-1e-12)) && Combine(Standard(less, n, k), floor) <= p {
					t.Errorf("n=%d p=%v k=%d: %d bits would do, not %d", n, p, k, less, m)
				}
				s, _, ok := SizePartitioned(n, p, k)
				if !ok || s*uint64(k) < slice*uint64(sliceK) {
					t.Errorf("partitioned n=%d p=%v k=%d: %d bits a slice (ok %v), best has %d with k=%d", n, p, k, s, ok, slice, sliceK)
				}
				if !meets(Partitioned(s, n, k)) || s > 1 && s < 1<<43 && Combine(Partitioned(s-1, n, k), floor) <= p {
					t.Errorf("partitioned n=%d p=%v k=%d: %d bits a slice are not the least", n, p, k, s)
				}
			}
		}
	}
}

// Best k by trying all 64, where the exact rate differs most from the classic.
func TestBestSizeByBruteForce(t *testing.T) {
	for _, n := range []uint64{1, 2, 5, 13} {
		for _, p := range []float64{0.3, 0.05, 0.002} {
			best, k, _ := SizeStandard(n, p, 0)
			for try := 1; try <= 30; try++ {
				if m, _, ok := SizeStandard(n, p, try); ok && (m < best || m == best && try < k) {
					t.Errorf("n=%d p=%v: k=%d takes %d bits, best was %d with k=%d", n, p, try, m, best, k)
				}
			}
		}
	}
}

func TestSizingDomain(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
		k int
	}{
		{0, 0.01, 0}, {10, 0.01, -1}, {10, 0.01, 65}, {1e6, 5e-14, 0}, // 5e-14 < 1e6/2^64
		{math.MaxUint64, 0.01, 0}, {1 << 62, 0.1, 1}, // floors of 63% and 22%
	} {
		if m, k, ok := SizeStandard(c.n, c.p, c.k); ok || m != 0 || k != 0 {
			t.Errorf("SizeStandard(%v) = %d, %d, %v", c, m, k, ok)
		}
		if s, k, ok := SizePartitioned(c.n, c.p, c.k); ok || s != 0 || k != 0 {
			t.Errorf("SizePartitioned(%v) = %d, %d, %v", c, s, k, ok)
		}
		if b, k, ok := SizeBlocked(512, c.n, c.p, c.k, true); ok || b != 0 || k != 0 {
			t.Errorf("SizeBlocked(%v) = %d, %d, %v", c, b, k, ok)
		}
	}
	// A p just above the floor can be had: half of it is the filter's own.
	p := 2 * HashFloor(1e6, 64)
	m, k, ok := SizeStandard(1e6, p, 0)
	if !ok || k != 44 {
		t.Errorf("p = twice the floor: m=%d k=%d ok=%v", m, k, ok)
	}
	closeTo(t, "bits per key at twice the floor", float64(m)/1e6, StandardBitsPerKey(p/2), 0.001)
}

// A rate other than Standard's, through the same search.
func TestSizeBy(t *testing.T) {
	m, k, ok := SizeBy(1000, 0.01, 7, func(m uint64, k int) float64 { return DoubleHashing(m, 1000, k) })
	if !ok || k != 7 || !(DoubleHashing(m, 1000, 7) <= 0.01 && DoubleHashing(m-1, 1000, 7) > 0.01) {
		t.Errorf("m=%d k=%d ok=%v: rates %v, %v below", m, k, ok, DoubleHashing(m, 1000, 7), DoubleHashing(m-1, 1000, 7))
	}
	if independent, _, _ := SizeStandard(1000, 0.01, 7); m <= independent {
		t.Errorf("double hashing takes %d bits, independent probes %d", m, independent)
	}
}

func TestLowerBoundFinite(t *testing.T) {
	for _, r := range block(t, "7.finite_universe") {
		r.check("bits_per_key", LowerBoundFinite(r.uint("u"), r.uint("n"), r.num("p")))
		r.check("log2(1/p)", LowerBound(r.num("p")))
	}
	// By hand: 2 of 4 keys, p = 1/2: C(4,2)/C(3,2) = 2, over two keys.
	closeTo(t, "2 of 4", LowerBoundFinite(4, 2, 0.5), 0.5, 1e-12)
	closeTo(t, "large universe", LowerBoundFinite(math.MaxUint64, 1e6, 0.01), LowerBound(0.01), 1e-9)
}

func TestBitsPerKeyByFamily(t *testing.T) {
	rows := map[string]row{}
	for _, r := range block(t, "7.bits_per_key") {
		rows[r.str("family")] = r
	}
	for column, p := range map[string]float64{"p=1%": 0.01, "p=0.1%": 0.001, "p=2^-8": math.Ldexp(1, -8), "p=2^-16": math.Ldexp(1, -16)} {
		check := func(family string, got float64) {
			t.Helper()
			r, ok := rows[family]
			if !ok {
				t.Fatalf("no row %q", family)
			}
			r.check(column, got)
		}
		check("lower bound log2(1/p)", LowerBound(p))
		check("Bloom optimal (real k)", StandardBitsPerKey(p))
		check("Counting Bloom 4-bit", 4*StandardBitsPerKey(p))
		best := descend(-math.Log2(p), func(k int) float64 { m, _ := classicSize(1, p, k); return m })
		integer, _ := classicSize(1, p, best)
		check("Bloom integer k", integer)
		blocks, _, _ := SizeBlocked(512, 1e8, p, 0, false)
		check("Blocked Bloom B=512 best k (exact)", float64(blocks)*512/1e8)
		check("Split block Bloom 256 (k=8)", SplitBlockBitsPerKey(p))
		scalable := 0.0
		for i := range 10 {
			scalable += math.Ldexp(StandardBitsPerKey(ScalableStageRate(p, 0.5, i)), i)
		}
		check("Scalable Bloom s=2 r=.5 P0=p/2; stage i sized for P0 2^-i; 10 full stages", scalable/1023)
		check("Cuckoo b=4 alpha=.95 (L+3)/.95 real f", CuckooBitsPerKey(p, 4, 0.95))
		check("Cuckoo semi-sorted b=4 (L+2)/.95", CuckooBitsPerKey(p, 4, 0.95)-1/0.95)
		f := 1
		for slots(4, 0.95, math.Ldexp(1, -f)) > p {
			f++
		}
		check("Cuckoo b=4 integer f (least f with 1-(1-2^-f)^(7.6)<=p)", float64(f)/0.95)
	}
}

// --- known failures of other libraries' sizing ---

// The reference sizes at the head of the list of known failures.
func TestReferenceSizes(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
		m uint64
		k int
	}{
		{1000, 0.01, 9586, 7},
		{1000, 0.1, 4793, 3},
		{10000, 0.02, 81424, 6},
		{10000, 1e-6, 287552, 20},
		{100000, 0.01, 958506, 7},
		{10000000, 0.001, 143775876, 10},
		{350000000, 0.01, 3354770433, 7},
		{400000000, 0.001, 5751035027, 10},
		{5000000000, 0.01, 47925291887, 7},
		{1e18, 0.01, 9585058377367439360, 7},
		{1, 1e-9, 44, 30},
	} {
		if m, k, ok := SizeTextbook(c.n, c.p); m != c.m || k != c.k || !ok {
			t.Errorf("SizeTextbook(%d, %v) = %d, %d, %v, want %d, %d", c.n, c.p, m, k, ok, c.m, c.k)
		}
	}
}

// ln 2 divided by once instead of twice halves the filter and the number of
// probes: 4,606 bits and k = 4 for 1000 keys at 1%, a rate of 11.3%.
func TestB01_SizeFormulaPrecedence(t *testing.T) {
	m, k, ok := SizeTextbook(1000, 0.01)
	if m != 9586 || k != 7 || !ok {
		t.Errorf("m=%d k=%d ok=%v, want 9586 and 7", m, k, ok)
	}
	closeTo(t, "rate of the slip", Standard(4606, 1000, 4), 0.113, 0.005)
}

// Swapped arguments gave p >= 0.393 one bit a key and two probes, a rate of 0.75.
// Near p = 1 the size must still keep p.
func TestB16_ProbabilityNearOne(t *testing.T) {
	for _, p := range []float64{0.393, 0.5, 0.7, 0.9, 0.99, 0.999999} {
		m, k, ok := SizeStandard(1000, p, 0)
		if !ok || k != 1 || !(Standard(m, 1000, k) <= p) || m > 1 && !(Standard(m-1, 1000, k) > p) {
			t.Errorf("p=%v: m=%d k=%d ok=%v rate %v", p, m, k, ok, Standard(m, 1000, k))
		}
	}
	m, n := atBitsPerKey(2)
	closeTo(t, "2 bits/key, k=1", Standard(m, n, 1), 0.393, 0.002)
	if m, k, _ := SizeTextbook(1000, 0.5); m != 1443 || k != 1 {
		t.Errorf("textbook at 0.5: m=%d k=%d", m, k)
	}
}

// ln 2 applied once too often in both formulas: 6,644 bits.
func TestB22_Ln2Twice(t *testing.T) {
	if m, k, _ := SizeTextbook(1000, 0.01); m != 9586 || k != 7 {
		t.Errorf("m=%d k=%d, want 9586 and 7", m, k)
	}
	if m, k, _ := SizeStandard(1000, 0.01, 0); m != 9595 || k != 7 {
		t.Errorf("exact: m=%d k=%d, want 9595 and 7", m, k)
	}
}

// n = 0 gave a filter of no bits, or of 4e9 probes.
func TestC01_NoKeys(t *testing.T) {
	for _, p := range []float64{0.01, 0.001} {
		if _, _, ok := SizeTextbook(0, p); ok {
			t.Error("SizeTextbook accepts n = 0")
		}
		if _, _, ok := SizeStandard(0, p, 0); ok {
			t.Error("SizeStandard accepts n = 0")
		}
	}
}

// k taken from m/n after a least m of 512 bits: k = 354 for one key.
func TestC02_TinyNKeepsK(t *testing.T) {
	for n := uint64(1); n <= 2; n++ {
		if _, k, ok := SizeTextbook(n, 0.001); k != 10 || !ok {
			t.Errorf("n=%d: textbook k=%d ok=%v, want 10", n, k, ok)
		}
		// The exact best is a little lower, as in every small filter.
		m, k, ok := SizeStandard(n, 0.001, 0)
		if !ok || k < 7 || k > 10 || float64(m)/float64(n) > 18 {
			t.Errorf("n=%d: m=%d k=%d ok=%v", n, m, k, ok)
		}
	}
}

// p outside (0, 1), NaN among them, and a p that no 64 probes reach.
func TestC03_ProbabilityOutOfRange(t *testing.T) {
	for _, p := range []float64{0, -0.1, 1, 1.5, 2, 10.1, math.NaN(), math.Inf(1), math.Inf(-1), 1000, 1e-320} {
		if m, k, ok := SizeTextbook(1000, p); ok {
			t.Errorf("SizeTextbook(1000, %v) = %d, %d", p, m, k)
		}
		if m, k, ok := SizeStandard(1000, p, 0); ok {
			t.Errorf("SizeStandard(1000, %v) = %d, %d", p, m, k)
		}
		if m, k, ok := SizeBlocked(512, 1000, p, 0, true); ok {
			t.Errorf("SizeBlocked(1000, %v) = %d, %d", p, m, k)
		}
	}
}

// Sizes beyond 63 bits: named (the textbook's fits 64) or refused, never wrapped.
func TestC06_AbsurdN(t *testing.T) {
	if m, _, ok := SizeTextbook(1e18, 0.01); !ok || m != 9585058377367439360 {
		t.Errorf("n = 1e18: %d, %v", m, ok)
	}
	if m, _, ok := SizeTextbook(2e18, 0.01); ok {
		t.Errorf("n = 2e18: %d fits 64 bits?", m)
	}
	if m, _, ok := SizeStandard(1e18, 0.06, 0); ok {
		t.Errorf("n = 1e18: %d bits", m)
	}
	if m, _, ok := SizeStandard(1e11, 0.01, 0); !ok || math.Abs(float64(m)/1e11-9.593) > 0.001 {
		t.Errorf("n = 1e11: %d, %v", m, ok)
	}
}

// One probe at 10 bits a key: 1 in 11, not 1 in 122.
func TestD15_ProbesFromBitsSpent(t *testing.T) {
	m, n := uint64(1e6), uint64(1e5)
	closeTo(t, "k=1", Standard(m, n, 1), 0.095, 0.005)
	closeTo(t, "k=7", Standard(m, n, 7), 0.0082, 0.005)
	if k := StandardBestK(m, n); k != 7 {
		t.Errorf("best k = %d, want 7", k)
	}
}

// A hash of 32 bits floors the rate at n/2^32, whatever the filter: 0.023%, 0.23%,
// 2.3% at 1, 10 and 100 million keys; 1e-6 at a million keys became 2.3e-4.
func TestB07_HashFloor(t *testing.T) {
	for _, r := range block(t, "1.hashfloor") {
		n := r.uint("n")
		r.check("H_32bit", HashFloor(n, 32))
		r.check("H_64bit", HashFloor(n, 64))
		r.check("total_with_F=0.01_and_32bit", Combine(0.01, HashFloor(n, 32)))
	}
	closeTo(t, "B11: 1e-6 behind 32 bits", Combine(Standard(28755176, 1e6, 20), HashFloor(1e6, 32)), 2.338e-4, 0.001)
}

// Rounding to a power of two downwards: 100,000 keys at 10 bits a key got 2^19
// bits, 12.1%. Upwards they have 0.66%.
func TestB15_PowerOfTwoDown(t *testing.T) {
	closeTo(t, "2^20 bits", Standard(1<<20, 1e5, 7), 0.0066, 0.02)
	closeTo(t, "2^19 bits", Standard(1<<19, 1e5, 7), 0.121, 0.05)
}

func TestSizingIsFast(t *testing.T) {
	// Not a timing: the number of rates computed for one k, which is what costs.
	for _, n := range []uint64{1, 1000, 1e6, 1e12} {
		calls := 0
		if _, _, ok := SizeBy(n, 0.01, 7, func(m uint64, k int) float64 { calls++; return Standard(m, n, k) }); !ok {
			t.Fatal("not sized")
		}
		if calls > 60 {
			t.Errorf("n=%d: %d rates for one size, want at most 60", n, calls)
		}
		t.Log(fmt.Sprint("n=", n, ": ", calls, " rates"))
	}
}
