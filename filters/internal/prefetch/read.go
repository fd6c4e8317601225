package prefetch

import "math/bits"

// Read reads the first word of one 64-byte line for each of hs, the line at the
// fast range of the hash, and returns the sum of these words: what a lookup cannot
// do without, and nothing else. Lines of tables from 256 KiB on are fetched ahead,
// as the batch methods of the filters fetch theirs. Words beyond the last whole
// line are not read; a table without a line gives 0. With assembly (amd64) a line
// of a cached table costs about a multiplication and a load.
func Read(words, hs []uint64) (sum uint64) {
	lines := uint64(len(words) / perLine)
	if lines == 0 {
		return 0
	}
	done, sum := readAssembly(words, hs, lines)
	hs = hs[done:]
	if len(words) < large {
		for _, h := range hs {
			i, _ := bits.Mul64(h, lines)
			sum += words[i*perLine]
		}
		return sum
	}
	var at, next [chunk]uint64
	locate := func(to *[chunk]uint64, hs []uint64) []uint64 {
		idx := to[:min(len(hs), chunk)]
		for j := range idx {
			i, _ := bits.Mul64(hs[j], lines)
			idx[j] = i * perLine
		}
		Lines(words, idx)
		return idx
	}
	for now := locate(&at, hs); len(now) > 0; {
		hs = hs[len(now):]
		then := locate(&next, hs)
		for _, i := range now {
			sum += words[i]
		}
		now = at[:copy(at[:], then)]
	}
	return sum
}

const (
	perLine = 8       // words of a line
	large   = 1 << 15 // words of a table from which its lines are fetched ahead
	chunk   = 64      // lines that are fetched together
)
