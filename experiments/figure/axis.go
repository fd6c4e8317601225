package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// scale is an axis with its range settled, in drawing coordinates: the value
// itself, or log10 of the value on a logarithmic axis. Drawing log10 on linear axes
// avoids plot.LogScale, which panics at values ≤ 0 wherever they come from.
type scale struct {
	Axis
	lo, hi float64
}

// at maps a value to drawing coordinates; NaN for what has no place there.
func (s scale) at(v float64) float64 {
	switch {
	case !drawable(v):
		return math.NaN()
	case !s.Log:
		return v
	case v <= 0:
		return math.NaN()
	}
	return math.Log10(v)
}

// holds says whether a drawing coordinate lies on the axis; NaN does not.
func (s scale) holds(v float64) bool {
	slack := 1e-9 * (s.hi - s.lo)
	return v >= s.lo-slack && v <= s.hi+slack
}

// settle finds the range of an axis. Values without a place on it are ignored.
func settle(a Axis, measured, theory []float64) (scale, error) {
	s := scale{Axis: a}
	if !drawable(a.Min) || !drawable(a.Max) || a.Log && (a.Min < 0 || a.Max < 0) {
		return s, fmt.Errorf("axis %q: range %v to %v cannot be drawn", a.Label, a.Min, a.Max)
	}
	lo, hi := s.extent(measured)
	tlo, thi := s.extent(theory)
	switch {
	case lo > hi: // nothing measured
		lo, hi = tlo, thi
	case a.Log:
		// Formulas reach rates that no run can measure; one decade shows where
		// they are heading without squeezing the data.
		lo, hi = min(lo, max(tlo, lo-1)), max(hi, min(thi, hi+1))
	default:
		lo, hi = min(lo, tlo), max(hi, thi)
	}
	fixedLo := a.Min != 0 || !a.Log && a.Max != 0
	fixedHi := a.Max != 0 || !a.Log && a.Min != 0
	if lo > hi && !(fixedLo && fixedHi) {
		return s, ErrEmpty
	}
	switch {
	case fixedLo && fixedHi:
	case hi-lo > 1e-6*s.magnitude(lo, hi):
		pad := 0.04 * (hi - lo)
		if !a.Log && lo >= 0 && lo < 0.3*hi {
			lo = 0 // a linear axis that nearly reaches zero shows it
		} else {
			lo -= pad
		}
		hi += pad
	case a.Log:
		lo, hi = lo-1, hi+1 // equal values: a tenth to ten times
	case lo == 0 && hi == 0:
		lo, hi = -1, 1
	default:
		lo, hi = min(0, 2*lo), max(0, 2*hi)
	}
	if fixedLo {
		lo = s.at(a.Min)
	}
	if fixedHi {
		hi = s.at(a.Max)
	}
	if !(lo < hi) {
		return s, fmt.Errorf("axis %q: empty range %v to %v", a.Label, a.Min, a.Max)
	}
	s.lo, s.hi = lo, hi
	return s, nil
}

// magnitude is what a range is compared with to call its ends equal: log10 already
// measures ratios.
func (s scale) magnitude(lo, hi float64) float64 {
	if s.Log {
		return 1
	}
	return max(math.Abs(lo), math.Abs(hi))
}

// extent is the smallest range of drawing coordinates around the values; lo > hi
// if there is none.
func (s scale) extent(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if c := s.at(v); !math.IsNaN(c) {
			lo, hi = min(lo, c), max(hi, c)
		}
	}
	return lo, hi
}

// decimal is the exact number m × 10^e. Ticks are kept so because 3×0.1 is
// not 0.3 in binary.
type decimal struct {
	m int64
	e int
}

func (d decimal) value() float64 {
	v, err := strconv.ParseFloat(fmt.Sprintf("%de%d", d.m, d.e), 64)
	if err != nil { // out of float64's range, so beyond any axis
		return math.NaN()
	}
	return v
}

// plain writes d without an exponent, keeping the zeros that its step asks for.
func (d decimal) plain() string {
	digits := strconv.FormatInt(d.m, 10)
	sign := ""
	if d.m < 0 {
		sign, digits = "−", digits[1:]
	}
	switch {
	case d.m == 0:
		return "0"
	case d.e >= 0:
		return sign + digits + strings.Repeat("0", d.e)
	}
	if missing := -d.e + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) + d.e
	return sign + digits[:point] + "." + digits[point:]
}

