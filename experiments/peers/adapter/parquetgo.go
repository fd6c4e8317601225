package adapter

import (
	"math"

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
		FPR:     theory.Combine(splitMean(n, blocks, 1), theory.HashFloor(n, 64)),
		BuildSD: splitSD(n, blocks),
		Fill:    -math.Expm1(float64(n) * math.Log1p(-1/float64(32*blocks))),
	}
}

// splitMean is the mean, over the binomial number j of keys in a block, of a
// power of the block's rate (1-(31/32)^j)^8: the exact form of
// [theory.SplitBlock], whose loads are Poisson.
func splitMean(n, blocks uint64, power float64) float64 {
	if n == 0 {
		return 0
	}
	if blocks == 1 {
		return math.Pow(-math.Expm1(float64(n)*math.Log(31./32)), 8*power)
	}
	q := 1 / float64(blocks)
	mean := float64(n) * q
	sd := math.Sqrt(mean)
	all, _ := math.Lgamma(float64(n) + 1)
	var sum, weights float64 // the weights are off by a common factor where n is huge
	for j := math.Max(0, math.Floor(mean-12*sd-12)); j <= math.Min(float64(n), mean+12*sd+12); j++ {
		a, _ := math.Lgamma(j + 1)
		b, _ := math.Lgamma(float64(n) - j + 1)
		w := math.Exp(all - a - b + j*math.Log(q) + (float64(n)-j)*math.Log1p(-q))
		weights += w
		sum += w * math.Pow(-math.Expm1(j*math.Log(31./32)), 8*power)
	}
	return sum / weights
}

// splitSD is how much the rate differs from one build to the next when blocks
// are taken as independent, each with a rate that its load decides.
func splitSD(n, blocks uint64) float64 {
	m := splitMean(n, blocks, 1)
	return math.Sqrt(math.Max(0, splitMean(n, blocks, 2)-m*m) / float64(blocks))
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
	bits := float64(room(t))
	if t.P != 0 {
		bits = float64(t.N) * theory.SplitBlockBitsPerKey(t.P)
	}
	if !(bits <= maxBits) {
		return 0, filters.Refuse("n", t.N, "keys that fit 2^36 bits")
	}
	if t.P == 0 {
		return max(1, uint64(bits/splitBlock)), nil
	}
	blocks := max(1, uint64(math.Ceil(bits/splitBlock)))
	// Poisson loads promise a little too much to very few blocks.
	for blocks > 1 && splitMean(t.N, blocks-1, 1) <= t.P {
		blocks--
	}
	for splitMean(t.N, blocks, 1) > t.P {
		blocks++
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
