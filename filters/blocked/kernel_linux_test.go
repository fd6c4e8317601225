package blocked

import (
	"testing"

	"filterlab/filters/filtertest"
)

// No kernel reads or writes beyond hashes, answers or table: the process would
// not survive it.
func TestVectorsStayInside(t *testing.T) {
	needAVX2(t)
	for _, c := range kernels() {
		f := mustNew(t, c)
		words := filtertest.Wall[uint64](t, int(f.SizeBits()/64))
		f.table(words)
		for _, n := range []int{1, 4, 5, 63, 64, 65, 67, 100, slice + ahead, slice + ahead + 5} {
			hs := filtertest.Wall[uint64](t, n)
			copy(hs, filtertest.Members(uint64(n), n))
			hs[0], hs[n-1] = ^uint64(0), ^uint64(0) // the last block
			dst := filtertest.Wall[bool](t, n)
			addAll(t, f, hs)
			if hits := f.ContainsMany(dst, hs); hits != n {
				t.Errorf("%+v: %d of %d keys found", c, hits, n)
			}
		}
	}
}
