package measure

import (
	"fmt"

	"filterlab/filters"
)

// chunk is the number of hashes asked for at once: 32 KiB of hashes and 4 KiB of
// answers fit a first-level cache beside the lines of the filter.
const chunk = 4096

// Absent asks q for trials hashes that were never stored and counts the false
// positives. next fills its argument with the following hashes; they must be
// distinct from each other and from all stored ones, which the caller's key set
// provides. The number of trials is fixed beforehand (PlanTrials), and exactly
// that many are made.
func Absent(q filters.Querier, trials uint64, next func(dst []uint64)) Count {
	hs := make([]uint64, min(trials, chunk))
	answers := make([]bool, len(hs))
	var events uint64
	for left := trials; left > 0; {
		part := hs[:min(left, chunk)]
		next(part)
		events += uint64(filters.ContainsMany(q, answers, part))
		left -= uint64(len(part))
	}
	return Count{Events: events, Trials: trials}
}

// LostError says that a filter denies keys that were stored in it, the one answer
// that is never allowed.
type LostError struct {
	Lost  uint64 // keys denied
	Of    uint64 // keys stored
	Index uint64 // position of the first that was denied
	Hash  uint64 // its hash
}

// Error names the first lost key.
func (e *LostError) Error() string {
	return fmt.Sprintf("%d of %d stored keys lost, the first at %d (hash %#016x)", e.Lost, e.Of, e.Index, e.Hash)
}

// Lost returns a LostError unless q answers true for every one of hs, the hashes
// stored in it. It asks in batches; that single lookups agree is checked where
// they are timed, by the answers that [Contender.Want] expects.
func Lost(q filters.Querier, hs []uint64) error {
	var lost *LostError
	answers := make([]bool, min(len(hs), chunk))
	for start := 0; start < len(hs); start += chunk {
		part := hs[start:min(start+chunk, len(hs))]
		filters.ContainsMany(q, answers, part)
		for i, h := range part {
			if answers[i] {
				continue
			}
			if lost == nil {
				lost = &LostError{Of: uint64(len(hs)), Index: uint64(start + i), Hash: h}
			}
			lost.Lost++
		}
	}
	if lost == nil {
		return nil
	}
	return lost
}
