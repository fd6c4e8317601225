package scalable

import (
	"fmt"

	"filterlab/filters"
	"filterlab/filters/standard"
	"filterlab/filters/theory"
)

// Filter is a scalable Bloom filter. Make one with [New] or [Variant.New].
// Lookups may run concurrently; a write needs the filter for itself.
type Filter struct {
	config Config
	stages []table // oldest first; after a Reset there are more than open
	open   int     // stages in use, at least 1
}

// table is a stage with its bits.
type table struct {
	stage
	bits    *standard.Filter
	counted uint64 // keys that set a bit, at most capacity
}

var (
	_ filters.Filter       = (*Filter)(nil)
	_ filters.BatchAdder   = (*Filter)(nil)
	_ filters.BatchQuerier = (*Filter)(nil)
	_ filters.TestAdder    = (*Filter)(nil)
	_ filters.Resetter     = (*Filter)(nil)
	_ filters.FillReporter = (*Filter)(nil)
	_ filters.Estimator    = (*Filter)(nil)
	_ filters.Predictor    = (*Filter)(nil)
)

// New makes an empty filter with its first stage. It refuses a Config out of range
// and a first stage that P leaves no room for.
func New(c Config) (*Filter, error) {
	c, err := c.normal()
	if err != nil {
		return nil, err
	}
	s, err := c.first()
	if err != nil {
		return nil, err
	}
	bits, err := standard.New(s.geometry)
	if err != nil {
		return nil, fmt.Errorf("scalable: stage 0: %w", err)
	}
	return &Filter{config: c, stages: []table{{stage: s, bits: bits}}, open: 1}, nil
}

// Config is the geometry the filter was made with, defaults filled in.
func (f *Filter) Config() Config { return f.config }

// Stages is the number of stages open.
func (f *Filter) Stages() int { return f.open }

// SizeBits is the sum of the bits of all stages open.
func (f *Filter) SizeBits() uint64 {
	sum := uint64(0)
	for i := range f.stages[:f.open] {
		sum += f.stages[i].geometry.Bits
	}
	return sum
}

// Contains reports whether h may have been stored. It asks the newest stage
// first, which holds the most keys.
func (f *Filter) Contains(h uint64) bool {
	for i := f.open - 1; i >= 0; i-- {
		if s := &f.stages[i]; s.bits.Contains(h * s.multiplier) {
			return true
		}
	}
	return false
}

// Add stores h in the newest stage, after opening one if that stage is full and
// does not hold h. Older stages are not asked. An error wraps filters.ErrFull: no
// further stage could be opened, since its rate is below what 64-bit hashes can
// keep, or its table beyond filters.MaxBits or the memory limit. Nothing has
// changed then.
func (f *Filter) Add(h uint64) error {
	s := &f.stages[f.open-1]
	if s.counted == s.capacity {
		if s.bits.Contains(h * s.multiplier) {
			return nil
		}
		if err := f.grow(); err != nil {
			return err
		}
		s = &f.stages[f.open-1]
	}
	if present, _ := s.bits.TestAndAdd(h * s.multiplier); !present {
		s.counted++
	}
	return nil
}

// grow opens the next stage: the one a Reset left behind, or a new one.
func (f *Filter) grow() error {
	if f.open == len(f.stages) {
		next, err := f.config.after(f.stages[f.open-1].stage)
		if err != nil {
			return full(err)
		}
		if sum := f.SizeBits() + next.geometry.Bits; sum > filters.MaxBits {
			return full(tooLarge(f.counted()+1, sum))
		}
		bits, err := standard.New(next.geometry)
		if err != nil {
			return full(fmt.Errorf("scalable: stage %d for %d keys: %w", next.number, next.capacity, err))
		}
		f.stages = append(f.stages, table{stage: next, bits: bits})
	}
	f.open++
	return nil
}

func full(why error) error { return fmt.Errorf("%w: %w", filters.ErrFull, why) }

