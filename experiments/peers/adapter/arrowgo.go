package adapter

import (
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// ArrowGo is the split-block filter of github.com/apache/arrow-go/v18: 64-bit
// hashes in, assembly where the processor has it. It is reached through an
// interface only, so that every lookup pays for that call. Sizes are powers of
// two, by the formula -8n/ln(1-p^(1/8)) that the library computes, and at most
// 128 MiB.
type ArrowGo struct{}

// String is "peer:arrow-go".
func (ArrowGo) String() string { return Prefix + "arrow-go" }

const arrowMax = 128 << 20

func (ArrowGo) bytes(t filters.Target) (uint64, error) {
	if err := check(t); err != nil {
		return 0, err
	}
	m := float64(room(t))
	if t.P != 0 {
		m = -8 * float64(t.N) / math.Log(1-math.Pow(t.P, 1./8))
	}
	if !(m <= 8*arrowMax) || t.N > math.MaxUint32 {
		// The library would clamp and say nothing.
		return 0, filters.Refuse("n", t.N, "keys that fit the library's 128 MiB")
	}
	return uint64(1) << bits.Len64(max(uint64(m), splitBlock)-1) / 8, nil
}

// New makes an empty filter.
func (v ArrowGo) New(t filters.Target) (filters.Filter, error) {
	n, err := v.bytes(t)
	if err != nil {
		return nil, err
	}
	b := &arrowGo{bytes: uint32(n)}
	b.Reset()
	return b, nil
}

// Build adds hs to a new filter.
func (v ArrowGo) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the mixture over the loads of the blocks.
func (v ArrowGo) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	size, err := v.bytes(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return splitPrediction(t, n, size*8/splitBlock), nil
}

// arrowFilter is what the library's builder can do beyond its interface.
type arrowFilter interface {
	metadata.BloomFilterBuilder
	CheckHash(hash uint64) bool
	CheckBulk(hashes []uint64) []bool
}

type arrowGo struct {
	bytes uint32
	f     arrowFilter
}

func (b *arrowGo) SizeBits() uint64       { return 8 * uint64(b.f.Size()) }
func (b *arrowGo) Contains(h uint64) bool { return b.f.CheckHash(h) }

func (b *arrowGo) Reset() {
	b.f = metadata.NewBloomFilter(b.bytes, arrowMax, memory.DefaultAllocator).(arrowFilter)
}

func (b *arrowGo) Add(h uint64) error {
	b.f.InsertHash(h)
	return nil
}

func (b *arrowGo) AddMany(hs []uint64) (int, error) {
	b.f.InsertBulk(hs)
	return len(hs), nil
}

// ContainsMany goes through CheckBulk, which returns a new slice each time.
func (b *arrowGo) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	copy(dst, b.f.CheckBulk(hs))
	for _, in := range dst {
		hits += one(in)
	}
	return hits
}

func (b *arrowGo) loops() catalog.Loops {
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			f := b.f
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.CheckHash(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			f := b.f
			for _, h := range hs {
				f.InsertHash(h)
			}
			return len(hs), nil
		},
	}
}
