package adapter

import (
	"encoding/binary"
	"math"

	"github.com/cockroachdb/pebble/v2/bloom"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Pebble is the table filter of github.com/cockroachdb/pebble/v2/bloom: RocksDB's
// first blocked filter, built once from all keys, 32-bit hashes inside, a whole
// number of bits per key. For a rate it gets the textbook bits per key, rounded
// up, as its users do (ten for 1%); it has more than that rate, and more still
// when 32 bits of hash run out.
type Pebble struct{}

// String is "peer:pebble".
func (Pebble) String() string { return Prefix + "pebble" }

const pebbleLine = 512 // bits

func (Pebble) bitsPerKey(t filters.Target) (int, error) {
	if err := check(t); err != nil {
		return 0, err
	}
	if t.P != 0 {
		return int(math.Ceil(theory.StandardBitsPerKey(t.P))), nil
	}
	if t.BitsPerKey < 1 {
		return 0, filters.Refuse("bits per key", t.BitsPerKey, "at least 1")
	}
	return int(t.BitsPerKey), nil
}

// Build makes a filter of hs, whose number alone decides the size.
func (v Pebble) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	c, err := v.bitsPerKey(t)
	if err != nil {
		return nil, err
	}
	p := bloom.FilterPolicy(c)
	w := p.NewWriter(0) // a filter for a whole table, the only kind
	k := make([]byte, 8)
	for _, h := range hs {
		binary.LittleEndian.PutUint64(k, h)
		w.AddKey(k)
	}
	return &pebble{p, w.Finish(nil)}, nil
}

// Predict knows the size only.
func (v Pebble) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	c, err := v.bitsPerKey(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	lines := (n*uint64(c) + pebbleLine - 1) / pebbleLine
	if n > 0 {
		lines |= 1
	}
	return theory.Prediction{
		Inserted: n, Bits: lines * pebbleLine, Capacity: t.N,
		K: min(max(1, int(float64(c)*0.69)), 30),
	}, filters.ErrNoTheory
}

type pebble struct {
	p bloom.FilterPolicy
	f []byte
}

// SizeBits leaves out the five bytes that tell the geometry.
func (b *pebble) SizeBits() uint64 { return 8 * uint64(len(b.f)-5) }

func (b *pebble) Contains(h uint64) bool {
	k := key(h)
	return b.p.MayContain(0, b.f, k[:])
}

func (b *pebble) loops() catalog.Loops {
	p, f := b.p, b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			var k [8]byte
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k[:], h)
				in := p.MayContain(0, f, k[:])
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: static,
	}
}

// static is the loop of adds of a filter that is built once.
func static([]uint64) (int, error) {
	return 0, filters.Refuse("filter", "static", "a filter that takes keys one by one")
}
