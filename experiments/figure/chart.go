package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Labelled ticks on an axis of a whole chart and of a small panel.
const (
	chartXTicks, chartYTicks = 8, 8
	panelXTicks, panelYTicks = 5, 6
)

func (c Chart) sheet(t typeset) (sheet, error) {
	s := sheet{name: c.Name, title: c.Title, caption: c.Caption, width: pageWidth, height: bodyHigh}
	panel := Panel{Series: c.Series, VLines: c.VLines, HLines: c.HLines, Marks: c.Marks}
	ks, notes, err := inks(t, c.X, c.Y, []Panel{panel}, 2.8*vg.Inch)
	if err != nil {
		return s, err
	}
	s.notes = notes
	l := newLegend(t, legendOf(ks))
	// Forty series need a taller figure, not a legend that loses some.
	title := vg.Length(len(wrap(t.bold(titleSize), s.width-2*margin, s.title))) * leading(t.bold(titleSize))
	s.height = max(s.height, l.height(1)+title+3*margin)
	s.body = func(dc draw.Canvas) {
		if len(l.entries) > 0 {
			strip := draw.Crop(dc, dc.Max.X-dc.Min.X-l.width, 0, 0, 0)
			l.draw(strip, 1)
			dc = draw.Crop(dc, 0, -l.width-legendGap, 0, 0)
		}
		ks[0].plot(chartXTicks, chartYTicks).Draw(dc)
	}
	return s, nil
}

func (g Grid) sheet(t typeset) (sheet, error) {
	s := sheet{name: g.Name, title: g.Title, caption: g.Caption}
	if len(g.Panels) == 0 {
		return s, ErrEmpty
	}
	columns := g.Columns
	if columns < 0 || columns > 6 {
		return s, fmt.Errorf("columns %d: want 1 to 6, or 0 to choose", columns)
	}
	if columns == 0 {
		columns = 3
		if len(g.Panels) == 4 { // no hole
			columns = 2
		}
	}
	columns = min(columns, len(g.Panels))
	rows := (len(g.Panels) + columns - 1) / columns
	s.width = max(pageWidth, min(vg.Length(columns)*2.4, 7.2)*vg.Inch)

	x, y := g.X, g.Y
	x.Label, y.Label = "", "" // once for all panels
	ks, notes, err := inks(t, x, y, g.Panels, 1.3*vg.Inch)
	if err != nil {
		return s, err
	}
	s.notes = notes
	l := newLegend(t, legendOf(ks))
	inside := s.width - 2*margin
	across := 1
	if len(l.entries) > 0 {
		across = max(1, min(len(l.entries), int((inside+legendGap)/(l.width+legendGap))))
	}
	legendHeight := l.height(across)
	title := vg.Length(len(wrap(t.bold(titleSize), inside, s.title))) * leading(t.bold(titleSize))
	label := t.style(labelSize, black)
	label.XAlign = draw.XCenter
	s.height = vg.Length(rows)*2*vg.Inch + title + 3*margin + 2*leading(label) + legendHeight

	s.body = func(dc draw.Canvas) {
		if len(l.entries) > 0 {
			l.draw(draw.Crop(dc, 0, 0, 0, -(dc.Max.Y-dc.Min.Y-legendHeight)), across)
			dc = draw.Crop(dc, 0, 0, legendHeight+margin, 0)
		}
		body := draw.Crop(dc, leading(label), 0, leading(label), 0)
		t.put(dc, label, vg.Point{X: body.Center().X, Y: dc.Min.Y + 0.25*labelSize}, clean(g.X.Label))
		upright := label // a copy: the body is drawn once for each format
		upright.Rotation = math.Pi / 2
		t.put(dc, upright, vg.Point{X: dc.Min.X + 0.8*labelSize, Y: body.Center().Y}, clean(g.Y.Label))

		plots := make([][]*plot.Plot, rows)
		for r := range plots {
			plots[r] = make([]*plot.Plot, columns)
		}
		for i, k := range ks {
			plots[i/columns][i%columns] = k.plot(panelXTicks, panelYTicks)
		}
		tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 8, PadY: 6}
		for r, row := range plot.Align(plots, tiles, body) {
			for i, cell := range row {
				if plots[r][i] != nil {
					plots[r][i].Draw(cell)
				}
			}
		}
	}
	return s, nil
}
