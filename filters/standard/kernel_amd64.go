//go:build !purego

package standard

// containsSIMD is ContainsMany by AVX2, as far as it goes: for all but the last few
// keys, or for none if there is no kernel for the filter or the machine.
func (f *Filter) containsSIMD(dst []bool, hs []uint64) (done, hits int) {
	if !f.simd {
		return 0, 0
	}
	dst = dst[:len(hs)]
	for n := 0; ; done += n {
		if n = min(len(hs)-done, slice) &^ 7; n == 0 {
			return done, hits
		}
		hits += testEight(&dst[done], &hs[done], n, &f.words[0], f.span, f.k)
	}
}

// testEight sets dst[i] to whether all k probes of hs[i] hit, for n keys, n a
// positive multiple of 8, and returns for how many they do. words is the table of m
// bits, 1 to 2^32 - 1; k is at least 1.
//
//go:noescape
func testEight(dst *bool, hs *uint64, n int, words *uint64, m uint64, k int) (hits int)
