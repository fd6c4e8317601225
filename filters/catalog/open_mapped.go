//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package catalog

import (
	"fmt"
	"os"
	"syscall"

	"filterlab/filters"
)

// mapFile is the content of f and what gives it back.
func mapFile(f *os.File) (data []byte, release func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := int(info.Size())
	if int64(size) != info.Size() || size < 0 {
		return nil, nil, filters.Refuse("length", info.Size(), fmt.Sprintf("at most %d bytes on this platform", int(^uint(0)>>1)))
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return os.NewSyscallError("munmap", syscall.Munmap(data)) }, nil
}
