package experiments

import (
	"math"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Roles of a control: what its verdict must be.
const (
	MustAgree  = "must-agree"
	MustDiffer = "must-differ"
)

// controlIndex is the index of the first control point, past every grid.
const controlIndex = 1_000_000

// controls are measured in every run beside the points of its grid. They show
// that the run can tell right from wrong: a filter that is ideal by construction
// must agree with theory, and a blocked filter whose hash is the identity on
// integers that count up, which puts all keys into one block, must not.
func controls() ([][]*Point, error) {
	blocked, err := catalog.Parse("blocked")
	if err != nil {
		return nil, err
	}
	target := filters.Target{N: 10_000, P: 0.01}
	points := []*Point{
		{Variant: ideal{}, Hash: "xxh3", Keys: "random", Role: MustAgree},
		{Variant: blocked, Hash: "identity", Keys: "sequential", Role: MustDiffer},
	}
	var groups [][]*Point
	for i, p := range points {
		p.Index, p.Target = controlIndex+i, target
		groups = append(groups, []*Point{p})
	}
	return groups, nil
}

// ideal is a filter that errs at exactly the promised rate, independently for
// every absent key. It keeps all of its keys and is no way to save memory.
type ideal struct{}

func (ideal) String() string { return "ideal" }

func (v ideal) New(t filters.Target) (filters.Filter, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if t.P == 0 {
		return nil, filters.Refuse("ideal: p", t.P, "a promised rate, 0 < p < 1")
	}
	return &idealFilter{below: uint64(t.P * (1 << 63) * 2), n: t.N, p: t.P, keys: map[uint64]bool{}}, nil
}

func (v ideal) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict gives the bits of the lower bound, which no real filter reaches.
func (v ideal) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	if _, err := v.New(t); err != nil {
		return theory.Prediction{}, err
	}
	bits := uint64(math.Ceil(float64(t.N) * theory.LowerBound(t.P)))
	return theory.Prediction{Inserted: inserted, FPR: t.P, Bits: bits, Capacity: t.N}, nil
}

type idealFilter struct {
	below uint64
	n     uint64
	p     float64
	keys  map[uint64]bool
}

func (f *idealFilter) Add(h uint64) error {
	f.keys[h] = true
	return nil
}

func (f *idealFilter) Contains(h uint64) bool { return mix(h) < f.below || f.keys[h] }

func (f *idealFilter) SizeBits() uint64 {
	return uint64(math.Ceil(float64(f.n) * theory.LowerBound(f.p)))
}

// mix is a bijection of 64 bits that spreads every bit over all (the finalizer
// of SplitMix64, Stafford's mix 13).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
