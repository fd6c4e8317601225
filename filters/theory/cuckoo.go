package theory

import "math"

// Cuckoo is the exact rate of a cuckoo filter that holds the tags of stored
// distinct keys in buckets x b slots (Fan, Andersen, Kaminsky, Mitzenmacher
// 2014), for tags uniform on 1..2^f-1 and a partner function that is its own
// inverse and never maps a bucket to itself (which needs an even number of
// buckets).
//
// For one tag the partner function splits the buckets into buckets/2 pairs. A
// stored key lies in its pair however often it was moved, and a query reads
// exactly its pair, so the answer is "yes" if and only if some stored key has the
// same tag and the same pair: one of (2^f-1) buckets/2 classes. The rate is
// therefore 1-(1-2/((2^f-1) buckets))^stored, whatever the slots of a bucket. The
// common form 1-(1-1/(2^f-1))^(2 b load), see [CuckooSlots], treats the slots of
// a pair as independent draws instead and is higher: 0.2% at f = 8, 2.6% at f = 4.
func Cuckoo(buckets uint64, b, f int, stored uint64) float64 {
	if !validCuckoo(buckets, b, f, stored) {
		return math.NaN()
	}
	return fill(cuckooClasses(buckets, f), float64(stored))
}

// CuckooBuildSD is the standard deviation of the conditional rate from one seed
// to the next. The rate of one filter is the share of the classes of [Cuckoo]
// that are occupied, so this is the deviation of an occupancy: tiny beside the
// noise of any number of queries.
func CuckooBuildSD(buckets uint64, b, f int, stored uint64) float64 {
	if !validCuckoo(buckets, b, f, stored) {
		return math.NaN()
	}
	return math.Sqrt(occupancyVar(cuckooClasses(buckets, f), float64(stored)))
}

// CuckooBound is the bound 1-(1-2^-f)^(2b), about 2b/2^f, for a full filter with
// tags uniform on 0..2^f-1 (Fan et al. 2014, eq. 6).
func CuckooBound(b, f int) float64 { return slots(b, 1, math.Ldexp(1, -f)) }

// CuckooSlots is the approximation 1-(1-1/(2^f-1))^(2 b load) that treats each of
// the 2b slots read as taken with probability load by an independent tag,
// uniform on 1..2^f-1 (Lang, Neumann, Kemper, Boncz 2019).
func CuckooSlots(b, f int, load float64) float64 { return slots(b, load, 1/(math.Ldexp(1, f)-1)) }

// CuckooSkewed is [CuckooSlots] for tags made as the reference code of Fan et al.
// makes them: f hash bits, and zero turned into one, so that tag 1 is twice as
// likely as any other.
func CuckooSkewed(b, f int, load float64) float64 {
	q := math.Ldexp(1, -f)
	return (math.Ldexp(1, f)-2)*q*slots(b, load, q) + 2*q*slots(b, load, 2*q)
}

func slots(b int, load, tag float64) float64 {
	if b < 1 || !(load >= 0 && load <= 1) || !(tag > 0 && tag < 1) {
		return math.NaN()
	}
	return -math.Expm1(2 * float64(b) * load * math.Log1p(-tag))
}

// CuckooBitsPerKey is what a cuckoo filter of rate p costs at the given load with
// fingerprints of real width: (log2(1/p) + log2(2b))/load, from the rate 2b/2^f of
// a full filter (Fan et al. 2014, sect. 5.1). Semi-sorted buckets of 4 cost one bit
// less a slot.
func CuckooBitsPerKey(p float64, b int, load float64) float64 {
	if b < 1 || !(load > 0 && load <= 1) {
		return math.NaN()
	}
	return (LowerBound(p) + math.Log2(2*float64(b))) / load
}

// CuckooCrossover is the rate below which a cuckoo filter is smaller than a
// standard one of best real k, when a slot costs log2(1/p) + overhead bits:
// overhead is log2(2b), less 1 with semi-sorting. (log2(1/p) + overhead)/load meets
// log2(1/p)/ln 2 at log2(1/p) = overhead ln 2/(load - ln 2). NaN for loads up to
// ln 2, where the cuckoo filter never gets smaller.
func CuckooCrossover(overhead, load float64) float64 {
	if !(overhead >= 0) || !(load > math.Ln2 && load <= 1) {
		return math.NaN()
	}
	return math.Exp2(-overhead * math.Ln2 / (load - math.Ln2))
}

// CuckooThreshold is the load up to which a large table of two choices and b
// slots a bucket can be filled at all: x/(2 b Q(x,b)) at the root x of 2b = x
// Q(x,b)/Q(x,b+1), where Q(x,y) = P(Poisson(x) >= y) (Cain, Sanders, Wormald
// 2007; Fernholz, Ramachandran 2007). Filters stop some percent before it. b
// from 1 to 64.
func CuckooThreshold(b int) float64 {
	if b < 1 || b > 64 {
		return math.NaN()
	}
	if b == 1 {
		return 0.5
	}
	lo, hi := 1e-3, 2*float64(b)+50
	for range 200 {
		x := (lo + hi) / 2
		if x*poissonAtLeast(x, b)/poissonAtLeast(x, b+1) < 2*float64(b) {
			lo = x
		} else {
			hi = x
		}
	}
	return hi / (2 * poissonAtLeast(hi, b) * float64(b))
}

// poissonAtLeast is P(Poisson(x) >= y).
func poissonAtLeast(x float64, y int) float64 {
	term := math.Exp(-x)
	for j := 1; j <= y; j++ {
		term *= x / float64(j)
	}
	sum := 0.0
	for j := y; term > sum*1e-17 || float64(j) < x; j++ {
		sum += term
		term *= x / float64(j+1)
	}
	return sum
}

// CuckooMinimumTag is the expected number of groups of 2b+1 keys, out of n, that
// share tag and bucket pair and so cannot all be stored: C(n,2b+1) c^-(2b) for
// the c = (2^f-1) buckets/2 classes. A build can only be relied on where it is
// far below 1; that is what forces f to grow with log n/b (Fan et al. 2014, sect.
// 4.2, with 2^f for 2^f-1).
func CuckooMinimumTag(n, buckets uint64, b, f int) float64 {
	if !validCuckoo(buckets, b, f, 0) {
		return math.NaN()
	}
	return groups(float64(n), cuckooClasses(buckets, f), 2*b+1)
}

// groups is C(n,g) classes^-(g-1): the expected number of g-subsets of n keys
// that fall into one of the classes.
func groups(n, classes float64, g int) float64 {
	e := classes
	for i := 0; i < g; i++ {
		e *= max(n-float64(i), 0) / (float64(i+1) * classes)
	}
	return e
}

func cuckooClasses(buckets uint64, f int) float64 {
	return (math.Ldexp(1, f) - 1) * (float64(buckets) / 2)
}

func validCuckoo(buckets uint64, b, f int, stored uint64) bool {
	return buckets >= 2 && buckets%2 == 0 && b >= 1 && f >= 1 && f <= 64 &&
		float64(stored) <= float64(buckets)*float64(b)
}
