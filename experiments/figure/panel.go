package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ink draws the data of one panel inside its axes; it is the plot.Plotter behind
// every Chart and panel.
type ink struct {
	Panel
	t      typeset
	looks  []look // of Series, index by index
	x, y   scale
	across vg.Length // a low guess of the frame's width, to keep VLine labels apart
}

// styles gives every series its look. Series of one name share it; styles named
// by the caller are not given to others.
func styles(panels []Panel) [][]look {
	byName, taken := map[string]int{}, map[int]bool{}
	for _, p := range panels {
		for _, s := range p.Series {
			if s.Style != 0 {
				byName[s.Name] = s.Style
				taken[s.Style] = true
			}
		}
	}
	next := 1
	out := make([][]look, len(panels))
	for i, p := range panels {
		for _, s := range p.Series {
			style := s.Style
			if style == 0 {
				style = byName[s.Name]
			}
			if style == 0 {
				for taken[next] {
					next++
				}
				style = next
				byName[s.Name], taken[style] = style, true
			}
			if style < 0 {
				out[i] = append(out[i], referenceLook())
			} else {
				out[i] = append(out[i], lookOf(style-1))
			}
		}
	}
	return out
}

// inks settles the axes of panels that share them.
func inks(t typeset, x, y Axis, panels []Panel, across vg.Length) ([]ink, []string, error) {
	// Only whole points count for a range: a point without a place on one
	// axis must not stretch the other.
	var mx, my, tx, ty []float64
	sx, sy := scale{Axis: x}, scale{Axis: y}
	for _, p := range panels {
		for _, s := range p.Series {
			for _, pt := range s.Points {
				switch {
				case math.IsNaN(sx.at(pt.X)) || math.IsNaN(sy.at(pt.Y)):
				case s.Theory:
					tx, ty = append(tx, pt.X), append(ty, pt.Y)
				default:
					mx, my = append(mx, pt.X), append(my, pt.Y)
					if pt.barred() {
						my = append(my, pt.Lo, pt.Hi)
					}
				}
			}
		}
		for _, l := range p.HLines {
			ty = append(ty, l.At)
		}
	}
	if len(mx)+len(tx) == 0 {
		return nil, nil, ErrEmpty
	}
	sx, err := settle(x, mx, tx)
	if err != nil {
		return nil, nil, err
	}
	sy, err = settle(y, my, ty)
	if err != nil {
		return nil, nil, err
	}
	var out []ink
	var lost tally
	looks := styles(panels)
	for i, p := range panels {
		k := ink{Panel: p, t: t, looks: looks[i], x: sx, y: sy, across: across}
		k.count(&lost)
		out = append(out, k)
	}
	if lost.drawn == 0 {
		return nil, nil, ErrEmpty
	}
	return out, lost.notes(), nil
}

// barred says whether the point has an interval that can be drawn.
func (pt Point) barred() bool {
	return (pt.Lo != 0 || pt.Hi != 0) && !pt.UpperBound && drawable(pt.Lo) && drawable(pt.Hi) && pt.Lo <= pt.Hi
}

// tally counts what a figure shows and what it leaves out.
type tally struct{ drawn, notFinite, notPositive, outside, intervals, lines, marks int }

func (k ink) count(n *tally) {
	for _, s := range k.Series {
		for _, pt := range s.Points {
			x, y := k.x.at(pt.X), k.y.at(pt.Y)
			switch {
			case !drawable(pt.X) || !drawable(pt.Y):
				n.notFinite++
			case math.IsNaN(x) || math.IsNaN(y):
				n.notPositive++
			case k.x.holds(x) && k.y.holds(y):
				n.drawn++
			case !s.Theory: // a line leaving its frame says so itself
				n.outside++
			}
			if (pt.Lo != 0 || pt.Hi != 0) && !pt.UpperBound && !s.Theory && !pt.barred() {
				n.intervals++
			}
		}
	}
	for _, l := range k.VLines {
		if !k.x.holds(k.x.at(l.At)) {
			n.lines++
		}
	}
	for _, l := range k.HLines {
		if !k.y.holds(k.y.at(l.At)) {
			n.lines++
		}
	}
	for _, m := range k.Marks {
		if !k.x.holds(k.x.at(m.X)) || !k.y.holds(k.y.at(m.Y)) {
			n.marks++
		}
	}
}

