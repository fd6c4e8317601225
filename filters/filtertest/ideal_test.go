package filtertest

import (
	"fmt"
	"math"
	"slices"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// fault is one way to be wrong. The suite must find each.
type fault string

// ideal is the variant of an exact set that answers true to other hashes at
// exactly the promised rate: the control that must agree, and, with a fault, the
// controls that must not.
type ideal struct{ fault fault }

func (v ideal) String() string {
	if v.fault == "" {
		return "ideal"
	}
	return fmt.Sprintf("ideal(%s)", v.fault)
}

// bits is the size of the filter for t, as if it kept to the lower bound.
func (v ideal) bits(t filters.Target) (rate float64, bits uint64, err error) {
	if err := t.Validate(); err != nil {
		switch {
		case v.fault == "takes-nan" && math.IsNaN(t.P):
			return 0.01, 100, nil
		case v.fault == "untyped-error":
			return 0, 0, fmt.Errorf("bad target")
		case v.fault == "wrong-field":
			return 0, 0, filters.Refuse("k", 0, "at least 1")
		}
		return 0, 0, err
	}
	rate = t.P
	if rate == 0 {
		rate = math.Exp2(-t.BitsPerKey)
	}
	if rate < 1e-18 {
		return 0, 0, filters.Refuse("ideal: p", rate, "at least 1e-18")
	}
	want := float64(t.N) * -math.Log2(rate)
	if want > filters.MaxBits {
		return 0, 0, filters.Refuse("ideal: n", t.N, "at most 2^48 bits")
	}
	if v.fault == "wasteful" {
		rate *= rate
		want *= 2
	}
	if v.fault == "breaks-promise" {
		rate = min(1, rate*1.1)
	}
	return rate, uint64(math.Ceil(want)), nil
}

// rate is that after n of N keys: it grows in proportion up to twice the promise.
func rateAt(rate float64, n, N uint64) float64 {
	return rate * min(1, float64(n)/float64(N))
}

func (v ideal) Predict(t filters.Target, n uint64) (theory.Prediction, error) {
	rate, bits, err := v.bits(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	f := idealFilter{v: v, t: t, rate: rate, bits: bits}
	p, err := f.Predict(n)
	if v.fault == "variant-predicts-other-size" {
		p.Bits += 64
	}
	return p, err
}

func (v ideal) New(t filters.Target) (filters.Filter, error) {
	if v.fault == "allocates-first" {
		sink = make([]byte, min(t.N, 4<<20))
	}
	if v.fault == "panics-on-zero" && t.N == 0 {
		panic("integer divide by zero")
	}
	rate, bits, err := v.bits(t)
	if err != nil {
		if v.fault == "typed-nil" {
			return (*idealFilter)(nil), err
		}
		return nil, err
	}
	room := int(min(4*t.N, 1<<20))
	return &idealFilter{v: v, t: t, rate: rate, bits: bits, set: make(map[uint64]uint64, room), room: room}, nil
}

var sink any

func (v ideal) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	if v.fault == "build-sorts-argument" {
		slices.Sort(hs)
	}
	return filters.BuildByAdding(v, t, hs)
}

// idealFilter counts the copies of each hash.
type idealFilter struct {
	v      ideal
	t      filters.Target
	rate   float64
	bits   uint64
	set    map[uint64]uint64
	stored int
	room   int // copies taken before ErrFull
}

var (
	_ filters.BatchAdder   = (*idealFilter)(nil)
	_ filters.BulkAdder    = (*idealFilter)(nil)
	_ filters.BatchQuerier = (*idealFilter)(nil)
	_ filters.TestAdder    = (*idealFilter)(nil)
	_ filters.Deleter      = (*idealFilter)(nil)
	_ filters.Counter      = (*idealFilter)(nil)
	_ filters.Merger       = (*idealFilter)(nil)
	_ filters.Resetter     = (*idealFilter)(nil)
	_ filters.FillReporter = (*idealFilter)(nil)
	_ filters.Estimator    = (*idealFilter)(nil)
	_ filters.Predictor    = (*idealFilter)(nil)
	_ filters.Maker        = ideal{}
)

func (f *idealFilter) is(x fault) bool { return f.v.fault == x }

func (f *idealFilter) Contains(h uint64) bool {
	if f.is("contains-allocates") {
		sink = new(int)
	}
	if f.is("loses-a-key") && h%512 == 0 {
		return false
	}
	if f.is("loses-zero") && h == 0 {
		return false
	}
	if f.set[h] > 0 {
		return true
	}
	rate := rateAt(f.rate, uint64(len(f.set)), f.t.N)
	switch f.v.fault {
	case "rate-too-high":
		rate *= 1.15
	case "rate-too-low":
		rate *= 0.85
	case "empty-says-yes":
		rate = max(rate, 0.01)
	case "overfill-too-high":
		if uint64(len(f.set)) > f.t.N {
			rate *= 1.3
		}
	}
	// A fixed hash of the hash decides, so that answers repeat; whether one is a
	// false positive depends on nothing but the number of keys.
	return float64(mix(h^0x1dea1)>>11)*0x1p-53 < rate
}

func (f *idealFilter) SizeBits() uint64 {
	if f.is("size-rounded-up") {
		return (f.bits + 63) / 64 * 64
	}
	return f.bits
}

func (f *idealFilter) Add(h uint64) error {
	if f.stored == f.room {
		switch f.v.fault {
		case "refused-add-evicts":
			for victim := range f.set {
				delete(f.set, victim)
				break
			}
		case "refused-add-stores":
			f.set[h]++
		case "refused-add-frees":
			f.stored--
		case "full-is-untyped":
			return fmt.Errorf("no room")
		}
		return filters.ErrFull
	}
	if f.is("full-too-early") && f.stored == int(f.t.N)-1 && f.t.N > 1 {
		return filters.ErrFull
	}
	if f.is("add-allocates") {
		sink = new(int)
	}
	f.set[h]++
	f.stored++
	return nil
}

func (f *idealFilter) AddMany(hs []uint64) (int, error) {
	for i, h := range hs {
		if err := f.Add(h); err != nil {
			if f.is("batch-add-counts-wrong") {
				i++
			}
			return i, err
		}
	}
	if f.is("batch-add-drops-tail") && len(hs)%64 == 63 {
		delete(f.set, hs[len(hs)-1])
	}
	return len(hs), nil
}

func (f *idealFilter) AddBulk(hs []uint64, workers int) (int, error) {
	n, err := f.AddMany(hs)
	if f.is("bulk-add-loses-one") && workers > 1 && n > 0 {
		delete(f.set, hs[n/2])
	}
	return n, err
}

func (f *idealFilter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	if !f.is("short-dst-tolerated") {
		dst = dst[:len(hs):len(dst)]
	}
	for i, h := range hs[:min(len(hs), len(dst))] {
		dst[i] = f.Contains(h)
		if f.is("batch-differs") && i == 256 {
			dst[i] = true
		}
		if dst[i] {
			hits++
		}
	}
	switch {
	case f.is("batch-miscounts") && len(hs) > 64:
		hits++
	case f.is("batch-writes-past-end") && cap(dst) > len(hs):
		past := dst[:len(hs)+1]
		past[len(hs)] = !past[len(hs)]
	case f.is("batch-sorts"):
		slices.Sort(hs)
	}
	return hits
}

func (f *idealFilter) TestAndAdd(h uint64) (bool, error) {
	present := f.Contains(h)
	if f.is("test-and-add-says-after") {
		present = true
	}
	if f.is("test-and-add-forgets") && present {
		return present, nil
	}
	if f.is("test-and-add-stores-nothing") {
		return present, nil
	}
	return present, f.Add(h)
}

func (f *idealFilter) Delete(h uint64) bool {
	n := f.set[h]
	switch {
	case n == 0:
		return f.is("deletes-absent")
	case n == 1 || f.is("delete-takes-all-copies"):
		delete(f.set, h)
	default:
		f.set[h]--
	}
	f.stored--
	return !f.is("delete-denies")
}

func (f *idealFilter) Count(h uint64) (uint64, bool) {
	n := f.set[h]
	switch {
	case f.is("count-too-low") && n > 1:
		n--
	case f.is("count-too-high"):
		n++
	}
	return n, false
}

func (f *idealFilter) Merge(other filters.Filter) error {
	o, ok := other.(*idealFilter)
	switch {
	case f.is("merge-takes-anything") && ok:
	case f.is("merge-untyped-error") && (!ok || o.bits != f.bits):
		return fmt.Errorf("no")
	case f.is("merge-panics"):
		o = other.(*idealFilter)
	case !ok:
		return filters.Differ("type", "*idealFilter", fmt.Sprintf("%T", other))
	case o.bits != f.bits:
		if f.is("refused-merge-changes") {
			f.set[1]++
		}
		return filters.Differ("bits", f.bits, o.bits)
	}
	if f.is("merge-forgets") {
		return nil
	}
	if f.is("merge-drains-argument") {
		defer clear(o.set)
	}
	for h, n := range o.set {
		f.set[h] += n
	}
	f.stored += o.stored
	f.room = max(f.room, f.stored)
	return nil
}

func (f *idealFilter) Reset() {
	if f.is("reset-keeps-count") {
		clear(f.set)
		return
	}
	if f.is("reset-keeps-a-key") {
		for h := range f.set {
			if h%2 == 0 {
				delete(f.set, h)
			}
		}
		f.stored = len(f.set)
		return
	}
	clear(f.set)
	f.stored = 0
}

func (f *idealFilter) FillRatio() float64 {
	fill := min(1, float64(len(f.set))/float64(8*f.t.N))
	if f.is("fill-too-high") {
		fill *= 1.01
	}
	return fill
}

func (f *idealFilter) EstimatedFPR() float64 {
	rate := rateAt(f.rate, uint64(len(f.set)), f.t.N)
	if f.is("estimates-low-rate") {
		rate *= 0.85
	}
	if f.is("estimates-high-rate") {
		rate *= 1.15
	}
	return rate
}

func (f *idealFilter) EstimatedN() float64 {
	n := float64(len(f.set))
	if f.is("estimates-few") {
		n *= 0.99
	}
	if f.is("estimates-many") {
		n *= 1.01
	}
	return n
}

func (f *idealFilter) Predict(n uint64) (theory.Prediction, error) {
	return theory.Prediction{
		Inserted: n,
		FPR:      rateAt(f.rate, n, f.t.N),
		Fill:     min(1, float64(n)/float64(8*f.t.N)),
		Bits:     f.bits,
		Capacity: f.t.N,
	}, nil
}
