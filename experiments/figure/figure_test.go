package figure

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg"
)

// planned are charts like those of the experiments, with the texts that a reader
// must find on them.
var planned = []struct {
	figure Figure
	name   string
	texts  []string
}{
	{fprVsLoad(), "fpr-vs-load", []string{"10⁻⁷", "10⁻²", "1", "0.1", "4", "standard", "cuckoo(f=12,b=4)", "measured", "theory", "built for", "1%", "false-positive rate"}},
	{fprVsK(), "fpr-vs-k", []string{"4 bits per key", "20 bits per key", "10⁻⁴", "15", "least measured rate", "k (bits set per key)"}},
	{fprVsBits(), "fpr-vs-bits", []string{"lower bound", "10⁻⁵", "20", "bits per key"}},
	{memory(), "memory", []string{"10%", "0.001%", "20", "crossing", "0.4%"}},
	{timeVsN(), "time-vs-n", []string{"10³", "10⁸", "L1d", "L2 1 MiB", "L3 32 MiB", "50", "time per positive lookup (ns)"}},
	{hashChoice(), "hash-choice", []string{"xxhash64", "real words", "0.994", "≤0.0200", "–", "measured ÷ expected rate", "100"}},
}

func TestPlannedFigures(t *testing.T) {
	for _, p := range planned {
		t.Run(p.name, func(t *testing.T) {
			svg, err := Render(p.figure, "svg")
			if err != nil {
				t.Fatal(err)
			}
			if len(svg) > 70_000 {
				t.Errorf("SVG of %d bytes: are fonts embedded, or points not joined into paths?", len(svg))
			}
			if !bytes.Contains(svg, []byte(`font-family="'DejaVu Sans',Verdana,sans-serif"`)) || bytes.Contains(svg, []byte("font-family:")) {
				t.Error("SVG does not name its fonts once, with a fallback")
			}
			if n := bytes.Count(svg, []byte("font-weight:bold")); n != 1 {
				t.Errorf("%d bold texts, want the title", n)
			}
			all := parse(t, svg).all()
			for _, s := range p.texts {
				if !strings.Contains(all, s) {
					t.Errorf("text %q is missing", s)
				}
			}
			if !strings.Contains(all, "revision 0123abc, seed 7.") {
				t.Errorf("the caption is cut: %q", all)
			}
			if strings.Contains(all, "e-0") || strings.Contains(all, "NaN") {
				t.Errorf("raw number in %q", all)
			}
		})
	}
}

// Write draws one layout twice, so the second drawing must not see traces of the first;
// each kind of figure is tried.
func TestSameFigureSameBytes(t *testing.T) {
	for name, f := range map[string]Figure{"memory": memory(), "fpr-vs-k": fprVsK(), "hash-choice": hashChoice()} {
		if testing.Short() && name != "memory" {
			continue // seconds of drawing, in one goroutine
		}
		dir := t.TempDir()
		paths, err := Write(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		stem := filepath.Join(dir, name)
		if want := []string{stem + ".svg", stem + ".png"}; !slices.Equal(paths, want) {
			t.Fatalf("paths %v, want %v", paths, want)
		}
		for _, path := range paths {
			written, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Render(f, strings.TrimPrefix(filepath.Ext(path), "."))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, written) {
				t.Errorf("%s differs between Write and Render", filepath.Base(path))
			}
		}
	}
}

