package packed

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"filterlab/filters"
)

// Tables beyond the limits are refused before anything is allocated, in words that
// name the need (RedisBloom issue 699: the process was killed). 2^48 bits are 32
// TiB.
func TestC06_WordsRefuses(t *testing.T) {
	refused := func(nbits uint64, names string) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		words, err := Words("table", nbits)
		runtime.ReadMemStats(&after)
		if words != nil || !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), names) {
			t.Errorf("Words(%d): %d words, %v; want an error that names %q", nbits, len(words), err, names)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("Words(%d) allocated %d bytes before refusing", nbits, grown)
		}
	}
	refused(filters.MaxBits+1, "2^48")
	if runtime.GOOS == "linux" && physicalMemory() < 1<<45 {
		refused(filters.MaxBits, "35184372088896 bytes")
		refused(8*physicalMemory(), "memory")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	refused(1<<34, "2147483712 bytes")
}

// What is said about a table: zeroed, whole cache lines on their boundary, at
// least one.
func TestWords(t *testing.T) {
	for _, nbits := range []uint64{0, 1, 64, 511, 512, 513, 100_000} {
		words, err := Words("table", nbits)
		if err != nil {
			t.Fatal(err)
		}
		want := max((nbits+511)/512*8, 8)
		if uint64(len(words)) != want || uint64(cap(words)) != want || OnesCount(words) != 0 {
			t.Errorf("Words(%d): %d words (capacity %d), want %d zeros", nbits, len(words), cap(words), want)
		}
	}
}
