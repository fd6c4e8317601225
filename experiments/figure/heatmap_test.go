package figure

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

// A cell's colour is the place of its value between the least and the greatest,
// on the logarithmic scale asked for: 1 of 0.1 ... 10 is the middle.
func TestHeatMapColours(t *testing.T) {
	h := HeatMap{
		Name: "h", Title: "t", X: "x", Y: "y", Rows: []string{"r"}, Columns: []string{"a", "b", "c", "d", "e"},
		Cells: [][]Cell{{{Value: 0.1}, {Value: 1}, {Value: 10}, {Value: math.NaN()}, {Value: 0, Text: "none"}}},
		Value: Axis{Label: "ratio", Log: true},
	}
	d := drawn(t, h)
	for _, c := range []struct {
		f    float64
		text string
	}{{0, "0.100"}, {0.5, "1.00"}, {1, "10.0"}} {
		want := viridis(c.f)
		hex := fmt.Sprintf("fill:#%02X%02X%02X", want.R, want.G, want.B)
		cells := 0
		for _, p := range d.styled(hex) {
			if p.corner == 3 && p.xs[1]-p.xs[0] > 30 { // wider than the colour bar
				cells++
			}
		}
		if cells != 1 || len(d.text(c.text)) != 1 {
			t.Errorf("%s: %d cells of its colour %s, %d texts", c.text, cells, hex, len(d.text(c.text)))
		}
	}
	grey := 0
	for _, p := range d.styled("fill:#E1E1E1") {
		grey += p.moves
	}
	if grey != 2 || len(d.text("–")) != 1 || len(d.text("none")) != 1 {
		t.Errorf("%d grey cells, texts %q", grey, d.all())
	}
	if len(d.text("Not drawn: 1 value that is not finite; 1 value at or below 0 on a logarithmic axis.")) != 1 {
		t.Errorf("no note in %q", d.all())
	}
	// Equal values have no span; they must not divide by it.
	h.Cells = [][]Cell{{{Value: 2}, {Value: 2}, {Value: 2}, {Value: 2}, {Value: 2}}}
	drawn(t, h)
}

// Lightness rises along the map, so that order survives print in grey, and the text of a
// cell keeps a contrast of at least 3 (WCAG 2, 1.4.11) against every colour.
func TestViridisReadsInGrey(t *testing.T) {
	luminance := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		lin := func(v uint32) float64 { return math.Pow(float64(v)/0xffff, 2.2) }
		return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
	}
	last := -1.0
	for i := range 101 {
		c := viridis(float64(i) / 100)
		l := luminance(c)
		if l <= last {
			t.Errorf("lightness falls at %d%%", i)
		}
		last = l
		ink := luminance(contrast(c))
		if ratio := (max(l, ink) + 0.05) / (min(l, ink) + 0.05); ratio < 3 {
			t.Errorf("contrast %.2f at %d%%", ratio, i)
		}
	}
	if viridis(-1) != viridis(0) || viridis(2) != viridis(1) {
		t.Error("values beyond a fixed range have no colour")
	}
}

func TestCellText(t *testing.T) {
	for _, c := range []struct {
		cell Cell
		f    Format
		want string
	}{
		{Cell{Value: 1}, Auto, "1.00"},
		{Cell{Value: 0.99449}, Auto, "0.994"},
		{Cell{Value: 0.99951}, Auto, "1.00"},
		{Cell{Value: 1234.5}, Auto, "1230"},
		{Cell{Value: 3.14159e-7}, Auto, "3.14×10⁻⁷"},
		{Cell{Value: 6e8}, Auto, "6×10⁸"},
		{Cell{Value: 0.0906}, Percent, "9.06%"},
		{Cell{Value: 0}, Auto, "0"},
		{Cell{Value: -2.5}, Auto, "−2.50"},
		{Cell{Value: 3e-4, UpperBound: true}, Percent, "≤0.0300%"},
		{Cell{Value: math.Inf(1)}, Auto, "–"},
		{Cell{Value: 1, Text: "agree"}, Auto, "agree"},
	} {
		if got := c.cell.label(c.f); got != c.want {
			t.Errorf("%+v: %q, want %q", c.cell, got, c.want)
		}
	}
}
