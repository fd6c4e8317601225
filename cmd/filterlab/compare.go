package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"

	"filterlab/experiments"
	"filterlab/experiments/units"
)

func compareCommand() command {
	return command{
		name: "compare", args: "OLD NEW [EXPERIMENT ...]", short: "compare two folders of results",
		help: `Usage: filterlab compare OLD NEW [EXPERIMENT ...] [--slower RATE] [--all]
       filterlab compare --bench DIR [EXPERIMENT ...]

Compares the results in two folders: of the named experiments, or of all that either has.
Exact rows must be the same; where they are not, the first difference of the experiment is
named by row, column and both values. Times are compared as benchstat does: medians with
their intervals, a Mann-Whitney test at 5% for each, and geometric means of the ratios by
experiment and metric.

  --slower RATE  fail, too, when a geometric mean says slower by more than this
  --all          list the times that did not change as well
  --bench        write the times of one folder in the Go benchmark format

Exit status: 0 the same, 1 exact rows differ or --slower was exceeded, 2 refused.

Examples:
  filterlab compare results /tmp/results fpr-vs-k
  filterlab compare results /tmp/results fpr-vs-k --slower 10% --all
  filterlab compare --bench /tmp/results
`,
		run: runCompare,
	}
}

func runCompare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("compare", "slower")
	all := f.set.Bool("all", false, "")
	bench := f.set.Bool("bench", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	slower := math.Inf(1)
	if text, err := f.get("slower", ""); err != nil {
		return err
	} else if text != "" {
		if slower, err = units.ParseRate(text); err != nil {
			return usagef("--slower: %w", err)
		}
	}
	folders, names := 2, "two folders"
	if *bench {
		folders, names = 1, "one folder"
		if *all || f.text["slower"].given {
			return usagef("--bench: want neither --all nor --slower beside it")
		}
	}
	if len(rest) < folders {
		return usagef("%d arguments: want %s of results", len(rest), names)
	}
	for _, dir := range rest[:folders] {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usagef("%q: want a folder that filterlab run wrote", dir)
		}
	}
	list, err := experimentsNamed(rest[folders:])
	if err != nil {
		return err
	}
	if *bench {
		err := experiments.WriteBenchmarks(stdout, rest[0], list)
		if errors.Is(err, os.ErrNotExist) {
			return usagef("%w", err)
		}
		return err
	}
	c, err := experiments.Compare(rest[0], rest[1], list)
	if errors.Is(err, os.ErrNotExist) {
		return usagef("%w", err)
	}
	if err != nil {
		return err
	}
	return printComparison(stdout, c, slower, *all)
}

func printComparison(stdout io.Writer, c experiments.Comparison, slower float64, all bool) error {
	for _, d := range c.Differences {
		fmt.Fprintln(stdout, d)
	}
	fmt.Fprintf(stdout, "exact rows: %d experiments the same, %d not\n", len(c.Equal), len(c.Differences))
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	if len(c.Times) > 0 {
		fmt.Fprintln(w, "\nexperiment\tmetric\tgeometric mean\tcells\tfaster\tslower")
	}
	exceeded := 0
	for _, m := range c.Means() {
		mark := ""
		if m.Ratio > 1+slower {
			exceeded++
			mark = fmt.Sprintf("\tabove --slower %g%%", 100*slower)
		}
		fmt.Fprintf(w, "%s\t%s\t%+.1f%%\t%d\t%d\t%d%s\n", m.Experiment, m.Metric, 100*(m.Ratio-1), m.Cells, m.Faster, m.Slower, mark)
	}
	listed := 0
	for i := range c.Times {
		t := &c.Times[i]
		if !all && !t.Changed() {
			continue
		}
		if listed++; listed == 1 {
			fmt.Fprintln(w, "\nexperiment\tmetric\told, ns\tnew, ns\tchange\ttest\tat")
		}
		change := "~"
		if r := t.Ratio(); t.Changed() && !math.IsNaN(r) {
			change = fmt.Sprintf("%+.1f%%", 100*(r-1))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\tp=%.3f n=%d+%d\t%s\n", t.Experiment, t.Metric, spread(t.Old), spread(t.New), change, t.P, t.OldN, t.NewN, t.At)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if same := len(c.Times) - listed; same > 0 {
		fmt.Fprintf(stdout, "\n%d times that the test does not tell apart are left out; --all lists them\n", same)
	}
	if c.Unpaired > 0 {
		fmt.Fprintf(stdout, "%d times are in one of the folders only\n", c.Unpaired)
	}
	switch {
	case len(c.Differences) > 0:
		return fmt.Errorf("%d experiments differ in their exact rows", len(c.Differences))
	case exceeded > 0:
		return fmt.Errorf("%d geometric means are slower by more than %g%%", exceeded, 100*slower)
	}
	return nil
}

// spread prints a median with the larger half of its interval, as benchstat does:
// "12.3 ± 4%"; ∞ where there are too few rounds for an interval.
func spread(e experiments.Estimate) string {
	half := math.Max(e.Value-e.Lo, e.Hi-e.Value) / e.Value
	if math.IsNaN(half) || half < 0 {
		return fmt.Sprintf("%.4g ± ∞", e.Value)
	}
	return fmt.Sprintf("%.4g ± %.0f%%", e.Value, 100*half)
}
