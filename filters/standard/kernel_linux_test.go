package standard

import (
	"syscall"
	"testing"
	"unsafe"

	"filterlab/filters/filtertest"
)

// wall is n bytes that end where a page begins that nobody may touch.
func wall(t *testing.T, n int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	room := (n + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, room+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	if err := syscall.Mprotect(all[room:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	return all[room-n : room]
}

func wallWords(t *testing.T, n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(&wall(t, n*8)[0])), n)
}

// The kernel reads and writes nothing beyond hashes, answers or table: the process
// would not survive it.
func TestVectorsStayInside(t *testing.T) {
	needAVX2(t)
	for _, c := range kernels() {
		f := over(c, wallWords(t, len(mustNew(t, c).words)))
		for _, n := range []int{1, 7, 8, 9, 100} {
			hs := wallWords(t, n)
			copy(hs, filtertest.Members(uint64(n), n))
			hs[0], hs[n-1] = ^uint64(0), ^uint64(0) // the last bit
			dst := unsafe.Slice((*bool)(unsafe.Pointer(&wall(t, n)[0])), n)
			f.AddMany(hs)
			if hits := f.ContainsMany(dst, hs); hits != n {
				t.Errorf("%+v: %d of %d keys found", c, hits, n)
			}
		}
	}
}
