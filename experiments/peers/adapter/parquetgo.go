package adapter

import (
	"github.com/cespare/xxhash/v2"
	"github.com/parquet-go/parquet-go/bloom"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// splitBlock is the size of a block of a split-block filter: eight lanes of 32
// bits.
const splitBlock = 256

// splitPrediction is the prediction for a split-block filter of some blocks.
func splitPrediction(t filters.Target, n, blocks uint64) theory.Prediction {
	return theory.Prediction{
		Inserted: n, Bits: blocks * splitBlock, K: 8, Capacity: t.N,
		FPR:     theory.SplitBlocks(blocks, n),
		BuildSD: theory.SplitBlocksBuildSD(blocks, n),
		Fill:    theory.SplitBlocksFill(blocks, n),
	}
}

// ParquetGo is the split-block filter of github.com/parquet-go/parquet-go: 64-bit
// hashes in, AVX2 assembly on amd64. The library leaves the number of blocks to
// its user; here it is the least with the promised rate. (The ten bits per value
// that its documentation speaks of give 1.28%.)
type ParquetGo struct{}

// String is "peer:parquet-go".
func (ParquetGo) String() string { return Prefix + "parquet-go" }

func (ParquetGo) blocks(t filters.Target) (uint64, error) {
	if err := check(t); err != nil {
		return 0, err
	}
	blocks := max(1, room(t)/splitBlock)
	if t.P != 0 {
		var ok bool
		if blocks, ok = theory.SizeSplitBlocks(t.N, t.P); !ok {
			return 0, filters.Refuse("n", t.N, "keys that 2^31-1 blocks hold at the rate asked for")
		}
	}
	return blocks, nil
}

// New makes an empty filter.
func (v ParquetGo) New(t filters.Target) (filters.Filter, error) {
	blocks, err := v.blocks(t)
	if err != nil {
		return nil, err
	}
	return &parquetGo{make(bloom.SplitBlockFilter, blocks)}, nil
}

// Build adds hs to a new filter.
func (v ParquetGo) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the mixture over the loads of the blocks.
func (v ParquetGo) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	blocks, err := v.blocks(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return splitPrediction(t, n, blocks), nil
}

type parquetGo struct{ f bloom.SplitBlockFilter }

func (b *parquetGo) SizeBits() uint64       { return uint64(len(b.f)) * splitBlock }
func (b *parquetGo) Reset()                 { b.f.Reset() }
func (b *parquetGo) Contains(h uint64) bool { return b.f.Check(h) }

// Bytes is the table as a Parquet file holds it.
func (b *parquetGo) Bytes() []byte { return b.f.Bytes() }

func (b *parquetGo) Add(h uint64) error {
	b.f.Insert(h)
	return nil
}

func (b *parquetGo) AddMany(hs []uint64) (int, error) {
	b.f.InsertBulk(hs)
	return len(hs), nil
}

// KeyLoop is the loop over byte strings that users of the library write: XXH64 of
// each key, as Parquet has it, and a lookup. ok is false for other filters.
func KeyLoop(q filters.Querier) (contains func(dst []bool, keys [][]byte) (hits int), ok bool) {
	b, ok := q.(*parquetGo)
	if !ok {
		return nil, false
	}
	f := b.f
	return func(dst []bool, keys [][]byte) (hits int) {
		dst = dst[:len(keys)]
		for i, k := range keys {
			in := f.Check(xxhash.Sum64(k))
			dst[i] = in
			hits += one(in)
		}
		return hits
	}, true
}

func (b *parquetGo) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.Check(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for _, h := range hs {
				f.Insert(h)
			}
			return len(hs), nil
		},
	}
}
