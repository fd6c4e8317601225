package figure

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	thumbWidth  = vg.Length(22)
	thumbGap    = vg.Length(5)
	legendWidth = vg.Length(98) // of the text; longer names are wrapped
	legendGap   = vg.Length(10)
)

// entry explains one name: whatever series of that name draw.
type entry struct {
	name               string
	look               look
	line, thin         bool // theory; joined marks
	marks, bars, bound bool // bound: open marks for upper bounds
	ring               bool
}

// legendOf lists the names of the panels in order, then what marks and lines mean.
// A name whose marks and line are both there is one entry.
func legendOf(panels []ink) []entry {
	var out []entry
	find := func(name string, l look) *entry {
		i := slices.IndexFunc(out, func(e entry) bool { return e.name == name && !e.ring })
		if i < 0 {
			i = len(out)
			out = append(out, entry{name: name, look: l})
		}
		return &out[i]
	}
	var rings []entry
	both, bars, bound := false, false, false
	for _, p := range panels {
		for i, s := range p.Series {
			e := &entry{}
			if s.Name != "" {
				e = find(s.Name, p.looks[i])
			}
			e.line = e.line || s.Theory
			e.thin = e.thin || s.Join && !s.Theory
			for _, pt := range s.Points {
				if s.Theory {
					break
				}
				bound = bound || pt.UpperBound
				e.marks = true
				bars = bars || pt.barred()
			}
			both = both || e.line && e.marks
		}
		for _, m := range p.Marks {
			if m.Name != "" && !slices.ContainsFunc(rings, func(e entry) bool { return e.name == m.Name }) {
				rings = append(rings, entry{name: m.Name, ring: true})
			}
		}
	}
	grey := look{colour: dark, glyph: disc}
	if both {
		out = append(out, entry{name: "measured", look: grey, marks: true, bars: bars}, entry{name: "theory", look: grey, line: true})
	}
	if bound {
		out = append(out, entry{name: "no event seen: at most 3/trials", look: grey, bound: true})
	}
	return append(out, rings...)
}

// thumb draws the sample of an entry into a box.
func (e entry) thumb(c draw.Canvas) {
	at := vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y + c.Max.Y) / 2}
	style := draw.LineStyle{Color: e.look.colour, Width: lineWidth, Dashes: e.look.dash}
	switch {
	case e.line:
		c.StrokeLine2(style, c.Min.X, at.Y, c.Max.X, at.Y)
	case e.thin:
		style.Width = thinWidth
		c.StrokeLine2(style, c.Min.X, at.Y, c.Max.X, at.Y)
	}
	if e.bars {
		style = draw.LineStyle{Color: e.look.colour, Width: barWidth}
		const half = 3.5
		c.StrokeLine2(style, at.X, at.Y-half, at.X, at.Y+half)
		c.StrokeLine2(style, at.X-capWidth/2, at.Y-half, at.X+capWidth/2, at.Y-half)
		c.StrokeLine2(style, at.X-capWidth/2, at.Y+half, at.X+capWidth/2, at.Y+half)
	}
	switch {
	case e.marks:
		e.look.glyph.draw(c, e.look.colour, radius, at)
	case e.bound:
		openDown.draw(c, e.look.colour, radius, at)
	case e.ring:
		ring.draw(c, black, 2*radius, at)
	}
}

// legend is the entries with their text broken into lines.
type legend struct {
	t       typeset
	entries []entry
	lines   [][]string
	width   vg.Length // of the widest entry
	tallest int       // lines of the tallest entry
	total   int       // lines of all entries
}

func newLegend(t typeset, entries []entry) legend {
	l := legend{t: t, entries: entries}
	style := t.style(tickSize, black)
	for _, e := range entries {
		lines := wrap(style, legendWidth, e.name)
		for _, line := range lines {
			l.width = max(l.width, thumbWidth+thumbGap+style.Width(line))
		}
		l.lines = append(l.lines, lines)
		l.tallest = max(l.tallest, len(lines))
		l.total += len(lines)
	}
	return l
}

const entryGap = vg.Length(2.5)

// height of the legend in a number of columns.
func (l legend) height(columns int) vg.Length {
	step := leading(l.t.style(tickSize, black))
	if columns == 1 {
		return vg.Length(l.total)*step + vg.Length(len(l.entries))*entryGap
	}
	rows := (len(l.entries) + columns - 1) / columns
	return vg.Length(rows) * (vg.Length(l.tallest)*step + entryGap)
}

// draw fills the columns of a canvas from the top, row by row.
func (l legend) draw(c draw.Canvas, columns int) {
	style := l.t.style(tickSize, black)
	step := leading(style)
	y := c.Max.Y
	for i, e := range l.entries {
		x := c.Min.X + vg.Length(i%columns)*(l.width+legendGap)
		if i > 0 && i%columns == 0 {
			rows := l.tallest
			if columns == 1 {
				rows = len(l.lines[i-1])
			}
			y -= vg.Length(rows)*step + entryGap
		}
		e.thumb(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - step}, Max: vg.Point{X: x + thumbWidth, Y: y}}})
		for j, line := range l.lines[i] {
			l.t.put(c, style, vg.Point{X: x + thumbWidth + thumbGap, Y: y - vg.Length(j)*step - 0.5*step - 0.36*tickSize}, line)
		}
	}
}
