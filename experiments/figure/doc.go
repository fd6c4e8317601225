// Package figure draws the charts of the experiments, as SVG and PNG.
package figure