func (n tally) notes() (notes []string) {
	add := func(count int, one, many string) {
		switch {
		case count == 1:
			notes = append(notes, "1 "+one)
		case count > 1:
			notes = append(notes, fmt.Sprintf("%d %s", count, many))
		}
	}
	add(n.notFinite, "value that is not finite", "values that are not finite")
	add(n.notPositive, "value at or below 0 on a logarithmic axis", "values at or below 0 on a logarithmic axis")
	add(n.outside, "value outside the axes", "values outside the axes")
	add(n.intervals, "interval without finite, ordered ends", "intervals without finite, ordered ends")
	add(n.lines, "reference line outside the axes", "reference lines outside the axes")
	add(n.marks, "ring outside the axes", "rings outside the axes")
	return notes
}

// plot makes the axes around the ink, with at most about so many labelled ticks each.
func (k ink) plot(xTicks, yTicks int) *plot.Plot {
	p := plot.New()
	p.TextHandler = k.t.handler
	p.Title.Text = clean(k.Title)
	p.Title.TextStyle = k.t.style(labelSize, black)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 3
	for _, a := range []struct {
		*plot.Axis
		scale
		limit int
		pad   vg.Length
	}{{&p.X, k.x, xTicks, 3}, {&p.Y, k.y, yTicks, 2}} {
		a.Axis.Min, a.Axis.Max = a.lo, a.hi
		if a.scale.Reversed {
			a.Axis.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
		}
		a.Axis.Padding = 0 // the ranges are padded, and ticks touch the frame
		a.Axis.Label.Text = clean(a.scale.Label)
		label := k.t.style(labelSize, black)
		label.XAlign, label.YAlign = draw.XCenter, draw.YBottom
		a.Axis.Label.TextStyle = label
		a.Axis.Label.Padding = a.pad
		tick := k.t.style(tickSize, black)
		tick.XAlign, tick.YAlign = a.Axis.Tick.Label.XAlign, a.Axis.Tick.Label.YAlign
		a.Axis.Tick.Label = tick
		a.Axis.Tick.Length = 3
		a.Axis.Tick.Marker = plot.ConstantTicks(a.ticks(a.limit))
	}
	grid := draw.LineStyle{Color: gridGrey, Width: gridWidth}
	p.Add(&plotter.Grid{Vertical: grid, Horizontal: grid}, k)
	return p
}

// Plot implements plot.Plotter: reference lines below, theory above them, then
// marks, so that no measurement hides behind a formula.
func (k ink) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	place := func(x, y float64) (pt vg.Point, ok bool) {
		cx, cy := k.x.at(x), k.y.at(y)
		return vg.Point{X: tx(cx), Y: ty(cy)}, !math.IsNaN(cx) && !math.IsNaN(cy)
	}
	k.references(c, p)
	for i, s := range k.Series {
		if !s.Theory && !s.Join {
			continue
		}
		style := draw.LineStyle{Color: k.looks[i].colour, Width: lineWidth, Dashes: k.looks[i].dash}
		if s.Join {
			style.Width = thinWidth
		}
		// A value without a place breaks the line: bridging it would draw a
		// value that the formula does not give.
		var run []vg.Point
		flush := func() {
			if len(run) == 1 { // a lone value is a dash
				run = []vg.Point{{X: run[0].X - 4, Y: run[0].Y}, {X: run[0].X + 4, Y: run[0].Y}}
			}
			c.StrokeLines(style, c.ClipLinesXY(run)...)
			run = nil
		}
		for _, pt := range s.Points {
			if at, ok := place(pt.X, pt.Y); ok {
				run = append(run, at)
			} else {
				flush()
			}
		}
		flush()
	}
	// Equal trials give equal upper bounds: those at one place are fanned out
	// around it, or only the last series would seem to have seen nothing.
	same, fanned := map[vg.Point]int{}, map[vg.Point]int{}
	for _, s := range k.Series {
		for _, pt := range s.Points {
			if at, ok := place(pt.X, pt.Y); ok && pt.UpperBound && !s.Theory {
				same[at]++
			}
		}
	}
	for i, s := range k.Series {
		if s.Theory {
			continue
		}
		var marks, bounds []vg.Point
		var bars vg.Path
		for _, pt := range s.Points {
			at, ok := place(pt.X, pt.Y)
			if !ok || !k.x.holds(k.x.at(pt.X)) {
				continue
			}
			if pt.barred() {
				bars = k.bar(bars, ty, at.X, pt)
			}
			if !k.y.holds(k.y.at(pt.Y)) {
				continue
			}
			if pt.UpperBound {
				off := vg.Length(fanned[at]) - vg.Length(same[at]-1)/2
				fanned[at]++
				bounds = append(bounds, at.Add(vg.Point{X: 1.5 * radius * off}))
			} else {
				marks = append(marks, at)
			}
		}
		if len(bars) > 0 {
			c.SetLineStyle(draw.LineStyle{Color: k.looks[i].colour, Width: barWidth})
			c.Stroke(bars)
		}
		k.looks[i].glyph.draw(c, k.looks[i].colour, radius, marks...)
		openDown.draw(c, k.looks[i].colour, radius, bounds...)
	}
	k.rings(c, place, ty)
}

