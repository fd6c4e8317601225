//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package experiments

import (
	"os"
	"syscall"
)

// lock takes f for this process until f is closed, at the latest by the end of the
// process, however that comes. It fails at once where another one has it. Two runs
// that append to the same files would tear each other's rows.
func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
