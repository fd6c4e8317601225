//go:build !linux

package packed

import "math"

// physicalMemory stands for no known limit where the standard library tells none.
func physicalMemory() uint64 { return math.MaxUint64 }
