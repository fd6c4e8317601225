package measure

// Chain returns a pass for a Contender that measures latency: each key depends on
// the answer for the one before, so that no two lookups overlap. The pass returns
// the number of positive answers, the same as independent lookups of keys give.
//
// The chain pays one indirect call of contains for each key. A chain over
// func(uint64) bool { return false } is its loop without a filter; subtracting it
// takes the call off again. Where contains ends early by a branch, the processor
// may guess the answer and start on the next key: that is then the latency it has.
func Chain(keys []uint64, contains func(h uint64) bool) func() uint64 {
	// Always zero, which neither the compiler nor the processor can know.
	never := uint64(len(keys)) >> 63
	return func() uint64 {
		var hits, dep uint64
		for _, h := range keys {
			var one uint64
			if contains(h ^ dep) {
				one = 1
			}
			hits += one
			dep = one & never
		}
		return hits
	}
}
