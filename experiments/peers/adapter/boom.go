package adapter

import (
	"encoding/binary"
	"math"

	boom "github.com/tylertreat/BoomFilters"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// The filters of github.com/tylertreat/BoomFilters hash inside, with FNV-1 and
// through one hash object for each filter, which makes even lookups unsafe for
// concurrent use. Two 32-bit halves of one hash are combined into all positions.
// FNV-1 is too weak for a formula to be honest, so none has a theory; what they
// promise and what was measured stand side by side in the results.

// BoomStandard is the standard filter of BoomFilters.
type BoomStandard struct{}

// String is "peer:boom".
func (BoomStandard) String() string { return Prefix + "boom" }

// New makes an empty filter.
func (BoomStandard) New(t filters.Target) (filters.Filter, error) {
	if err := check(t); err != nil {
		return nil, err
	}
	return &boomStandard{f: boom.NewBloomFilter(uint(t.N), rateOf(t))}, nil
}

// Build adds hs to a new filter.
func (v BoomStandard) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict knows the size only.
func (BoomStandard) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	return boomSize(t, n, 1)
}

// boomSize is the geometry of a filter of BoomFilters with counters of w bits.
func boomSize(t filters.Target, n uint64, w uint64) (theory.Prediction, error) {
	if err := check(t); err != nil {
		return theory.Prediction{}, err
	}
	p := rateOf(t)
	return theory.Prediction{
		Inserted: n, Capacity: t.N,
		Bits: w * uint64(boom.OptimalM(uint(t.N), p)),
		K:    int(boom.OptimalK(p)),
	}, filters.ErrNoTheory
}

type boomStandard struct {
	f   *boom.BloomFilter
	key [8]byte // escapes into the hash object; here so that no call allocates
}

func (b *boomStandard) SizeBits() uint64 { return uint64(b.f.Capacity()) }
func (b *boomStandard) Reset()           { b.f.Reset() }

func (b *boomStandard) Contains(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key[:], h)
	return b.f.Test(b.key[:])
}

func (b *boomStandard) Add(h uint64) error {
	binary.LittleEndian.PutUint64(b.key[:], h)
	b.f.Add(b.key[:])
	return nil
}

func (b *boomStandard) loops() catalog.Loops {
	f, k := b.f, b.key[:]
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				in := f.Test(k)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for _, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				f.Add(k)
			}
			return len(hs), nil
		},
	}
}

// BoomCounting is the counting filter of BoomFilters with its default counters
// of 4 bits.
type BoomCounting struct{}

// String is "peer:boom-counting".
func (BoomCounting) String() string { return Prefix + "boom-counting" }

// boomCounter is the default width of a counter.
const boomCounter = 4

// New makes an empty filter.
func (BoomCounting) New(t filters.Target) (filters.Filter, error) {
	if err := check(t); err != nil {
		return nil, err
	}
	return &boomCounting{f: boom.NewDefaultCountingBloomFilter(uint(t.N), rateOf(perCounter(t)))}, nil
}

// perCounter turns space for keys into space for counters.
func perCounter(t filters.Target) filters.Target {
	t.BitsPerKey /= boomCounter
	return t
}

// Build adds hs to a new filter.
func (v BoomCounting) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict knows the size only.
func (BoomCounting) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	if err := check(t); err != nil {
		return theory.Prediction{}, err
	}
	return boomSize(perCounter(t), n, boomCounter)
}

type boomCounting struct {
	f   *boom.CountingBloomFilter
	key [8]byte
}

func (b *boomCounting) SizeBits() uint64 { return boomCounter * uint64(b.f.Capacity()) }
func (b *boomCounting) Reset()           { b.f.Reset() }

func (b *boomCounting) Contains(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key[:], h)
	return b.f.Test(b.key[:])
}

func (b *boomCounting) Add(h uint64) error {
	binary.LittleEndian.PutUint64(b.key[:], h)
	b.f.Add(b.key[:])
	return nil
}

func (b *boomCounting) Delete(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key[:], h)
	return b.f.TestAndRemove(b.key[:])
}

func (b *boomCounting) loops() catalog.Loops {
	f, k := b.f, b.key[:]
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				in := f.Test(k)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for _, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				f.Add(k)
			}
			return len(hs), nil
		},
	}
}

// BoomScalable is the scalable filter of BoomFilters, started at an eighth of the
// keys like ours, with its default tightening of 0.8. Its stages do not grow, and
// the rate of each is the share of the whole that the first was promised, so that
// eight stages have four times the rate asked for.
type BoomScalable struct{}

// String is "peer:boom-scalable".
func (BoomScalable) String() string { return Prefix + "boom-scalable" }

const boomTighten = 0.8

func boomHint(t filters.Target) uint { return uint((t.N + 7) / 8) }

// New makes an empty filter.
func (BoomScalable) New(t filters.Target) (filters.Filter, error) {
	if err := check(t); err != nil {
		return nil, err
	}
	return &boomScalable{f: boom.NewScalableBloomFilter(boomHint(t), rateOf(t), boomTighten), t: t}, nil
}

