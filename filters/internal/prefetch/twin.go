//go:build !(amd64 || arm64) || purego

package prefetch

// Enabled tells whether Lines prefetches; otherwise it reads.
const Enabled = false

func lines(words, idx []uint64) { read(words, idx) }

// read loads words[i] for every i of idx that is inside. It returns what nobody
// needs; were it inlined, the loads would be dropped.
//
//go:noinline
func read(words, idx []uint64) (all uint64) {
	for _, i := range idx {
		if i < uint64(len(words)) {
			all |= words[i]
		}
	}
	return all
}
