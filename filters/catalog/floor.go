package catalog

import (
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
)

// Floor is a table as large as that of a filter, which is read and not understood:
// what no lookup can be faster than on a machine. The distance of a filter from it
// is what its arithmetic costs, and its lines beyond the first.
type Floor struct{ words []uint64 }

// NewFloor makes a table of the given bits, rounded up to whole lines of 512, on
// pages of 2 MiB where huge is set and the system has any. It refuses what a
// filter of so many bits would refuse. The table is written to: memory that never
// was is one page of zeros, which is always cached.
func NewFloor(bits uint64, huge bool) (*Floor, error) {
	table := packed.Words
	if huge {
		table = packed.WordsHuge
	}
	words, err := table("floor: bits", (bits+511)&^511)
	if err != nil {
		return nil, err
	}
	for i := range words {
		words[i] = 1
	}
	return &Floor{words}, nil
}

// Read reads one line for each of hs, uniformly over the table for uniform hashes,
// and fetches lines ahead in tables from 256 KiB on. It returns the sum of one
// word of each line, which is len(hs). It does not allocate.
func (f *Floor) Read(hs []uint64) uint64 { return prefetch.Read(f.words, hs) }
