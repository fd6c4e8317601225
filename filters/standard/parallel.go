package standard

import (
	"math/bits"

	"filterlab/filters/internal/bulk"
	"filterlab/filters/internal/index"
)

// AddBulk stores hs with so many workers, goroutines that run at once, and returns
// when all are in. The table is the one that AddMany makes. It never fails, so n
// is always len(hs). Fewer than 2 workers are one. Nobody else may use the filter
// meanwhile.
//
// In tables of 8 MiB and more, and whenever there are several workers, not the
// keys but their probes are sorted by the region of the table that they lie in
// before bits are set, so that a line is loaded into the caches once for many
// probes, where AddMany misses them k times for each key. The buffers take up to
// 128 MiB for each worker.
func (f *Filter) AddBulk(hs []uint64, workers int) (n int, err error) {
	// A worker is worth it from some thousand hashes on.
	workers = max(min(workers, len(hs)/4096), 1)
	if workers == 1 && len(f.words) < large {
		return f.AddMany(hs)
	}
	// Regions are a power of two of bits, so that none share a word.
	shift := bits.Len(bulk.RegionBytes*8) - 1
	for f.config.Bits>>shift >= bulk.MaxRegions {
		shift++
	}
	words := f.words
	bulk.Add(hs, workers, int((f.config.Bits-1)>>shift)+1, f.k, func(b *bulk.Buffers, part []uint64) {
		f.config.spread(b, part, uint(shift))
	}, func(items []uint64) {
		for _, p := range items {
			words[p>>6] |= 1 << (p & 63)
		}
	})
	return len(hs), nil
}

// spread puts the probes of hs into the buffers of their regions, of 1<<shift bits
// each.
func (c Config) spread(b *bulk.Buffers, hs []uint64, shift uint) {
	items, next, mask := b.Items, b.Next, b.Mask
	var own [MaxK]uint64 // the probes of a key
	span, stride := c.span()
	for _, h := range hs {
		probes := own[:c.K]
		if c.Scheme == Independent {
			base := uint64(0)
			for i := range probes {
				probes[i] = base + index.FastRange(h, span)
				h *= index.Multiplier
				base += stride
			}
		} else {
			probes = c.AppendProbes(own[:0], h)
		}
		for _, p := range probes {
			at := next[p>>(shift&63)]
			items[at] = p
			at++
			next[p>>(shift&63)] = at
			if at&mask == 0 {
				b.Flush(at)
			}
		}
	}
}
