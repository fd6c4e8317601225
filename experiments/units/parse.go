// Package units reads and writes numbers as people type them: 1e6, 1_000_000,
// 1.5M, 1%, 2^-8, 64KiB.
//
// Reading is exact or fails: nothing is rounded silently, cut off at the first
// odd character, or guessed at. 1,000,000 is refused, because half the world
// reads its comma as a decimal point, and so are nan, inf, signs and spaces.
// What the Format functions write, the Parse functions read back.
package units

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Error is a number that could not be read.
type Error struct {
	What  string // "count", "rate", "size", "number"
	Value string // as typed
	Want  string // what would have been taken
}

// Error quotes the value and says what would have been taken.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %q: want %s", e.What, e.Value, e.Want)
}

const wantCount = "a whole number from 0 to 2^64-1, such as 1000000, 1_000_000, 1e6, 1M, 1.5k or 2^20"

// ParseCount reads a whole number: digits, with underscores between digits, a
// fraction, an exponent, or one of the decimal suffixes k, M, G, T, as long as
// the value is whole ("1.5k" is 1500, "0.5" is refused); or a power such as
// "2^20".
func ParseCount(s string) (uint64, error) {
	digits, unit := splitSuffix(s, countUnits)
	r, ok := parseExact(digits)
	if ok {
		r.Mul(r, new(big.Rat).SetInt(unit))
		ok = r.IsInt() && r.Num().IsUint64()
	}
	if !ok {
		return 0, &Error{"count", s, wantCount}
	}
	return r.Num().Uint64(), nil
}

const wantRate = "a number from 0 to 1, such as 0.01, 1%, 1e-6 or 2^-8"

// ParseRate reads a probability or a share from 0 to 1, ends included: a decimal
// ("0.01", "1e-6"), a percentage ("1%") or a power ("2^-8"). The result is the
// float64 next to the value typed; "0.1%" and "0.001" give the same. A value too
// small for a float64 is refused rather than rounded to 0.
func ParseRate(s string) (float64, error) {
	digits, percent := strings.CutSuffix(s, "%")
	r, ok := parseExact(digits)
	if ok && percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	var v float64
	if ok {
		v, _ = r.Float64()
	}
	if !ok || r.Cmp(big.NewRat(1, 1)) > 0 || v == 0 && r.Sign() != 0 {
		return 0, &Error{"rate", s, wantRate}
	}
	return v, nil
}

// ParseNumber reads a finite number of at least 0 that is neither a count nor a
// rate: bits per key, a load, a factor. It takes what ParseRate takes, without
// the limit at 1.
func ParseNumber(s string) (float64, error) {
	digits, percent := strings.CutSuffix(s, "%")
	r, ok := parseExact(digits)
	if ok && percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	var v float64
	if ok {
		v, _ = r.Float64()
	}
	if !ok || math.IsInf(v, 0) || v == 0 && r.Sign() != 0 {
		return 0, &Error{"number", s, "a number of at least 0, such as 9.6, 1e3, 50% or 2^-8"}
	}
	return v, nil
}

const wantBits = "a size in bits or bytes, such as 9586, 1Mbit, 1199B, 64KiB or 1.5GB"

// ParseBits reads the size of a table and returns bits. Without a unit, or with
// bit, kbit, Mbit, Gbit, the number counts bits; with B, kB, MB, GB, TB or KiB,
// MiB, GiB, TiB it counts bytes, and B is needed to say so.
func ParseBits(s string) (uint64, error) {
	digits, unit := splitSuffix(s, bitUnits)
	r, ok := parseExact(digits)
	if ok {
		r.Mul(r, new(big.Rat).SetInt(unit))
		ok = r.IsInt() && r.Num().IsUint64()
	}
	if !ok {
		return 0, &Error{"size", s, wantBits}
	}
	return r.Num().Uint64(), nil
}

// unit is a suffix and what it multiplies by.
type unit struct {
	suffix string
	factor uint64
}

// Longer suffixes stand before those they end in.
var countUnits = []unit{
	{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
}

var bitUnits = []unit{
	{"KiB", 8 << 10}, {"MiB", 8 << 20}, {"GiB", 8 << 30}, {"TiB", 8 << 40},
	{"kB", 8e3}, {"KB", 8e3}, {"MB", 8e6}, {"GB", 8e9}, {"TB", 8e12}, {"B", 8},
	{"kbit", 1e3}, {"Kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"bits", 1}, {"bit", 1},
	{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
}

func splitSuffix(s string, units []unit) (digits string, factor *big.Int) {
	for _, u := range units {
		if digits, ok := strings.CutSuffix(s, u.suffix); ok {
			return digits, new(big.Int).SetUint64(u.factor)
		}
	}
	return s, big.NewInt(1)
}

// parseExact reads an unsigned decimal with optional underscores, fraction and
// exponent, or a power of two whole numbers, without rounding.
func parseExact(s string) (*big.Rat, bool) {
	if base, exp, ok := strings.Cut(s, "^"); ok {
		return parsePower(base, exp)
	}
	mantissa, exp := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exp = s[:i], s[i+1:]
		if !isExponent(exp) {
			return nil, false
		}
	}
	whole, frac, dot := strings.Cut(mantissa, ".")
	if whole == "" && frac == "" || // "", ".", "e6"
		whole != "" && !isDigits(whole, true) ||
		frac != "" && !isDigits(frac, false) ||
		dot && frac == "" { // "1."
		return nil, false
	}
	text := strings.ReplaceAll(mantissa, "_", "")
	if exp != "" {
		text += "e" + exp
	}
	return new(big.Rat).SetString(text)
}

// parsePower reads base^exp of small whole numbers.
func parsePower(base, exp string) (*big.Rat, bool) {
	exp, negative := strings.CutPrefix(exp, "-")
	if !isDigits(base, false) || !isDigits(exp, false) || len(base) > 3 || len(exp) > 4 {
		return nil, false
	}
	b, _ := new(big.Int).SetString(base, 10)
	e, _ := new(big.Int).SetString(exp, 10)
	power := new(big.Rat).SetInt(b.Exp(b, e, nil))
	if negative {
		if power.Sign() == 0 {
			return nil, false
		}
		power.Inv(power)
	}
	return power, true
}

// isExponent allows up to three digits, so that nobody's typing error computes
// a number of a billion digits.
func isExponent(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return len(s) <= 3 && isDigits(s, false)
}

// isDigits reports whether s is digits only, and not empty; with underscores,
// single ones between digits are allowed.
func isDigits(s string, underscores bool) bool {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] >= '0' && s[i] <= '9':
		case s[i] == '_' && underscores && i > 0 && i < len(s)-1 && s[i-1] != '_':
		default:
			return false
		}
	}
	return s != ""
}
