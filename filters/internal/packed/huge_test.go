package packed

import (
	"testing"
	"unsafe"
)

// Advice changes neither the contract of a table nor its content.
func TestWordsHuge(t *testing.T) {
	for _, bits := range []uint64{1, 512, hugeFrom*8 - 512, hugeFrom * 8, hugeFrom*8 + 64, 5 * hugeFrom * 8} {
		a, err := Words("test", bits)
		if err != nil {
			t.Fatal(err)
		}
		b, err := WordsHuge("test", bits)
		if err != nil || len(a) != len(b) || cap(b) != len(b) || uintptr(unsafe.Pointer(&b[0]))%CacheLine != 0 {
			t.Fatalf("%d bits: %d and %d words, capacity %d, at %p (%v)", bits, len(a), len(b), cap(b), b, err)
		}
		if n := OnesCount(b); n != 0 {
			t.Errorf("%d bits: a new table has %d bits set", bits, n)
		}
		for i := range b {
			b[i] = ^uint64(0)
		}
		if n := OnesCount(b); n != uint64(len(b))*64 {
			t.Errorf("%d bits: %d bits set of %d words filled", bits, n, len(b))
		}
	}
	if words, err := WordsHuge("test", 1<<49); err == nil || words != nil {
		t.Error("a table beyond every limit was made")
	}
}
