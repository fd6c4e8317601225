package units

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// I11: numbers as people type them are exact, or an error that quotes them.
func TestI11_CountsAsTyped(t *testing.T) {
	for _, c := range []struct {
		in   string
		want uint64
	}{
		{"0", 0}, {"1", 1}, {"007", 7},
		{"1e6", 1_000_000}, {"1E6", 1_000_000}, {"1e+6", 1_000_000}, {"1_000_000", 1_000_000}, {"1M", 1_000_000},
		{"1e3", 1000}, {"1e10", 10_000_000_000}, // read as 1 and as 2410 elsewhere
		{"1.5k", 1500}, {"1.5K", 1500}, {".5M", 500_000}, {"2G", 2_000_000_000}, {"1T", 1_000_000_000_000},
		{"100e-2", 1}, {"2^20", 1 << 20}, {"2^63", 1 << 63}, {"10^6", 1_000_000}, {"3^0", 1},
		{"9223372036854775808", 1 << 63}, {"18446744073709551615", math.MaxUint64},
		{"1.8446744073709551615e19", math.MaxUint64}, // a float64 would round it to 2^64
		{"9007199254740993", 1<<53 + 1},              // and this one to 2^53
	} {
		if got, err := ParseCount(c.in); err != nil || got != c.want {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", " ", "1,000,000", "0.5", "1.5", "1e-1", "-1", "+1", "nan", "NaN", "inf", "Infinity", "1 000", " 1", "1 ",
		"0x10", "0b1", "0o7", "1e", "e6", "1e6e6", "1e+", ".", "1.", "1._5", "_1", "1_", "1__0", "1.5.2", "1/2", "1m", "1kk", "1%", "k", "M",
		"18446744073709551616", "2^64", "1e20", "1e400", "1e1000000000", "2^-1", "0^-1", "2^", "^2", "-2^2", "2^1e3", "2^99999", "1e6\n", "١",
	} {
		got, err := ParseCount(in)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("ParseCount(%q) = %d, %v; want an *Error", in, got, err)
		} else if !strings.Contains(err.Error(), strconv.Quote(in)) {
			t.Errorf("ParseCount(%q): %v does not quote the value", in, err)
		}
	}
}

