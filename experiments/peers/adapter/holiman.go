package adapter

import (
	bloomfilter "github.com/holiman/bloomfilter/v2"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Holiman is the standard filter of github.com/holiman/bloomfilter/v2, sized by
// its OptimalM and OptimalK. It takes 64-bit hashes and, like its own New, draws
// k keys to derive the probes from one, though from a fixed seed, so that a run
// can be repeated. Every call takes a lock; there is no way around it.
type Holiman struct{}

// String is "peer:holiman".
func (Holiman) String() string { return Prefix + "holiman" }

func (Holiman) geometry(t filters.Target) (m, k uint64, err error) {
	if err := check(t); err != nil {
		return 0, 0, err
	}
	m = room(t)
	if t.P != 0 {
		m = bloomfilter.OptimalM(t.N, t.P)
	}
	m = max(m, bloomfilter.MMin)
	return m, bloomfilter.OptimalK(m, t.N), nil
}

// New makes an empty filter.
func (v Holiman) New(t filters.Target) (filters.Filter, error) {
	m, k, err := v.geometry(t)
	if err != nil {
		return nil, err
	}
	keys := make([]uint64, k)
	x := uint64(0x9e3779b97f4a7c15)
	for i := range keys {
		// splitmix64, in the place of crypto/rand.
		x += 0x9e3779b97f4a7c15
		y := (x ^ x>>30) * 0xbf58476d1ce4e5b9
		y = (y ^ y>>27) * 0x94d049bb133111eb
		keys[i] = y ^ y>>31
	}
	f, err := bloomfilter.NewWithKeys(m, keys)
	if err != nil {
		return nil, filters.Refuse("target", t, err.Error())
	}
	return &holiman{f}, nil
}

// Build adds hs to a new filter.
func (v Holiman) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the rate of independent probes, which the library promises.
func (v Holiman) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	m, k, err := v.geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return predicted(t, n, m, int(k), theory.Standard(m, n, int(k))), nil
}

type holiman struct{ f *bloomfilter.Filter }

func (b *holiman) SizeBits() uint64       { return b.f.M() }
func (b *holiman) Contains(h uint64) bool { return b.f.ContainsHash(h) }

func (b *holiman) Add(h uint64) error {
	b.f.AddHash(h)
	return nil
}

func (b *holiman) Reset() {
	// The geometry was accepted before.
	b.f, _ = b.f.NewCompatible()
}

func (b *holiman) loops() catalog.Loops {
	return catalog.Loops{
		Contains: func(dst []bool, hs []uint64) (hits int) {
			f := b.f
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := f.ContainsHash(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		Add: func(hs []uint64) (int, error) {
			f := b.f
			for _, h := range hs {
				f.AddHash(h)
			}
			return len(hs), nil
		},
	}
}
