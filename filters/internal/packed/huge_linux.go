package packed

import (
	"syscall"
	"unsafe"
)

// adviseHuge asks for huge pages under the whole pages of the table. The first
// and the last page may be shared with other objects of the heap, and advice is
// for whole pages: they are left out.
func adviseHuge(words []uint64) {
	page := uintptr(syscall.Getpagesize())
	start := uintptr(unsafe.Pointer(&words[0]))
	skip := (page - start%page) % page
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[skip:]
	bytes = bytes[:uintptr(len(bytes))/page*page]
	// An error says that the kernel has no huge pages, or must not use them here.
	_ = syscall.Madvise(bytes, madvHugepage)
}

// madvHugepage is MADV_HUGEPAGE of <asm-generic/mman-common.h>, which package
// syscall does not name on every platform. It is 14 on all that Go runs on.
const madvHugepage = 14
