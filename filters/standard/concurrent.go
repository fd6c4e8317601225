package standard

import (
	"fmt"
	"sync/atomic"

	"filterlab/filters"
	"filterlab/filters/internal/index"
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
	"filterlab/filters/theory"
)

// ConcurrentFilter is a [Filter] that any number of goroutines may add to and
// query at once, without a lock: bits are only ever set, each by one atomic OR of
// its word. No key is lost, and a key whose Add has returned is found by every
// goroutine that learns of it. Make one with [Filter.Concurrent] or with
// Variant{Atomic: true}.
//
// The bits are those that a Filter would hold after the same keys in any order.
// An Add takes four to five times as long as that of a Filter when the table is in
// the cache, since an atomic OR waits for the ones before it; a lookup is as fast,
// one by one.
//
// There is no Reset: an empty table in the middle of somebody's Add would lose the
// key. Make a new filter and swap an atomic pointer to it.
type ConcurrentFilter struct{ plain *Filter }

var (
	_ filters.Concurrent   = (*ConcurrentFilter)(nil)
	_ filters.BatchAdder   = (*ConcurrentFilter)(nil)
	_ filters.BatchQuerier = (*ConcurrentFilter)(nil)
	_ filters.TestAdder    = (*ConcurrentFilter)(nil)
	_ filters.Merger       = (*ConcurrentFilter)(nil)
	_ filters.FillReporter = (*ConcurrentFilter)(nil)
	_ filters.Predictor    = (*ConcurrentFilter)(nil)
	_ filters.Kerneler     = (*ConcurrentFilter)(nil)
)

// Concurrent is a view of f for goroutines that add at once. It shares the table:
// use f itself only before they start and after they are done.
func (f *Filter) Concurrent() *ConcurrentFilter { return &ConcurrentFilter{f} }

// Plain is the filter that f is a view of, over the same table: for batches of
// lookups at full speed, estimates and saving, once nobody adds any more.
func (f *ConcurrentFilter) Plain() *Filter { return f.plain }

// SafeForConcurrentAdds marks the type.
func (f *ConcurrentFilter) SafeForConcurrentAdds() {}

// Config is the geometry the filter was made with.
func (f *ConcurrentFilter) Config() Config { return f.plain.config }

// SizeBits is m, the bits of the table.
func (f *ConcurrentFilter) SizeBits() uint64 { return f.plain.config.Bits }

// K is the number of probes a key.
func (f *ConcurrentFilter) K() int { return f.plain.k }

// Kernel is "go+prefetch" where AddMany has lines fetched ahead, as in a Filter.
func (f *ConcurrentFilter) Kernel() string { return f.plain.AddKernel() }

// Contains reports whether h may have been stored.
func (f *ConcurrentFilter) Contains(h uint64) bool {
	p := f.plain
	if p.config.Scheme == Independent {
		return hasAtomic(p.words, h, p.span, p.stride, p.k)
	}
	var buf [MaxK]uint64
	for _, at := range p.config.AppendProbes(buf[:0], h) {
		if atomic.LoadUint64(&p.words[at>>6])>>(at&63)&1 == 0 {
			return false
		}
	}
	return true
}

// hasAtomic is hasMul over a table that others write to.
func hasAtomic(words []uint64, h, span, stride uint64, k int) bool {
	base := uint64(0)
	for ; k > 1; k -= 2 {
		p := index.FastRange(h, span) + base
		h *= index.Multiplier
		base += stride
		q := index.FastRange(h, span) + base
		h *= index.Multiplier
		base += stride
		if atomic.LoadUint64(&words[p>>6])>>(p&63)&(atomic.LoadUint64(&words[q>>6])>>(q&63))&1 == 0 {
			return false
		}
	}
	if k == 0 {
		return true
	}
	p := index.FastRange(h, span) + base
	return atomic.LoadUint64(&words[p>>6])>>(p&63)&1 != 0
}