// A chart without a caption is 5.6 × 3.4 in; 160 dots per inch are 896 × 544
// pixels, and 6299 to the metre.
func TestPNGSizeAndResolution(t *testing.T) {
	c := timeVsN()
	c.Caption = ""
	data, err := Render(c, "png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := img.Bounds().Size(), (image.Point{X: 896, Y: 544}); got != want {
		t.Errorf("size %v, want %v", got, want)
	}
	at := bytes.Index(data, []byte("pHYs"))
	if at < 0 || binary.BigEndian.Uint32(data[at+4:]) != 6299 || binary.BigEndian.Uint32(data[at+8:]) != 6299 || data[at+12] != 1 {
		t.Errorf("resolution chunk at %d is not 6299 dots per metre", at)
	}
	if r, g, b, a := img.At(0, 0).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff || a != 0xffff {
		t.Errorf("the ground is not white: %v", img.At(0, 0))
	}
	ink := map[color.RGBA]int{}
	for y := range 544 {
		for x := range 896 {
			r, g, b, _ := img.At(x, y).RGBA()
			ink[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}]++
		}
	}
	// 11 marks of 2.2 pt radius and their legend entry cover some hundred pixels even
	// for the thinnest glyph.
	for i, s := range c.Series {
		if n := ink[lookOf(i).colour.(color.RGBA)]; n < 200 {
			t.Errorf("%s: %d pixels of its colour", s.Name, n)
		}
	}
	// A caption adds below and leaves the rest as it is.
	with, err := timeVsN().sheet(typesetFor(t))
	if err != nil {
		t.Fatal(err)
	}
	if full := with.fullHeight(typesetFor(t)); with.height != bodyHigh || full <= bodyHigh+2*captionSize {
		t.Errorf("with a caption %v of %v high", with.height, full)
	}
}

