package theory

import "math"

// DoubleHashing is the rate of a standard filter whose k probes are a + i b mod
// m, with a and b uniform mod m: that of independent probes plus a term of order
// n/m^2 that no choice of n and m removes (Dillinger, Manolios 2004; Kirsch,
// Mitzenmacher 2008 give the limit, where it is gone). It is +13% at m = 1024 and
// k = 7, +1.3% at m = 10,000.
//
// Small tables (m = 256 at k = 7, m = 128 at k = 10) are enumerated exactly. Beyond
// them the term is the leading one; against enumeration the rate errs by 0.1% at
// m = 512, k = 7 or m = 1024, k = 10, and by a fourth of that at twice the size.
// NaN below 2 k^2 bits where enumeration is too long. It costs some microseconds,
// a millisecond in small tables.
//
// # Derivation
//
// Take a query of step s and a stored key of step t. Key probe j meets query
// probe i on the points (j, i) of the k x k grid. One meeting constrains the key
// to one pair (a, b) in m, two meetings at (j1, i1), (j2, i2) demand
// (j2-j1) t = (i2-i1) s mod m and then hold along the whole grid line through
// them. So every line of slope neither 0 nor infinite is one special key out of
// m^2, which covers as many probes as the line has points. With p the fill, a key
// that covers h probes at once raises the rate by
//
//	g(h) = p^(k-h) - p^k - h (p^(k-1) - p^k)
//
// since its h single meetings are in p already. A divisor d of m adds phi(d)
// special keys that meet only every d-th point of a line, t = (slope) s + l m/d.
// From the sum over lines the same sum for independent probes is taken away, and
// what falls on degenerate steps (period d, with chance phi(d)/m) is added.
func DoubleHashing(m, n uint64, k int) float64 {
	return stepping(m, n, k, make([]int64, max(k, 0)), anyStep)
}

// DoubleHashingNonzero is [DoubleHashing] with b uniform on 1..m-1.
func DoubleHashingNonzero(m, n uint64, k int) float64 {
	return stepping(m, n, k, make([]int64, max(k, 0)), nonzeroStep)
}

// DoubleHashingOdd is [DoubleHashing] for a power of two m and b uniform on the
// odd numbers below m. Odd steps have no period, but shifted copies of a key
// still meet it.
func DoubleHashingOdd(m, n uint64, k int) float64 {
	if m&(m-1) != 0 {
		return math.NaN()
	}
	return stepping(m, n, k, make([]int64, max(k, 0)), oddStep)
}

// EnhancedDouble is the rate of a standard filter whose probes are a + i b +
// (i^3-i)/6 mod m, a and b uniform mod m (Dillinger, Manolios 2004). The cubic
// breaks up the long lines of [DoubleHashing]: only the key with the same a and b
// still meets all k probes. The rate errs by 0.2% at m = 256, k = 7 and by 0.06%
// at m = 512; tables of 64 bits are enumerated. NaN below 2 k^2 bits otherwise,
// and for k above 32. It costs 0.1 ms at k = 7, 10 ms at k = 32.
func EnhancedDouble(m, n uint64, k int) float64 {
	if k > 32 {
		return math.NaN()
	}
	return stepping(m, n, k, cubic(k), anyStep)
}

// cubic is the offsets of enhanced double hashing.
func cubic(k int) []int64 {
	c := make([]int64, max(k, 0))
	for i := range c {
		x := int64(i)
		c[i] = (x*x*x - x) / 6
	}
	return c
}

// steps says which steps b a key may have.
type steps int

const (
	anyStep steps = iota
	nonzeroStep
	oddStep // for m a power of two
)

