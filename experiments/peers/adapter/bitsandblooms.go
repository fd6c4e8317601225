package adapter

import (
	"encoding/binary"
	"math"

	"github.com/bits-and-blooms/bloom/v3"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// BitsAndBlooms is the standard filter of github.com/bits-and-blooms/bloom/v3,
// sized by its EstimateParameters. It hashes inside (murmur3, 256 bits) and takes
// its positions modulo m from four 64-bit values, for which the formula of
// independent probes holds to within what a run can see.
type BitsAndBlooms struct{}

// String is "peer:bits-and-blooms".
func (BitsAndBlooms) String() string { return Prefix + "bits-and-blooms" }

func (BitsAndBlooms) geometry(t filters.Target) (m, k uint, err error) {
	if err := check(t); err != nil {
		return 0, 0, err
	}
	if t.P != 0 {
		m, k = bloom.EstimateParameters(uint(t.N), t.P)
		return m, k, nil
	}
	m = uint(room(t))
	return m, max(1, uint(math.Ceil(math.Ln2*float64(m)/float64(t.N)))), nil
}

// New makes an empty filter.
func (v BitsAndBlooms) New(t filters.Target) (filters.Filter, error) {
	m, k, err := v.geometry(t)
	if err != nil {
		return nil, err
	}
	return &bitsAndBlooms{bloom.New(m, k)}, nil
}

// Build adds hs to a new filter.
func (v BitsAndBlooms) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the rate of independent probes.
func (v BitsAndBlooms) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	m, k, err := v.geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return predicted(t, n, uint64(m), int(k), theory.Standard(uint64(m), n, int(k))), nil
}

type bitsAndBlooms struct{ f *bloom.BloomFilter }

func (b *bitsAndBlooms) SizeBits() uint64 { return uint64(b.f.Cap()) }
func (b *bitsAndBlooms) Reset()           { b.f.ClearAll() }

func (b *bitsAndBlooms) Contains(h uint64) bool {
	k := key(h)
	return b.f.Test(k[:])
}

func (b *bitsAndBlooms) Add(h uint64) error {
	k := key(h)
	b.f.Add(k[:])
	return nil
}

func (b *bitsAndBlooms) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			var k [8]byte
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k[:], h)
				in := f.Test(k[:])
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
