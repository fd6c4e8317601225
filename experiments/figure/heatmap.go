package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatMap is a table of coloured cells with their values written in: hashes in
// rows, key sets in columns.
type HeatMap struct {
	Name, Title, Caption string // as in Chart

	X, Y    string   // what the columns and the rows are
	Columns []string // from the left
	Rows    []string // from the top
	Cells   [][]Cell // [row][column]
	Value   Axis     // the colour scale: label with unit, Log for rates and ratios, range, format
}

// Stem is h.Name.
func (h HeatMap) Stem() string { return h.Name }

// Cell is one value of a HeatMap. A Value that is not finite, or at or below 0
// on a logarithmic scale, gives a grey cell and is counted below the figure;
// beyond a fixed range it takes the colour of the end.
type Cell struct {
	Value float64
	Text  string // written in the cell; "" writes Value to three digits
	// UpperBound says that no event was seen and Value is what the trials
	// exclude, as in Point: the text gets a "≤".
	UpperBound bool
}

const (
	cellHeight   = vg.Length(21)
	minCellWidth = vg.Length(34)
	ramp         = 64          // steps of the colour bar
	slant        = math.Pi / 5 // of column names, where they are
)

func (h HeatMap) sheet(t typeset) (sheet, error) {
	s := sheet{name: h.Name, title: h.Title, caption: h.Caption, width: pageWidth}
	if len(h.Rows) == 0 || len(h.Columns) == 0 {
		return s, ErrEmpty
	}
	if len(h.Cells) != len(h.Rows) {
		return s, fmt.Errorf("cells: %d rows for %d row names", len(h.Cells), len(h.Rows))
	}
	var values []float64
	for i, row := range h.Cells {
		if len(row) != len(h.Columns) {
			return s, fmt.Errorf("cells: row %q has %d values for %d columns", h.Rows[i], len(row), len(h.Columns))
		}
		for _, c := range row {
			values = append(values, c.Value)
		}
	}
	sc, err := settle(h.Value, values, nil)
	if err != nil {
		return s, err
	}
	// The colours span the values exactly: no margin is needed around a bar.
	if lo, hi := sc.extent(values); lo < hi {
		if h.Value.Min == 0 && (h.Value.Log || h.Value.Max == 0) {
			sc.lo = lo
		}
		if h.Value.Max == 0 && (h.Value.Log || h.Value.Min == 0) {
			sc.hi = hi
		}
	}
	var lost tally
	for _, v := range values {
		switch {
		case !drawable(v):
			lost.notFinite++
		case math.IsNaN(sc.at(v)):
			lost.notPositive++
		default:
			lost.drawn++
		}
	}
	if lost.drawn == 0 {
		return s, ErrEmpty
	}
	s.notes = lost.notes()

	label, tick := t.style(labelSize, black), t.style(tickSize, black)
	var left vg.Length
	rowNames := make([][]string, len(h.Rows))
	for i, name := range h.Rows {
		rowNames[i] = wrap(tick, legendWidth, name)
		for _, line := range rowNames[i] {
			left = max(left, tick.Width(line))
		}
	}
	left += 6 + leading(label)
	// The bar is a 10 pt strip with its ticks and its label at the right.
	marks := sc.ticks(chartYTicks)
	var tickWidth vg.Length
	for _, m := range marks {
		tickWidth = max(tickWidth, tick.Width(m.Label))
	}
	right := 10 + 10 + 5 + tickWidth + 4 + leading(label)
	// Columns widen the figure where values need it. Names that are wider than
	// their column are slanted, each ending below its cell: broken within a word they
	// would be hard to read.
	s.width = max(s.width, left+right+2*margin+vg.Length(len(h.Columns))*minCellWidth)
	cellWidth := (s.width - 2*margin - left - right) / vg.Length(len(h.Columns))
	column, deepest := tick, leading(tick)
	column.XAlign = draw.XCenter
	for _, name := range h.Columns {
		if tick.Width(clean(name)) > cellWidth-3 {
			column.XAlign, column.Rotation = draw.XRight, slant
		}
	}
	if column.Rotation != 0 {
		for i, name := range h.Columns {
			w := tick.Width(clean(name))
			deepest = max(deepest, w*vg.Length(math.Sin(slant))+tickSize)
			// The first names must not leave the page at the left.
			left = max(left, w*vg.Length(math.Cos(slant))-(vg.Length(i)+0.5)*minCellWidth)
		}
		s.width = max(s.width, left+right+2*margin+vg.Length(len(h.Columns))*minCellWidth)
		cellWidth = (s.width - 2*margin - left - right) / vg.Length(len(h.Columns))
	}
	below := deepest + 4 + leading(label)
	title := vg.Length(len(wrap(t.bold(titleSize), s.width-2*margin, s.title))) * leading(t.bold(titleSize))
	s.height = max(vg.Length(len(h.Rows))*cellHeight, 90) + below + title + 3*margin

	s.body = func(dc draw.Canvas) {
		box := draw.Crop(dc, left, -right, below, 0)
		high := (box.Max.Y - box.Min.Y) / vg.Length(len(h.Rows))
		for i, row := range h.Cells {
			top := box.Max.Y - vg.Length(i)*high
			tick.XAlign = draw.XRight
			for j, line := range rowNames[i] {
				y := top - high/2 + (vg.Length(len(rowNames[i])-1)/2-vg.Length(j))*leading(tick) - 0.36*tickSize
				t.put(dc, tick, vg.Point{X: box.Min.X - 4, Y: y}, line)
			}
			for j, cell := range row {
				x := box.Min.X + vg.Length(j)*cellWidth
				shade := color.Color(gridGrey)
				if v := sc.at(cell.Value); !math.IsNaN(v) {
					shade = viridis((v - sc.lo) / (sc.hi - sc.lo))
				}
				fillBox(dc, shade, x+0.4, top-high+0.4, x+cellWidth-0.4, top-0.4)
				value := t.style(tickSize, contrast(shade))
				value.XAlign = draw.XCenter
				text := clean(cell.label(h.Value.Format))
				for value.Width(text) > cellWidth-2 && value.Font.Size > 4 {
					value.Font.Size -= 0.25
				}
				t.put(dc, value, vg.Point{X: x + cellWidth/2, Y: top - high/2 - 0.36*value.Font.Size}, text)
			}
		}
		label.XAlign = draw.XCenter
		for i, name := range h.Columns {
			t.put(dc, column, vg.Point{X: box.Min.X + (vg.Length(i)+0.5)*cellWidth, Y: box.Min.Y - 3 - tickSize}, clean(name))
		}
		t.put(dc, label, vg.Point{X: box.Center().X, Y: dc.Min.Y + 0.25*labelSize}, clean(h.X))
		upright := label
		upright.Rotation = math.Pi / 2
		t.put(dc, upright, vg.Point{X: dc.Min.X + 0.8*labelSize, Y: box.Center().Y}, clean(h.Y))

		bar := draw.Crop(draw.Canvas{Canvas: dc.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: box.Max.X + 10, Y: box.Min.Y}, Max: vg.Point{X: box.Max.X + 20, Y: box.Max.Y}}}, 0, 0, 0.4, -0.4)
		for i := range ramp {
			// Each step reaches a little into the next, so that no seam shows.
			fillBox(bar, viridis((float64(i)+0.5)/ramp), bar.Min.X, bar.Y(float64(i)/ramp), bar.Max.X, min(bar.Y(float64(i+1)/ramp)+0.5, bar.Max.Y))
		}
		tick.XAlign = draw.XLeft
		line := draw.LineStyle{Color: black, Width: thinWidth}
		for _, m := range marks {
			f := (m.Value - sc.lo) / (sc.hi - sc.lo)
			if f < -1e-9 || f > 1+1e-9 {
				continue
			}
			y, long := bar.Y(f), vg.Length(3)
			if m.Label == "" {
				long = 1.5
			}
			dc.StrokeLine2(line, bar.Max.X, y, bar.Max.X+long, y)
			t.put(dc, tick, vg.Point{X: bar.Max.X + 5, Y: y - 0.36*tickSize}, m.Label)
		}
		t.put(dc, upright, vg.Point{X: dc.Max.X - 0.3*labelSize, Y: box.Center().Y}, clean(h.Value.Label))
	}
	return s, nil
}