// Build adds hs to a new filter.
func (v BoomScalable) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict knows the size only: a stage opens when the last one is estimated to
// be half full.
func (v BoomScalable) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	if err := check(t); err != nil {
		return theory.Prediction{}, err
	}
	out := theory.Prediction{Inserted: n, Capacity: t.N}
	for left := n; ; {
		slice, k, m := boomStage(t, out.Stages)
		out.Bits += m
		out.Stages++
		out.K = max(out.K, int(k))
		// Keys that bring 1-exp(-keys/slice) to one half.
		full := uint64(math.Ceil(float64(slice) * math.Ln2))
		if left <= full || out.Stages == maxStages {
			return out, filters.ErrNoTheory
		}
		left -= full
	}
}

// maxStages bounds Predict: rates of 0.8^i run out of what a float64 holds long
// before.
const maxStages = 1000

// boomStage is the geometry of stage i: k slices, and their bits together.
func boomStage(t filters.Target, i int) (slice, k, m uint64) {
	p := rateOf(t) * math.Pow(boomTighten, float64(i))
	k = uint64(boom.OptimalK(p))
	slice = uint64(math.Ceil(float64(boom.OptimalM(boomHint(t), p)) / float64(k)))
	return slice, k, slice * k
}

type boomScalable struct {
	f   *boom.ScalableBloomFilter
	t   filters.Target
	key [8]byte
}

// SizeBits adds up the slices of the stages that are open. The library tells the
// sum of their sizes before rounding, which says how many there are.
func (b *boomScalable) SizeBits() (bits uint64) {
	sum := uint(0)
	for i := 0; sum < b.f.Capacity(); i++ {
		sum += boom.OptimalM(boomHint(b.t), rateOf(b.t)*math.Pow(boomTighten, float64(i)))
		_, _, m := boomStage(b.t, i)
		bits += m
	}
	return bits
}

func (b *boomScalable) Reset() { b.f.Reset() }

func (b *boomScalable) Contains(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key[:], h)
	return b.f.Test(b.key[:])
}

func (b *boomScalable) Add(h uint64) error {
	binary.LittleEndian.PutUint64(b.key[:], h)
	b.f.Add(b.key[:])
	return nil
}

func (b *boomScalable) loops() catalog.Loops {
	f, k := b.f, b.key[:]
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				in := f.Test(k)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for _, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				f.Add(k)
			}
			return len(hs), nil
		},
	}
}

// BoomCuckoo is the cuckoo filter of BoomFilters. Every slot is a slice of its
// own, and there are eight buckets of four for each key; a table above 256 MiB
// (at 1% from 280,000 keys on) is refused.
type BoomCuckoo struct{}

// String is "peer:boom-cuckoo".
func (BoomCuckoo) String() string { return Prefix + "boom-cuckoo" }

const (
	boomSlots      = 4
	boomBucketBits = 8 * (24 + boomSlots*24) // a slice header for the bucket, one for each slot
	boomCuckooMax  = 8 * 256 << 20
)

// boomBuckets is the number of buckets that the library will make, at least 1.
func boomBuckets(t filters.Target) (uint64, error) {
	if err := check(t); err != nil {
		return 0, err
	}
	f := max(1, uint64(math.Ceil(math.Log(2*boomSlots/rateOf(t))))/8)
	m := uint64(1)
	for m < t.N/f*8 {
		m *= 2
	}
	if t.N/f == 0 || m*boomBucketBits > boomCuckooMax {
		return 0, filters.Refuse("n", t.N, "keys of which the slices for slots fit 256 MiB, and at least one for a fingerprint byte")
	}
	return m, nil
}

// New makes an empty filter.
func (BoomCuckoo) New(t filters.Target) (filters.Filter, error) {
	if _, err := boomBuckets(t); err != nil {
		return nil, err
	}
	return &boomCuckoo{f: boom.NewCuckooFilter(uint(t.N), rateOf(t))}, nil
}

// Build adds hs to a new filter.
func (v BoomCuckoo) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict knows the size only.
func (BoomCuckoo) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	m, err := boomBuckets(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return theory.Prediction{Inserted: n, Capacity: t.N, Bits: m * boomBucketBits, K: 8}, filters.ErrNoTheory
}

type boomCuckoo struct {
	f   *boom.CuckooFilter
	key [8]byte
}

// SizeBits counts the slices that make up the table, since the library needs
// them to answer, but not the fingerprints on the heap behind them.
func (b *boomCuckoo) SizeBits() uint64 { return uint64(b.f.Buckets()) * boomBucketBits }
func (b *boomCuckoo) Reset()           { b.f.Reset() }

func (b *boomCuckoo) Contains(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key[:], h)
	return b.f.Test(b.key[:])
}

func (b *boomCuckoo) Add(h uint64) error {
	binary.LittleEndian.PutUint64(b.key[:], h)
	if b.f.Add(b.key[:]) != nil {
		return filters.ErrFull
	}
	return nil
}

func (b *boomCuckoo) Delete(h uint64) bool {
	binary.LittleEndian.PutUint64(b.key[:], h)
	return b.f.TestAndRemove(b.key[:])
}

func (b *boomCuckoo) loops() catalog.Loops {
	f, k := b.f, b.key[:]
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				in := f.Test(k)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			for i, h := range hs {
				binary.LittleEndian.PutUint64(k, h)
				if f.Add(k) != nil {
					return i, filters.ErrFull
				}
			}
			return len(hs), nil
		},
	}
}
