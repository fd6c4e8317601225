package theory

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// steppingScheme places probes of a pair (a, b) of 64-bit numbers.
type steppingScheme struct {
	name  string
	whole bool // a and b are below m, so that all queries can be asked
	at    func(i int, a, b, m uint64) uint64
	sd    func(m, n uint64, k int) float64
}

func steppingSchemes() []steppingScheme {
	third := func(i uint64) uint64 { return (i*i*i - i) / 6 }
	reduce := func(x, m uint64) uint64 { hi, _ := bits.Mul64(x, m); return hi }
	const odd = 0x9e3779b97f4a7c15
	return []steppingScheme{
		{"double", true, func(i int, a, b, m uint64) uint64 { return (a + uint64(i)*b) % m }, DoubleBuildSD},
		{"enhanced", true, func(i int, a, b, m uint64) uint64 { return (a + uint64(i)*b + third(uint64(i))) % m }, EnhancedBuildSD},
		{"double64", false, func(i int, a, b, m uint64) uint64 { return reduce(a+uint64(i)*b, m) }, Double64BuildSD},
		{"enhanced64", false, func(i int, a, b, m uint64) uint64 { return reduce(a+uint64(i)*b+odd*third(uint64(i)), m) }, Enhanced64BuildSD},
	}
}

// The formula against simulation: the rates of many tables, each from all queries
// of the scheme, or from so many random ones that their own scatter, which is
// known, can be taken away. The standard deviation of a standard deviation is about
// 1/sqrt(2 tables).
func TestSteppingScatter(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	const k, m, queries, tables = 7, 256, 20_000, 700
	for _, s := range steppingSchemes() {
		n := uint64(math.Round(float64(m) * math.Ln2 / k))
		r := rand.New(rand.NewPCG(m, 3))
		var sum, squares float64
		for range tables {
			rate := oneTable(r, s, m, n, k, queries)
			sum += rate
			squares += rate * rate
		}
		count := float64(tables)
		mean := sum / count
		variance := (squares - sum*mean) / (count - 1)
		if !s.whole {
			variance -= mean * (1 - mean) / queries
		}
		got, want := math.Sqrt(variance), s.sd(m, n, k)
		// The terms left out are 9% for double hashing, by 2000 tables.
		if d := math.Abs(got/want - 1); d > 0.09+4/math.Sqrt(2*count) {
			t.Errorf("%s with m = %d, n = %d: %.4g between tables, formula %.4g", s.name, m, n, got, want)
		}
	}
}

// oneTable is the rate of one table of n random keys.
func oneTable(r *rand.Rand, s steppingScheme, m, n uint64, k, queries int) float64 {
	set := make([]bool, m)
	draw := func() (a, b uint64) {
		if s.whole {
			return r.Uint64N(m), r.Uint64N(m)
		}
		return r.Uint64(), r.Uint64()
	}
	for range n {
		a, b := draw()
		for i := range k {
			set[s.at(i, a, b, m)] = true
		}
	}
	passes := func(a, b uint64) bool {
		for i := range k {
			if !set[s.at(i, a, b, m)] {
				return false
			}
		}
		return true
	}
	hits := 0
	if s.whole {
		for a := range m {
			for b := range m {
				if set[a] && passes(a, b) {
					hits++
				}
			}
		}
		return float64(hits) / float64(m*m)
	}
	for range queries {
		if passes(draw()) {
			hits++
		}
	}
	return float64(hits) / float64(queries)
}

// Large tables have the scatter of independent probes, and what is outside the
// domain has none.
func TestSteppingScatterLimits(t *testing.T) {
	for _, s := range steppingSchemes() {
		const m, k = 1 << 24, 7
		n := uint64(m / 10)
		if got, want := s.sd(m, n, k), StandardBuildSD(m, n, k); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: %g in a large table, independent probes %g", s.name, got, want)
		}
		if got := s.sd(m, 0, k); got != 0 {
			t.Errorf("%s: %g without a key", s.name, got)
		}
		for _, bad := range []int{0, 65} {
			if got := s.sd(m, n, bad); !math.IsNaN(got) {
				t.Errorf("%s: k = %d gives %g", s.name, bad, got)
			}
		}
	}
}

func ExampleDoubleBuildSD() {
	fmt.Printf("%.2f%% and %.2f%% of the rate\n", 100*StandardBuildSD(512, 51, 7)/Standard(512, 51, 7), 100*DoubleBuildSD(512, 51, 7)/DoubleHashing(512, 51, 7))
	// Output: 17.11% and 14.19% of the rate
}
