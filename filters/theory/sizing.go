package theory

import "math"

// SizeStandard is the least m, in bits, whose exact rate for n keys, the floor
// of a 64-bit hash included, is at most p. k = 0 picks the k that needs the
// fewest bits (of equals the least k); kBest is the k used. ok is false outside
// the domain: n = 0, p outside (0, 1) or at or below the hash floor, k outside
// 0..64, or a size beyond 2^63 bits.
func SizeStandard(n uint64, p float64, k int) (m uint64, kBest int, ok bool) {
	return sizeBits(n, p, k, func(m uint64, k int) float64 { return Standard(m, n, k) })
}

// SizePartitioned is [SizeStandard] for the partitioned layout. It returns the
// bits of each of the k slices.
func SizePartitioned(n uint64, p float64, k int) (slice uint64, kBest int, ok bool) {
	// Sizes are compared as totals: slice bits times k.
	m, kBest, ok := sizeBits(n, p, k, func(m uint64, k int) float64 {
		return Partitioned((m+uint64(k)-1)/uint64(k), n, k)
	})
	if !ok {
		return 0, 0, false
	}
	return (m + uint64(kBest) - 1) / uint64(kBest), kBest, true
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

// sizeBits is the least number of bits with rate(m, k), and the hash floor of n
// keys, at most p.
func sizeBits(n uint64, p float64, k int, rate func(m uint64, k int) float64) (m uint64, kBest int, ok bool) {
	if n == 0 || !(p > 0 && p < 1) || k < 0 || k > maxK {
		return 0, 0, false
	}
	floor := HashFloor(n, 64)
	own := (p - floor) / (1 - floor) // what the filter itself may spend
	if !(own > 0) {
		return 0, 0, false
	}
	size := func(k int) float64 {
		K := float64(k)
		guess := float64(n) * -K / math.Log1p(-math.Pow(own, 1/K))
		m := least(guess, func(m uint64) float64 { return rate(m, k) / own })
		if m == 0 {
			return math.Inf(1)
		}
		return float64(m)
	}
	if k == 0 {
		k = descend(-math.Log2(p), size)
	}
	bits := size(k)
	if math.IsInf(bits, 1) {
		return 0, 0, false
	}
	return uint64(bits), k, true
}

// maxSize bounds every search for a size: 2^63 bits are far beyond any machine
// and still leave room for the arithmetic.
const maxSize = 1 << 63

// least is the smallest x >= 1 with ratio(x) <= 1, for a ratio that falls with
// x, or 0 if there is none below maxSize. It walks from guess by Newton steps in
// the logarithms and then closes in on two neighbours, the lower of which fails.
func least(guess float64, ratio func(x uint64) float64) uint64 {
	if !(guess < maxSize) {
		return 0
	}
	x := uint64(max(guess, 1))
	// lo fails (zero stands for "no size"), hi passes.
	lo, hi := uint64(0), uint64(0)
	for step := uint64(1); ; step *= 2 {
		if ratio(x) <= 1 {
			hi = x
			if x == 1 || lo > 0 {
				break
			}
			if step >= x {
				x = 1
				continue
			}
			x -= step
		} else {
			lo = x
			if hi > 0 {
				break
			}
			if x > maxSize-step {
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
