//go:build (amd64 || arm64) && !purego

package prefetch

// Enabled tells whether Lines prefetches; otherwise it reads.
const Enabled = true

func lines(words, idx []uint64) {
	if len(words) > 0 && len(idx) > 0 {
		fetch(&words[0], &idx[0], len(idx))
	}
}

// fetch prefetches words[idx[i]] for i from 0 to n-1, n at least 1.
//
//go:noescape
func fetch(words, idx *uint64, n int)
