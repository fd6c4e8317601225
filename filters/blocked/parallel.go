package blocked

import (
	"math/bits"

	"filterlab/filters/internal/bulk"
)

// AddBulk stores hs with so many workers, goroutines that run at once, and returns
// when all are in. The table is the one that AddMany makes. It never fails, so n
// is always len(hs). Fewer than 2 workers are one. Nobody else may use the filter
// meanwhile.
//
// In tables of 8 MiB and more, and whenever there are several workers, hashes are
// sorted by the region of the table that their blocks lie in before they are
// stored, so that a line is loaded into the caches once for many keys. The buffers
// take no more than the hashes themselves, and up to 128 MiB for each worker.
func (f *Filter) AddBulk(hs []uint64, workers int) (n int, err error) {
	workers = max(min(workers, len(hs)/slice), 1)
	if workers == 1 && len(f.words) < sortFrom {
		return f.AddMany(hs)
	}
	// Regions are of whole blocks, a power of two of them.
	shift := bits.Len(uint(bulk.RegionBytes*8/f.config.BlockBits)) - 1
	for f.config.Blocks>>shift >= bulk.MaxRegions {
		shift++
	}
	blocks, isSplit := f.config.Blocks, f.kernel == split
	bulk.Add(hs, workers, int((blocks-1)>>shift)+1, 1, func(b *bulk.Buffers, part []uint64) {
		items, next, mask := b.Items, b.Next, b.Mask
		for _, h := range part {
			i := splitBlock(h, blocks)
			if !isSplit {
				i, _ = bits.Mul64(h, blocks)
			}
			at := next[i>>(shift&63)]
			items[at] = h
			at++
			next[i>>(shift&63)] = at
			if at&mask == 0 {
				b.Flush(at)
			}
		}
	}, func(items []uint64) {
		_, _ = f.AddMany(items) // never fails
	})
	return len(hs), nil
}

// sortFrom is the table size, in words, from which one worker sorts: 8 MiB. At 12
// and at 50 MB it takes a tenth to a sixth less processor time for it, measured with
// vectors and on a busy machine only; other layouts take the same bound, and where
// exactly it pays was not looked for.
const sortFrom = 1 << 20
