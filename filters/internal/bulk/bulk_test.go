package bulk

import (
	"slices"
	"testing"
)

// Every item arrives once and at its region, whatever the number of workers and
// however uneven the regions; the race detector sees whether two workers meet in
// one.
func TestAdd(t *testing.T) {
	const regions, size = 13, 1000
	for _, n := range []int{0, 1, 63, 64, 65, 20_000} {
		hs := make([]uint64, n)
		for i := range hs {
			hs[i] = uint64(i*i) % (regions * size) // some often, many never
			if i%3 == 0 {
				hs[i] %= 5 // most of all region 0, whose buffer is stored many times
			}
		}
		want := make([]uint64, regions*size)
		for _, h := range hs {
			want[h] += 2
		}
		for _, workers := range []int{1, 2, 3, 8} {
			got := make([]uint64, regions*size)
			Add(hs, workers, regions, 2, func(b *Buffers, part []uint64) {
				for _, h := range part {
					for range 2 {
						at := b.Next[h/size]
						b.Items[at] = h
						at++
						b.Next[h/size] = at
						if at&b.Mask == 0 {
							b.Flush(at)
						}
					}
				}
			}, func(items []uint64) {
				for _, x := range items {
					if x/size != items[0]/size {
						t.Errorf("items of regions %d and %d together", items[0]/size, x/size)
					}
					got[x]++
				}
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d items, %d workers: another table", n, workers)
			}
		}
	}
}

// Buffers are bounded, and no larger than what goes into them asks for.
func TestBuffersAreBounded(t *testing.T) {
	for _, c := range []struct{ n, workers, regions, items, most int }{
		{1000, 1, 4, 1, 4 * 256},
		{1000, 2, 4, 7, 4 * 1024},
		{10, 1, MaxRegions, 1, MaxRegions * 2 * minItems},
		{1 << 24, 1, 4, 7, 4 * maxItems},
	} {
		hs := make([]uint64, c.n)
		Add(hs, c.workers, c.regions, c.items, func(b *Buffers, part []uint64) {
			if len(b.Items) > c.most || len(b.Items)*8 > MaxBytes || len(b.Items) < c.regions*minItems {
				t.Errorf("%+v: room for %d items", c, len(b.Items))
			}
		}, func([]uint64) { t.Error("nothing was pushed") })
	}
}
