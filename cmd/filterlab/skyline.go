package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"filterlab/experiments/choose"
)

func skylineCommand() command {
	return command{
		name: "skyline", args: "", short: "map which filter is best where, from measured times",
		help: `Usage: filterlab skyline [--out DIR] [--calibration FILE]

Draws three figures from the times that choose uses, with the numbers in skyline.csv:
skyline, the filter that costs least for each number of keys and each cost of a false
positive (Lang, Neumann, Kemper, Boncz, PVLDB 12(5), 2019); dominance, the smallest and the
fastest for each number of keys and promised rate; pareto, space against time at one rate.
Nothing is measured; it takes a few seconds. The paths go to stdout.

  --out DIR           folder for the files (results/skyline)
  --calibration FILE  measured times, as in choose

Examples:
  filterlab skyline --out /tmp/skyline
  filterlab calibrate && filterlab skyline --out /tmp/skyline
`,
		run: runSkyline,
	}
}

func runSkyline(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("skyline", "out", "calibration")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("argument %q: want flags only", rest[0])
	}
	dir, err := f.get("out", filepath.Join("results", "skyline"))
	if err != nil {
		return err
	}
	cal, _, err := calibration(f)
	if err != nil {
		return err
	}
	a, err := choose.Draw(cal)
	if err != nil {
		return err
	}
	paths, err := a.Write(dir, "filterlab calibrate")
	if err != nil {
		return err
	}
	for _, p := range paths {
		if _, err := fmt.Fprintln(stdout, p); err != nil {
			return err
		}
	}
	return nil
}
