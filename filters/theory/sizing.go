package theory

import "math"

// SizeStandard is the least m, in bits, whose exact rate for n keys, the floor
// of a 64-bit hash included, is at most p. k = 0 picks the k that needs the
// fewest bits (of equals the least k); kBest is the k used. ok is false outside
// the domain: n = 0, p outside (0, 1) or at or below the hash floor, k outside
// 0..64, or a size beyond 2^63 bits.
func SizeStandard(n uint64, p float64, k int) (m uint64, kBest int, ok bool) {
	return SizeBy(n, p, k, func(m uint64, k int) float64 { return Standard(m, n, k) })
}

// SizePartitioned is [SizeStandard] for the partitioned layout. It returns the
// bits of each of the k slices.
func SizePartitioned(n uint64, p float64, k int) (slice uint64, kBest int, ok bool) {
	own, ok := spend(n, p)
	if !ok || k < 0 || k > maxK {
		return 0, 0, false
	}
	// Whole slices make the total jump up and down with k, so every k is tried.
	first, last := k, k
	if k == 0 {
		first, last = 1, maxK
	}
	for k := first; k <= last; k++ {
		guess, slope := classicSize(n, own, k)
		s := least(guess/float64(k), slope, func(s uint64) float64 { return Partitioned(s, n, k) / own })
		if s == 0 || s > maxSize/uint64(k) {
			continue
		}
		if kBest == 0 || s*uint64(k) < slice*uint64(kBest) {
			slice, kBest = s, k
		}
	}
	return slice, kBest, kBest > 0
}

// SizeTextbook is the sizing of the textbooks: m = ceil(-n ln p/ln^2 2) and k =
// round(m/n ln 2), at least 1. It does not quite keep p, since k is rounded after
// the fact: 1.0039% for a promised 1%. ok is false for n = 0, for p outside
// (0, 1), for k above 64 and when m does not fit 64 bits.
func SizeTextbook(n uint64, p float64) (m uint64, k int, ok bool) {
	if n == 0 || !(p > 0 && p < 1) {
		return 0, 0, false
	}
	N := float64(n)
	M := math.Ceil(-N * math.Log(p) / (math.Ln2 * math.Ln2))
	if !(M < 1<<64) {
		return 0, 0, false
	}
	m = max(uint64(M), 1)
	k = int(max(math.Round(M/N*math.Ln2), 1))
	if k > maxK {
		return 0, 0, false
	}
	return m, k, true
}

// SizeBy is [SizeStandard] for any rate that falls with m, such as that of another
// probing scheme. Where the rate falls only on the whole (the terms of
// [DoubleHashing] depend on the divisors of m), the answer passes and the next
// smaller size fails, but a still smaller one may pass by luck.
func SizeBy(n uint64, p float64, k int, rate func(m uint64, k int) float64) (m uint64, kBest int, ok bool) {
	own, ok := spend(n, p)
	if !ok || k < 0 || k > maxK {
		return 0, 0, false
	}
	return cheapest(-math.Log2(p), k, func(k int) uint64 {
		guess, slope := classicSize(n, own, k)
		return least(guess, slope, func(m uint64) float64 { return rate(m, k) / own })
	})
}

// spend is what a filter for n keys may use of a rate p after the floor of its
// 64-bit hash. ok is false when nothing is left or n or p is out of range.
func spend(n uint64, p float64) (own float64, ok bool) {
	if n == 0 || !(p > 0 && p < 1) {
		return 0, false
	}
	floor := HashFloor(n, 64)
	own = (p - floor) / (1 - floor)
	return own, own > 0
}

// classicSize is the real m at which the classic rate of k probes is p, and how
// fast the rate falls there: slope = -d ln rate/d ln m.
func classicSize(n uint64, p float64, k int) (m, slope float64) {
	K := float64(k)
	lambda := -math.Log1p(-math.Pow(p, 1/K))
	return K * float64(n) / lambda, K * lambda / math.Expm1(lambda)
}

// cheapest returns size(k) for a given k, or for k = 0 the least size over all k,
// searched from start. A size of 0 stands for none.
func cheapest(start float64, k int, size func(k int) uint64) (best uint64, kBest int, ok bool) {
	known := map[int]uint64{}
	cost := func(k int) float64 {
		x, seen := known[k]
		if !seen {
			x = size(k)
			known[k] = x
		}
		if x == 0 {
			return math.Inf(1)
		}
		return float64(x)
	}
	if k == 0 {
		k = descend(start, cost)
	}
	if math.IsInf(cost(k), 1) {
		return 0, 0, false
	}
	return known[k], k, true
}

// maxSize bounds every search for a size: 2^63 bits are far beyond any machine
// and still leave room for the arithmetic.
const maxSize = 1 << 63

// least is the smallest x >= 1 with ratio(x) <= 1, for a ratio that falls with x
// about as x^-slope, or 0 if there is none below maxSize. After one step by that
// law it brackets the crossing and closes in until x passes and x-1 fails.
func least(guess, slope float64, ratio func(x uint64) float64) uint64 {
	if !(guess < maxSize) {
		return 0
	}
	x := uint64(max(guess, 1))
	if r := ratio(x); r > 0 {
		if guess = float64(x) * math.Pow(r, 1/slope); guess < maxSize {
			x = uint64(max(guess, 1))
		}
	}
	lo, hi := uint64(0), uint64(0) // lo fails (0: by definition), hi passes (0: unknown)
	for step := uint64(1); ; step *= 2 {
		if ratio(x) <= 1 {
			hi = x
			if lo > 0 || x == 1 {
				break
			}
			x -= min(step, x-1)
		} else {
			lo = x
			if hi > 0 {
				break
			}
			if x >= maxSize-step {
				return 0
			}
			x += step
		}
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if ratio(mid) <= 1 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
