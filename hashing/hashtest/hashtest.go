// Package hashtest judges hash functions: known answers for the functions that
// have published ones, and four statistical tests of any function, each a
// statistic with its probability.
//
//   - Avalanche: one changed input bit changes every output bit half of the time.
//   - Bit independence: whether one output bit changes tells nothing of whether
//     another does.
//   - Buckets: keys spread over buckets as balls thrown at random do, neither less
//     evenly nor more. A filter whose blocks fill too evenly has another rate than
//     its formula says, just as one whose blocks fill too unevenly.
//   - Collisions: as many keys share a value as chance has it.
//
// The probabilities are two-sided where both ends are faults. A good hash has
// each below 0.01 once in a hundred tests; whoever makes many tests divides the
// limit by their number (Bonferroni). The tests tell bad functions from good ones;
// passing them does not make a hash fit for keys chosen by an enemy.
package hashtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"filterlab/hashing"
)

// Avalanche is the result of an avalanche test.
type Avalanche struct {
	Samples         int     // keys, each hashed once plain and once with each bit flipped
	InBits, OutBits int     // bits of a key, bits of a digest
	MaxBias         float64 // largest |frequency of a flip - 1/2| over all pairs of an input and an output bit
	InBit, OutBit   int     // where it is
	P               float64 // probability that an ideal function has a bias as large anywhere, at most (Bonferroni)
}

// MeasureAvalanche flips each bit of samples random keys of keyBytes bytes and
// counts how often each of the 64 bits of the digest flips. The keys depend on
// seed alone. There must be far more keys of that length than samples (4 bytes
// for 10,000 samples): the same pair of keys over and over is one sample. It costs
// samples x (8 x keyBytes + 1) hashes.
func MeasureAvalanche(h hashing.Hash, keyBytes, samples int, seed uint64) Avalanche {
	const outBits = 64
	inBits := 8 * keyBytes
	flips := make([]counters, inBits)
	key := make([]byte, 8*((keyBytes+7)/8))
	state := seed
	for range samples {
		for at := 0; at < len(key); at += 8 {
			binary.LittleEndian.PutUint64(key[at:], splitMix64(&state))
		}
		key := key[:keyBytes]
		plain := h.Sum64(key)
		for in := range inBits {
			key[in/8] ^= 1 << (in % 8)
			changed := plain ^ h.Sum64(key)
			key[in/8] ^= 1 << (in % 8)
			flips[in].add(changed)
		}
	}

	r := Avalanche{Samples: samples, InBits: inBits, OutBits: outBits}
	for in := range flips {
		for out := range outBits {
			if bias := math.Abs(float64(flips[in].count(out))/float64(samples) - 0.5); bias > r.MaxBias {
				r.MaxBias, r.InBit, r.OutBit = bias, in, out
			}
		}
	}
	z := r.MaxBias * 2 * math.Sqrt(float64(samples))
	r.P = min(1, float64(inBits*outBits)*math.Erfc(z/math.Sqrt2))
	return r
}

// counters are 64 counters of 32 bits, one for each bit of a word, stored by place
// value: planes[j] holds bit j of all of them. Counting the bits of a word takes
// a few steps, the length of the longest carry, where a loop over bits takes 64.
type counters struct{ planes [32]uint64 }

func (c *counters) add(word uint64) {
	for j := 0; word != 0; j++ {
		carry := c.planes[j] & word
		c.planes[j] ^= word
		word = carry
	}
}

func (c *counters) count(bit int) (n uint32) {
	for j, p := range c.planes {
		n |= uint32(p>>bit&1) << j
	}
	return n
}

// AvalancheLimit is the largest bias that an ideal function shows in any of cells
// pairs of bits, but for a probability of alpha, after the given number of
// samples: z(1 - alpha / (2 cells)) / (2 sqrt(samples)).
func AvalancheLimit(samples, cells int, alpha float64) float64 {
	return distuv.UnitNormal.Quantile(1-alpha/(2*float64(cells))) / (2 * math.Sqrt(float64(samples)))
}

// Independence is the result of a test of the bit independence criterion (Webster,
// Tavares, CRYPTO 1985).
type Independence struct {
	Samples          int     // keys, each hashed plain and with each bit flipped
	Pairs            int     // combinations of an input bit and two output bits that were tested
	MaxCorrelation   float64 // largest |correlation| of the flips of two output bits under one input bit
	InBit            int     // where it is
	OutBit, OtherBit int
	P                float64 // probability that an ideal function has a correlation as large anywhere, at most (Bonferroni); NaN where no pair was tested
}

