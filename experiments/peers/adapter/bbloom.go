package adapter

import (
	"encoding/binary"
	"math"

	"github.com/ipfs/bbloom"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// powerOfTwo is the geometry that bbloom and its descendants choose: the textbook
// size rounded up to a power of two of at least 512 bits, and the k of the size
// before rounding.
func powerOfTwo(t filters.Target) (m uint64, k int, err error) {
	if err := check(t); err != nil {
		return 0, 0, err
	}
	size := float64(room(t))
	if t.P != 0 {
		size = -float64(t.N) * math.Log(t.P) / math.Pow(0.69314718056, 2)
	}
	k = max(1, int(math.Ceil(0.69314718056*size/float64(t.N))))
	for m = 512; m < uint64(size); {
		m *= 2
	}
	return m, k, nil
}

// BBloom is the filter of github.com/ipfs/bbloom: double hashing with an odd step
// in a table rounded up to a power of two. It hashes inside (SipHash).
type BBloom struct{}

// String is "peer:bbloom".
func (BBloom) String() string { return Prefix + "bbloom" }

// New makes an empty filter.
func (BBloom) New(t filters.Target) (filters.Filter, error) {
	m, k, err := powerOfTwo(t)
	if err != nil {
		return nil, err
	}
	f, err := bbloom.New(float64(m), float64(k))
	if err != nil {
		return nil, filters.Refuse("target", t, err.Error())
	}
	return &bBloom{f, m}, nil
}

// Build adds hs to a new filter.
func (v BBloom) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the rate of double hashing with an odd step.
func (BBloom) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	m, k, err := powerOfTwo(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return predicted(t, n, m, k, theory.DoubleHashingOdd(m, n, k)), nil
}

type bBloom struct {
	f    *bbloom.Bloom
	bits uint64
}

func (b *bBloom) SizeBits() uint64 { return b.bits }
func (b *bBloom) Reset()           { b.f.Clear() }

func (b *bBloom) Contains(h uint64) bool {
	k := key(h)
	return b.f.Has(k[:])
}

func (b *bBloom) Add(h uint64) error {
	k := key(h)
	b.f.Add(k[:])
	return nil
}

func (b *bBloom) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			var k [8]byte
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k[:], h)
				in := f.Has(k[:])
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			var k [8]byte
			for _, h := range hs {
				binary.LittleEndian.PutUint64(k[:], h)
				f.Add(k[:])
			}
			return len(hs), nil
		},
	}
}
