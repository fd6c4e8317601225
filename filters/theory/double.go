package theory

import "math"

// DoubleHashing is the rate of a standard filter whose probes are a + i b mod m,
// with a and b uniform mod m: the rate of independent probes plus a term of
// order n/m^2.
func DoubleHashing(m, n uint64, k int) float64 {
	return Standard(m, n, k) + 13.4*float64(n)/(float64(m)*float64(m))*math.Pow(float64(k)/7, 1.2)
}

// EnhancedDouble is the rate of a standard filter whose probes are a + i b +
// (i^3-i)/6 mod m (Dillinger, Manolios 2004).
func EnhancedDouble(m, n uint64, k int) float64 {
	return Standard(m, n, k)
}