// rings draws the marks with their texts, each text where it covers least.
func (k ink) rings(c draw.Canvas, place func(x, y float64) (vg.Point, bool), ty func(float64) vg.Length) {
	if len(k.Marks) == 0 {
		return
	}
	var busy []vg.Point // the data, densely enough for a text not to slip through
	for _, s := range k.Series {
		var last vg.Point
		for i, pt := range s.Points {
			at, ok := place(pt.X, pt.Y)
			if !ok {
				continue
			}
			for f := vg.Length(0.1); i > 0 && (s.Theory || s.Join) && f < 1; f += 0.1 {
				busy = append(busy, last.Add(at.Sub(last).Scale(f)))
			}
			busy, last = append(busy, at), at
			if pt.barred() && !math.IsNaN(k.y.at(pt.Lo)+k.y.at(pt.Hi)) {
				lo, hi := ty(k.y.at(pt.Lo)), ty(k.y.at(pt.Hi))
				for f := vg.Length(0); f <= 1; f += 0.125 {
					busy = append(busy, vg.Point{X: at.X, Y: lo + f*(hi-lo)})
				}
			}
		}
	}
	text := k.t.style(captionSize, black)
	for _, m := range k.Marks {
		at, ok := place(m.X, m.Y)
		if !ok || !c.Contains(at) {
			continue
		}
		if !m.Bare {
			ring.draw(c, black, 2*radius, at)
		}
		if m.Text == "" {
			continue
		}
		line := clean(m.Text)
		size := vg.Point{X: text.Width(line), Y: 0.75 * captionSize}
		best, least := vg.Point{}, math.MaxInt
		for _, away := range []vg.Length{2, 4, 6, 8} {
			for _, corner := range []vg.Point{{X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1}} {
				// The text's nearest corner stands off the ring; from is its lower left.
				from := at.Add(corner.Scale(away * radius))
				if corner.X < 0 {
					from.X -= size.X
				}
				if corner.Y < 0 {
					from.Y -= size.Y
				}
				to := from.Add(size)
				covered := 0
				for _, b := range busy {
					if b.X > from.X-2 && b.X < to.X+2 && b.Y > from.Y-2 && b.Y < to.Y+2 {
						covered++
					}
				}
				if c.Contains(from) && c.Contains(to) && covered < least {
					best, least = from, covered
				}
			}
		}
		if least < math.MaxInt { // else the text is longer than the frame
			k.t.put(c, text, best, line)
			for f := vg.Length(0); f <= 1; f += 0.125 { // what is written is in the way of what comes
				busy = append(busy, best.Add(vg.Point{X: f * size.X, Y: size.Y / 2}))
			}
		}
	}
}

// bar adds an interval to a path, with a cap at each end that the frame holds.
func (k ink) bar(p vg.Path, ty func(float64) vg.Length, x vg.Length, pt Point) vg.Path {
	lo, hi := k.y.at(pt.Lo), k.y.at(pt.Hi)
	if math.IsNaN(hi) || hi < k.y.lo || lo > k.y.hi {
		return p
	}
	line := func(x0, y0, x1, y1 vg.Length) {
		p.Move(vg.Point{X: x0, Y: y0})
		p.Line(vg.Point{X: x1, Y: y1})
	}
	from, to := k.y.lo, k.y.hi
	if k.y.holds(lo) {
		from = lo
		line(x-capWidth/2, ty(from), x+capWidth/2, ty(from))
	}
	if k.y.holds(hi) {
		to = hi
		line(x-capWidth/2, ty(to), x+capWidth/2, ty(to))
	}
	line(x, ty(from), x, ty(to))
	return p
}

