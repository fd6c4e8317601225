package figure

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// Figure is what Render and Write draw: a Chart, a Grid or a HeatMap.
type Figure interface {
	// Stem is the name of the files without folder and extension.
	Stem() string

	// sheet lays the figure out; it reports what cannot be drawn.
	sheet(t typeset) (sheet, error)
}

// Chart is one panel with its legend at the right.
type Chart struct {
	Name    string // stem of the files, "fpr-vs-load": no folders, no extension
	Title   string // one line that says what is seen
	Caption string // n, seeds, trials, machine, revision; wrapped below the plot

	X, Y   Axis
	Series []Series
	VLines []Line // vertical reference lines, At on the X axis: cache sizes
	HLines []Line // horizontal reference lines, At on the Y axis: a target
	Marks  []Mark // rings around points worth finding: a minimum
}

// Grid is a set of small multiples: panels of one size, aligned, with the same
// axes and one legend below. A series of one name looks the same in every panel.
type Grid struct {
	Name, Title, Caption string // as in Chart

	Columns int  // panels in a row; 0 chooses at most 3
	X, Y    Axis // shared by the panels, automatic ranges too
	Panels  []Panel
}

// Stem is c.Name.
func (c Chart) Stem() string { return c.Name }

// Stem is g.Name.
func (g Grid) Stem() string { return g.Name }

// Panel is one small chart of a Grid.
type Panel struct {
	Title  string
	Series []Series
	VLines []Line
	HLines []Line
	Marks  []Mark
}

// Axis describes one axis. The zero value is a linear axis with a range taken
// from the data.
type Axis struct {
	Label    string // what is shown, with its unit: "bits per key", "time per lookup (ns)"
	Log      bool   // logarithmic; values at or below 0 are left out and counted
	Reversed bool   // larger values towards the left or the bottom
	// Min and Max fix the range when they differ. Both 0, or a 0 on a
	// logarithmic axis, stands for automatic. The automatic range holds every
	// measured value with its interval; theory lines widen it, on a
	// logarithmic axis by one decade at most.
	Min, Max float64
	Format   Format    // how ticks are written
	Ticks    []float64 // the labelled ticks; nil chooses them
}

// Format says how the ticks of an axis are written.
type Format int

const (
	// Auto writes short decimals, or powers of ten where these would be long.
	Auto Format = iota
	// Percent writes 0.01 as "1%". The values stay fractions.
	Percent
	// Power always writes powers of ten: 10⁻³.
	Power
)

// Series is a run of points under one name. Measured series are drawn as marks
// with intervals, theory as a line. Give the theory of a measured series the
// same Name: the two then share colour, dash and one legend entry.
type Series struct {
	Name   string // legend entry; series of one Name are one entry; "" has none
	Points []Point
	Theory bool // a line without marks
	Join   bool // joins the marks of a measured series by a thin line
	// Style fixes the look, so that a family keeps its colour over several
	// figures: 1, 2, ... are the styles in their order, Reference is a black
	// line for bounds. 0 takes the next free style.
	Style int
}

// Reference is the Series.Style for a bound that belongs to no contender: black.
const Reference = -1

// Point is one value with its interval.
type Point struct {
	X, Y float64
	// Lo and Hi are the ends of the interval of Y (bounds, not offsets); both 0
	// means that there is none. On a logarithmic axis a Lo at or below 0 runs
	// to the edge.
	Lo, Hi float64
	// UpperBound says that no event was seen and Y is what the trials exclude;
	// see Unseen. It is drawn as an open mark pointing down; those of several
	// series at one place are fanned out around it.
	UpperBound bool
}

// Unseen is the point for zero events in a number of trials: the 95% upper bound
// 3/trials (the rule of three: (1-p)^N = 5% at p ≈ 3/N).
func Unseen(x float64, trials uint64) Point {
	return Point{X: x, Y: 3 / float64(trials), UpperBound: true}
}

// Line is a reference line across a panel, labelled outside its frame.
type Line struct {
	At    float64
	Label string
}

// Mark is a ring around a place on a panel, or a text beside it, or both.
type Mark struct {
	X, Y float64
	Name string // legend entry; marks of one Name are one entry; "" has none
	Text string // short text beside the place
	Bare bool   // no ring
}

// checkName refuses a Name that would not give a file inside the folder asked for.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:`) || filepath.Base(name) != name {
		return fmt.Errorf("figure: name %q: want a file name without folder or leading dot", name)
	}
	return nil
}

// ErrEmpty is the refusal of a figure with no ink: no error where points could not be
// measured, and one where a file was promised.
var ErrEmpty = errors.New("nothing to draw: no point has a finite value inside the axes")

// drawable says whether a float can stand on a chart. The limit keeps sums and
// widened ranges finite.
func drawable(v float64) bool { return math.Abs(v) <= 1e300 }
