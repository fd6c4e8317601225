package standard

import (
	"testing"

	"filterlab/filters/filtertest"
)

// The kernel reads and writes nothing beyond hashes, answers or table: the process
// would not survive it.
func TestVectorsStayInside(t *testing.T) {
	needAVX2(t)
	for _, c := range kernels() {
		f := over(c, filtertest.Wall[uint64](t, len(mustNew(t, c).words)))
		for _, n := range []int{1, 7, 8, 9, 100} {
			hs := filtertest.Wall[uint64](t, n)
			copy(hs, filtertest.Members(uint64(n), n))
			hs[0], hs[n-1] = ^uint64(0), ^uint64(0) // the last bit
			dst := filtertest.Wall[bool](t, n)
			f.AddMany(hs)
			if hits := f.ContainsMany(dst, hs); hits != n {
				t.Errorf("%+v: %d of %d keys found", c, hits, n)
			}
		}
	}
}