// counted is the number of keys that set a bit, over all stages.
func (f *Filter) counted() uint64 {
	sum := uint64(0)
	for i := range f.stages[:f.open] {
		sum += f.stages[i].counted
	}
	return sum
}

// TestAndAdd reports whether any stage answers true for h and stores h only if
// none does, so a present key takes no room. The error is that of Add.
func (f *Filter) TestAndAdd(h uint64) (present bool, err error) {
	if f.Contains(h) {
		return true, nil
	}
	return false, f.Add(h)
}

// chunk is how many hashes the batch methods hold on their stack. It is that of
// the standard filter's own batch, so no stage sees a shorter one.
const chunk = 128

// AddMany stores hs in order; see Add.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	var scaled [chunk]uint64
	for n < len(hs) {
		s := &f.stages[f.open-1]
		// At most room hashes count, so the stage cannot overrun within them.
		room := min(chunk, uint64(len(hs)-n), s.capacity-s.counted)
		if room == 0 {
			if err := f.Add(hs[n]); err != nil {
				return n, err
			}
			n++
			continue
		}
		for i, h := range hs[n : n+int(room)] {
			scaled[i] = h * s.multiplier
		}
		s.counted += uint64(s.bits.AddManyCount(scaled[:room]))
		n += int(room)
	}
	return n, nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true. dst
// must be at least as long as hs. Each stage is asked for the hashes that no
// newer one answered for.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	const mask = chunk - 1
	var (
		left   [chunk]uint64 // hashes still in question
		from   [chunk]uint8  // which they are
		scaled [chunk]uint64
		found  [chunk]bool
	)
	for len(hs) > 0 {
		n := min(chunk, len(hs))
		for i, h := range hs[:n] {
			left[i&mask], from[i&mask] = h, uint8(i)
		}
		out := dst[:n]
		clear(out)
		alive := n
		for i := f.open - 1; i >= 0 && alive > 0; i-- {
			s := &f.stages[i]
			for j, h := range left[:alive] {
				scaled[j] = h * s.multiplier
			}
			if s.bits.ContainsMany(found[:], scaled[:alive]) == 0 {
				continue
			}
			kept := 0
			for j := range alive {
				h, key := left[j&mask], from[j&mask]
				out[key] = found[j&mask]
				left[kept&mask], from[kept&mask] = h, key
				if !found[j&mask] {
					kept++
				}
			}
			alive = kept
		}
		hits += n - alive
		hs, dst = hs[n:], dst[n:]
	}
	return hits
}

// Reset closes all stages but the first and empties it. The tables of the others
// are kept for when they open again.
func (f *Filter) Reset() {
	for i := range f.stages[:f.open] {
		f.stages[i].bits.Reset()
		f.stages[i].counted = 0
	}
	f.open = 1
}

// FillRatio is the share of set bits over all stages open. It counts them, one
// pass over the tables.
func (f *Filter) FillRatio() float64 {
	set, bits := 0.0, 0.0
	for i := range f.stages[:f.open] {
		m := float64(f.stages[i].geometry.Bits)
		set += f.stages[i].bits.FillRatio() * m
		bits += m
	}
	return set / bits
}

// EstimatedFPR is the rate of this very filter for hashes it does not hold: the
// chance that any stage answers true, 1 - prod(1 - fill_i^k_i). It costs one
// pass over the tables.
func (f *Filter) EstimatedFPR() float64 {
	var rates [64]float64
	open := rates[:0]
	for i := range f.stages[:f.open] {
		open = append(open, f.stages[i].bits.EstimatedFPR())
	}
	return theory.ScalableCompound(open...)
}

// EstimatedN is the number of distinct hashes that the fill of each stage speaks
// for, summed. A hash given to Add again after its stage was full counts twice.
func (f *Filter) EstimatedN() float64 {
	n := 0.0
	for i := range f.stages[:f.open] {
		n += f.stages[i].bits.EstimatedN()
	}
	return n
}

// Predict is what theory expects of this filter's Config after inserted distinct
// hashes, each given to Add.
func (f *Filter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.config.Predict(inserted)
}
