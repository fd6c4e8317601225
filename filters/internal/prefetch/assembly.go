//go:build (amd64 || arm64) && !purego

package prefetch

// Enabled tells whether Lines does anything.
const Enabled = true

// lines prefetches words[idx[i]] for i from 0 to n-1, n at least 1.
//
//go:noescape
func lines(words, idx *uint64, n int)