func typesetFor(t *testing.T) typeset {
	t.Helper()
	ts, err := newTypeset()
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// Marks, interval strokes and lines are counted in the file: 11 points a series,
// three strokes an interval.
func TestEveryPointIsDrawn(t *testing.T) {
	d := drawn(t, timeVsN())
	// Style 1 is a disc: two half circles a mark, filled in 0072B2. The legend adds one.
	marks, bars := 0, 0
	// The intervals reach from 0.93 to 1.07 of the value; two labels give the scale.
	high := (d.text("5")[0].y - d.text("50")[0].y) * math.Log10(1.07/0.93)
	for _, p := range d.styled("#0072B2") {
		if p.filled() {
			marks += p.moves
		} else if p.has("stroke-width:0.8") {
			bars += p.moves
			// A cap, a cap, and the stroke from one to the other.
			for i := 0; i+6 <= len(p.ys); i += 6 {
				if y := p.ys[i:]; y[0] != y[1] || y[2] != y[3] || y[4] != y[0] || y[5] != y[2] || math.Abs(y[2]-y[0]-high) > 0.1 {
					t.Errorf("interval strokes at %v", y[:6])
				}
			}
		}
	}
	if marks != 11+1 {
		t.Errorf("%d discs, want 11 and one in the legend", marks)
	}
	// In the legend of joined marks no interval is explained.
	if bars != 11*3 {
		t.Errorf("%d strokes of intervals, want %d", bars, 33)
	}
	joined := 0
	for _, p := range d.styled("#0072B2", "stroke-width:0.6") {
		joined += p.corner
	}
	if joined != 10+1 {
		t.Errorf("%d joints, want 10 and the line of the legend", joined)
	}
}

// The entry of a name shows its marks and its line; "measured" and "theory" explain them.
func TestOneLegendEntryPerName(t *testing.T) {
	d := drawn(t, fprVsLoad())
	for _, s := range []string{"standard", "blocked(512)", "counting(w=4)", "scalable(s=2,r=0.5)", "cuckoo(f=12,b=4)", "measured", "theory"} {
		if n := len(d.text(s)); n != 1 {
			t.Errorf("legend names %q %d times", s, n)
		}
	}
	// The panels of a grid share one legend.
	d = drawn(t, fprVsK())
	if n := len(d.text("blocked(512)")); n != 1 {
		t.Errorf("grid names a series %d times", n)
	}
	// Without formulas there is nothing to tell apart.
	d = drawn(t, timeVsN())
	if len(d.text("theory"))+len(d.text("measured")) != 0 {
		t.Error("explains theory that is not there")
	}
}

// Known failure: one value, or equal values, gave a panic or log(0) on a
// logarithmic axis. Right is a tenth to ten times; 0 alone is refused.
func TestI01_EqualValuesOnALogAxis(t *testing.T) {
	for _, v := range []float64{1, 1e-6, 5e-324, 1e300} {
		for _, n := range []int{1, 3} {
			s := Series{Name: "s"}
			for i := range n {
				s.Points = append(s.Points, Point{X: float64(i), Y: v})
			}
			c := Chart{Name: "c", Y: Axis{Log: true}, Series: []Series{s}}
			if _, err := Render(c, "svg"); err != nil {
				t.Errorf("y = %v, %d points: %v", v, n, err)
			}
		}
		sc, err := settle(Axis{Log: true}, []float64{v, v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Log10(v); math.Abs(sc.lo-(d-1)) > 1e-9 || math.Abs(sc.hi-(d+1)) > 1e-9 {
			t.Errorf("y = %v: decades %v to %v, want one on each side", v, sc.lo, sc.hi)
		}
	}
	zero := Chart{Name: "c", Y: Axis{Log: true}, Series: []Series{{Points: []Point{{X: 1, Y: 0}}}}}
	if _, err := Render(zero, "svg"); err == nil || !strings.Contains(err.Error(), "nothing to draw") {
		t.Errorf("y = 0 alone: %v", err)
	}
	for v, want := range map[float64][2]float64{5: {0, 10}, -5: {-10, 0}, 0: {-1, 1}} {
		sc, err := settle(Axis{}, []float64{v, v}, nil)
		if err != nil || sc.lo != want[0] || sc.hi != want[1] {
			t.Errorf("linear, all %v: %v to %v (%v), want %v", v, sc.lo, sc.hi, err, want)
		}
	}
}

// Known failure: a measured rate of 0 panicked or vanished on a logarithmic axis. Right is
// an open mark at 3/trials (3e-4 for 10,000), and a 0 given as it is becomes a note.
func TestI02_ZeroRateOnALogAxis(t *testing.T) {
	c := Chart{Name: "c", Y: Axis{Label: "rate", Log: true, Min: 1e-5, Max: 1}, Series: []Series{{Name: "s", Points: []Point{
		Unseen(1, 10_000), {X: 2, Y: 1e-2, Lo: 0, Hi: 2e-2}, {X: 3, Y: 0, Lo: 0, Hi: 3e-4},
	}}}}
	if c.Series[0].Points[0].Y != 3e-4 {
		t.Fatalf("bound %v, want 3e-4", c.Series[0].Points[0].Y)
	}
	d := drawn(t, c)
	if all := d.all(); !strings.Contains(all, "no event seen: at most 3/trials") || !strings.Contains(all, "Not drawn: 1 value at or below 0 on a logarithmic axis.") {
		t.Errorf("texts: %q", all)
	}
	var open []svgPath
	for _, p := range d.styled("#0072B2") {
		if !p.filled() && p.closed > 0 {
			open = append(open, p)
		}
	}
	if len(open) != 1 || open[0].moves != 1 || open[0].corner != 2 {
		t.Fatalf("open marks: %+v, want one triangle", open)
	}
	// Where 3e-4 is: the decade ticks' labels give the scale of the axis.
	y := func(s string) float64 { return -d.text(s)[0].y }
	perDecade := (y("1") - y("10⁻⁵")) / 5
	want := y("1") + math.Log10(3e-4)*perDecade
	tip, shoulder := open[0].ys[0], open[0].ys[1]
	if tip >= shoulder {
		t.Error("the mark does not point down")
	}
	// The label's baseline lies about a third of the type below its tick.
	if centre := tip + 1.6*float64(radius); math.Abs(centre-want-0.35*float64(tickSize)) > 1.5 {
		t.Errorf("mark at %v, 3e-4 is at %v", centre, want)
	}
	// The bar down to 0 runs to the edge and has a cap above only: two strokes.
	for _, p := range d.styled("#0072B2", "stroke-width:0.8", "fill:none") {
		if p.closed == 0 && p.moves != 2 {
			t.Errorf("%d strokes for an interval from 0", p.moves)
		}
	}
}

// Equal trials give equal bounds; each series must still show its own mark.
func TestEqualUpperBoundsAreFannedOut(t *testing.T) {
	c := Chart{Name: "c", Y: Axis{Log: true}, VLines: []Line{{At: 1}}}
	for i := range 3 {
		c.Series = append(c.Series, Series{Name: fmt.Sprint(i), Points: []Point{Unseen(1, 1e6), {X: 2, Y: 0.1}}})
	}
	d := drawn(t, c)
	var at []float64
	for i := range 3 {
		l := lookOf(i).colour.(color.RGBA)
		for _, p := range d.styled(fmt.Sprintf("#%02X%02X%02X", l.R, l.G, l.B), "fill:none") {
			if p.closed == 1 {
				at = append(at, p.xs[0])
			}
		}
	}
	if len(at) != 3 || at[1]-at[0] < 3 || math.Abs((at[2]-at[1])-(at[1]-at[0])) > 0.1 {
		t.Fatalf("bounds at x = %v, want three, evenly apart", at)
	}
	if centre := d.styled("stroke-dasharray:1,2")[0].xs[0]; math.Abs(at[1]-centre) > 0.1 {
		t.Errorf("bounds around %v, their place is %v", at[1], centre)
	}
}

// Known failure: fonts were looked up on disk. The program draws in an empty
// folder, without HOME, PATH or GOPATH, exactly what it draws here.
func TestI05_FontsAreEmbedded(t *testing.T) {
	if dir := os.Getenv("FIGURE_TEST_DIR"); dir != "" {
		if _, err := Write(dir, memory()); err != nil {
			t.Fatal(err)
		}
		return
	}
	if testing.Short() {
		t.Skip("seconds of drawing")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self, "-test.run=^TestI05_FontsAreEmbedded$")
	cmd.Dir, cmd.Env = dir, []string{"FIGURE_TEST_DIR=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, format := range []string{"svg", "png"} {
		want, err := Render(memory(), format)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "memory."+format))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs in an empty environment", format)
		}
	}
	// The default fonts of gonum lack ⁻, and then 10⁻³ reads 10³.
	ts := typesetFor(t)
	for _, style := range []vg.Length{tickSize, titleSize} {
		font := ts.style(style, black).Font
		if style == titleSize {
			font = ts.bold(style).Font
		}
		face := ts.handler.Fonts.Lookup(font, style)
		var buf sfnt.Buffer
		for _, r := range "0123456789.%−⁻⁰¹²³⁴⁵⁶⁷⁸⁹×÷≤≥–—µ₂…" {
			if i, err := face.Face.GlyphIndex(&buf, r); err != nil || i == 0 {
				t.Errorf("%s has no %q: %v", font.Name(), r, err)
			}
		}
	}
}

