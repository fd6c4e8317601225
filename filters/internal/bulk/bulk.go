// Package bulk sorts what is to be written to a large table by the region of the
// table it goes to (radix partitioning), so that each region is written while it
// is in a cache, and lets several goroutines do so at once.
//
// Items collect in a buffer for each region. A full buffer is stored in one go,
// with the region locked against the other workers. Buffers are bounded however
// many items there are, and when all goroutines are done every item is in the
// table: the result is the same as storing them in any other order, provided that
// order makes no difference to the table.
package bulk

import (
	"math/bits"
	"sync"
)

// RegionBytes is the size of a region of the table: what fits into a second-level
// cache and leaves room for its items.
const RegionBytes = 512 << 10

// Limits of the buffers.
const (
	// MaxRegions bounds the number of buffers that are written to in turn. Larger
	// tables have larger regions.
	MaxRegions = 256

	// minItems and maxItems bound the items of a buffer. The more there are, the
	// more items share each line of their region: a line of 512 bits that takes 50
	// keys at 10 bits each is loaded once for some 8 of them, and not 50 times.
	minItems, maxItems = 64, 1 << 16
)

// MaxBytes is the most memory that the buffers of one worker take: 128 MiB.
const MaxBytes = MaxRegions * maxItems * 8

// Buffers are those of one worker. To add an item x to region r is to write
//
//	at := b.Next[r]
//	b.Items[at] = x
//	b.Next[r] = at + 1
//	if (at+1)&b.Mask == 0 {
//		b.Flush(at + 1)
//	}
//
// with the fields in local variables: as a method it would be too long for the
// compiler to inline, and the loops would take twice the time.
type Buffers struct {
	Items []uint64 // Mask + 1 for each region, one region after the other
	Next  []int    // where in Items the next one of a region goes
	Mask  int      // a power of two of items in a buffer, less one
	store func(items []uint64)
	locks []sync.Mutex // of the regions, shared by all workers
}

// Flush stores the items of the buffer that ends at end, and empties it.
func (b *Buffers) Flush(end int) {
	region := (end - 1) / (b.Mask + 1)
	first := region * (b.Mask + 1)
	b.locks[region].Lock()
	b.store(b.Items[first:end])
	b.locks[region].Unlock()
	b.Next[region] = first
}

// Add shares hs out to the workers, at least one, and returns when all is stored.
// spread turns some hashes into items and pushes each to its region, a number
// below regions; it is called for several parts of hs at once. items is about how
// many come from one hash. store writes items of one region; it is called for
// several regions at once, but never twice at once for the same.
func Add(hs []uint64, workers, regions, items int, spread func(b *Buffers, part []uint64), store func(items []uint64)) {
	locks := make([]sync.Mutex, regions)
	per := 1 << bits.Len(uint(min(max(len(hs)/workers*items/regions, minItems), maxItems-1)))
	var wg sync.WaitGroup
	for w := range workers {
		// Not len(hs)*w/workers, which may overflow an int of 32 bits.
		each := (len(hs) + workers - 1) / workers
		part := hs[min(w*each, len(hs)):min((w+1)*each, len(hs))]
		work := func() {
			b := &Buffers{Items: make([]uint64, regions*per), Next: make([]int, regions), Mask: per - 1, store: store, locks: locks}
			for i := range b.Next {
				b.Next[i] = i * per
			}
			spread(b, part)
			// Workers begin at different regions, so that they seldom wait for each
			// other.
			for i := range regions {
				region := (i + w*regions/workers) % regions
				if end := b.Next[region]; end > region*per {
					b.Flush(end)
				}
			}
		}
		if w == workers-1 {
			work()
		} else {
			wg.Go(work)
		}
	}
	wg.Wait()
}
