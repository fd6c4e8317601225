package sharded

import (
	"math/bits"
	"sync"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// Filter is S filters behind S locks. All its methods may be called from any
// number of goroutines at once. Make one with [Variant.New].
type Filter struct {
	shards []shard
	empty  uint64 // mask of the low bits that are zero in every rest
	plan   plan
}

// shard is a filter and its lock. The padding keeps locks of neighbours on
// different cache lines, and on different pairs of them, which processors fetch
// together: goroutines in different shards do not take lines from each other.
type shard struct {
	mu sync.RWMutex
	filters.Filter
	_ [88]byte
}

var (
	_ filters.Concurrent   = (*Filter)(nil)
	_ filters.BatchAdder   = (*Filter)(nil)
	_ filters.BatchQuerier = (*Filter)(nil)
	_ filters.TestAdder    = (*Filter)(nil)
	_ filters.Predictor    = (*Filter)(nil)
	_ filters.Concurrent   = (*DeletingFilter)(nil)
	_ filters.Deleter      = (*DeletingFilter)(nil)
	_ filters.Counter      = (*DeletingFilter)(nil)
)

// SafeForConcurrentAdds marks the type.
func (f *Filter) SafeForConcurrentAdds() {}

// at is the shard of h and the hash that its filter gets.
func (f *Filter) at(h uint64) (s *shard, rest uint64) {
	i, rest := bits.Mul64(h, uint64(len(f.shards)))
	return &f.shards[i], rest | rest>>32&f.empty
}

// Contains reports whether h may have been stored. Lookups in one shard do not
// wait for each other, but they write to its lock: where many cores ask and nobody
// adds, ask an unsharded filter.
func (f *Filter) Contains(h uint64) bool {
	s, rest := f.at(h)
	s.mu.RLock()
	in := s.Filter.Contains(rest)
	s.mu.RUnlock()
	return in
}

// Add stores h. It is refused with filters.ErrFull when the shard of h is full,
// which changes nothing.
func (f *Filter) Add(h uint64) error {
	s, rest := f.at(h)
	s.mu.Lock()
	err := s.Filter.Add(rest)
	s.mu.Unlock()
	return err
}

// TestAndAdd stores h and reports what Contains(h) answered just before. The lock
// is held over both: of several goroutines that store one new key at the same
// moment, exactly one is told that it was absent.
func (f *Filter) TestAndAdd(h uint64) (present bool, err error) {
	s, rest := f.at(h)
	s.mu.Lock()
	if t, ok := s.Filter.(filters.TestAdder); ok {
		present, err = t.TestAndAdd(rest)
	} else {
		present = s.Filter.Contains(rest)
		err = s.Filter.Add(rest)
	}
	s.mu.Unlock()
	return present, err
}

// AddMany stores hs in order, each under the lock of its shard, and stops at the
// first that is refused. To gather the keys of a shard first, and store them under
// one lock, would break that order.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	for i, h := range hs {
		if err := f.Add(h); err != nil {
			return i, err
		}
	}
	return len(hs), nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true. dst
// must be at least as long as hs.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	for i, h := range hs {
		in := f.Contains(h)
		dst[i] = in
		if in {
			hits++
		}
	}
	return hits
}

// SizeBits is the sum over the shards.
func (f *Filter) SizeBits() uint64 {
	sum := uint64(0)
	for i := range f.shards {
		s := &f.shards[i]
		s.mu.RLock()
		sum += s.Filter.SizeBits()
		s.mu.RUnlock()
	}
	return sum
}

// Each calls do for one shard after another, with the lock of that shard held. It
// reaches what the family offers beyond this type, such as its estimates; the
// shards are not seen at one moment. do must not call methods of f.
func (f *Filter) Each(do func(shard int, inner filters.Filter)) {
	for i := range f.shards {
		func() {
			f.shards[i].mu.Lock()
			defer f.shards[i].mu.Unlock() // do may panic
			do(i, f.shards[i].Filter)
		}()
	}
}

// Predict is what theory expects after inserted distinct hashes; see
// [Variant.Predict].
func (f *Filter) Predict(inserted uint64) (theory.Prediction, error) { return f.plan.predict(inserted) }

// DeletingFilter is a Filter whose shards can delete and count. It is a type of its
// own so that a type assertion tells the truth: a *Filter is no filters.Deleter.
type DeletingFilter struct{ Filter }

// Delete removes one stored copy of h; see filters.Deleter.
func (f *DeletingFilter) Delete(h uint64) bool {
	s, rest := f.at(h)
	s.mu.Lock()
	ok := s.Filter.(filters.Deleter).Delete(rest)
	s.mu.Unlock()
	return ok
}

// Count returns an upper bound on the number of stored copies of h; see
// filters.Counter.
func (f *DeletingFilter) Count(h uint64) (n uint64, saturated bool) {
	s, rest := f.at(h)
	s.mu.RLock()
	n, saturated = s.Filter.(filters.Counter).Count(rest)
	s.mu.RUnlock()
	return n, saturated
}