// MeasureIndependence flips each bit of samples random keys of keyBytes bytes and
// correlates, for every pair of the 64 bits of the digest, whether one flips with
// whether the other does. A bit that flips always or never correlates with
// nothing and is left out: that fault is the avalanche's. The keys depend on seed
// alone. It costs 16 x keyBytes x samples hashes and about as much again.
func MeasureIndependence(h hashing.Hash, keyBytes, samples int, seed uint64) Independence {
	const outBits = 64
	r := Independence{Samples: samples, P: math.NaN()}
	var flips [outBits][]uint64 // by output bit, one bit for each sample
	for out := range flips {
		flips[out] = make([]uint64, (samples+63)/64)
	}
	key := make([]byte, 8*((keyBytes+7)/8))
	for in := range 8 * keyBytes {
		for out := range flips {
			clear(flips[out])
		}
		state := seed
		for i := range samples {
			for at := 0; at < len(key); at += 8 {
				binary.LittleEndian.PutUint64(key[at:], splitMix64(&state))
			}
			key := key[:keyBytes]
			changed := h.Sum64(key)
			key[in/8] ^= 1 << (in % 8)
			changed ^= h.Sum64(key)
			for ; changed != 0; changed &= changed - 1 {
				flips[bits.TrailingZeros64(changed)][i/64] |= 1 << (i % 64)
			}
		}
		var ones [outBits]int
		for out := range flips {
			for _, w := range flips[out] {
				ones[out] += bits.OnesCount64(w)
			}
		}
		for a := range outBits {
			for b := range a {
				x, y, n := float64(ones[a]), float64(ones[b]), float64(samples)
				spread := x * (n - x) * y * (n - y)
				if spread == 0 {
					continue
				}
				both := 0
				for i, w := range flips[a] {
					both += bits.OnesCount64(w & flips[b][i])
				}
				r.Pairs++
				if c := math.Abs(float64(both)*n-x*y) / math.Sqrt(spread); c > r.MaxCorrelation {
					r.MaxCorrelation, r.InBit, r.OutBit, r.OtherBit = c, in, b, a
				}
			}
		}
	}
	if r.Pairs > 0 {
		z := r.MaxCorrelation * math.Sqrt(float64(samples))
		r.P = min(1, float64(r.Pairs)*math.Erfc(z/math.Sqrt2))
	}
	return r
}

// Part is some bits of a hash: those that a filter chooses its bucket by.
type Part struct {
	Name string
	Bits int // how many, at most 64
	Of   func(h uint64) uint64
}

// Low is the lowest bits of a hash, which a mask takes.
func Low(bits int) Part {
	return Part{fmt.Sprintf("low %d", bits), bits, func(h uint64) uint64 { return h & (1<<bits - 1) }}
}

// High is the highest bits of a hash, which the fast range takes.
func High(bits int) Part {
	return Part{fmt.Sprintf("high %d", bits), bits, func(h uint64) uint64 { return h >> (64 - bits) }}
}

// Pair is the given number of bits from the top and as many from the top of the
// lower half: a block and the bit inside it, or a bucket and its fingerprint,
// which must be independent of each other.
func Pair(bits int) Part {
	return Part{fmt.Sprintf("pair %d+%d", bits, bits), 2 * bits, func(h uint64) uint64 {
		return h>>(64-bits)<<bits | h&math.MaxUint32>>(32-bits)
	}}
}

// Spread is the result of a bucket test.
type Spread struct {
	Keys, Buckets int
	Chi2          float64 // sum of (observed - expected)^2 / expected, expected = Keys / Buckets
	P             float64 // two-sided: small when the spread is too uneven, and when it is too even
	TooEven       bool    // on which side of the median it lies
}

// MeasureSpread counts the hashes in each of 2^part.Bits buckets. There should be
// at least five times as many hashes as buckets, for the chi-square law to hold.
func MeasureSpread(hashes []uint64, part Part) Spread {
	counts := make([]uint64, 1<<part.Bits)
	for _, h := range hashes {
		counts[part.Of(h)]++
	}
	r := Spread{Keys: len(hashes), Buckets: len(counts)}
	expected := float64(r.Keys) / float64(r.Buckets)
	for _, n := range counts {
		d := float64(n) - expected
		r.Chi2 += d * d / expected
	}
	law := distuv.ChiSquared{K: float64(r.Buckets - 1)}
	below, above := law.CDF(r.Chi2), law.Survival(r.Chi2)
	r.TooEven = below < above
	r.P = min(1, 2*min(below, above))
	return r
}

// Collisions is the result of a collision test.
type Collisions struct {
	Keys     int
	Excess   uint64  // keys beyond the first with their value: Keys - distinct values
	Expected float64 // of an ideal function
	P        float64 // two-sided: small when there are too many, and when there are too few
}

// MeasureCollisions counts the hashes of distinct keys that agree in the given
// part. The law of the count is Poisson as long as there are far fewer keys than
// values, up to 2^part.Bits / 16. It costs 8 bytes a key and a sort.
func MeasureCollisions(hashes []uint64, part Part) Collisions {
	values := make([]uint64, len(hashes))
	for i, h := range hashes {
		values[i] = part.Of(h)
	}
	slices.Sort(values)
	r := Collisions{Keys: len(hashes), Expected: ExpectedCollisions(len(hashes), part.Bits)}
	for i := 1; i < len(values); i++ {
		if values[i] == values[i-1] {
			r.Excess++
		}
	}
	if r.Expected == 0 {
		r.P = 1
		return r
	}
	law := distuv.Poisson{Lambda: r.Expected}
	atMost := law.CDF(float64(r.Excess))
	atLeast := 1.0
	if r.Excess > 0 {
		atLeast = law.Survival(float64(r.Excess) - 1)
	}
	r.P = min(1, 2*min(atMost, atLeast))
	return r
}

// ExpectedCollisions is n - M (1 - (1 - 1/M)^n) for M = 2^bits: the mean number of
// keys, of n, that find their value taken by an earlier key.
func ExpectedCollisions(n, bits int) float64 {
	m := math.Ldexp(1, bits)
	// x = n log(1 - 1/M) is tiny where this is used, and n + M expm1(x) would be the
	// difference of two equal numbers; its series is n(n-1)/2M - n(n-1)(n-2)/6M^2 + ...
	if k := float64(n); k/m < 1e-3 {
		pairs := k * (k - 1) / (2 * m)
		return pairs * (1 - (k-2)/(3*m)*(1-(k-3)/(4*m)))
	}
	return float64(n) + m*math.Expm1(float64(n)*math.Log1p(-1/m))
}

// splitMix64 is the generator of Steele, Lea and Flood (OOPSLA 2014): the test
// keys of a seed must not change with a Go release.
func splitMix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	x := *state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
