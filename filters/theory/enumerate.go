package theory

import (
	"math"
	"math/bits"
)

// enumerate is the exact rate for probes a + i b + c[i] mod m: the mean over
// queries of sum_T (-1)^|T| P(a key avoids T)^n, T running over the subsets of the
// query's probes and the inner probability counted over all keys (a, b). A query
// may be moved to a = 0; without offsets its step b may also be replaced by
// gcd(b, m), which is a unit times b.
//
// The sum cancels, but the rate is at least about n/m^2 (a key with the very a
// and b of the query), so that doubles leave 8 digits for the m and k allowed.
func enumerate(m, n uint64, c []int64, b steps) float64 {
	allowed := func(step uint64) bool {
		return b == anyStep || b == nonzeroStep && step > 0 || b == oddStep && step&1 == 1
	}
	queries := make([]float64, m+1) // how many steps each step stands for
	var keys []uint64
	for step := uint64(0); step < m; step++ {
		if !allowed(step) {
			continue
		}
		keys = append(keys, step)
		if straight(c) {
			queries[gcd(int(step), int(m))]++
		} else {
			queries[step]++
		}
	}
	sum := 0.0
	for step, w := range queries {
		if w > 0 {
			sum += w * queryRate(m, n, c, keys, uint64(step)%m)
		}
	}
	if len(keys) == 0 {
		return math.NaN()
	}
	return min(max(sum/float64(len(keys)), 0), 1)
}

// queryRate is the rate of the queries of one step against n keys of the given
// steps.
func queryRate(m, n uint64, c []int64, keys []uint64, step uint64) float64 {
	at := func(i int, step uint64) uint64 { return (uint64(i)*step + uint64(c[i])) % m }
	var probes []uint64
	seen := make([]bool, m)
	for i := range c {
		if x := at(i, step); !seen[x] {
			seen[x] = true
			probes = append(probes, x)
		}
	}
	words := int(m+63) / 64
	avoid := make([]uint64, 1<<len(probes)) // keys that avoid each subset
	hit := make([][]uint64, 1<<len(probes)) // starts a from which some probe of the subset is met
	for t := range hit {
		hit[t] = make([]uint64, words)
	}
	for _, s := range keys {
		for p, x := range probes {
			h := hit[1<<p]
			clear(h)
			for j := range c {
				a := (x + m - at(j, s)) % m
				h[a/64] |= 1 << (a % 64)
			}
		}
		avoid[0] += m
		for t := 1; t < len(hit); t++ {
			low, rest := t&-t, t&(t-1)
			n := 0
			for w := range hit[t] {
				hit[t][w] = hit[low][w] | hit[rest][w]
				n += bits.OnesCount64(hit[t][w])
			}
			avoid[t] += m - uint64(n)
		}
	}
	sum := 0.0
	all := float64(m) * float64(len(keys))
	for t, x := range avoid {
		term := math.Pow(float64(x)/all, float64(n))
		if bits.OnesCount(uint(t))%2 == 1 {
			term = -term
		}
		sum += term
	}
	return sum
}

// enumerationCost is the number of word operations that enumerate needs.
func enumerationCost(m uint64, c []int64) uint64 {
	if m > 1024 {
		return math.MaxUint64
	}
	classes := m
	if straight(c) {
		classes = uint64(bits.Len64(m)) // more for an m of many divisors, not much
	}
	return classes * m << len(c) * ((m + 63) / 64)
}
