package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// labelled are the labels of an axis over a range of values.
func labelled(t *testing.T, a Axis, lo, hi float64, limit int) []string {
	t.Helper()
	a.Min, a.Max = lo, hi
	s, err := settle(a, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tick := range s.ticks(limit) {
		if tick.Label != "" {
			out = append(out, tick.Label)
		}
	}
	return out
}

func TestTickLabels(t *testing.T) {
	for _, c := range []struct {
		axis   Axis
		lo, hi float64
		limit  int
		want   string
	}{
		{Axis{Log: true}, 1e-4, 1, 8, "10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1"},
		{Axis{Log: true}, 1e-3, 10, 8, "0.001 0.01 0.1 1 10"},
		{Axis{Log: true}, 1e3, 1e8, 8, "10³ 10⁴ 10⁵ 10⁶ 10⁷ 10⁸"},
		{Axis{Log: true}, 1e-12, 1, 5, "10⁻¹² 10⁻⁹ 10⁻⁶ 10⁻³ 1"},
		{Axis{Log: true, Format: Percent}, 1e-5, 1e-1, 8, "0.001% 0.01% 0.1% 1% 10%"},
		{Axis{Log: true, Format: Power}, 1, 1000, 8, "1 10 10² 10³"},
		{Axis{Log: true}, 0.1, 4, 8, "0.1 0.2 0.5 1 2"},
		{Axis{Log: true}, 2, 8, 8, "2 3 4 5 6 7 8"},
		{Axis{Log: true}, 3e-7, 9e-7, 8, "3×10⁻⁷ 4×10⁻⁷ 5×10⁻⁷ 6×10⁻⁷ 7×10⁻⁷ 8×10⁻⁷ 9×10⁻⁷"},
		{Axis{Log: true}, 1.02, 1.08, 8, "1.02 1.03 1.04 1.05 1.06 1.07 1.08"},
		{Axis{Log: true, Ticks: []float64{0.1, 0.25, 1, 4, 99}}, 0.1, 4, 8, "0.1 0.25 1 4"},
		{Axis{}, 0, 21, 5, "0 5 10 15 20"},
		{Axis{}, 0, 0.3, 8, "0 0.05 0.10 0.15 0.20 0.25 0.30"},
		{Axis{}, -2, 2, 5, "−2 −1 0 1 2"},
		{Axis{}, 0, 4e6, 5, "0 10⁶ 2×10⁶ 3×10⁶ 4×10⁶"},
		{Axis{Format: Percent}, 0, 0.02, 5, "0% 0.5% 1.0% 1.5% 2.0%"},
	} {
		if got := strings.Join(labelled(t, c.axis, c.lo, c.hi, c.limit), " "); got != c.want {
			t.Errorf("%+v from %v to %v, at most %d: %q, want %q", c.axis, c.lo, c.hi, c.limit, got, c.want)
		}
	}
}

// parseLabel reads a label back as the number it shows.
func parseLabel(t *testing.T, s string) float64 {
	t.Helper()
	raised := strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")
	s = strings.ReplaceAll(s, "−", "-")
	factor, power, times := strings.Cut(s, "×")
	if !times {
		if i := strings.IndexAny(s, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"); i > 0 {
			factor, power = strings.TrimSuffix(s[:i], "10")+"1", s
		}
	}
	exponent := "0"
	if power != "" {
		exponent = raised.Replace(strings.TrimPrefix(strings.TrimPrefix(power, "-"), "10"))
		if exponent == "" {
			exponent = "1"
		}
	}
	v, err := strconv.ParseFloat(factor+"e"+exponent, 64)
	if err != nil {
		t.Fatalf("label %q: %v", s, err)
	}
	return v
}

// Over random ranges of every size: at least two labels, not many more than asked for, all
// different, each at the value it names, in order and inside the axis.
func TestTicksNameTheirPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		log, limit := i%2 == 0, 5+i%4
		lo := math.Pow(10, rng.Float64()*40-20)
		hi := lo * math.Pow(10, math.Pow(10, rng.Float64()*6-4)) // from 0.02% to 100 decades more
		if !log && i%4 == 1 {
			lo = -lo
		}
		s, err := settle(Axis{Log: log, Min: lo, Max: hi}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		last := math.Inf(-1)
		for _, tick := range s.ticks(limit) {
			if !s.holds(tick.Value) {
				t.Fatalf("%v to %v: tick at %v outside", lo, hi, tick.Value)
			}
			if tick.Label == "" {
				continue
			}
			v := parseLabel(t, tick.Label)
			if c := s.at(v); math.Abs(c-tick.Value) > 1e-12*max(1, math.Abs(c)) {
				t.Fatalf("%v to %v: %q at %v, not at %v", lo, hi, tick.Label, tick.Value, c)
			}
			if tick.Value <= last || slices.Contains(labels, tick.Label) {
				t.Fatalf("%v to %v: %q after %v", lo, hi, tick.Label, labels)
			}
			last = tick.Value
			labels = append(labels, tick.Label)
		}
		if len(labels) < 2 || len(labels) > limit {
			t.Fatalf("log=%v, %v to %v, at most %d: labels %v", log, lo, hi, limit, labels)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		d            decimal
		plain, power string
	}{
		{decimal{0, 0}, "0", "0"},
		{decimal{1, -3}, "0.001", "10⁻³"},
		{decimal{25, -1}, "2.5", "2.5"},
		{decimal{-25, 2}, "−2500", "−2.5×10³"},
		{decimal{20, -2}, "0.20", "2×10⁻¹"},
		{decimal{1, 1}, "10", "10"},
		{decimal{-1, 12}, "−1000000000000", "−10¹²"},
		{decimal{102, -8}, "0.00000102", "1.02×10⁻⁶"},
	} {
		if got := c.d.plain(); got != c.plain {
			t.Errorf("%v plain: %q, want %q", c.d, got, c.plain)
		}
		if got := c.d.power(); got != c.power {
			t.Errorf("%v as power: %q, want %q", c.d, got, c.power)
		}
	}
	for _, v := range []float64{0, 1, 0.1, 0.25, 3e-7, 1e300, -12.5, 5e-324, math.Pi} {
		if got := shortest(v).value(); got != v {
			t.Errorf("shortest(%v) is %v", v, got)
		}
	}
}
