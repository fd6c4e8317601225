package blocked

import (
	"fmt"
	"sync/atomic"

	"filterlab/filters"
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
	"filterlab/filters/theory"
)

// ConcurrentFilter is a [Filter] that any number of goroutines may add to and
// query at once, without a lock: bits are only ever set, those of a word by one
// atomic OR. No key is lost, and a key whose Add has returned is found by every
// goroutine that learns of it. Make one with [Filter.Concurrent] or with
// Variant{Atomic: true}.
//
// The bits are those that a Filter would hold after the same keys in any order.
// The bits of a key are gathered in a block of its own first, for every layout,
// and looked up or set from there. That costs a lookup about what it takes, and an
// Add some nanoseconds, against vectors and plain stores; nothing else would let a
// key's bits within a word arrive together.
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

// Config returns the geometry, defaults filled in.
func (f *ConcurrentFilter) Config() Config { return f.plain.config }

// SizeBits is blocks times block bits.
func (f *ConcurrentFilter) SizeBits() uint64 { return f.plain.SizeBits() }

// K is the number of bits set for a key.
func (f *ConcurrentFilter) K() int { return f.plain.k }

// Kernel is "go+prefetch" where batches have blocks fetched ahead, else "go": no
// vector instruction is atomic.
func (f *ConcurrentFilter) Kernel() string {
	if prefetch.Enabled && len(f.plain.words) >= large {
		return "go+prefetch"
	}
	return "go"
}

// bits returns the block of h, and in own, as long as that, the bits of h alone.
// own must be clear, and hold a block.
func (f *ConcurrentFilter) bits(h uint64, own []uint64) (block, bits []uint64) {
	p := f.plain
	switch p.kernel {
	case patterned:
		setPatterns((*line)(own), h)
		return p.line(h)[:], own[:len(line{})]
	case independent512:
		set512((*line)(own), mix(h), p.k)
		return p.line(h)[:], own[:len(line{})]
	case split:
		setSplit((*quad)(own), h)
		return p.quad(h)[:], own[:len(quad{})]
	}
	block = p.block(h)
	bits = own[:len(block)]
	if p.kernel == independent {
		setAny(bits, mix(h), p.k)
	} else {
		pattern(bits, mix(h), p.k)
	}
	return block, bits
}

// Contains reports whether h may have been added.
func (f *ConcurrentFilter) Contains(h uint64) bool {
	if f.plain.mask < DefaultBlockBits {
		var own line // takes less to clear
		return hasAtomic(f.bits(h, own[:]))
	}
	var own [MaxBlockBits / 64]uint64
	return hasAtomic(f.bits(h, own[:]))
}

// hasAtomic reports whether all bits are set in block.
func hasAtomic(block, bits []uint64) bool {
	bits = bits[:len(block)]
	miss := uint64(0)
	for i := range block {
		miss |= bits[i] &^ atomic.LoadUint64(&block[i])
	}
	return miss == 0
}

// Add stores h. It never fails. A key that is found is only read, so that keys
// stored again do not take cache lines from other cores.
func (f *ConcurrentFilter) Add(h uint64) error {
	if f.plain.mask < DefaultBlockBits {
		var own line
		addAtomic(f.bits(h, own[:]))
		return nil
	}
	var own [MaxBlockBits / 64]uint64
	addAtomic(f.bits(h, own[:]))
	return nil
}

// addAtomic sets the bits in block. That costs half of setAtomic, whose OR returns
// what was there and is a loop of compare-and-swap.
func addAtomic(block, bits []uint64) {
	if !hasAtomic(block, bits) {
		packed.OrAtomic(block, bits)
	}
}

// TestAndAdd stores h and reports whether all its bits were set before it came to
// their words; alone, that is what Contains answered just before. It never fails.
//
// When several goroutines store one new key at the same moment, at least one of
// them is told that it was absent. More than one may be told so, when one comes
// first to one word and the other to the next. With blocks of 64 bits a key lies
// in one word, and exactly one of them is told: blocked(64,adds=atomic) lets each
// key through once (but for false positives). A key whose Add has returned is
// never reported absent again.
func (f *ConcurrentFilter) TestAndAdd(h uint64) (present bool, err error) { return f.testAdd(h), nil }

func (f *ConcurrentFilter) testAdd(h uint64) (present bool) {
	if f.plain.mask < DefaultBlockBits {
		var own line
		return setAtomic(f.bits(h, own[:]))
	}
	var own [MaxBlockBits / 64]uint64
	return setAtomic(f.bits(h, own[:]))
}

// setAtomic sets the bits in block and reports whether all were set before.
func setAtomic(block, bits []uint64) (present bool) {
	bits = bits[:len(block)]
	present = true
	for i := range block {
		present = packed.SetAtomic(&block[i], bits[i]) && present
	}
	return present
}

// chunks calls do with the hashes in turn, a part at a time, and in large tables
// has the blocks of the next part fetched meanwhile.
func (f *ConcurrentFilter) chunks(hs []uint64, do func(from, to int)) {
	fetch := prefetch.Enabled && len(f.plain.words) >= large // elsewhere it would be a plain read
	for from := 0; from < len(hs); from += chunk {
		to := min(from+chunk, len(hs))
		if fetch {
			if from == 0 {
				f.plain.fetch(hs)
			}
			f.plain.fetch(hs[to:])
		}
		do(from, to)
	}
}

// AddMany stores all of hs; it never fails. Other goroutines may find some of
// them before it returns.
func (f *ConcurrentFilter) AddMany(hs []uint64) (n int, err error) {
	f.chunks(hs, func(from, to int) {
		for _, h := range hs[from:to] {
			_ = f.Add(h) // never fails
		}
	})
	return len(hs), nil
}

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true. dst
// must be at least as long as hs.
func (f *ConcurrentFilter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	f.chunks(hs, func(from, to int) {
		for i := from; i < to; i++ {
			in := f.Contains(hs[i])
			dst[i] = in
			hits += one(in)
		}
	})
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

// FillRatio is the share of bits set. It costs one pass over the table.
func (f *ConcurrentFilter) FillRatio() float64 {
	return float64(packed.OnesCountAtomic(f.plain.words)) / float64(f.plain.SizeBits())
}

// Predict is the expectation for this geometry after inserted distinct hashes.
func (f *ConcurrentFilter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.plain.Predict(inserted)
}
