package theory

import "math"

// Blocked is the exact rate of a blocked Bloom filter: each key sets k bits,
// independent or distinct, within one block of B bits (64 <= B <= 4096). It is
// the mean of the in-block rate over the binomial load of a block (Putze,
// Sanders, Singler 2009, eq. 3, with the exact in-block rate in place of the
// classic one, which is too low, and the binomial in place of its Poisson limit,
// which is 12% too high for one block and 0.6% for twenty).
func Blocked(blocks uint64, B int, n uint64, k int, distinct bool) float64 {
	if !validBlocked(blocks, B, k) {
		return math.NaN()
	}
	return newInBlock(B, k, distinct).mean(blocks, n)
}

// BlockedFill is the expected share of set bits: k n uniform throws, or n
// distinct k-subsets, over all blocks.
func BlockedFill(blocks uint64, B int, n uint64, k int, distinct bool) float64 {
	if !validBlocked(blocks, B, k) {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	// A key leaves a given bit alone unless it picks the block and the bit.
	miss := float64(k) / float64(B)
	if !distinct {
		miss = -math.Expm1(float64(k) * math.Log1p(-1/float64(B)))
	}
	return -math.Expm1(float64(n) * math.Log1p(-miss/float64(blocks)))
}

// BlockedBuildSD is the standard deviation of the conditional rate from one seed
// to the next: the in-block variance over loads and fills, divided by the number
// of blocks, less what the fixed total of n keys takes away.
func BlockedBuildSD(blocks uint64, B int, n uint64, k int, distinct bool) float64 {
	if !validBlocked(blocks, B, k) {
		return math.NaN()
	}
	in := newInBlock(B, k, distinct)
	lambda := float64(n) / float64(blocks)
	var f, sq, cov float64
	if !eachLoad(n, float64(blocks)-1, in.saturation(), func(j int, w float64) {
		r := in.rate(j)
		f += w * r
		sq += w * in.square[j]
		cov += w * r * (float64(j) - lambda)
	}) {
		return 0
	}
	v := sq - f*f
	if blocks > 1 && lambda > 0 {
		v -= cov * cov / (lambda * (1 - 1/float64(blocks))) // over the variance of a load
	}
	return math.Sqrt(max(v, 0) / float64(blocks))
}

// BlockedBestK is the k of least rate for n keys in the given blocks.
func BlockedBestK(blocks uint64, B int, n uint64, distinct bool) int {
	if !validBlocked(blocks, B, 1) || n == 0 {
		return 0
	}
	start := 0.8 * float64(blocks) * float64(B) / float64(n) * math.Ln2
	return descend(start, func(k int) float64 { return Blocked(blocks, B, n, k, distinct) })
}

// SizeBlocked is the least number of blocks of B bits whose rate for n keys, the
// floor of a 64-bit hash included, is at most p; k = 0 picks the k of fewest
// blocks.
func SizeBlocked(B int, n uint64, p float64, k int, distinct bool) (blocks uint64, kBest int, ok bool) {
	own, ok := spend(n, p)
	if !ok || k < 0 || !validBlocked(1, B, max(k, 1)) {
		return 0, 0, false
	}
	return cheapest(-0.8*math.Log2(p), k, func(k int) uint64 {
		in := newInBlock(B, k, distinct)
		guess, slope := classicSize(n, own, k)
		blocks := least(guess/float64(B), slope, func(x uint64) float64 { return in.mean(x, n) / own })
		if blocks > maxSize/uint64(B) {
			return 0
		}
		return blocks
	})
}

func validBlocked(blocks uint64, B, k int) bool {
	return blocks >= 1 && B >= 64 && B <= 4096 && k >= 1 && k <= maxK
}

// inBlock holds the exact rate of one block of B bits by load. It follows the
// distribution of the number of set bits throw by throw (Christensen et al.
// 2010): every term is positive, so nothing cancels, and one pass gives all
// loads.
type inBlock struct {
	B, k     int
	distinct bool
	dist     []float64 // P(i bits set), for the load len(value)-1
	lo, hi   int       // bounds of what is not negligible in dist
	weight   []float64 // rate of a block with i bits set
	value    []float64 // mean rate by load
	square   []float64 // mean squared rate by load
}

func newInBlock(B, k int, distinct bool) *inBlock {
	in := &inBlock{B: B, k: k, distinct: distinct, dist: make([]float64, B+1), weight: make([]float64, B+1)}
	in.dist[0] = 1
	for i := range in.weight {
		w := 1.0
		for t := 0; t < k; t++ {
			if distinct {
				w *= max(float64(i-t), 0) / float64(B-t)
			} else {
				w *= float64(i) / float64(B)
			}
		}
		in.weight[i] = w
	}
	in.value, in.square = []float64{0}, []float64{0}
	return in
}

// saturation is a mean load at which every block is full to double precision.
func (in *inBlock) saturation() float64 { return 100 * float64(in.B) / float64(in.k) }

// rate is the mean rate of a block that took j keys.
func (in *inBlock) rate(j int) float64 {
	for len(in.value) <= j {
		in.add()
	}
	return in.value[j]
}

// add moves on by one key.
func (in *inBlock) add() {
	if last := in.value[len(in.value)-1]; last == 1 {
		in.value, in.square = append(in.value, 1), append(in.square, 1)
		return
	}
	p := in.dist
	for t := 0; t < in.k; t++ {
		// Of the B-t positions still open to this probe, those of the i set bits
		// that are not the key's own t are hits. With replacement none is closed.
		own := 0
		if in.distinct {
			own = t
		}
		open := 1 / float64(in.B-own)
		in.hi = min(in.hi+1, in.B)
		hits, misses := float64(in.hi-own)*open, float64(in.B-in.hi+1)*open
		row := p[in.lo : in.hi+1]
		above := row[len(row)-1]
		for i := len(row) - 1; i > 0; i-- {
			below := row[i-1]
			row[i] = above*hits + below*misses
			above = below
			hits -= open
			misses += open
		}
		p[in.lo] *= max(float64(in.lo-own), 0) * open
		for in.lo < in.hi && p[in.lo] < negligible {
			p[in.lo] = 0
			in.lo++
		}
		for in.lo < in.hi && p[in.hi] < negligible {
			p[in.hi] = 0 // before it turns denormal, which would be slow
			in.hi--
		}
	}
	var f, sq float64
	for i := in.lo; i <= in.hi; i++ {
		x := p[i] * in.weight[i]
		f += x
		sq += x * in.weight[i]
	}
	if f > 1-1e-16 {
		f, sq = 1, 1
	}
	in.value, in.square = append(in.value, f), append(in.square, sq)
}

// negligible probabilities are dropped from a distribution.
const negligible = 1e-45

// mean is the rate over the load of a block when n keys choose among blocks.
func (in *inBlock) mean(blocks, n uint64) float64 {
	f := 0.0
	if !eachLoad(n, float64(blocks)-1, in.saturation(), func(j int, w float64) { f += w * in.rate(j) }) {
		return 1
	}
	return f
}

// eachLoad calls use with every load j of one block and its probability, when n
// keys choose it at odds of one to other: binomial(n, 1/(1+other)), built from
// the mode outwards by the ratio of neighbours. It reports false, without a call,
// when the mean load exceeds limit.
func eachLoad(n uint64, other, limit float64, use func(j int, w float64)) bool {
	N, odds := float64(n), other+1
	lambda := N / odds
	if lambda > limit {
		return false
	}
	if other == 0 {
		use(int(n), 1)
		return true
	}
	const cut = 1e-36 // relative to the mode
	mode := math.Floor((N + 1) / odds)
	var down, up []float64
	for j, w := mode, 1.0; w > cut && j >= 0; j-- {
		down = append(down, w)
		w *= j * other / (N - j + 1)
	}
	for j, w := mode, 1.0; ; j++ {
		w *= (N - j) / ((j + 1) * other)
		if !(w > cut) {
			break
		}
		up = append(up, w)
	}
	sum := 0.0
	for i := len(down) - 1; i >= 0; i-- {
		sum += down[i]
	}
	for _, w := range up {
		sum += w
	}
	for i := len(down) - 1; i >= 0; i-- {
		use(int(mode)-i, down[i]/sum)
	}
	for i, w := range up {
		use(int(mode)+1+i, w/sum)
	}
	return true
}
