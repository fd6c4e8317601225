// Package adapter lets filters of other libraries stand where filters of this
// module stand: each library is a [filters.Variant], sized for a target as the
// library itself advises.
//
// Libraries that take 64-bit hashes get them. Libraries that hash inside get the
// eight little-endian bytes of the hash as their key, and pay for their own hash:
// that is what they cost their users. Where a library has no way to empty a
// filter, Reset makes a new one of the same geometry.
//
// The adapters refuse targets that make no sense before the library sees them,
// because several libraries hang, panic or fill the memory instead; nothing else
// is mended. What a library does wrong is for the conformance suite to find: see
// package contest.
package adapter

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Prefix begins the name of every variant of another library.
const Prefix = "peer:"

// All lists the variants, library by library.
func All() []filters.Variant {
	return []filters.Variant{
		BitsAndBlooms{},
		Holiman{},
		BoomStandard{},
		BoomCounting{},
		BoomScalable{},
		BoomCuckoo{},
		Seiflotfy{},
		BBloom{},
		Ristretto{},
		ParquetGo{},
		ArrowGo{},
		Pebble{},
		Xor8{},
		Fuse8{},
		Fuse16{},
	}
}

// Parse reads the name of a variant of another library, or of one of ours.
func Parse(s string) (filters.Variant, error) {
	if !strings.HasPrefix(s, Prefix) {
		return catalog.Parse(s)
	}
	var known []string
	for _, v := range All() {
		if v.String() == s {
			return v, nil
		}
		known = append(known, v.String())
	}
	return nil, filters.Refuse("filter", strconv.Quote(s), "one of "+strings.Join(known, ", "))
}

// looper is an adapter that writes its loops out, so that a timed loop calls the
// library directly and no key pays for dispatch.
type looper interface{ loops() catalog.Loops }

// Loop returns the loops that time q, a filter of another library or ours.
func Loop(q filters.Querier) catalog.Loops {
	if l, ok := q.(looper); ok {
		return l.loops()
	}
	return catalog.Loop(q)
}

// The limits of the adapters. No experiment comes near them.
const (
	maxBits       = 1 << 36 // 8 GiB of table
	minRate       = 1e-12
	maxBitsPerKey = 90 // more than 64 probes beyond
)

// check refuses what no library is asked for.
func check(t filters.Target) error {
	if err := t.Validate(); err != nil {
		return err
	}
	perKey := t.BitsPerKey
	if t.P != 0 {
		if t.P < minRate {
			return filters.Refuse("p", t.P, "at least 1e-12")
		}
		perKey = theory.StandardBitsPerKey(t.P)
	}
	if perKey > maxBitsPerKey {
		return filters.Refuse("bits per key", perKey, "at most 90")
	}
	if bits := perKey * float64(t.N); bits > maxBits {
		return filters.Refuse("n", t.N, "keys that fit 2^36 bits; these need "+strconv.FormatFloat(math.Ceil(bits), 'f', 0, 64))
	}
	return nil
}

// room is the space asked for, in bits, at least 1.
func room(t filters.Target) uint64 {
	return max(1, uint64(t.BitsPerKey*float64(t.N)))
}

// rateOf is the promised rate; for a target of space the rate that a standard
// filter of that space would have, for libraries that take nothing but a rate.
func rateOf(t filters.Target) float64 {
	if t.P != 0 {
		return t.P
	}
	return math.Exp(-t.BitsPerKey * math.Ln2 * math.Ln2)
}

// predicted is the prediction of a filter of m bits that sets k of them a key.
func predicted(t filters.Target, n, m uint64, k int, rate float64) theory.Prediction {
	return theory.Prediction{
		Inserted: n, Bits: m, K: k, Capacity: t.N,
		FPR:     theory.Combine(rate, theory.HashFloor(n, 64)),
		BuildSD: theory.StandardBuildSD(m, n, k),
		Fill:    theory.StandardFill(m, n, k),
	}
}

// key is the key that stands for h in a library that hashes inside.
func key(h uint64) (b [8]byte) {
	binary.LittleEndian.PutUint64(b[:], h)
	return b
}

// one counts a true answer without a branch.
func one(in bool) int {
	if in {
		return 1
	}
	return 0
}
