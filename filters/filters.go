package filters

import "filterlab/filters/theory"

// Querier is what every filter offers once it is built, static and mapped ones
// included. Its methods are safe for concurrent use as long as nobody writes.
type Querier interface {
	// Contains reports whether h may have been stored. It never answers false
	// for a hash stored more often than deleted, provided that only stored
	// hashes were deleted.
	Contains(h uint64) bool

	// SizeBits is the size in bits of every table needed to answer, and nothing
	// else: the geometry (m bits, counters x width, slots x fingerprint), without
	// the padding that rounds a table up to whole machine words.
	SizeBits() uint64
}

// Filter is a dynamic filter: one that grows key by key.
type Filter interface {
	Querier

	// Add stores h. An error that wraps ErrFull leaves the filter exactly as it
	// was, and no other error occurs. Families that cannot fill up never fail.
	Add(h uint64) error
}

// BatchAdder stores many hashes in one call, so that their cache misses overlap.
type BatchAdder interface {
	// AddMany stores hs in order and stops at the first that does not fit:
	// hs[:n] are stored, hs[n:] are not. The filter ends up as after n calls of
	// Add; hs is neither kept nor changed.
	AddMany(hs []uint64) (n int, err error)
}

// BulkAdder builds from a large set of hashes that are all there.
type BulkAdder interface {
	// AddBulk stores hs with so many workers, goroutines that run at once, and
	// returns when all are in; one worker sorts by region of the table where that
	// pays. The filter ends up byte for byte as after AddMany. It stops at the first
	// hash that does not fit, like AddMany. Nobody else may use the filter meanwhile.
	AddBulk(hs []uint64, workers int) (n int, err error)
}

// BatchQuerier looks up many hashes in one call, so that their cache misses
// overlap.
type BatchQuerier interface {
	// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
	// dst must be at least as long as hs: a shorter one is misuse and panics,
	// like a bad index. Entries of dst beyond len(hs) are left alone.
	ContainsMany(dst []bool, hs []uint64) (hits int)
}

// TestAdder looks a hash up and stores it in one pass.
type TestAdder interface {
	// TestAndAdd stores h as Add does and reports what Contains(h) answered just
	// before. On an error nothing was stored.
	TestAndAdd(h uint64) (present bool, err error)
}

// BatchTestAdder does what a TestAdder does for many hashes in one call, so that their
// cache misses overlap. Families that never refuse a hash offer it.
type BatchTestAdder interface {
	// AddManyCount stores all of hs in order and returns for how many of them
	// Contains answered false just before. hs is neither kept nor changed.
	AddManyCount(hs []uint64) (fresh int)
}

// Deleter removes hashes that were stored before.
type Deleter interface {
	// Delete removes one stored copy of h. It answers false, and changes
	// nothing, when h is certainly absent. Deleting a hash that was never stored
	// but passes the test (a false positive) removes parts of other keys, and
	// those may be lost: delete only what was added.
	Delete(h uint64) bool
}

// Counter says how often a hash may have been stored.
type Counter interface {
	// Count returns an upper bound on the number of stored copies of h ("at most
	// n"). When saturated is true the counters had reached their ceiling and the
	// meaning turns round: "at least n may be stored".
	Count(h uint64) (n uint64, saturated bool)
}

// Merger takes in the keys of another filter of the same geometry.
type Merger interface {
	// Merge adds all that other holds. A filter of another kind or geometry is
	// refused with an error that wraps ErrIncompatible, names the field and both
	// values, and leaves the receiver unchanged. A filter does not know which
	// hash function its keys went through: compare that too (Keyed holds it).
	Merge(other Filter) error
}

// Resetter empties a filter and keeps its memory.
type Resetter interface {
	// Reset brings the filter back to the state of a new one.
	Reset()
}

// FillReporter tells how full a filter is.
type FillReporter interface {
	// FillRatio is the share of the table in use, from 0 to 1: bits set, counters
	// above zero, or slots taken. It costs one pass over the table where no count
	// is kept.
	FillRatio() float64
}

// Estimator judges a filter by its content rather than by what was promised.
type Estimator interface {
	// EstimatedFPR is the rate at which this very filter answers true for hashes
	// it does not hold, computed from its present fill.
	EstimatedFPR() float64

	// EstimatedN is the number of distinct hashes that the present fill speaks
	// for: an estimate, +Inf when the table is so full that nothing can be said.
	// Families that keep an exact count return it.
	EstimatedN() float64
}

// Predictor tells what theory expects of a built filter.
type Predictor interface {
	// Predict returns the expectation for this geometry after inserted distinct
	// hashes. It is Variant.Predict without the sizing.
	Predict(inserted uint64) (theory.Prediction, error)
}

// Kerneler names the code that works on batches. A filter without it runs plain Go.
type Kerneler interface {
	// Kernel names what ContainsMany runs on this machine: "avx2" for vectors in
	// assembly, "go+prefetch" for Go that has lines fetched ahead by an
	// instruction Go lacks, "go" for nothing but Go. Single calls are always Go.
	Kernel() string
}

// AddKerneler names the code that AddMany works with, of a filter whose lookups have
// another. Without it Kernel holds for both.
type AddKerneler interface {
	// AddKernel names what AddMany runs on this machine, in the words of
	// Kerneler.
	AddKernel() string
}

// Concurrent marks a filter that any number of goroutines may add to and query
// at once.
type Concurrent interface {
	Filter
	SafeForConcurrentAdds()
}

// AddMany stores hs in f, through the batch method where f has one and one by
// one where it has not. It returns how many were stored: hs[:n] are in, hs[n:]
// are not.
func AddMany(f Filter, hs []uint64) (n int, err error) {
	if b, ok := f.(BatchAdder); ok {
		return b.AddMany(hs)
	}
	for i, h := range hs {
		if err := f.Add(h); err != nil {
			return i, err
		}
	}
	return len(hs), nil
}

// ContainsMany sets dst[i] to q.Contains(hs[i]) for every i, through the batch
// method where q has one and one by one where it has not. It returns the number
// of true answers. dst must be at least as long as hs.
func ContainsMany(q Querier, dst []bool, hs []uint64) (hits int) {
	if b, ok := q.(BatchQuerier); ok {
		return b.ContainsMany(dst, hs)
	}
	dst = dst[:len(hs)]
	for i, h := range hs {
		in := q.Contains(h)
		dst[i] = in
		if in {
			hits++
		}
	}
	return hits
}
