package filters_test

import (
	"fmt"
	"sync"
	"sync/atomic"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/filtertest"
)

// A filter that is rebuilt while others ask it. Readers load an atomic pointer and
// take no lock; the next filter is filled where nobody sees it and swapped in whole.
// It is the way to drop keys from a filter without Delete, to empty one and to make
// room in one that is overfull.
func Example_swap() {
	v, err := catalog.Parse("blocked")
	if err != nil {
		fmt.Println(err)
		return
	}
	build := func(keys []uint64) *filters.Querier {
		q, err := v.Build(filters.Target{N: uint64(len(keys)), P: 1e-4}, keys)
		if err != nil {
			panic(err) // a target of the program's own
		}
		return &q
	}
	kept := filtertest.Members(1, 1000) // in every generation
	var current atomic.Pointer[filters.Querier]
	current.Store(build(kept))

	var readers sync.WaitGroup
	var denied atomic.Int64
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				q := *current.Load()
				for _, h := range kept {
					if !q.Contains(h) {
						denied.Add(1)
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for generation := range uint64(100) { // each with keys of its own besides
		current.Store(build(append(filtertest.Members(100+generation, 1000), kept...)))
	}
	close(done)
	readers.Wait()

	old := filtertest.Members(100, 1000) // of the first generation
	fmt.Println("denied during 100 swaps:", denied.Load())
	fmt.Println("old keys still found, of 1000: at most 5:", filters.ContainsMany(*current.Load(), make([]bool, len(old)), old) <= 5)
	// Output:
	// denied during 100 swaps: 0
	// old keys still found, of 1000: at most 5: true
}
