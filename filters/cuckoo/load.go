package cuckoo

import "math"

// A filter refuses a key too early for one of three reasons, and sizing must keep
// all three together below 1 build in 10,000:
//
//   - The table as a whole is too full: some set of buckets has more keys than
//     slots. The load at which that happens is sharp in large tables and spread
//     by about 1/sqrt(slots) in small ones: loadRule.keys.
//   - The search stops at farNodes: loadRule.most.
//   - A few keys crowd into a few buckets by chance, 2b+1 keys with one pair of
//     buckets above all. Short fingerprints give few pairs: Config.crowded.

// loadRule is the number of keys that a table of b slots a bucket is trusted
// with.
type loadRule struct {
	threshold, root, constant float64 // keys = threshold*slots - root*sqrt(slots) - constant
	most                      float64 // and at most this load
}

// loadRuleFor is the measured rule for b slots a bucket, 2, 4 or 8. TestCalibrate
// prints the evidence: from 300,000 builds of each small table to 20 of the
// largest, 2^21 slots, with 32-bit fingerprints (with 4 bits b=8 and with 5 bits
// b=4 fill up alike, to a tenth of a percent).
//
// threshold is theory.CuckooThreshold(b). root is 4.5 standard deviations of the
// number of keys before the first refusal, which were 0.43, 0.19 and 0.065 times
// sqrt(slots) for b = 2, 4, 8. constant covers the skew of small tables, where the
// 1-in-10,000 quantile lies further below the mean.
//
// most is where the bound of the search is still out of reach. The number of
// buckets it looks at has a tail exp(-c x), with c = 0.036, 0.019 and 0.028 at
// the loads below, and it looks at up to b x farNodes. The products c x b x
// farNodes are 37, 39 and 115: a chance below 1e-15 for a key, and below 1e-6 for
// a billion of them.
//
// TestVerifyCapacity checks the outcome at full capacity, for 70 bucket counts up
// to 2^14 with 8 widths each and up to 100,000 builds of each: refused were 7 of a
// million builds for b=1 (43 million were made), 10 for b=2 (24 million), 4 for
// b=4 (12 million), 3 for b=8 (7 million). Every even count up to 260 with f=4, b=2
// and b=4 had at most 4 in 100,000. No build of 59, 134 and 58 with 2^20, 2^19 and
// 2^20 slots (b = 4, 2, 8) was refused a key.
func loadRuleFor(b int) loadRule {
	switch b {
	case 2:
		return loadRule{0.897, 2.0, 13, 0.85}
	case 4:
		return loadRule{0.980, 0.9, 7.5, 0.96}
	default: // 8
		return loadRule{0.9978, 0.4, 5, 0.985}
	}
}

// keys is the number of keys a table of the given slots is trusted with.
func (r loadRule) keys(slots float64) float64 {
	return min(r.most*slots, r.threshold*slots-r.root*math.Sqrt(slots)-r.constant)
}

// mostSingle is loadRule.most for b = 1, where a search walks along two chains: a
// step goes on with probability 2 load, and all farNodes steps with 1e-14.
const mostSingle = 0.47

// crowdLimit bounds Config.crowded. It leaves a factor of 5 for what the leading
// terms leave out: measured failures were up to 3 times the terms for b >= 2, and
// half of them for b = 1.
const crowdLimit = 2e-5

// crowded is the expected number of sets of a few keys, among n, that do not fit
// into the few buckets they may use.
func (c Config) crowded(n uint64) float64 {
	N, side := float64(n), float64(c.Buckets/2)
	// Given one bucket in common, two keys have the same pair with probability q:
	// they have equal fingerprints, or different ones with the same partner.
	q := 1/(math.Ldexp(1, c.FingerprintBits)-1) + 1/side
	if c.SlotsPerBucket == 1 {
		// Without slots to spare, crowds of every size count: two cycles that share
		// a component. Their number for n keys in two tables of side buckets is
		// (2e^2-5e+5)(1-e)^3/(12(2-e)^2 e^3)/side with n = (1-e) side (Drmota and
		// Kutzelnigg 2012, theorem 1). Each of the two cycles closes with
		// probability 1/side there, q here at most.
		e := 1 - N/side
		d := 2 - e
		return (2*e*e - 5*e + 5) * (1 - e) * (1 - e) * (1 - e) / (12 * d * d * e * e * e) * side * q * q
	}
	// 2b+1 keys with one pair: C(n, 2b+1) (q/side)^(2b).
	g := side / q
	e := g
	for i := range 2*c.SlotsPerBucket + 1 {
		e *= max(N-float64(i), 0) / (float64(i+1) * g)
	}
	return e
}

// takes reports whether n distinct hashes are taken with fewer than 1 failure in
// 10,000 builds.
func (c Config) takes(n uint64) bool {
	switch b := uint64(c.SlotsPerBucket); {
	case n <= 2*b:
		return true // any two buckets have 2b slots
	case n > c.Slots():
		return false
	case b == 1:
		return float64(n) <= mostSingle*float64(c.Slots()) && c.crowded(n) <= crowdLimit
	default:
		return float64(n) <= loadRuleFor(c.SlotsPerBucket).keys(float64(c.Slots())) && c.crowded(n) <= crowdLimit
	}
}

// Capacity is the number of distinct hashes that a filter of this geometry takes
// with fewer than 1 failure in 10,000 builds. Above it, adds are refused sooner
// or later before the last slot is taken.
func (c Config) Capacity() uint64 {
	if c.Validate() != nil {
		return 0
	}
	return first(c.Slots(), func(n uint64) bool { return !c.takes(n + 1) })
}

// bucketsFor is the least even number of buckets, up to limit, that takes n keys.
func (c Config) bucketsFor(n, limit uint64) (buckets uint64, ok bool) {
	half := first(limit/2, func(half uint64) bool {
		c.Buckets = 2 * half
		return half > 0 && c.takes(n)
	})
	c.Buckets = 2 * half
	return c.Buckets, half > 0 && c.takes(n)
}

// first is the least x in 0..limit for which yes(x), or limit if there is none;
// yes must stay true once it is.
func first(limit uint64, yes func(x uint64) bool) uint64 {
	lo, hi := uint64(0), limit
	for lo < hi {
		if mid := lo + (hi-lo)/2; yes(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
