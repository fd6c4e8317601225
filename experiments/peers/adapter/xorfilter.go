package adapter

import (
	"fmt"
	"math"
	"slices"

	"github.com/FastFilter/xorfilter"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// The filters of github.com/FastFilter/xorfilter are built once from all keys,
// which are 64-bit hashes already. Their rate is one in 2^w for fingerprints of w
// bits whatever was stored, and their size follows from the number of keys. The
// library makes no filter of no keys, so the adapters answer for that one.

// none is the filter of no keys.
type none struct{}

func (none) Contains(uint64) bool { return false }
func (none) SizeBits() uint64     { return 0 }

// fixed predicts a filter of some fingerprints of w bits for n keys.
func fixed(t filters.Target, n uint64, w int, fingerprints func(n uint64) uint64) (theory.Prediction, error) {
	if err := check(t); err != nil {
		return theory.Prediction{}, err
	}
	rate := math.Ldexp(1, -w)
	if t.P != 0 && t.P < rate {
		return theory.Prediction{}, filters.Refuse("p", t.P, fmt.Sprintf("at least 2^-%d, the rate of %d-bit fingerprints", w, w))
	}
	bits := func(n uint64) uint64 { return uint64(w) * fingerprints(n) }
	if t.P == 0 && bits(t.N) > room(t) {
		return theory.Prediction{}, filters.Refuse("bits per key", t.BitsPerKey, fmt.Sprintf("the %d bits that %d keys take", bits(t.N), t.N))
	}
	if t.N > math.MaxUint32/2 || n > math.MaxUint32/2 {
		return theory.Prediction{}, filters.Refuse("n", max(t.N, n), "keys that 32 bits can count")
	}
	out := theory.Prediction{Inserted: n, Capacity: t.N, K: w}
	if n > 0 {
		out.FPR, out.Bits, out.Fill = rate, bits(n), min(1, float64(n)/float64(fingerprints(n)))
	}
	return out, nil
}

// build makes a filter of hs, unless there are none. The library sorts and
// compacts its argument, so it gets a copy.
func build[F filters.Querier](v filters.Variant, t filters.Target, hs []uint64, populate func([]uint64) (F, error)) (filters.Querier, error) {
	if _, err := v.Predict(t, uint64(len(hs))); err != nil {
		return nil, err
	}
	if len(hs) == 0 {
		return none{}, nil
	}
	f, err := populate(slices.Clone(hs))
	if err != nil {
		return nil, fmt.Errorf("%v: %w", v, err)
	}
	return f, nil
}

// Xor8 is the xor filter with 8-bit fingerprints.
type Xor8 struct{}

// String is "peer:xor8".
func (Xor8) String() string { return Prefix + "xor8" }

// Build makes a filter of hs.
func (v Xor8) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return build(v, t, hs, func(hs []uint64) (*xor8, error) {
		f, err := xorfilter.Populate(hs)
		return &xor8{f}, err
	})
}

// Predict is 1/256 at 9.84 bits per key (Graf, Lemire 2020).
func (Xor8) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	return fixed(t, n, 8, func(n uint64) uint64 { return (32 + uint64(math.Ceil(1.23*float64(n)))) / 3 * 3 })
}

type xor8 struct{ f *xorfilter.Xor8 }

func (b *xor8) SizeBits() uint64       { return 8 * uint64(len(b.f.Fingerprints)) }
func (b *xor8) Contains(h uint64) bool { return b.f.Contains(h) }

func (b *xor8) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.Contains(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: static,
	}
}

// fuseFingerprints is the table length of a binary fuse filter of arity 3 (Graf,
// Lemire, Binary Fuse Filters, 2022, section 4).
func fuseFingerprints(n uint64) uint64 {
	segment := uint64(4)
	size := 0.0
	if n > 0 {
		segment = min(1<<18, uint64(1)<<int(math.Floor(math.Log(float64(n))/math.Log(3.33)+2.25)))
	}
	if n > 1 {
		size = math.Round(float64(n) * max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(float64(n))))
	}
	return max(3, (uint64(size)+segment-1)/segment) * segment
}

// Fuse8 is the binary fuse filter with 8-bit fingerprints.
type Fuse8 struct{}

// String is "peer:fuse8".
func (Fuse8) String() string { return Prefix + "fuse8" }

// Build makes a filter of hs.
func (v Fuse8) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return build(v, t, hs, func(hs []uint64) (*fuse8, error) {
		f, err := xorfilter.PopulateBinaryFuse8(hs)
		return &fuse8{f}, err
	})
}

// Predict is 1/256 at about 9 bits per key.
func (Fuse8) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	return fixed(t, n, 8, fuseFingerprints)
}

type fuse8 struct{ f *xorfilter.BinaryFuse8 }

func (b *fuse8) SizeBits() uint64       { return 8 * uint64(len(b.f.Fingerprints)) }
func (b *fuse8) Contains(h uint64) bool { return b.f.Contains(h) }

func (b *fuse8) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.Contains(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: static,
	}
}

// Fuse16 is the binary fuse filter with 16-bit fingerprints.
type Fuse16 struct{}

// String is "peer:fuse16".
func (Fuse16) String() string { return Prefix + "fuse16" }

// Build makes a filter of hs.
func (v Fuse16) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return build(v, t, hs, func(hs []uint64) (*fuse16, error) {
		f, err := xorfilter.NewBinaryFuse[uint16](hs)
		return &fuse16{f}, err
	})
}

// Predict is 2^-16 at about 18 bits per key.
func (Fuse16) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	return fixed(t, n, 16, fuseFingerprints)
}

type fuse16 struct{ f *xorfilter.BinaryFuse[uint16] }

func (b *fuse16) SizeBits() uint64       { return 16 * uint64(len(b.f.Fingerprints)) }
func (b *fuse16) Contains(h uint64) bool { return b.f.Contains(h) }

func (b *fuse16) loops() catalog.Loops {
	f := b.f
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.Contains(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: static,
	}
}
