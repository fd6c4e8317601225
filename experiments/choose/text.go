package choose

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/experiments/units"
)

// nanos writes a time of so many nanoseconds with three digits and its unit.
func nanos(ns float64) string {
	switch abs := math.Abs(ns); {
	case abs < 999.5:
		return three(ns) + " ns"
	case abs < 999.5e3:
		return three(ns/1e3) + " us"
	case abs < 999.5e6:
		return three(ns/1e6) + " ms"
	}
	return three(ns/1e9) + " s"
}

// three writes a number with three significant digits.
func three(x float64) string {
	if x != 0 && math.Abs(x) < 0.01 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(rounded(x), 'f', -1, 64)
}

// rounded keeps three significant digits.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// count writes a number of keys with three digits and a decimal suffix.
func count(n float64) string {
	for _, u := range []struct {
		size   float64
		suffix string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= 0.9995*u.size {
			return three(n/u.size) + u.suffix
		}
	}
	return three(n)
}

// size writes a number of bits in bytes.
func size(bits float64) string {
	if bits >= 1<<63 {
		return fmt.Sprintf("%.3g EiB", bits/8/(1<<60))
	}
	return units.FormatBytes(uint64(math.Ceil(bits / 8)))
}
