package measure

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Heap is what building a value costs in heap memory. Memory that the value gets
// from elsewhere, such as a mapped file, does not show.
type Heap struct {
	Live   uint64 // bytes that the value keeps, after two collections
	Peak   uint64 // most bytes in use while building, garbage that was not yet collected included; sampled, so a lower bound, and never below Live
	Total  uint64 // bytes allocated while building
	Allocs uint64 // allocations while building
}

// WeighBuild runs build and weighs what it returns. All figures are of the whole
// process: nothing else may allocate meanwhile. It collects garbage four times,
// twice before and twice after, since the first of two leaves what finalizers
// and pools hold on to.
func WeighBuild(build func() any) Heap {
	runtime.GC()
	runtime.GC()
	var before, built, after runtime.MemStats
	stop := watchHeap(200 * time.Microsecond)
	runtime.ReadMemStats(&before)
	value := build()
	peak := stop()
	runtime.ReadMemStats(&built)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(value)

	h := Heap{
		Live:   above(after.HeapAlloc, before.HeapAlloc),
		Total:  built.TotalAlloc - before.TotalAlloc,
		Allocs: built.Mallocs - before.Mallocs,
	}
	h.Peak = max(h.Live, above(max(peak, built.HeapAlloc), before.HeapAlloc))
	return h
}

// Garbage is what work leaves to the collector.
type Garbage struct {
	Allocs  uint64        // heap allocations
	GC      time.Duration // processor time of the collector, idle workers left out; it may exceed the elapsed time on several cores
	Elapsed time.Duration
}

// Litter runs work with the collector on, as it is in a program, and says what it
// allocated and what collecting cost meanwhile. The runtime adds its processor time
// up at the end of each collection, so that one which is under way at the end does
// not count. All figures are of the whole process.
func Litter(work func()) Garbage {
	runtime.GC()
	gc := func() time.Duration {
		s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
		metrics.Read(s)
		return time.Duration((s[0].Value.Float64() - s[1].Value.Float64()) * float64(time.Second))
	}
	var before, after runtime.MemStats
	spent := gc()
	// Nothing but work between the two: what reading the counters allocates, a slice
	// or two, is outside.
	runtime.ReadMemStats(&before)
	start := time.Now()
	work()
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return Garbage{Allocs: after.Mallocs - before.Mallocs, GC: max(0, gc()-spent), Elapsed: elapsed}
}

// above is a-b, and 0 where b is larger: a collection may free something older.
func above(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

// watchHeap reads the size of the heap every so often until stop is called, which
// returns the largest seen. runtime/metrics does not stop the world, as
// ReadMemStats would.
func watchHeap(every time.Duration) (stop func() uint64) {
	done := make(chan struct{})
	peak := make(chan uint64)
	started := make(chan struct{})
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		// What this goroutine allocates must be allocated before the build.
		metrics.Read(sample)
		close(started)
		var largest uint64
		for {
			metrics.Read(sample)
			largest = max(largest, sample[0].Value.Uint64())
			select {
			case <-done:
				peak <- largest
				return
			case <-ticker.C:
			}
		}
	}()
	<-started
	return func() uint64 {
		close(done)
		return <-peak
	}
}
