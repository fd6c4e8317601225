package packed

import (
	"math"
	"syscall"
)

// physicalMemory is the memory of the machine in bytes.
func physicalMemory() uint64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return math.MaxUint64
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}
