package theory

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// point is a line y = u + x v.
type point struct{ u, v float64 }

// cut returns the part of a polygon of lines with u + x v >= n, or <= n.
func cut(polygon []point, x, n, sign float64) []point {
	side := func(p point) float64 { return sign * (p.u + x*p.v - n) }
	var out []point
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		fa, fb := side(a), side(b)
		if fa >= 0 {
			out = append(out, a)
		}
		if fa*fb < 0 {
			t := fa / (fa - fb)
			out = append(out, point{a.u + t*(b.u-a.u), a.v + t*(b.v-a.v)})
		}
	}
	return out
}

func area(polygon []point) float64 {
	sum := 0.0
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		sum += a.u*b.v - b.u*a.v
	}
	return math.Abs(sum) / 2
}

// The measure of pairs of lines that agree at exactly h places, from the cells of
// the arrangement; and against the two identities it must obey.
func TestMatches(t *testing.T) {
	for L := 3; L <= 9; L++ {
		cells := [][]point{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}
		for x := 1; x < L; x++ {
			for n := 1; n <= x; n++ {
				var next [][]point
				for _, c := range cells {
					for _, sign := range []float64{-1, 1} {
						if part := cut(c, float64(x), float64(n), sign); area(part) > 1e-12 {
							next = append(next, part)
						}
					}
				}
				cells = next
			}
		}
		whole := make([][]int, len(cells)) // floor(u + x v) at each place
		for i, c := range cells {
			var mid point
			for _, p := range c {
				mid.u += p.u / float64(len(c))
				mid.v += p.v / float64(len(c))
			}
			for x := range L {
				whole[i] = append(whole[i], int(math.Floor(mid.u+float64(x)*mid.v)))
			}
		}
		measure := make([]float64, L+1)
		for i, c := range cells {
			for j, d := range cells {
				for turn := -1; turn <= 1; turn++ { // three matches need slopes within 1
					agree := map[int]int{}
					for x := range L {
						agree[whole[i][x]-whole[j][x]-turn*x]++
					}
					for _, h := range agree {
						measure[h] += area(c) * area(d)
					}
				}
			}
		}
		if len(matches[L]) != L-2 {
			t.Fatalf("matches[%d] has %d entries", L, len(matches[L]))
		}
		for h := 3; h <= L; h++ {
			closeTo(t, fmt.Sprintf("matches[%d][%d]", L, h-3), matches[L][h-3], measure[h], 6e-4)
		}
	}
	// Lines that agree in all three places: 3/8. Longer chains only add.
	closeTo(t, "three of three", matches[3][0], 0.375, 1e-12)
	for L := 4; L < len(matches); L++ {
		if len(matches[L]) != L-2 || !(matches[L][0] > matches[L-1][0]) || !(matches[L][L-3] < matches[L-1][L-4]) {
			t.Errorf("matches[%d] does not continue matches[%d]", L, L-1)
		}
	}
}

// simulate64 is the mean rate over builds of random keys, with its standard error.
func simulate64(m, n uint64, k, builds, queries int, scale uint64) (mean, se float64) {
	rng := rand.New(rand.NewPCG(11, m))
	key := func(cells []uint64) {
		x, y, inc := rng.Uint64(), rng.Uint64(), scale
		for i := range cells {
			cells[i], _ = bits.Mul64(x, m)
			x, y, inc = x+y, y+inc, inc+scale
		}
	}
	set := make([]bool, m)
	cells := make([]uint64, k)
	var sum, sq float64
	for range builds {
		clear(set)
		for range n {
			key(cells)
			for _, c := range cells {
				set[c] = true
			}
		}
		hits := 0
		for range queries {
			key(cells)
			in := true
			for _, c := range cells {
				in = in && set[c]
			}
			if in {
				hits++
			}
		}
		f := float64(hits) / float64(queries)
		sum, sq = sum+f, sq+f*f
	}
	b := float64(builds)
	mean = sum / b
	return mean, math.Sqrt((sq/b - mean*mean) / (b - 1))
}

const golden = 0x9e3779b97f4a7c15

func TestDouble64Simulated(t *testing.T) {
	for name, c := range map[string]struct {
		scale uint64
		rate  func(m, n uint64, k int) float64
	}{"double64": {0, Double64}, "enhanced64": {golden, Enhanced64}} {
		mean, se := simulate64(256, 27, 7, 3000, 400, c.scale)
		if want := c.rate(256, 27, 7); math.Abs(mean-want) > 4*se || se > 0.015*want {
			t.Errorf("%s: %v +- %v, want %v", name, mean, se, want)
		}
		// Independent probes are 14% off the one, and not to be told from the other.
		if off := math.Abs(mean-Standard(256, 27, 7)) > 4*se; off != (name == "double64") {
			t.Errorf("%s: %v +- %v, independent probes %v", name, mean, se, Standard(256, 27, 7))
		}
	}
}

// Longer runs of the same simulation, once: 90 million queries over 60,000 or
// 30,000 builds each.
func TestDouble64AgainstLongRuns(t *testing.T) {
	for _, c := range []struct {
		name     string
		m, n     uint64
		k        int
		got      float64
		mean, se float64
	}{
		{"double64", 256, 27, 7, Double64(256, 27, 7), 0.0124112, 1.6e-5},
		{"double64", 1021, 107, 7, Double64(1021, 107, 7), 0.0107360, 1.7e-5},
		{"double64", 1024, 71, 10, Double64(1024, 71, 10), 0.00130597, 2.9e-6},
		{"enhanced64", 256, 27, 7, Enhanced64(256, 27, 7), 0.0109815, 1.5e-5},
		{"enhanced64", 1021, 107, 7, Enhanced64(1021, 107, 7), 0.0103576, 1.7e-5},
		{"enhanced64", 256, 18, 10, Enhanced64(256, 18, 10), 0.00117032, 3.0e-6},
	} {
		if math.Abs(c.got-c.mean) > 3*c.se {
			t.Errorf("%s m=%d n=%d k=%d: %v, simulated %v +- %v", c.name, c.m, c.n, c.k, c.got, c.mean, c.se)
		}
	}
}

func TestDouble64Shape(t *testing.T) {
	for _, m := range []uint64{509, 1024, 10000, 1e6} {
		n := m / 10
		ind, e64, d64, double := Standard(m, n, 7), Enhanced64(m, n, 7), Double64(m, n, 7), DoubleHashing(m, n, 7)
		if !(ind < e64 && e64 < EnhancedDouble(m, n, 7) && e64 < d64 && d64 < double) {
			t.Errorf("m=%d: independent %v, enhanced64 %v, double64 %v, double %v", m, ind, e64, d64, double)
		}
	}
	// One and two probes are independent whatever the step.
	for _, k := range []int{1, 2} {
		closeTo(t, fmt.Sprint("double64 k=", k), Double64(1000, 300, k), Standard(1000, 300, k), 1e-12)
		closeTo(t, fmt.Sprint("enhanced64 k=", k), Enhanced64(1000, 300, k), Standard(1000, 300, k), 1e-12)
	}
	for _, f := range []func(m, n uint64, k int) float64{Double64, Enhanced64} {
		if f(1000, 0, 7) != 0 || f(1000, 1e9, 7) != 1 {
			t.Error("empty or overfilled")
		}
		for _, bad := range []float64{f(0, 1, 3), f(1000, 1, 0), f(97, 1, 7), f(1e9, 1, 33)} {
			if !math.IsNaN(bad) {
				t.Errorf("outside the domain: %v", bad)
			}
		}
	}
}
