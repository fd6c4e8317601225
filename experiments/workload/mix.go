package workload

import (
	"fmt"
	"math"

	"filterlab/filters"
)

// Ref names one key of a set: twice the index of a member, or twice the index of
// a non-member plus one.
type Ref uint64

// Member reports whether the key is a member.
func (r Ref) Member() bool { return r&1 == 0 }

// Index is the number of the key among the members or the non-members.
func (r Ref) Index() uint64 { return uint64(r) >> 1 }

// Mix describes a stream of queries.
type Mix struct {
	Queries  uint64  // how many
	HitRatio float64 // share of queries that ask for a member, 0 to 1, kept exactly (rounded to a whole number)

	// Zipf is the exponent of the law of popularity: the key of rank r is asked for
	// in proportion to r^-Zipf, among members and among non-members alike. 0 asks
	// for all equally often: every key once before any comes a second time, so that
	// the queries touch as much memory as they can. Web requests have 0.6 to 1.
	//
	// Popularity belongs to the queries, not to the keys: rank is independent of the
	// order of the keys.
	Zipf float64

	// Favourites decides which key has which rank, and matters with Zipf above 0
	// alone. It is apart from the seed of Draw so that a long stream can be drawn in
	// parts that ask for the same popular keys.
	Favourites uint64
}

// Draw makes the sequence: Queries references to the given numbers of members and
// non-members, hits and misses in random order, so that a branch predictor has
// nothing to learn. It is made before anything is timed. With Zipf above 0 the
// draws depend on the last digits of exp and log, which may differ between
// processor families.
func (m Mix) Draw(members, absent, seed uint64) ([]Ref, error) {
	if !(m.HitRatio >= 0 && m.HitRatio <= 1) {
		return nil, filters.Refuse("hit ratio", m.HitRatio, "0 to 1")
	}
	if !(m.Zipf >= 0 && m.Zipf <= maxZipf) {
		return nil, filters.Refuse("zipf", m.Zipf, fmt.Sprintf("0 (uniform) to %d", maxZipf))
	}
	if m.Queries > maxKeys {
		return nil, filters.Refuse("queries", m.Queries, fmt.Sprintf("at most %d on this machine", uint64(maxKeys)))
	}
	hits := uint64(math.Round(float64(m.Queries) * m.HitRatio))
	if hits > 0 && members == 0 {
		return nil, filters.Refuse("hit ratio", m.HitRatio, "0, since there are no members")
	}
	if hits < m.Queries && absent == 0 {
		return nil, filters.Refuse("hit ratio", m.HitRatio, "1, since there are no non-members")
	}
	r := rng(seed)
	refs := make([]Ref, 0, m.Queries)
	refs = m.draw(refs, hits, members, 0, &r)
	refs = m.draw(refs, m.Queries-hits, absent, 1, &r)
	shuffle(&r, refs)
	return refs, nil
}

// maxZipf bounds the exponent: at 20 all but one query in a million ask for one
// key.
const maxZipf = 20

// draw appends n references to keys below size, with the given last bit.
func (m Mix) draw(refs []Ref, n, size, bit uint64, r *rng) []Ref {
	if n == 0 {
		return refs
	}
	order := newPermutation(size, r.next())
	var law zipf
	if m.Zipf > 0 {
		order = newPermutation(size, mix(m.Favourites)^bit)
		law = newZipf(size, m.Zipf)
	}
	for i := range n {
		rank := i % size
		if m.Zipf > 0 {
			rank = law.draw(r)
		}
		refs = append(refs, Ref(order.at(rank)<<1|bit))
	}
	return refs
}

// zipf draws ranks 0 ... n-1 in proportion to (rank+1)^-s by rejection-inversion
// (Hörmann and Derflinger, ACM TOMACS 6, 1996), at a cost that does not depend on
// n and for every s > 0, one included. math/rand has s > 1 only.
//
// Under the curve x^-s from 1/2 to n+1/2, each rank owns the unit interval around
// it. The area over that interval exceeds the rank's weight, since the curve is
// convex, so that a point drawn uniformly by area, and accepted with the ratio of
// the two, has the right law.
type zipf struct {
	n           float64
	s           float64
	low, high   float64 // area function at 1.5 less the weight of rank 1, and at n + 1/2
	alwaysBelow float64 // points that close below their rank need no test
}

func newZipf(n uint64, s float64) zipf {
	z := zipf{n: float64(n), s: s}
	z.low = z.area(1.5) - 1
	z.high = z.area(z.n + 0.5)
	z.alwaysBelow = 2 - z.inverse(z.area(2.5)-math.Pow(2, -s))
	return z
}

// area is the integral of x^-s from 1 to x: (x^(1-s) - 1) / (1-s), or log x.
func (z *zipf) area(x float64) float64 {
	l := math.Log(x)
	t := (1 - z.s) * l
	if math.Abs(t) < 1e-8 {
		return l * (1 + t/2) // the quotient loses its digits near s = 1
	}
	return math.Expm1(t) / (1 - z.s)
}

// inverse is the x whose area is a.
func (z *zipf) inverse(a float64) float64 {
	t := a * (1 - z.s)
	if math.Abs(t) < 1e-8 {
		return math.Exp(a * (1 - t/2))
	}
	return math.Exp(math.Log1p(t) / (1 - z.s))
}

func (z *zipf) draw(r *rng) uint64 {
	for {
		a := z.high + r.float()*(z.low-z.high)
		x := z.inverse(a)
		k := math.Round(x)
		k = min(max(k, 1), z.n)
		if k-x <= z.alwaysBelow || a >= z.area(k+0.5)-math.Pow(k, -z.s) {
			return uint64(k) - 1
		}
	}
}
