package units

import (
	"fmt"
	"math"
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

// FormatRate writes a rate so that ParseRate reads the same float64: as a
// percentage from 0.01% up ("1%", "0.05%"), with an exponent below ("1e-6"). It
// writes "n/a" for NaN, the rate that was not measured.
func FormatRate(p float64) string {
	switch {
	case math.IsNaN(p):
		return "n/a"
	case p == 0:
		return "0"
	case p >= 1e-4:
		// Multiplying rounds: 0.07*100 is 7.000000000000001. Fifteen digits drop
		// what it added, and reading back tells whether they dropped more.
		percent, _ := strconv.ParseFloat(strconv.FormatFloat(p*100, 'g', 15, 64), 64)
		s := strconv.FormatFloat(percent, 'f', -1, 64) + "%"
		if back, err := ParseRate(s); err == nil && back == p {
			return s
		}
		return strconv.FormatFloat(p, 'f', -1, 64)
	}
	s := strconv.FormatFloat(p, 'e', -1, 64)
	mantissa, exp, _ := strings.Cut(s, "e-")
	return mantissa + "e-" + strings.TrimLeft(exp, "0")
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
