package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"filterlab/experiments"
	"filterlab/experiments/report"
)

func verifyCommand() command {
	return command{
		name: "verify", args: "[DIR]", short: "check that results say what their rows say, or repeat them",
		help: `Usage: filterlab verify [DIR] [--rerun] [--within TIME] [--keys FILE] [--queries FILE]

Makes every summary, verdict, finding and figure in DIR (default "results") anew from
the rows, and then the claims and index.html, and compares them with the files, byte for
byte. It changes nothing, takes seconds, and fails when one is off.

  --rerun            also measure exact rows again, with the seed, profile and grid of the
                     run, and compare them with samples.csv; timed rows are left out
  --within TIME      for at most so long in all (default 10m; 0 has no limit and measures
                     every exact row). The time is shared out, short experiments first; one
                     that takes longer than its share is measured again in part, from its
                     first row on, and the line that says ok says which part
  --keys, --queries  the files that the results were made with, if they were

Examples:
  filterlab verify
  filterlab verify results --rerun --within 0
`,
		run: runVerify,
	}
}

// repeat is an experiment to be measured again, and how long its run took.
type repeat struct {
	experiment experiments.Experiment
	seconds    float64
}

func runVerify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("verify", "keys", "queries", "within")
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
	text, err := f.get("within", "10m")
	if err != nil {
		return err
	}
	within, err := time.ParseDuration(text)
	switch {
	case err != nil || within < 0:
		return usagef("--within %q: want a time of at least 0, such as 90s or 10m", text)
	case f.text["within"].given && !*rerun:
		return usagef("--within %q: want --rerun beside it", text)
	}
	checked := 0
	var bad error
	var again []repeat
	for _, e := range experiments.All() {
		_, env, err := experiments.Load(e, dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		checked++
		if err := experiments.Verify(e, dir); err != nil {
			bad = errors.Join(bad, err)
			fmt.Fprintf(stderr, "%s: %v\n", e.Name, err)
			continue
		}
		if *rerun {
			again = append(again, repeat{e, env.Seconds})
			continue
		}
		fmt.Fprintf(stdout, "%s: ok\n", e.Name)
	}
	// Short ones first, so that the long ones get what those leave of their shares.
	slices.SortStableFunc(again, func(a, b repeat) int { return cmp.Compare(a.seconds, b.seconds) })
	end := time.Now().Add(within)
	for i, r := range again {
		share := time.Duration(0)
		if within > 0 {
			share = max(time.Until(end)/time.Duration(len(again)-i), time.Millisecond)
		}
		n, of, err := experiments.Rerun(ctx, r.experiment, dir, files, share, stderr, isTerminal(stderr))
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			bad = errors.Join(bad, err)
			fmt.Fprintf(stderr, "%s: %v\n", r.experiment.Name, err)
		case n < of:
			fmt.Fprintf(stdout, "%s: ok, as far as there was time: %d of %d groups of points measured again\n", r.experiment.Name, n, of)
		default:
			fmt.Fprintf(stdout, "%s: ok\n", r.experiment.Name)
		}
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