// Add stores h. It never fails. A key that is found is only read, so that keys
// stored again do not take cache lines from other cores. No bit is looked at before
// it is set: the branch would be mispredicted every second time (54 against 46 ns
// at k = 7, in cache), and an OR that returns what was there, as TestAndAdd needs,
// is a loop of compare-and-swap (97 ns).
func (f *ConcurrentFilter) Add(h uint64) error {
	if f.Contains(h) {
		return nil
	}
	p := f.plain
	if p.config.Scheme == Independent {
		base := uint64(0)
		for range p.k {
			at := index.FastRange(h, p.span) + base
			atomic.OrUint64(&p.words[at>>6], 1<<(at&63))
			h *= index.Multiplier
			base += p.stride
		}
		return nil
	}
	var buf [MaxK]uint64
	for _, at := range p.config.AppendProbes(buf[:0], h) {
		atomic.OrUint64(&p.words[at>>6], 1<<(at&63))
	}
	return nil
}

// TestAndAdd stores h and reports whether all its bits were set before it came to
// them; alone, that is what Contains answered just before. It never fails.
//
// When several goroutines store one new key at the same moment, at least one of
// them is told that it was absent: each bit is set by exactly one, who sees it
// clear. More than one may be told so, when one comes first to one bit and the
// other to the next. To let exactly one through, for every key, needs a lock for
// the key, or a blocked filter whose keys lie in one word. A key whose Add has
// returned is never reported absent again.
func (f *ConcurrentFilter) TestAndAdd(h uint64) (present bool, err error) { return f.testAdd(h), nil }

func (f *ConcurrentFilter) testAdd(h uint64) (present bool) {
	p := f.plain
	present = true
	if p.config.Scheme == Independent {
		base := uint64(0)
		for range p.k {
			at := index.FastRange(h, p.span) + base
			present = packed.SetAtomic(&p.words[at>>6], 1<<(at&63)) && present
			h *= index.Multiplier
			base += p.stride
		}
		return present
	}
	var buf [MaxK]uint64
	for _, at := range p.config.AppendProbes(buf[:0], h) {
		present = packed.SetAtomic(&p.words[at>>6], 1<<(at&63)) && present
	}
	return present
}

// AddMany stores all of hs; it never fails. Other goroutines may find some of
// them before it returns. An atomic OR waits for its line, and the next one for
// it, so that misses do not overlap by themselves; in large tables lines are
// therefore fetched ahead.
func (f *ConcurrentFilter) AddMany(hs []uint64) (n int, err error) {
	p := f.plain
	if !p.ahead || !prefetch.Enabled { // without the instruction, looking ahead would be a plain read
		for _, h := range hs {
			_ = f.Add(h) // never fails
		}
		return len(hs), nil
	}
	some := lines / p.k
	for rest := hs; len(rest) > 0; {
		part := rest[:min(some, len(rest))]
		rest = rest[len(part):]
		fetchKeys(p.words, part, p.span, p.stride, p.k)
		for _, h := range part {
			_ = f.Add(h)
		}
	}
	return len(hs), nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true. dst
// must be at least as long as hs.
func (f *ConcurrentFilter) ContainsMany(dst []bool, hs []uint64) (hits int) {
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

// Merge adds all that other holds, a *ConcurrentFilter or a *Filter of the same
// geometry that nobody writes to meanwhile. Others may add to the receiver.
func (f *ConcurrentFilter) Merge(other filters.Filter) error {
	var o *Filter
	switch other := other.(type) {
	case *ConcurrentFilter:
		o = other.plain
	case *Filter:
		o = other
	default:
		return filters.Differ("type", fmt.Sprintf("%T", f), fmt.Sprintf("%T", other))
	}
	if err := f.plain.config.compatible(o.config); err != nil {
		return err
	}
	packed.OrAtomic(f.plain.words, o.words)
	return nil
}

// FillRatio is the share of set bits. It counts them, one pass over the table.
func (f *ConcurrentFilter) FillRatio() float64 {
	return float64(packed.OnesCountAtomic(f.plain.words)) / float64(f.plain.config.Bits)
}

// Predict is what theory expects of this geometry after inserted distinct hashes.
func (f *ConcurrentFilter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.plain.Predict(inserted)
}
