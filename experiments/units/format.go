package units

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatCount writes n exactly and as shortly as it can be: "1e6" for a million,
// "1.5e6", and "958506" where an exponent saves nothing.
func FormatCount(n uint64) string {
	plain := strconv.FormatUint(n, 10)
	digits := strings.TrimRight(plain, "0")
	if digits == "" {
		return plain
	}
	short := digits[:1]
	if len(digits) > 1 {
		short += "." + digits[1:]
	}
	short += "e" + strconv.Itoa(len(plain)-1)
	if len(short) < len(plain) {
		return short
	}
	return plain
}

// FormatBytes writes a number of bytes with three digits and a binary unit, for
// reading only: "1.17 KiB".
func FormatBytes(n uint64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x := float64(n)
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		x /= 1024
		if x < 999.5 {
			return strconv.FormatFloat(x, 'g', 3, 64) + " " + u
		}
	}
	return strconv.FormatFloat(x/1024, 'g', 3, 64) + " EiB"
}
