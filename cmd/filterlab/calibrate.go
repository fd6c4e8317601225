package main

import (
	"context"
	"fmt"
	"io"

	"filterlab/experiments/choose"
	"filterlab/experiments/units"
)

func calibrateCommand() command {
	return command{
		name: "calibrate", args: "", short: "measure what lookups, adds and hashes cost on this machine, for choose",
		help: `Usage: filterlab calibrate [--out FILE] [--largest SIZE]

Times every filter that choose considers, at tables from 16 KiB to 64 MiB, few and many
probes, hits, misses and both mixed, singly and in batches; hashes by the length of the key;
and a Go map. It takes one to two minutes and is best left alone meanwhile: what else runs
shows in the times. Tables that would take more than half of the memory are left out.

  --out FILE      where to write instead of the user's cache folder
  --largest SIZE  the largest tables, up to 256MiB (64MiB); larger ones take longer

Without --out the result is what "filterlab choose" uses from then on. The file says which
machine it is of, and when; its path goes to stdout.

Examples:
  filterlab calibrate
  filterlab calibrate --out /tmp/server.json --largest 1MiB
`,
		run: runCalibrate,
	}
}

func runCalibrate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("calibrate", "out", "largest")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("argument %q: want flags only", rest[0])
	}
	path, err := f.get("out", "")
	if err != nil {
		return err
	}
	if path == "" {
		if path, err = choose.CachePath(); err != nil {
			return fmt.Errorf("no cache folder, give --out FILE: %w", err)
		}
	}
	largest, err := f.get("largest", "64MiB")
	if err != nil {
		return err
	}
	bits, err := units.ParseBits(largest)
	if err != nil {
		return usagef("--largest: %w", err)
	}
	c, err := choose.Calibrate(ctx, choose.DefaultPlan(bits), stderr)
	if err != nil {
		return err
	}
	if err := c.Save(path); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}