// references draws the frame and the reference lines with their labels outside it.
func (k ink) references(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	edge := draw.LineStyle{Color: gridGrey, Width: gridWidth}
	c.StrokeLine2(edge, c.Min.X, c.Max.Y, c.Max.X, c.Max.Y)
	c.StrokeLine2(edge, c.Max.X, c.Min.Y, c.Max.X, c.Max.Y)
	style := draw.LineStyle{Color: dark, Width: thinWidth, Dashes: []vg.Length{1, 2}}
	text := k.t.style(captionSize, dark)
	rows, align := k.labelRows()
	for i, l := range k.VLines {
		v := k.x.at(l.At)
		if !k.x.holds(v) {
			continue
		}
		x, up := tx(v), vg.Length(rows[i])*leading(text)
		c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y+up)
		text.XAlign = align
		k.t.put(c, text, vg.Point{X: x, Y: c.Max.Y + 2 + up}, clean(l.Label))
	}
	for _, l := range k.HLines {
		v := k.y.at(l.At)
		if !k.y.holds(v) {
			continue
		}
		c.StrokeLine2(style, c.Min.X, ty(v), c.Max.X, ty(v))
		text.XAlign = draw.XLeft
		k.t.put(c, text, vg.Point{X: c.Max.X + 2, Y: ty(v) - 0.35*captionSize}, clean(l.Label))
	}
}

// along is the place of a value as a fraction of an axis, from the left or the bottom.
func (s scale) along(v float64) float64 {
	f := (s.at(v) - s.lo) / (s.hi - s.lo)
	if s.Reversed {
		return 1 - f
	}
	return f
}

// labelRows places the labels above the frame: in one row, centred over their lines, if
// they fit; else each ends at its line and stands in a row above those that it would
// cover, which keeps it clear of their lines too. Row 0 touches the frame.
func (k ink) labelRows() (rows []int, align draw.XAlignment) {
	text := k.t.style(captionSize, dark)
	rows = make([]int, len(k.VLines))
	var order []int // the lines on the axis from the left
	for i, l := range k.VLines {
		if k.x.holds(k.x.at(l.At)) {
			order = append(order, i)
		}
	}
	at := func(i int) vg.Length { return vg.Length(k.x.along(k.VLines[i].At)) * k.across }
	width := func(i int) vg.Length { return text.Width(clean(k.VLines[i].Label)) + 3 }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(at(i), at(j)) })
	align = draw.XCenter
	for n := 1; n < len(order); n++ {
		i, j := order[n-1], order[n]
		if at(j)-at(i) < (width(i)+width(j))/2 {
			align = draw.XRight
		}
	}
	if align == draw.XCenter {
		return rows, align
	}
	for n, i := range order {
		for _, j := range order[:n] {
			if at(i)-width(i) < at(j) {
				rows[i] = max(rows[i], rows[j]+1)
			}
		}
	}
	return rows, align
}

// GlyphBoxes implements plot.GlyphBoxer: room for the labels outside the frame.
func (k ink) GlyphBoxes(*plot.Plot) (boxes []plot.GlyphBox) {
	text := k.t.style(captionSize, dark)
	rows, align := k.labelRows()
	for i, l := range k.VLines {
		if !k.x.holds(k.x.at(l.At)) {
			continue
		}
		w := text.Width(clean(l.Label))
		left := vg.Length(align) * w
		top := 2 + vg.Length(rows[i])*leading(text) + captionSize
		boxes = append(boxes, plot.GlyphBox{X: k.x.along(l.At), Y: 1, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left}, Max: vg.Point{X: left + w, Y: top}}})
	}
	for _, l := range k.HLines {
		if !k.y.holds(k.y.at(l.At)) {
			continue
		}
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: k.y.along(l.At), Rectangle: vg.Rectangle{
			Min: vg.Point{Y: -captionSize / 2}, Max: vg.Point{X: 2 + text.Width(clean(l.Label)), Y: captionSize / 2}}})
	}
	return boxes
}