// Known failure: curves under the legend. With eight series that fall, and eight that
// rise, no legend text stands left of the last mark, and each series has a look of its own.
func TestI06_LegendHidesNothing(t *testing.T) {
	for _, slope := range []float64{-1, 1} {
		c := Chart{Name: "c", X: Axis{Label: "x"}, Y: Axis{Label: "y", Log: true}}
		for i := range 8 {
			s := Series{Name: fmt.Sprintf("series number %d of a variant(with=a,long=name)", i)}
			for x := range 10 {
				s.Points = append(s.Points, Point{X: float64(x), Y: math.Pow(10, slope*float64(x+i)/4)})
			}
			c.Series = append(c.Series, s)
		}
		d := drawn(t, c)
		frame := math.Inf(-1)
		for _, p := range d.styled("#E1E1E1") {
			frame = max(frame, slices.Max(p.xs)) // the grid and the frame are 225 grey
		}
		legend := 0
		for _, x := range d.texts {
			if x.x > frame {
				legend++
			} else if strings.Contains(x.s, "series") || strings.Contains(x.s, "variant") {
				t.Errorf("legend text %q at %v inside the frame, which ends at %v", x.s, x.x, frame)
			}
		}
		if legend < 8 {
			t.Errorf("%d legend texts right of the frame", legend)
		}
	}
	type key struct {
		g glyph
		d string
	}
	seen, colours := map[key]bool{}, map[color.Color]bool{}
	for i := range 8 {
		l := lookOf(i)
		for k := range seen {
			if k.g == l.glyph || k.d == fmt.Sprint(l.dash) {
				t.Errorf("style %d shares glyph or dash with an earlier one", i+1)
			}
		}
		seen[key{l.glyph, fmt.Sprint(l.dash)}] = true
		if i < 7 && colours[l.colour] {
			t.Errorf("style %d repeats a colour", i+1)
		}
		colours[l.colour] = true
		if l.glyph == openDown {
			t.Errorf("style %d takes the mark of upper bounds", i+1)
		}
	}
	looks := map[string]bool{}
	for i := range 56 {
		looks[fmt.Sprint(lookOf(i))] = true
	}
	if len(looks) != 56 {
		t.Errorf("%d different looks of 56", len(looks))
	}
}

