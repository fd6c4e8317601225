// Package figure draws the charts of the experiments as SVG and PNG files fit to
// print. It is the only user of gonum.org/v1/plot and knows nothing of filters or rows:
// a figure is plain data, filled by whoever has the numbers, and drawn by Write (two
// files) or Render (bytes).
//
// # Adding a figure
//
// Choose the kind: a Chart is one panel with its legend at the right, a Grid is several
// panels with shared axes and one legend, a HeatMap is a table of coloured cells. Then
// fill a composite literal:
//
//	c := figure.Chart{
//		Name:    "fpr-vs-load",                                  // stem of the file names
//		Title:   "An overfilled filter fails slowly, then fast", // what is seen, not what is plotted
//		Caption: "n = 100,000; 10 seeds; bars: 95% intervals; CPU; revision",
//		X:       figure.Axis{Label: "load (keys inserted ÷ keys promised)", Log: true},
//		Y:       figure.Axis{Label: "false-positive rate", Log: true},
//	}
//	measured := figure.Series{Name: "standard"}
//	for _, r := range rows {
//		if r.Events == 0 {
//			measured.Points = append(measured.Points, figure.Unseen(r.Load, r.Trials))
//			continue
//		}
//		measured.Points = append(measured.Points, figure.Point{X: r.Load, Y: r.FPR, Lo: r.Lo, Hi: r.Hi})
//	}
//	theory := figure.Series{Name: "standard", Theory: true} // same name: same colour, one legend entry
//	...
//	c.Series = append(c.Series, theory, measured)
//	paths, err := figure.Write(dir, c)
//
// Look at the picture once before calling it done.
//
// # What a reader may rely on
//
//   - Measured values are marks with their intervals, theory is a line; theory over a
//     logarithmic axis wants points spaced evenly in the logarithm.
//   - Nothing is left out in silence. Values that are not finite, or at or below 0 on a
//     logarithmic axis, or outside a fixed range, are counted below the caption.
//   - Zero events are an open mark pointing down at 3/trials, never a rate of 0.
//   - An axis has at least two labelled ticks, within one decade too. Equal values stand
//     in the middle of a range a tenth to ten times around them (linear: 0 to twice).
//   - The legend and the labels of reference lines stand outside the frame. Series differ
//     in colour, glyph and dash, each enough alone, so print in grey keeps them apart.
//   - Units stand in the labels. The caption carries n, seeds, trials, machine and revision.
//   - The same figure gives the same bytes on one machine; a figure without a drawable
//     value is an error that leaves no file.
//
// Fonts are embedded in the program, named but not embedded in the SVG. A figure is 5.6 in
// wide (more for a Grid or a HeatMap of many columns); a Chart is 3.4 in high plus its
// caption. PDF: convert the SVG (rsvg-convert -f pdf).
package figure
