package measure

import (
	"runtime"
	"testing"
)

func TestWeighBuild(t *testing.T) {
	const size = 8 << 20
	var kept []uint64
	h := WeighBuild(func() any {
		garbage := make([]byte, size)
		garbage[size-1] = 1
		kept = make([]uint64, size/8)
		return kept
	})
	// The value and nothing but: within 64 KiB for what the runtime does meanwhile.
	const slack = 64 << 10
	if h.Live < size-slack || h.Live > size+slack {
		t.Errorf("live %d bytes, want %d", h.Live, size)
	}
	if h.Total < 2*size || h.Total > 2*size+slack {
		t.Errorf("allocated %d bytes, want %d", h.Total, 2*size)
	}
	if h.Peak < h.Live || h.Peak > 2*size+slack {
		t.Errorf("peak %d bytes, want %d to %d", h.Peak, h.Live, 2*size)
	}
	if h.Allocs < 2 || h.Allocs > 50 {
		t.Errorf("%d allocations, want 2 and a few of the runtime's", h.Allocs)
	}
	if kept[0] != 0 {
		t.Error("never")
	}
	// Nothing built weighs nothing, and not 2^64 less something.
	if h := WeighBuild(func() any { return nil }); h.Live > slack || h.Total > slack {
		t.Errorf("nothing weighs %+v", h)
	}
}

// Work that allocates a known number of objects, enough to be collected many times.
func TestLitter(t *testing.T) {
	const objects = 20_000
	var keep []byte
	g := Litter(func() {
		for range objects {
			keep = make([]byte, 16<<10)
		}
	})
	runtime.KeepAlive(keep)
	// The runtime and reading the counters allocate a few of their own.
	if g.Allocs < objects || g.Allocs > objects+200 {
		t.Errorf("%d allocations, want %d and a few", g.Allocs, objects)
	}
	if g.GC <= 0 || g.Elapsed <= 0 {
		t.Errorf("320 MB of garbage cost the collector %v of %v", g.GC, g.Elapsed)
	}
	if g := Litter(func() {}); g.Allocs > 200 {
		t.Errorf("nothing made %d allocations", g.Allocs)
	}
}