// power writes d as a power of ten, with a factor where there is one.
func (d decimal) power() string {
	if d.m == 0 {
		return "0"
	}
	m, e := d.m, d.e
	for m%10 == 0 {
		m, e = m/10, e+1
	}
	digits := strconv.FormatInt(max(m, -m), 10)
	e += len(digits) - 1
	ten := "10" + superscript(e)
	switch e {
	case 0:
		ten = "1"
	case 1:
		ten = "10"
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	switch {
	case e == 0:
		ten = digits
	case digits != "1":
		ten = digits + "×" + ten
	}
	if m < 0 {
		return "−" + ten
	}
	return ten
}

// superscript writes an exponent with the raised digits and minus that DejaVu has.
func superscript(e int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(e))
}

// ticks are the marks of an axis, at most about limit of them labelled and
// never fewer than two: one label alone gives no scale.
func (s scale) ticks(limit int) []plot.Tick {
	var major, minor []decimal
	switch {
	case s.Ticks != nil:
		for _, v := range s.Ticks {
			if s.holds(s.at(v)) {
				major = append(major, shortest(v))
			}
		}
	case s.Log:
		major, minor = s.decades(limit)
	default:
		major = steps(s.lo, s.hi, limit)
	}
	names := labels(major, s.Format)
	out := make([]plot.Tick, 0, len(major)+len(minor))
	for i, d := range major {
		out = append(out, plot.Tick{Value: s.at(d.value()), Label: names[i]})
	}
	for _, d := range minor {
		if v := s.at(d.value()); s.holds(v) {
			out = append(out, plot.Tick{Value: v})
		}
	}
	return out
}

// decades finds the labelled and the bare ticks of a logarithmic axis.
func (s scale) decades(limit int) (major, minor []decimal) {
	first, last := int(math.Floor(s.lo)), int(math.Ceil(s.hi))
	pick := func(stride int, factors ...int64) (ds []decimal) {
		for e := first; e <= last; e++ {
			if e%stride != 0 {
				continue
			}
			for _, m := range factors {
				if d := (decimal{m, e}); s.holds(s.at(d.value())) {
					ds = append(ds, d)
				}
			}
		}
		return ds
	}
	all := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	major = pick(1, 1)
	if len(major) > limit {
		stride := (len(major) + limit - 1) / limit
		if stride > 10 {
			return pick(stride, 1), nil
		}
		return pick(stride, 1), pick(1, 1)
	}
	if len(major) > limit/2+1 { // finer ticks would be a blur
		return major, nil
	}
	minor = pick(1, all...)
	if len(major) >= 3 {
		return major, minor
	}
	if fine := pick(1, 1, 2, 5); len(fine) <= limit {
		major = fine
	}
	if len(major) < 3 {
		if fine := pick(1, all...); len(fine) <= limit && len(fine) > len(major) {
			major = fine
		}
	}
	if len(major) < 2 { // a sliver of a decade is nearly linear
		return steps(math.Pow(10, s.lo), math.Pow(10, s.hi), limit), nil
	}
	return major, minor
}

// steps are the multiples of 1, 2 or 5 times a power of ten within a range.
func steps(lo, hi float64, limit int) []decimal {
	e := int(math.Floor(math.Log10((hi - lo) / float64(limit))))
	for i := range 6 {
		m := []int64{1, 2, 5}[i%3]
		if i == 3 {
			e++
		}
		step := decimal{m, e}.value()
		first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
		if last-first+1 > float64(limit) {
			continue
		}
		var ds []decimal
		for i := first; i <= last; i++ {
			ds = append(ds, decimal{int64(i) * m, e})
		}
		return ds
	}
	return nil
}

// shortest is the decimal with the fewest digits that reads as v.
func shortest(v float64) decimal {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	whole, part, _ := strings.Cut(mantissa, ".")
	m, _ := strconv.ParseInt(whole+part, 10, 64)
	return decimal{m, e - len(part)}
}

// labels writes ticks in one manner for the whole axis.
func labels(ds []decimal, f Format) []string {
	out := make([]string, len(ds))
	long := f == Power
	for i, d := range ds {
		if f == Percent {
			out[i] = decimal{d.m, d.e + 2}.plain() + "%"
			continue
		}
		out[i] = d.plain()
		long = long || len(out[i]) > 5
	}
	if long {
		for i, d := range ds {
			out[i] = d.power()
		}
	}
	return out
}
