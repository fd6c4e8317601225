package filtertest

import (
	"syscall"
	"testing"
	"unsafe"
)

// Wall is n values, numbers or booleans, that end where a page begins that nobody may
// touch: a kernel that reads or writes behind them ends the process. It skips the test
// where the system does not give such memory.
func Wall[T any](t *testing.T, n int) []T {
	t.Helper()
	var one T
	size, page := n*int(unsafe.Sizeof(one)), syscall.Getpagesize()
	room := (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, room+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	if err := syscall.Mprotect(all[room:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&all[room-size])), n)
}
