package measure

import (
	"math"
	"runtime"
	"testing"
)

func TestMemory(t *testing.T) {
	const meminfo = "MemTotal:        8134268 kB\nMemFree:          123456 kB\n"
	const total = 8134268 << 10
	if math.MaxUint == math.MaxUint32 {
		t.Skip("8 GB are more than these addresses reach")
	}
	for _, c := range []struct {
		meminfo, limit string
		want           uint64
	}{
		{meminfo, "max", total},
		{meminfo, "", total},
		{meminfo, "2147483648", 2 << 30},                 // a container's limit
		{meminfo, "9223372036854771712", total},          // "no limit" of older kernels
		{"", "2147483648", 2 << 30},                      // no /proc
		{"", "", 0},                                      // neither: another system
		{"MemTotal: lots kB\n", "max", 0},                // unreadable
		{"SwapTotal: 5 kB\nMemTotal: 7 kB", "", 7 << 10}, // not the first line
	} {
		if got := memory(c.meminfo, c.limit); got != c.want {
			t.Errorf("memory(%q, %q) = %d, want %d", c.meminfo, c.limit, got, c.want)
		}
	}
	if runtime.GOOS == "linux" && Memory() == 0 {
		t.Error("this Linux machine has no memory")
	}
}
