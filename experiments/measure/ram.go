package measure

import (
	"strconv"
	"strings"
)

// Memory is how many bytes of main memory this process can have at most: what
// the machine has, what its control group allows, and what its addresses reach,
// whichever is least. It is 0 where the system does not tell, as on other systems
// than Linux. Other programs may hold part of it.
func Memory() uint64 {
	return memory(readText("/proc/meminfo"), readText("/sys/fs/cgroup/memory.max"))
}

// memory reads the kernel's MemTotal line, and the limit of a control group,
// which is a number or "max".
func memory(meminfo, limit string) uint64 {
	var total uint64
	for _, line := range strings.Split(meminfo, "\n") {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 54)
			if err == nil {
				total = kib << 10
			}
		}
	}
	if n, err := strconv.ParseUint(limit, 10, 64); err == nil && n > 0 && (total == 0 || n < total) {
		total = n
	}
	return min(total, uint64(^uintptr(0)))
}