// stepping is the rate for probes a + i b + c[i] mod m: by enumeration in small
// tables, else Standard plus the leading additive term.
func stepping(m, n uint64, k int, c []int64, b steps) float64 {
	if !validStandard(m, k) {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	if k <= 10 && enumerationCost(m, c) <= 1<<21 {
		return enumerate(m, n, c, b)
	}
	if m < 2*uint64(k)*uint64(k) {
		return math.NaN()
	}
	return expandedStepping(m, n, k, c, b)
}

// expandedStepping is Standard plus the leading additive term of the stepping
// scheme.
func expandedStepping(m, n uint64, k int, c []int64, b steps) float64 {
	t := newTerms(m, n, k)
	return t.rate(steppingSums(m, c, b)(t))
}

// sums are the additive terms of a scheme at a given fill, as [terms.rate] takes
// them.
type sums func(t terms) (keys, lost, query float64)

// steppingSums are those of probes a + i b + c[i] mod m.
func steppingSums(m uint64, c []int64, b steps) sums {
	k := len(c)
	K := float64(k)
	pairs := K * (K - 1) / 2
	counts, chances := lineCounts(m, c, b), periods(m, c, b)
	return func(t terms) (keys, lost, query float64) {
		keys = -pairs * K * (K - 1) * t.gain(min(2, k))
		for h, lines := range counts {
			keys += lines * t.gain(h)
		}
		query, lost = -pairs*t.single, -pairs
		for distinct, chance := range chances {
			query += chance * (t.pow[distinct] - t.pow[k])
			lost += chance * float64(k-distinct)
		}
		return keys, lost, query
	}
}

// straight reports whether there is no offset: plain double hashing.
func straight(c []int64) bool { return c[len(c)-1] == 0 }

// lineCounts returns, by number of points h >= 2, the mean number of keys (a, b)
// that meet exactly h probes of a query.
func lineCounts(m uint64, c []int64, b steps) []float64 {
	k := len(c)
	counts := make([]float64, k+1)
	var shared [maxK]int64
	for x := 1; x < k; x++ {
		shared[x] = int64(gcdMod(m, x))
	}
	for y := 1; y < k; y++ { // direction (y, x): y along the key, x along the query
		for x := 1; x < k; x++ {
			if gcd(x, y) != 1 || b == oddStep && x&y&1 == 0 {
				continue
			}
			for d := 1; d*max(x, y) < k; d++ {
				if m%uint64(d) != 0 {
					continue
				}
				weight := float64(totient(d))
				if b == oddStep {
					weight *= 2 // one of m/2 steps, not of m
				}
				if straight(c) {
					countChains(counts, d*x, d*y, 2*weight) // slopes x/y and -x/y alike
					continue
				}
				countCurved(counts, &shared, c, d, d*x, d*y, weight)
				countCurved(counts, &shared, c, d, -d*x, d*y, weight)
			}
		}
	}
	return counts
}

// countChains adds weight for every maximal chain of points (x, y) apart in the
// k x k grid. A chain of L points holds L-h+1 runs of h, so the number of chains
// of exactly h points is the second difference of the number of runs.
func countChains(counts []float64, x, y int, weight float64) {
	k := len(counts) - 1
	runs := func(h int) float64 {
		return float64(max(k-(h-1)*x, 0)) * float64(max(k-(h-1)*y, 0))
	}
	for h := 2; h <= k && runs(h) > 0; h++ {
		counts[h] += weight * (runs(h) - 2*runs(h+1) + runs(h+2))
	}
}

// countCurved does the same for offsets c: of the points along a chain, a key
// meets those for which the offset c[i]-c[j] is a linear function of the place in
// the chain, and there is such a key (on average over the query's step) if the
// linear function can be had mod m. shared[x] is the greatest common divisor of x
// and m.
func countCurved(counts []float64, shared *[maxK]int64, c []int64, d, x, y int, weight float64) {
	k := len(c)
	var offset [maxK]int64
	for j := 0; j+y < k; j++ {
		for i := max(0, -x); i < min(k, k-x); i++ {
			if before := i - x; j >= y && before >= 0 && before < k {
				continue // not the first point of its chain
			}
			L := 0
			for jj, ii := j, i; jj < k && ii >= 0 && ii < k; jj, ii = jj+y, ii+x {
				offset[L] = c[ii] - c[jj]
				L++
			}
			if L == 2 {
				if (offset[1]-offset[0])%shared[d] == 0 {
					counts[2] += weight
				}
				continue
			}
			countLines(counts, shared, offset[:L], d, weight)
		}
	}
}

// countLines adds weight for every maximal set of two or more points (t d,
// offset[t]) on one line whose rise can be had mod m.
func countLines(counts []float64, shared *[maxK]int64, offset []int64, d int, weight float64) {
	for s := range offset {
	next:
		for t := s + 1; t < len(offset); t++ {
			run, rise := int64(t-s), offset[t]-offset[s]
			if g := shared[d*(t-s)]; g > 1 && rise%g != 0 {
				continue
			}
			points := 2
			for u := range offset {
				if u == s || u == t || (offset[u]-offset[s])*run != rise*int64(u-s) {
					continue
				}
				if u < t {
					continue next // the set was seen from its first two points
				}
				points++
			}
			counts[points] += weight
		}
	}
}

// periods returns, by number of distinct probes below k, the chance times m that
// a key has that many.
func periods(m uint64, c []int64, b steps) []float64 {
	k := len(c)
	chance := make([]float64, k) // no map: the sum must not depend on the order
	if b == oddStep {
		return chance
	}
	for d := 1; d < k; d++ {
		if m%uint64(d) != 0 || b == nonzeroStep && d == 1 {
			continue
		}
		if straight(c) {
			chance[d] += float64(totient(d))
			continue
		}
		// Probes i and i' fall together at the steps -(c[i]-c[i'])/(i-i') + l m/d.
		seen := map[[2]int64]bool{}
		for i := range k {
			for j := i + d; j < k; j += d {
				rise, run := c[j]-c[i], int64(j-i)
				g := int64(max(gcd(int(max(rise, -rise)), j-i), 1))
				slope := [2]int64{rise / g, run / g}
				if rise%int64(gcdMod(m, j-i)) != 0 || seen[slope] {
					continue
				}
				seen[slope] = true
				chance[classes(c, d, slope)] += float64(totient(d))
			}
		}
	}
	return chance
}

// classes counts the distinct probes when those that are a multiple of d apart
// and on one line of the given slope coincide.
func classes(c []int64, d int, slope [2]int64) int {
	n := 0
	for i := range c {
		first := true
		for j := i % d; j < i && first; j += d {
			first = (c[i]-c[j])*slope[1] != slope[0]*int64(i-j)
		}
		if first {
			n++
		}
	}
	return n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// gcdMod is the greatest common divisor of m and a small positive x.
func gcdMod(m uint64, x int) int { return gcd(x, int(m%uint64(x))) }

// totient is Euler's phi for small d >= 1.
func totient(d int) int {
	n := 0
	for i := 1; i <= d; i++ {
		if gcd(i, d) == 1 {
			n++
		}
	}
	return n
}
