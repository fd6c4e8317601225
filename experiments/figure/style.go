package figure

import (
	"image/color"
	"math"
	"strings"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of type and ink, in points. 5.6 in is a figure across one page of text.
const (
	titleSize   = vg.Length(9)
	labelSize   = vg.Length(8)
	tickSize    = vg.Length(7)
	captionSize = vg.Length(6.5)

	lineWidth = vg.Length(1)
	barWidth  = vg.Length(0.8)
	capWidth  = vg.Length(4)
	thinWidth = vg.Length(0.6)
	gridWidth = vg.Length(0.4)
	radius    = vg.Length(2.2)
)

var (
	black    = color.Gray{Y: 0}
	dark     = color.Gray{Y: 90} // reference lines and explanations
	gridGrey = color.Gray{Y: 225}
)

// look is the colour, glyph and dash of a series. Each of the three alone tells
// series apart, so print in grey and colour blindness cost nothing.
type look struct {
	colour color.Color
	glyph  glyph
	dash   []vg.Length
}

// lookOf is style i, counted from 0. The colours are those of Okabe and Ito
// (2008) and black; seven of these against eight glyphs and dashes repeat after 56.
func lookOf(i int) look {
	colours := []color.RGBA{
		{0x00, 0x72, 0xB2, 255}, {0xD5, 0x5E, 0x00, 255}, {0x00, 0x9E, 0x73, 255},
		{0xCC, 0x79, 0xA7, 255}, {0xE6, 0x9F, 0x00, 255}, {0x56, 0xB4, 0xE9, 255},
		{0x00, 0x00, 0x00, 255},
	}
	glyphs := []glyph{disc, box, pyramid, diamond, cross, ring, frame, plus}
	dashes := [][]vg.Length{
		nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {3, 1.5}, {8, 3}, {6, 1.5, 1.5, 1.5, 1.5, 1.5}, {1, 3},
	}
	return look{colours[i%len(colours)], glyphs[i%len(glyphs)], dashes[i%len(dashes)]}
}

// referenceLook is the line of a bound: grey, since the seventh series is black.
func referenceLook() look {
	return look{colour: dark, glyph: plus, dash: []vg.Length{4, 1.5, 1, 1.5}}
}

// glyph is the shape of a mark.
type glyph int

const (
	disc glyph = iota
	box
	pyramid
	diamond
	cross
	ring
	frame
	plus
	openDown // kept for upper bounds
)

// draw puts a glyph of the given radius at each point, as one path: an SVG of a
// thousand marks stays small.
func (g glyph) draw(c draw.Canvas, clr color.Color, r vg.Length, points ...vg.Point) {
	if len(points) == 0 {
		return
	}
	var p vg.Path
	for _, at := range points {
		p = g.append(p, r, at)
	}
	c.SetLineStyle(draw.LineStyle{Color: clr, Width: barWidth})
	switch g {
	case disc, box, pyramid, diamond:
		c.Fill(p)
	default:
		c.Stroke(p)
	}
}

// append adds the outline of one glyph to a path.
func (g glyph) append(p vg.Path, r vg.Length, at vg.Point) vg.Path {
	// Corners are in units of r, x and y in turn.
	line := func(closed bool, xy ...vg.Length) {
		for i := 0; i < len(xy); i += 2 {
			pt := vg.Point{X: at.X + r*xy[i], Y: at.Y + r*xy[i+1]}
			if i == 0 {
				p.Move(pt)
			} else {
				p.Line(pt)
			}
		}
		if closed {
			p.Close()
		}
	}
	switch g {
	case disc, ring:
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
	case box, frame:
		line(true, -.9, -.9, .9, -.9, .9, .9, -.9, .9)
	case pyramid:
		line(true, 0, 1.25, -1.1, -.75, 1.1, -.75)
	case diamond:
		line(true, 0, 1.35, 1.1, 0, 0, -1.35, -1.1, 0)
	case cross:
		line(false, -.9, -.9, .9, .9)
		line(false, -.9, .9, .9, -.9)
	case plus:
		line(false, -1.2, 0, 1.2, 0)
		line(false, 0, -1.2, 0, 1.2)
	case openDown:
		line(true, 0, -1.6, 1.3, .7, -1.3, .7)
	}
	return p
}

// typeset holds the fonts, embedded in the program so that a machine without any
// draws the same picture.
type typeset struct{ handler text.Plain }

func newTypeset() (typeset, error) {
	faces := font.Collection{
		{Font: font.Font{Typeface: "DejaVu", Variant: "Sans"}},
		{Font: font.Font{Typeface: "DejaVu", Variant: "Sans", Weight: xfont.WeightBold}},
	}
	for i, ttf := range [][]byte{dejavusans.TTF, dejavusansbold.TTF} {
		f, err := opentype.Parse(ttf)
		if err != nil {
			return typeset{}, err
		}
		faces[i].Face = f
	}
	return typeset{text.Plain{Fonts: font.NewCache(faces)}}, nil
}

// style is regular type of a size.
func (t typeset) style(size vg.Length, clr color.Color) text.Style {
	return text.Style{
		Color:   clr,
		Font:    font.Font{Typeface: "DejaVu", Variant: "Sans", Size: size},
		Handler: t.handler,
	}
}

// bold is the type of titles.
func (t typeset) bold(size vg.Length) text.Style {
	s := t.style(size, black)
	s.Font.Weight = xfont.WeightBold
	return s
}

// put draws one line with its baseline at the point, aligned by s.XAlign and turned by
// s.Rotation. (draw.Canvas.FillText places lines by font size instead of extents.)
func (t typeset) put(c draw.Canvas, s text.Style, at vg.Point, line string) {
	face, start := t.handler.Fonts.Lookup(s.Font, s.Font.Size), vg.Point{X: vg.Length(s.XAlign) * s.Width(line)}
	c.SetColor(s.Color)
	if s.Rotation == 0 {
		c.FillString(face, at.Add(start), line)
		return
	}
	c.Push()
	c.Translate(at)
	c.Rotate(s.Rotation)
	c.FillString(face, start, line)
	c.Pop()
}

// leading is the distance between baselines.
func leading(s text.Style) vg.Length { return 1.3 * s.Font.Size }

// wrap breaks text into lines no wider than the width: at spaces, and inside a word
// only where the word alone is too wide. Line feeds stay.
func wrap(s text.Style, width vg.Length, txt string) (lines []string) {
	for paragraph := range strings.SplitSeq(txt, "\n") {
		line := ""
		for _, word := range strings.Fields(clean(paragraph)) {
			if line != "" && s.Width(line+" "+word) <= width {
				line += " " + word
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for s.Width(word) > width {
				cut := fitting(s, width, word)
				lines = append(lines, word[:cut])
				word = word[cut:]
			}
			line = word
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// fitting is the length in bytes of the longest start of a word that fits, at
// least one character, and after a bracket, comma or hyphen if there is one.
func fitting(s text.Style, width vg.Length, word string) int {
	cut := 0
	for i, r := range word {
		end := i + len(string(r))
		if s.Width(word[:end]) > width && cut > 0 {
			break
		}
		cut = end
	}
	if soft := strings.LastIndexAny(word[:cut], "(,-/="); soft > 0 && cut < len(word) {
		return soft + 1
	}
	return cut
}

// clean takes out what fonts cannot draw and XML must not hold: control
// characters and invalid UTF-8.
func clean(txt string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(txt, "\ufffd"))
}
