package adapter

import (
	"encoding/binary"
	"math/bits"
	"sync"

	cuckoo "github.com/seiflotfy/cuckoofilter"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Seiflotfy is the cuckoo filter of github.com/seiflotfy/cuckoofilter: buckets of
// four, fingerprints of 8 bits whatever the target says, slots rounded up to a
// power of two. The load therefore depends on n, and near a power of two the
// filter refuses keys that it was sized for. It hashes inside (metro).
type Seiflotfy struct{}

// String is "peer:seiflotfy".
func (Seiflotfy) String() string { return Prefix + "seiflotfy" }

// buckets is what NewFilter(n) makes.
func (Seiflotfy) buckets(t filters.Target) (uint64, error) {
	if err := check(t); err != nil {
		return 0, err
	}
	return max(1, uint64(1)<<bits.Len64(t.N-1)/4), nil
}

// New makes an empty filter.
func (v Seiflotfy) New(t filters.Target) (filters.Filter, error) {
	m, err := v.buckets(t)
	if err != nil {
		return nil, err
	}
	return &seiflotfy{f: cuckoo.NewFilter(uint(t.N)), bits: m * 4 * 8, key: make([]byte, 8)}, nil
}

// Build adds hs to a new filter.
func (v Seiflotfy) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the rate of 255 uniform tags in buckets of four.
func (v Seiflotfy) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	m, err := v.buckets(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	if n > 4*m {
		return theory.Prediction{}, filters.Refuse("inserted", n, "keys that the slots can hold")
	}
	return theory.Prediction{
		Inserted: n, Bits: m * 4 * 8, K: 8, Capacity: t.N,
		FPR:     theory.Cuckoo(m, 4, 8, n),
		BuildSD: theory.CuckooBuildSD(m, 4, 8, n),
		Fill:    float64(n) / float64(4*m),
	}, nil
}

type seiflotfy struct {
	f    *cuckoo.Filter
	bits uint64
	key  []byte // for Add, which is not concurrent
}

// keys lends buffers to lookups: the library hashes through an interface, so
// that a buffer on the stack would move to the heap.
var keys = sync.Pool{New: func() any { return new([8]byte) }}

func (b *seiflotfy) SizeBits() uint64 { return b.bits }
func (b *seiflotfy) Reset()           { b.f.Reset() }

func (b *seiflotfy) Contains(h uint64) bool {
	k := keys.Get().(*[8]byte)
	*k = key(h)
	in := b.f.Lookup(k[:])
	keys.Put(k)
	return in
}

func (b *seiflotfy) Add(h uint64) error {
	binary.LittleEndian.PutUint64(b.key, h)
	if !b.f.Insert(b.key) {
		return filters.ErrFull
	}
	return nil
}

func (b *seiflotfy) Delete(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key, h)
	return b.f.Delete(b.key)
}

func (b *seiflotfy) loops() catalog.Loops {
	f, k := b.f, make([]byte, 8)
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				in := f.Lookup(k)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				if !f.Insert(k) {
					return i, filters.ErrFull
				}
			}
			return len(hs), nil
		},
	}
}