// label is what stands in a cell.
func (c Cell) label(f Format) string {
	text := c.Text
	switch {
	case text != "":
	case !drawable(c.Value):
		text = "–"
	default:
		text = threeDigits(c.Value, f)
	}
	if c.UpperBound {
		return "≤" + text
	}
	return text
}

// threeDigits writes a value to three significant digits, trailing zeros included: they
// were measured.
func threeDigits(v float64, f Format) string {
	s := strconv.FormatFloat(v, 'e', 2, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	m, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64)
	d := decimal{m, e - 2}
	if f == Percent {
		d.e += 2
		return d.plain() + "%"
	}
	if f == Power || m != 0 && (e < -3 || e > 4) {
		return d.power()
	}
	return d.plain()
}

// viridis is the colour at a fraction of the map of that name (van der Walt and
// Smith, 2015), linear between nine of its colours: even in lightness, so that it
// reads in grey and for the colour-blind.
func viridis(f float64) color.RGBA {
	stops := [...]color.RGBA{
		{0x44, 0x01, 0x54, 255}, {0x47, 0x2D, 0x7B, 255}, {0x3B, 0x52, 0x8B, 255},
		{0x2C, 0x72, 0x8E, 255}, {0x21, 0x91, 0x8C, 255}, {0x28, 0xAE, 0x80, 255},
		{0x5E, 0xC9, 0x62, 255}, {0xAD, 0xDC, 0x30, 255}, {0xFD, 0xE7, 0x25, 255},
	}
	at := min(max(f, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (at-float64(i))*(float64(b)-float64(a)))) }
	a, b := stops[i], stops[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// contrast is black or white, whichever reads better on a colour.
func contrast(on color.Color) color.Color {
	if color.GrayModel.Convert(on).(color.Gray).Y > 115 {
		return black
	}
	return color.White
}

// fillBox fills a rectangle.
func fillBox(c draw.Canvas, clr color.Color, x0, y0, x1, y1 vg.Length) {
	c.FillPolygon(clr, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}
