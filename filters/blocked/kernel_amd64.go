//go:build !purego

package blocked

// containsSIMD is ContainsMany by AVX2, as far as it goes: for all but the last
// few keys, or for none if there is no kernel for the filter or the machine.
func (f *Filter) containsSIMD(dst []bool, hs []uint64) (done, hits int) {
	if !f.simd || len(hs) < 4 {
		return 0, 0
	}
	dst = dst[:len(hs)]
	words, blocks := &f.words[0], f.config.Blocks
	if len(f.words) >= large {
		f.fetch(hs[:min(len(hs), ahead)])
		for n := 0; ; done += n {
			if n = min(len(hs)-ahead-done, slice) &^ 3; n <= 0 {
				break
			}
			if f.kernel == split {
				hits += splitTestAhead(&dst[done], &hs[done], n, words, blocks)
			} else {
				hits += lineTestAhead(&dst[done], &hs[done], n, words, blocks, f.k)
			}
		}
	}
	for n := 0; ; done += n {
		if n = min(len(hs)-done, slice) &^ 3; n == 0 {
			return done, hits
		}
		if f.kernel == split {
			hits += splitTest(&dst[done], &hs[done], n, words, blocks)
		} else {
			hits += lineTest(&dst[done], &hs[done], n, words, blocks, f.k)
		}
	}
}

// addSIMD is AddMany by AVX2, as far as it goes.
func (f *Filter) addSIMD(hs []uint64) (done int) {
	if !f.simd || len(hs) < 4 {
		return 0
	}
	words, blocks := &f.words[0], f.config.Blocks
	if len(f.words) >= large {
		f.fetch(hs[:min(len(hs), ahead)])
		for n := 0; ; done += n {
			if n = min(len(hs)-ahead-done, slice) &^ 3; n <= 0 {
				break
			}
			if f.kernel == split {
				splitSetAhead(&hs[done], n, words, blocks)
			} else {
				lineSetAhead(&hs[done], n, words, blocks, f.k)
			}
		}
	}
	for n := 0; ; done += n {
		if n = min(len(hs)-done, slice) &^ 3; n == 0 {
			return done
		}
		if f.kernel == split {
			splitSet(&hs[done], n, words, blocks)
		} else {
			lineSet(&hs[done], n, words, blocks, f.k)
		}
	}
}

// The kernels work on n keys from hs on, n a positive multiple of 4. Those named
// Ahead also read the ahead hashes behind these, and fetch the blocks of those
// while they work; whoever calls them has had the blocks of the first keys
// fetched. words is the table of so many blocks.

//go:noescape
func splitTest(dst *bool, hs *uint64, n int, words *uint64, blocks uint64) (hits int)

//go:noescape
func splitTestAhead(dst *bool, hs *uint64, n int, words *uint64, blocks uint64) (hits int)

//go:noescape
func splitSet(hs *uint64, n int, words *uint64, blocks uint64)

//go:noescape
func splitSetAhead(hs *uint64, n int, words *uint64, blocks uint64)

// lineTest and lineSet are for the plain layout with blocks of 512 bits and k from 1 to 7.
//
//go:noescape
func lineTest(dst *bool, hs *uint64, n int, words *uint64, blocks uint64, k int) (hits int)

//go:noescape
func lineTestAhead(dst *bool, hs *uint64, n int, words *uint64, blocks uint64, k int) (hits int)

//go:noescape
func lineSet(hs *uint64, n int, words *uint64, blocks uint64, k int)

//go:noescape
func lineSetAhead(hs *uint64, n int, words *uint64, blocks uint64, k int)
