package adapter

import (
	"github.com/dgraph-io/ristretto/v2/z"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Ristretto is the filter of github.com/dgraph-io/ristretto/v2/z: double hashing
// in a table rounded up to a power of two, the first position from the high bits
// of a 64-bit hash and the step from the low ones.
type Ristretto struct{}

// String is "peer:ristretto".
func (Ristretto) String() string { return Prefix + "ristretto" }

// New makes an empty filter.
func (Ristretto) New(t filters.Target) (filters.Filter, error) {
	m, k, err := powerOfTwo(t)
	if err != nil {
		return nil, err
	}
	return &ristretto{z.NewBloomFilter(float64(m), float64(k)), m}, nil
}

// Build adds hs to a new filter.
func (v Ristretto) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the rate of double hashing.
func (Ristretto) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	m, k, err := powerOfTwo(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return predicted(t, n, m, k, theory.DoubleHashing(m, n, k)), nil
}

type ristretto struct {
	f    *z.Bloom
	bits uint64
}

func (b *ristretto) SizeBits() uint64       { return b.bits }
func (b *ristretto) Reset()                 { b.f.Clear() }
func (b *ristretto) Contains(h uint64) bool { return b.f.Has(h) }

func (b *ristretto) Add(h uint64) error {
	b.f.Add(h)
	return nil
}

func (b *ristretto) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.Has(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for _, h := range hs {
				f.Add(h)
			}
			return len(hs), nil
		},
	}
}
