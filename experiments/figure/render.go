package figure

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	pageWidth = 5.6 * vg.Inch
	bodyHigh  = 3.4 * vg.Inch // of a chart with its title, without the caption
	dpi       = 160
	margin    = vg.Length(5)
)

// sheet is a figure laid out: title above, body, caption below. The caption
// adds to the height, so that its length never squeezes the data.
type sheet struct {
	name, title, caption string
	notes                []string // what was left out, printed after the caption
	width, height        vg.Length
	body                 func(draw.Canvas)
}

// Render draws a figure as "svg" or "png" and returns the file's bytes. The same
// figure gives the same bytes. SVG text stays text, set in DejaVu Sans where the
// reader has it; PNG has 200 dots per inch on white.
func Render(f Figure, format string) ([]byte, error) {
	t, err := newTypeset()
	if err != nil {
		return nil, fmt.Errorf("figure: fonts: %w", err)
	}
	s, err := f.sheet(t)
	if err != nil {
		return nil, fmt.Errorf("figure %q: %w", s.name, err)
	}
	switch format {
	case "svg":
		return s.svg(t)
	case "png":
		return s.png(t)
	}
	return nil, fmt.Errorf("figure %q: format %q: want svg or png", s.name, format)
}

// Write draws a figure and writes name.svg and name.png in a folder, which it makes if need
// be. Both are drawn before either is written, and each file appears whole or not at all.
// It returns the paths.
func Write(dir string, f Figure) (paths []string, err error) {
	t, err := newTypeset()
	if err != nil {
		return nil, fmt.Errorf("figure: fonts: %w", err)
	}
	s, err := f.sheet(t)
	if err != nil {
		return nil, fmt.Errorf("figure %q: %w", s.name, err)
	}
	if err := checkName(s.name); err != nil {
		return nil, err
	}
	svg, err := s.svg(t)
	if err != nil {
		return nil, err
	}
	raster, err := s.png(t)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	stem := filepath.Join(dir, s.name)
	for _, file := range []struct {
		path string
		data []byte
	}{{stem + ".svg", svg}, {stem + ".png", raster}} {
		if err := replace(file.path, file.data); err != nil {
			return paths, err
		}
		paths = append(paths, file.path)
	}
	return paths, nil
}

// replace writes a file under another name and renames it into place.
func replace(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// captionLines are the lines below the body.
func (s sheet) captionLines(t typeset) []string {
	style := t.style(captionSize, dark)
	lines := wrap(style, s.width-2*margin, s.caption)
	if len(s.notes) > 0 {
		lines = append(lines, wrap(style, s.width-2*margin, s.leftOut())...)
	}
	return lines
}

// fullHeight is the height with the caption.
func (s sheet) fullHeight(t typeset) vg.Length {
	n := len(s.captionLines(t))
	if n == 0 {
		return s.height
	}
	return s.height + vg.Length(n)*leading(t.style(captionSize, dark)) + margin
}

// draw fills a canvas of the sheet's width and full height.
func (s sheet) draw(c draw.Canvas, t typeset) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)

	title := t.bold(titleSize)
	for _, line := range wrap(title, c.Max.X-c.Min.X, s.title) {
		t.put(c, title, vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize}, line)
		c.Max.Y -= leading(title)
	}
	if s.title != "" {
		c.Max.Y -= margin
	}
	caption := t.style(captionSize, dark)
	lines := s.captionLines(t)
	if len(lines) > 0 {
		c.Min.Y += vg.Length(len(lines))*leading(caption) + margin
	}
	for i, line := range lines {
		t.put(c, caption, vg.Point{X: c.Min.X, Y: c.Min.Y - margin - captionSize - vg.Length(i)*leading(caption)}, line)
	}
	s.body(c)
}

func (s sheet) svg(t typeset) ([]byte, error) {
	canvas := vgsvg.New(s.width, s.fullHeight(t))
	s.draw(draw.New(canvas), t)
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return nil, fmt.Errorf("figure %q: %w", s.name, err)
	}
	// The font is named, not embedded (a megabyte); Verdana comes closest in
	// width. Title and description serve screen readers and browser tabs, and with
	// the height of the picture without its caption a page that shows it: see Inline.
	out := strings.ReplaceAll(buf.String(), "font-family:DejaVu Sans;font-variant:normal;font-weight:normal;font-style:normal;", "")
	out = strings.ReplaceAll(out, "font-family:DejaVu Sans;font-variant:normal;", "")
	out = strings.Replace(out, `xmlns="http://www.w3.org/2000/svg"`,
		`font-family="'DejaVu Sans',Verdana,sans-serif" xmlns="http://www.w3.org/2000/svg"`, 1)
	out = strings.Replace(out, `xmlns:xlink="http://www.w3.org/1999/xlink">`,
		fmt.Sprintf("xmlns:xlink=\"http://www.w3.org/1999/xlink\" %s=\"%.5g\">\n<title>%s</title>\n<desc>%s</desc>", bodyAttribute,
			s.height.Points(), html.EscapeString(clean(s.title)), html.EscapeString(clean(s.fullCaption()))), 1)
	return []byte(out), nil
}

// fullCaption is the caption with what was left out of the figure.
func (s sheet) fullCaption() string {
	if len(s.notes) == 0 {
		return s.caption
	}
	return strings.TrimSpace(s.caption + " " + s.leftOut())
}

// leftOut says what was not drawn.
func (s sheet) leftOut() string { return "Not drawn: " + strings.Join(s.notes, "; ") + "." }

func (s sheet) png(t typeset) ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(s.width, s.fullHeight(t)), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	s.draw(draw.New(canvas), t)
	var buf bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression} // results are kept in git
	if err := encoder.Encode(&buf, paletted(canvas.Image())); err != nil {
		return nil, fmt.Errorf("figure %q: %w", s.name, err)
	}
	return withResolution(buf.Bytes()), nil
}

// withResolution adds the chunk by which word processors and TeX know the size of a PNG
// in inches (PNG specification, 11.3.4.3); image/png does not write it.
func withResolution(data []byte) []byte {
	const header = 8 + 4 + 4 + 13 + 4       // signature and IHDR, which must stay first
	const perMetre = dpi * 10000 / 254      // dots
	chunk := []byte("\x00\x00\x00\x09pHYs") // length of the data, type
	chunk = binary.BigEndian.AppendUint32(chunk, perMetre)
	chunk = binary.BigEndian.AppendUint32(chunk, perMetre)
	chunk = append(chunk, 1) // the unit is the metre
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	out := make([]byte, 0, len(data)+len(chunk))
	out = append(out, data[:header]...)
	out = append(out, chunk...)
	return append(out, data[header:]...)
}
