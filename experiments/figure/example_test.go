package figure_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"filterlab/experiments/figure"
)

// A chart of measured rates against the formula. Nothing was seen at the
// lowest load, so that point is an upper bound.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "figure")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	theory := figure.Series{Name: "standard", Theory: true}
	for load := 0.1; load <= 4; load *= 1.1 {
		theory.Points = append(theory.Points, figure.Point{X: load, Y: math.Pow(1-math.Exp(-7*load/10), 7)})
	}
	measured := figure.Series{Name: "standard", Points: []figure.Point{
		figure.Unseen(0.1, 1_000_000),
		{X: 1, Y: 0.0081, Lo: 0.0079, Hi: 0.0083},
		{X: 4, Y: 0.651, Lo: 0.648, Hi: 0.654},
	}}
	paths, err := figure.Write(dir, figure.Chart{
		Name:    "fpr-vs-load",
		Title:   "An overfilled filter fails slowly, then fast",
		Caption: "n = 100,000, 10 bits per key, k = 7; 1,000,000 negative lookups; bars are 95% intervals.",
		X:       figure.Axis{Label: "load (keys inserted ÷ keys promised)", Log: true},
		Y:       figure.Axis{Label: "false-positive rate", Log: true},
		Series:  []figure.Series{theory, measured},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range paths {
		fmt.Println(filepath.Base(p))
	}
	// Output:
	// fpr-vs-load.svg
	// fpr-vs-load.png
}
