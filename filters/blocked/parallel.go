package blocked

import (
	"math/bits"
	"sync"
)

// AddParallel stores hs from several goroutines at once and returns when all are
// done; the filter ends up as after AddMany. Each of the workers owns a range of
// blocks, reads all of hs, and stores what falls into its range, so that no two
// write to the same word and nothing is locked or sorted. It allocates a buffer
// for each worker. Reading costs each of them about a nanosecond a key: it pays
// for tables beyond the caches and for as many workers as there are cores, 2 or 4,
// not 64. Nobody else may use the filter meanwhile. Fewer than 2 workers are
// AddMany.
//
// To sort hashes by range first, so that each part of the table is filled within
// the caches, was left out: to write the hashes to their parts and to read them
// back is as much traffic as the misses that it saves, once these overlap.
func (f *Filter) AddParallel(hs []uint64, workers int) {
	blocks := f.config.Blocks
	workers = int(min(uint64(max(workers, 1)), blocks))
	if workers < 2 {
		_, _ = f.AddMany(hs) // never fails
		return
	}
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		hi, lo := bits.Mul64(w, blocks)
		first, _ := bits.Div64(hi, lo, uint64(workers))
		hi, lo = bits.Mul64(w+1, blocks)
		end, _ := bits.Div64(hi, lo, uint64(workers))
		wg.Go(func() { f.addRange(hs, first, end-first) })
	}
	wg.Wait()
}

// addRange stores those of hs whose block is one of count from first on.
func (f *Filter) addRange(hs []uint64, first, count uint64) {
	blocks := f.config.Blocks
	own := make([]uint64, slice+1) // one more, where a hash of others may stand
	for len(hs) > 0 {
		part := hs[:min(len(hs), slice)]
		hs = hs[len(part):]
		n := 0
		for _, h := range part {
			i := splitBlock(h, blocks)
			if f.kernel != split {
				i, _ = bits.Mul64(h, blocks)
			}
			own[n] = h
			n += one(i-first < count)
		}
		_, _ = f.AddMany(own[:n])
	}
}
