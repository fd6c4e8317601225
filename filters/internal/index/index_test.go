package index

import (
	"math"
	"math/big"
	"testing"
)

// Expected values: whole part of h·n/2^64, by hand.
func TestFastRange(t *testing.T) {
	for _, c := range []struct{ h, n, want uint64 }{
		{0, 10, 0},
		{1 << 63, 10, 5},
		{math.MaxUint64, 10, 9},
		{math.MaxUint64, 1, 0},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64 - 1},
		{1 << 32, 1 << 32, 1},
		{1<<32 - 1, 1 << 32, 0},
	} {
		if got := FastRange(c.h, c.n); got != c.want {
			t.Errorf("FastRange(%#x, %d) = %d, want %d", c.h, c.n, got, c.want)
		}
	}
}

// The remainder by division, for small moduli, and by hand for the largest.
func TestStepMod(t *testing.T) {
	for m := uint64(1); m < 20; m++ {
		for x := range m {
			for y := range m {
				if got := StepMod(x, y, m); got != (x+y)%m {
					t.Fatalf("StepMod(%d, %d, %d) = %d, want %d", x, y, m, got, (x+y)%m)
				}
			}
		}
	}
	const m = 1<<63 - 1
	for _, c := range []struct{ x, y, want uint64 }{{m - 1, m - 1, m - 2}, {m - 1, 1, 0}, {m - 1, 0, m - 1}, {1, 2, 3}} {
		if got := StepMod(c.x, c.y, m); got != c.want {
			t.Errorf("StepMod(%d, %d, 2^63-1) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

// The shortest vectors that the comments on the constants state.
func TestSpectral(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	worst := func(start uint64, factor uint64, steps int) float64 {
		least := 1.0
		for range steps {
			least = min(least, merit(start))
			start *= factor
		}
		return least
	}
	if got := worst(Multiplier, Multiplier, 63); got < 0.42 || got > 0.43 {
		t.Errorf("Multiplier: worst merit %.4f over the distances 1 to 63, want 0.42", got)
	}
	if got := worst(0x9e3779b97f4a7c15, 0x9e3779b97f4a7c15, 63); got < 0.12 || got > 0.13 {
		t.Errorf("golden ratio: worst merit %.4f, want 0.12", got)
	}
	inverse := uint64(Multiplier) // of Multiplier mod 2^64, by Newton's iteration
	for range 6 {
		inverse *= 2 - Multiplier*inverse
	}
	least, stage := 1.0, uint64(1)
	for range 47 {
		stage *= StageMultiplier
		least = min(least, worst(stage, Multiplier, 64), worst(stage, inverse, 64))
	}
	if least < 0.036 || least > 0.037 {
		t.Errorf("StageMultiplier: worst merit %.4f, want 0.036", least)
	}
}

// merit is the length of the shortest vector of the lattice of all (x, a·x mod
// 2^64) over the most a lattice of this density can have, (4/3)^(1/4)·2^32. It is
// found by Gauss' reduction.
func merit(a uint64) float64 {
	type vector [2]*big.Int
	dot := func(u, v vector) *big.Int {
		x := new(big.Int).Mul(u[0], v[0])
		return x.Add(x, new(big.Int).Mul(u[1], v[1]))
	}
	u := vector{new(big.Int), new(big.Int).Lsh(big.NewInt(1), 64)}
	v := vector{big.NewInt(1), new(big.Int).SetUint64(a)}
	for {
		if dot(u, u).Cmp(dot(v, v)) < 0 {
			u, v = v, u
		}
		// q is <u,v>/<v,v>, rounded.
		vv := dot(v, v)
		q := new(big.Int).Lsh(dot(u, v), 1)
		q.Div(q.Add(q, vv), new(big.Int).Lsh(vv, 1))
		if q.Sign() == 0 {
			length, _ := new(big.Float).Sqrt(new(big.Float).SetInt(vv)).Float64()
			return length / (math.Pow(4.0/3, 0.25) * (1 << 32))
		}
		for i := range u {
			u[i] = new(big.Int).Sub(u[i], new(big.Int).Mul(q, v[i]))
		}
	}
}

// The k derived hashes of one key must differ (Callidon/bloom-filters issue 43:
// derived seeds that repeat). h·c^i repeats first after the order of c, which is
// 2^62 for c = 5 mod 8 and h odd.
func TestD14_DerivedHashesDiffer(t *testing.T) {
	if Multiplier%8 != 5 || StageMultiplier%8 != 5 {
		t.Error("a multiplier is not 5 mod 8, so its order may be short")
	}
	seen := map[uint64]bool{}
	for stage, s := 0, uint64(1); stage < 48; stage, s = stage+1, s*StageMultiplier {
		for i, h := 0, s; i < 64; i, h = i+1, h*Multiplier {
			if seen[h] {
				t.Fatalf("probe %d of stage %d repeats an earlier hash", i, stage)
			}
			seen[h] = true
		}
	}
}

// Pure index arithmetic beyond 2^32 positions (FastFilter/FilterPassword issue 2,
// FastFilter/fastfilter_cpp issue 7: 32-bit indices lost keys from 500 million on). m
// is that of 400,000,000 keys at 0.1%.
func TestA14_IndexBeyond32Bits(t *testing.T) {
	const m = 5_751_035_027
	if got := FastRange(math.MaxUint64, m); got != m-1 {
		t.Errorf("the largest hash goes to %d, want %d", got, uint64(m-1))
	}
	const n = 100_000
	beyond := 0
	for i := range uint64(n) {
		p := FastRange(i*0x9e3779b97f4a7c15, m)
		if p >= m {
			t.Fatalf("position %d of %d", p, uint64(m))
		}
		if p >= 1<<32 {
			beyond++
		}
	}
	// Multiples of the golden ratio are spread evenly, to a few in n.
	if want := n * (1 - (1<<32)/float64(m)); math.Abs(float64(beyond)-want) > 10 {
		t.Errorf("%d of %d positions lie beyond 2^32, want %.0f", beyond, n, want)
	}
}
