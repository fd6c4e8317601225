package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"filterlab/experiments"
	"filterlab/experiments/report"
)

func verifyCommand() command {
	return command{
		name: "verify", args: "[DIR]", short: "check that results say what their rows say, or repeat them",
		help: `Usage: filterlab verify [DIR] [--rerun] [--keys FILE] [--queries FILE]

Makes every summary, verdict, finding and figure in DIR (default "results") anew from
the rows, and then the claims and index.html, and compares them with the files, byte for
byte. It changes nothing, takes seconds, and fails when one is off.

  --rerun            also measure every exact row again, with the seed, profile and grid
                     of the run, and compare samples.csv; minutes, timed rows are left out
  --keys, --queries  the files that the results were made with, if they were

Examples:
  filterlab verify
  filterlab verify results --rerun
`,
		run: runVerify,
	}
}

func runVerify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("verify", "keys", "queries")
	rerun := f.set.Bool("rerun", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	dir := "results"
	switch len(rest) {
	case 0:
	case 1:
		dir = rest[0]
	default:
		return usagef("argument %q: want one folder", rest[1])
	}
	files, err := openKeys(f, 1, stderr)
	if err != nil {
		return err
	}
	checked := 0
	var bad error
	for _, e := range experiments.All() {
		if _, _, err := experiments.Load(e, dir); errors.Is(err, os.ErrNotExist) {
			continue
		}
		err := experiments.Verify(e, dir)
		if err == nil && *rerun {
			err = experiments.Rerun(ctx, e, dir, files, stderr, isTerminal(stderr))
		}
		if ctx.Err() != nil {
			return err
		}
		checked++
		if err != nil {
			bad = errors.Join(bad, err)
			fmt.Fprintf(stderr, "%s: %v\n", e.Name, err)
			continue
		}
		fmt.Fprintf(stdout, "%s: ok\n", e.Name)
	}
	if checked == 0 {
		return usagef("%q: want a folder that filterlab run wrote; it holds no results", dir)
	}
	switch err := experiments.CheckClaims(dir); {
	case err == nil:
		fmt.Fprintln(stdout, "claims: ok")
	case !errors.Is(err, os.ErrNotExist):
		bad = errors.Join(bad, err)
		fmt.Fprintf(stderr, "claims: %v\n", err)
	}
	switch err := report.Check(dir); {
	case err == nil:
		fmt.Fprintln(stdout, report.File+": ok")
	case !errors.Is(err, os.ErrNotExist):
		bad = errors.Join(bad, err)
		fmt.Fprintf(stderr, "%v\n", err)
	}
	if bad != nil {
		return errors.New("results do not hold")
	}
	return nil
}
