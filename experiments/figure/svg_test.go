package figure

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// drawing is what an SVG holds, read back: the tests judge the file, not the
// code's idea of it.
type drawing struct {
	texts []svgText
	paths []svgPath
}

type svgText struct {
	s       string
	x, y    float64 // y grows downwards; of upright text only
	upright bool
}

type svgPath struct {
	style  string
	moves  int       // subpaths: one a glyph, or one a stroke of an error bar
	corner int       // corners of all subpaths
	arcs   int       // half circles
	xs, ys []float64 // end points; y grows upwards
	closed int
}

func (p svgPath) has(parts ...string) bool {
	for _, s := range parts {
		if !strings.Contains(p.style, s) {
			return false
		}
	}
	return true
}

func (p svgPath) filled() bool { return !p.has("fill:none") }

var pathStep = regexp.MustCompile(`([MLAZ])([^MLAZ]*)`)

func parse(t *testing.T, svg []byte) drawing {
	t.Helper()
	var d drawing
	dec := xml.NewDecoder(strings.NewReader(string(svg)))
	depth := 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("SVG is not well-formed: %v", err)
		}
		switch e := tok.(type) {
		case xml.EndElement:
			if e.Name.Local == "g" {
				depth--
			}
		case xml.StartElement:
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
			}
			number := func(key string) float64 {
				v, err := strconv.ParseFloat(at[key], 64)
				if err != nil {
					t.Fatalf("%s %s=%q: %v", e.Name.Local, key, at[key], err)
				}
				return v
			}
			switch e.Name.Local {
			case "g":
				depth++
			case "text":
				var s string
				if err := dec.DecodeElement(&s, &e); err != nil {
					t.Fatal(err)
				}
				d.texts = append(d.texts, svgText{s, number("x"), number("y"), depth == 1})
			case "path":
				p := svgPath{style: at["style"]}
				for _, m := range pathStep.FindAllStringSubmatch(at["d"], -1) {
					switch m[1] {
					case "M":
						p.moves++
					case "L":
						p.corner++
					case "A":
						p.arcs++
					case "Z":
						p.closed++
						continue
					}
					fields := strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })
					x, errX := strconv.ParseFloat(fields[len(fields)-2], 64)
					y, errY := strconv.ParseFloat(fields[len(fields)-1], 64)
					if errX != nil || errY != nil {
						t.Fatalf("path %q: %v %v", at["d"], errX, errY)
					}
					p.xs, p.ys = append(p.xs, x), append(p.ys, y)
				}
				d.paths = append(d.paths, p)
			}
		}
	}
}

// draw renders a figure and reads it back.
func drawn(t *testing.T, f Figure) drawing {
	t.Helper()
	svg, err := Render(f, "svg")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, svg)
}

func (d drawing) text(s string) (found []svgText) {
	for _, x := range d.texts {
		if x.s == s {
			found = append(found, x)
		}
	}
	return found
}

// all joins the texts in order, to find wrapped ones.
func (d drawing) all() string {
	var s []string
	for _, x := range d.texts {
		s = append(s, x.s)
	}
	return strings.Join(s, " ")
}

func (d drawing) styled(parts ...string) (found []svgPath) {
	for _, p := range d.paths {
		if p.has(parts...) {
			found = append(found, p)
		}
	}
	return found
}