func TestStyles(t *testing.T) {
	got := styles([]Panel{
		{Series: []Series{{Name: "a"}, {Name: "b", Style: 1}, {Name: "bound", Style: Reference}}},
		{Series: []Series{{Name: "c"}, {Name: "a", Theory: true}, {Name: "b"}}},
	})
	want := [][]look{{lookOf(1), lookOf(0), referenceLook()}, {lookOf(2), lookOf(1), lookOf(0)}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("styles\n%v, want\n%v", got, want)
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	c := Chart{
		Name: "c", X: Axis{Log: true, Min: 1, Max: 10}, Y: Axis{Log: true},
		VLines: []Line{{0, "zero"}, {2, "two"}, {20, "twenty"}},
		HLines: []Line{{-1, "minus"}},
		Marks:  []Mark{{X: 3, Y: math.NaN()}},
		Series: []Series{
			{Name: "m", Points: []Point{
				{X: 1, Y: math.NaN()}, {X: math.Inf(1), Y: 1}, {X: 2, Y: math.Inf(-1)}, // not finite
				{X: 2, Y: 0}, {X: -1, Y: 1}, // not positive
				{X: 20, Y: 1},                                                   // outside
				{X: 3, Y: 1, Lo: math.NaN(), Hi: 2}, {X: 4, Y: 1, Lo: 2, Hi: 1}, // interval
				{X: 5, Y: 1, Lo: 0.5, Hi: 2}, {X: 6, Y: 2}, Unseen(7, 100),
			}},
			{Name: "m", Theory: true, Points: []Point{{X: 1, Y: 1}, {X: 2, Y: math.NaN()}, {X: 3, Y: 1}, {X: 40, Y: 1}}},
		},
	}
	d := drawn(t, c)
	for _, want := range []string{
		"4 values that are not finite;", "2 values at or below 0 on a logarithmic axis;", "1 value outside the axes;",
		"2 intervals without finite, ordered ends;", "3 reference lines outside the axes;", "1 ring outside the axes.",
	} {
		if !strings.Contains(d.all(), want) {
			t.Errorf("note %q is missing from %q", want, d.all())
		}
	}
	// The NaN breaks the line: two runs, not one bridge.
	runs := 0
	for _, p := range d.styled("#0072B2", "stroke:") {
		if !p.has("stroke-width:0.8") {
			runs += p.moves
		}
	}
	if runs != 2+1 {
		t.Errorf("%d runs of the line, want 2 and the legend", runs)
	}
}

func TestRefusals(t *testing.T) {
	nan := []Series{{Points: []Point{{X: 1, Y: math.NaN()}}}}
	one := []Series{{Points: []Point{{X: 1, Y: 1}}}}
	for name, f := range map[string]Figure{
		"empty chart":         Chart{Name: "f"},
		"only NaN":            Chart{Name: "f", Series: nan},
		"no point in range":   Chart{Name: "f", X: Axis{Min: 5, Max: 6}, Series: one},
		"range upside down":   Chart{Name: "f", X: Axis{Min: 6, Max: 5}, Series: one},
		"range not finite":    Chart{Name: "f", X: Axis{Max: math.Inf(1)}, Series: one},
		"negative log range":  Chart{Name: "f", X: Axis{Log: true, Min: -1, Max: 5}, Series: one},
		"empty grid":          Grid{Name: "f"},
		"grid of empties":     Grid{Name: "f", Panels: []Panel{{}, {}}},
		"negative columns":    Grid{Name: "f", Columns: -1, Panels: []Panel{{Series: one}}},
		"empty heat map":      HeatMap{Name: "f"},
		"rows do not match":   HeatMap{Name: "f", Rows: []string{"a"}, Columns: []string{"b"}},
		"columns do not":      HeatMap{Name: "f", Rows: []string{"a"}, Columns: []string{"b"}, Cells: [][]Cell{{}}},
		"heat map of nothing": HeatMap{Name: "f", Rows: []string{"a"}, Columns: []string{"b"}, Cells: [][]Cell{{{Value: math.NaN()}}}},
	} {
		dir := t.TempDir()
		if _, err := Write(dir, f); err == nil || !strings.HasPrefix(err.Error(), `figure "f": `) {
			t.Errorf("%s: error %v does not name the figure", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
	if _, err := Render(Chart{Name: "f", Series: one}, "pdf"); err == nil || !strings.Contains(err.Error(), "svg or png") {
		t.Errorf("format pdf: %v", err)
	}
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "../x", ".hidden", "c:x"} {
		if _, err := Write(t.TempDir(), Chart{Name: name, Series: one}); err == nil {
			t.Errorf("name %q is accepted", name)
		}
	}
}

func TestWriteReplacesWholeFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	c := Chart{Name: "f", Series: []Series{{Points: []Point{{X: 1, Y: 1}}}}}
	for range 2 {
		if _, err := Write(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if want := []string{"f.png", "f.svg"}; !slices.Equal(names, want) {
		t.Errorf("folder holds %v, want %v", names, want)
	}
	// A folder in the place of a file cannot be replaced: an error, and no litter.
	if err := os.Mkdir(filepath.Join(dir, "g.svg"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Name = "g"
	if _, err := Write(dir, c); err == nil {
		t.Error("no error though g.svg is a folder")
	}
	if litter, _ := filepath.Glob(filepath.Join(dir, ".*")); len(litter) > 0 {
		t.Errorf("left %v", litter)
	}
}

// Panels line up: the horizontal axes of a grid are of one length, in as many places
// as there are columns.
func TestGridIsAligned(t *testing.T) {
	g := fprVsK()
	g.Panels = g.Panels[:5] // one place stays empty
	g.Panels[1].Title = ""
	d := drawn(t, g)
	starts, lengths, uprights := map[string]int{}, map[string]int{}, map[string]int{}
	for _, p := range d.styled("#000000", "stroke-width:0.5") {
		if len(p.xs) == 2 && p.ys[0] == p.ys[1] && p.xs[1]-p.xs[0] > 50 {
			starts[fmt.Sprintf("%.1f", p.xs[0])]++
			lengths[fmt.Sprintf("%.1f", p.xs[1]-p.xs[0])]++
		}
		if len(p.xs) == 2 && p.xs[0] == p.xs[1] && p.ys[1]-p.ys[0] > 50 {
			uprights[fmt.Sprintf("%.1f to %.1f", p.ys[0], p.ys[1])]++
		}
	}
	if len(starts) != 3 || len(lengths) != 1 {
		t.Errorf("axes start at %v with lengths %v, want 3 places and 1 length", starts, lengths)
	}
	if len(uprights) != 2 {
		t.Errorf("upright axes %v, want the same in each of 2 rows", uprights)
	}
	for _, s := range []string{g.X.Label, g.Y.Label} {
		if n := len(d.text(s)); n != 1 {
			t.Errorf("axis label %q stands %d times", s, n)
		}
	}
}

// A theory line widens a logarithmic axis by one decade at most; what is measured
// is always inside, its interval included.
func TestAutomaticRange(t *testing.T) {
	sc, err := settle(Axis{Log: true}, []float64{1e-4, 1e-2}, []float64{1e-30, 1})
	if err != nil {
		t.Fatal(err)
	}
	if sc.lo < -5.3 || sc.lo > -5 || sc.hi < -1 || sc.hi > -0.7 {
		t.Errorf("log range %v to %v, want about -5 to -1", sc.lo, sc.hi)
	}
	for _, c := range []struct {
		a        Axis
		measured []float64
		lo, hi   float64
	}{
		{Axis{}, []float64{2, 20}, 0, 20.72},                       // shows zero when near
		{Axis{}, []float64{100, 110}, 99.6, 110.4},                 // 4% on both sides
		{Axis{Min: 0, Max: 21}, []float64{2, 20}, 0, 21},           // fixed
		{Axis{Min: -1, Max: 0}, []float64{-.5}, -1, 0},             // a fixed 0 is not automatic
		{Axis{Log: true, Max: 1}, []float64{1e-2, 1e-1}, -2.04, 0}, // 0 is, on a log axis
	} {
		sc, err := settle(c.a, c.measured, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(sc.lo-c.lo) > 1e-9 || math.Abs(sc.hi-c.hi) > 1e-9 {
			t.Errorf("%+v of %v: %v to %v, want %v to %v", c.a, c.measured, sc.lo, sc.hi, c.lo, c.hi)
		}
	}
}

func TestReversedAxisRunsDown(t *testing.T) {
	d := drawn(t, memory())
	if x10, x1 := d.text("10%")[0].x, d.text("1%")[0].x; x10 >= x1 {
		t.Errorf("10%% at %v, 1%% at %v: not reversed", x10, x1)
	}
}

// Hostile texts: markup, control characters, invalid UTF-8, and words without spaces.
func TestTextsAreMadeSafe(t *testing.T) {
	c := Chart{
		Name: "c", Title: "a<b & \"c\" \x00\x1b[31m \xff", Caption: strings.Repeat("x", 500) + " end\nnew line",
		X: Axis{Label: "x < 'y'\x07"}, Series: []Series{{Name: "s\u0085</svg>\ufffe", Points: []Point{{X: 1, Y: 1}}}},
		VLines: []Line{{1, "l\x02"}}, HLines: []Line{{1, "h\x02"}}, Marks: []Mark{{X: 1, Y: 1, Name: "n\x02", Text: "t\x02"}},
	}
	d := drawn(t, c) // parses it as XML
	if all := d.all(); !strings.Contains(all, `a<b & "c" [31m �`) || !strings.Contains(all, "end new line") {
		t.Errorf("texts: %q", all)
	}
	if n := strings.Count(d.all(), "x") - 1; n != 500 { // one in the axis label
		t.Errorf("%d of 500 letters of a long word", n)
	}
}

// Labels of close lines neither overlap nor are crossed by the line of another.
func TestLabelsOfCloseLinesAreStacked(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		c := Chart{
			Name: "c", X: Axis{Log: true, Min: 1e3, Max: 1e9, Reversed: reversed},
			VLines: []Line{{1e8, "L4 lone"}, {1e5, "L3 1 MiB"}, {2e4, "L1d 32 KiB"}, {6e4, "L2 256 KiB"}},
			Series: []Series{{Points: []Point{{X: 1e4, Y: 1}}}},
		}
		d := drawn(t, c)
		type box struct{ left, right, y, line float64 }
		var boxes []box
		style := typesetFor(t).style(captionSize, dark)
		for _, l := range c.VLines {
			label := d.text(l.Label)
			if len(label) != 1 {
				t.Fatalf("%q stands %d times", l.Label, len(label))
			}
			// A line reaches from the axis to its label.
			right := label[0].x + float64(style.Width(l.Label))
			at := math.NaN()
			for _, p := range d.styled("stroke-dasharray:1,2") {
				if math.Abs(p.xs[0]-right) < 0.1 {
					at = p.xs[0]
				}
			}
			boxes = append(boxes, box{label[0].x, right, label[0].y, at})
		}
		for i, a := range boxes {
			if math.IsNaN(a.line) {
				t.Errorf("%q does not end at a line", c.VLines[i].Label)
			}
			for j, b := range boxes {
				if i != j && a.y == b.y && a.left < b.right && b.left < a.right {
					t.Errorf("%q overlaps %q", c.VLines[i].Label, c.VLines[j].Label)
				}
				if i != j && b.y <= a.y && b.line > a.left && b.line < a.right {
					t.Errorf("the line of %q crosses %q", c.VLines[j].Label, c.VLines[i].Label)
				}
			}
		}
	}
	// Where there is room, they stand in one row, centred.
	d := drawn(t, timeVsN())
	if y := d.text("L1d")[0].y; d.text("L2 1 MiB")[0].y != y || d.text("L3 32 MiB")[0].y != y {
		t.Error("labels with room are stacked")
	}
}

func TestWrap(t *testing.T) {
	style := typesetFor(t).style(tickSize, black)
	for _, text := range []string{"", "one", caption, "cuckoo(f=12,b=4,semisort,stash=8,partner=offset)", strings.Repeat("W", 90), "ééééééééééééééééééééééé", "a\n\nb"} {
		lines := wrap(style, 80, text)
		for _, line := range lines {
			if w := style.Width(line); w > 80 && len([]rune(line)) > 1 {
				t.Errorf("line %q is %v wide", line, w)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(strings.Join(lines, "")); got != squeeze(text) {
			t.Errorf("wrapped %q reads %q", text, got)
		}
	}
	if lines := wrap(style, 0, "ab"); !slices.Equal(lines, []string{"a", "b"}) {
		t.Errorf("no room at all: %q", lines)
	}
}
