//go:build !purego

package prefetch

// ahead is how many hashes before its use a line is fetched; slice is how many are
// worked on in one go, since assembly cannot be interrupted. Both are those of the
// kernels of package blocked.
const (
	ahead = 48
	slice = 8192
)

// readAssembly is Read as far as assembly does it: for all of hs, or for all but
// the last few, whose lines are then on their way.
func readAssembly(words, hs []uint64, lines uint64) (done int, sum uint64) {
	look := 0
	if len(words) >= large {
		look = ahead
	}
	for {
		n := min(len(hs)-look-done, slice)
		if n <= 0 {
			return done, sum
		}
		if look > 0 {
			sum += readAhead(&words[0], &hs[done], n, lines)
		} else {
			sum += readPlain(&words[0], &hs[done], n, lines)
		}
		done += n
	}
}

// readPlain sums the first words of the lines of n hashes, n at least 1.
//
//go:noescape
func readPlain(words, hs *uint64, n int, lines uint64) (sum uint64)

// readAhead is readPlain that also fetches the lines of the hashes ahead places
// behind each of the n, and reads those hashes.
//
//go:noescape
func readAhead(words, hs *uint64, n int, lines uint64) (sum uint64)