func TestI11_RatesAsTyped(t *testing.T) {
	for _, c := range []struct {
		in   string
		want float64
	}{
		{"0.01", 0.01}, {".01", 0.01}, {"1%", 0.01}, {"0.1%", 0.001}, {"7%", 0.07}, {"33.3%", 0.333}, {"1e-6", 1e-6}, {"1E-06", 1e-6}, {"2^-8", 1.0 / 256},
		{"2^-64", 0x1p-64}, {"0", 0}, {"0%", 0}, {"1", 1}, {"100%", 1}, {"1e-2%", 1e-4},
	} {
		if got, err := ParseRate(c.in); err != nil || got != c.want {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "%", "0,01", "nan", "NaN", "inf", "-0.1", "-1%", "+0.1", "1.0000001", "101%", "2", "1e6", "1%%", "% 1", "1 %", "1e-400", "0x1p-3", "2^8", "1/256", "1M"} {
		if got, err := ParseRate(in); err == nil || !strings.Contains(err.Error(), strconv.Quote(in)) {
			t.Errorf("ParseRate(%q) = %v, %v; want an error that quotes it", in, got, err)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for in, want := range map[string]float64{"9.6": 9.6, "4": 4, "0": 0, "150%": 1.5, "1e3": 1000, "2^-1": 0.5, "1_000.5": 1000.5} {
		if got, err := ParseNumber(in); err != nil || got != want {
			t.Errorf("ParseNumber(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-1", "nan", "inf", "9,6", "1e309", "1e-400", "x"} {
		if got, err := ParseNumber(in); err == nil || !strings.Contains(err.Error(), strconv.Quote(in)) {
			t.Errorf("ParseNumber(%q) = %v, %v; want an error that quotes it", in, got, err)
		}
	}
}

func TestParseBits(t *testing.T) {
	for in, want := range map[string]uint64{
		"9586": 9586, "9586bits": 9586, "1bit": 1, "1e6": 1_000_000, "1M": 1_000_000, "1Mbit": 1_000_000, "1.5kbit": 1500,
		"1199B": 9592, "64KiB": 1 << 19, "1MiB": 1 << 23, "1.5GB": 12_000_000_000, "2^20B": 1 << 23, "0.5B": 4, "1TiB": 1 << 43, "2kB": 16_000,
	} {
		if got, err := ParseBits(in); err != nil || got != want {
			t.Errorf("ParseBits(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "B", "-1B", "0.5", "0.1B", "1Mb", "1mb", "1 MiB", "1e30B", "nanB", "1BB"} {
		if got, err := ParseBits(in); err == nil || !strings.Contains(err.Error(), strconv.Quote(in)) {
			t.Errorf("ParseBits(%q) = %d, %v; want an error that quotes it", in, got, err)
		}
	}
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 1: "1", 10: "10", 100: "100", 1000: "1e3", 1200: "1200", 15000: "15000", 150000: "1.5e5", 1_000_000: "1e6", 958506: "958506", math.MaxUint64: "18446744073709551615",
	} {
		if got := FormatCount(n); got != want {
			t.Errorf("FormatCount(%d) = %q, want %q", n, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := rng.Uint64() >> rng.IntN(64) / 1000 * 1000
		if got, err := ParseCount(FormatCount(n)); err != nil || got != n {
			t.Fatalf("ParseCount(FormatCount(%d)) = %d, %v", n, got, err)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1199: "1.17 KiB", 1 << 20: "1 MiB", 1023 << 10: "0.999 MiB", 512 << 20: "512 MiB", 1 << 40: "1 TiB", math.MaxUint64: "16 EiB",
	} {
		if got := FormatBytes(n); got != want {
			t.Errorf("FormatBytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1e6", "1_000", "2^-8", "1%", "nan", "1e999", "1.5k", "64KiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseCount(s); err == nil {
			if back, err := ParseCount(FormatCount(n)); err != nil || back != n {
				t.Errorf("%q: %d came back as %d, %v", s, n, back, err)
			}
		}
		if p, err := ParseRate(s); err == nil && !(p >= 0 && p <= 1) {
			t.Errorf("%q: rate %v", s, p)
		}
		if b, err := ParseBits(s); err == nil {
			if n, err := ParseCount(s); err == nil && n != b {
				t.Errorf("%q: %d bits and count %d", s, b, n)
			}
		}
	})
}

// Fuzzing the reader of numbers against strconv: where both take a text, they agree on
// what it is, to the bit; and nothing is taken that has a sign, a space, or letters
// that are no unit.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1e6", "1_000_000", "1,000,000", "1M", "0.5", "-1", "9223372036854775808", "18446744073709551616", "1%", "0,01", "nan", "inf", "+1", " 1", "1 ", "0x10", "1e-400", "1e400",
		".5", "5.", "1__0", "_1", "1_", "1.5e3", "1e+3", "2^-8", "0^-1", "2^64", "999^9999", "64KiB", "1.5B", "4.9406564584124654e-324", "1e", "e1", "%", "1%%", "\xd9\xa1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		number, err := ParseNumber(s)
		if err == nil {
			if math.IsNaN(number) || math.IsInf(number, 0) || number < 0 {
				t.Errorf("ParseNumber(%q) = %v", s, number)
			}
			if strings.ContainsAny(s, " \t\n,+") && !strings.Contains(s, "e+") && !strings.Contains(s, "E+") {
				t.Errorf("ParseNumber takes %q", s)
			}
			if want, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64); err == nil && want != number {
				t.Errorf("ParseNumber(%q) = %v, strconv says %v", s, number, want)
			}
			if !strings.ContainsAny(s, "0123456789") {
				t.Errorf("ParseNumber takes %q, which has no digit", s)
			}
		} else if want, serr := strconv.ParseFloat(s, 64); serr == nil && isPlain(s) && !math.IsInf(want, 0) && want != 0 {
			t.Errorf("ParseNumber refuses %q, which is %v: %v", s, want, err)
		}
		if p, err := ParseRate(s); err == nil && (number != p || p > 1) {
			t.Errorf("ParseRate(%q) = %v, ParseNumber %v", s, p, number)
		}
		if n, err := ParseCount(s); err == nil {
			if want, err := strconv.ParseUint(s, 10, 64); err == nil && n != want {
				t.Errorf("ParseCount(%q) = %d", s, n)
			}
		} else if _, serr := strconv.ParseUint(s, 10, 64); serr == nil {
			t.Errorf("ParseCount refuses %q: %v", s, err)
		}
	})
}

// isPlain reports whether s is digits with at most one point between them.
func isPlain(s string) bool {
	whole, frac, dot := strings.Cut(s, ".")
	return isDigits(whole, false) && (!dot || isDigits(frac, false))
}
