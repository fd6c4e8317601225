package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"filterlab/experiments"
	"filterlab/experiments/report"
	"filterlab/experiments/units"
)

func runCommand() command {
	return command{
		name: "run", args: "[EXPERIMENT ...]", short: "measure, and write CSV files and figures",
		help: `Usage: filterlab run [EXPERIMENT ...] [flags]

Measures every point of the named experiments (all of them without a name), and leaves
in OUT/<experiment>/ the rows (samples.csv, times.csv), the table (summary.csv), the
machine (env.json), the figures (SVG and PNG) and a sentence on what was found.

  --profile quick|default|full   how much effort to spend (default "default")
  --precision RATE               wanted half-width of a 95% interval, as a share of the rate
                                 (5% of 0.01 is 0.01 ± 0.0005), in place of that of the profile:
                                 lookups and seeds are planned from it before anything runs, up
                                 to the profile's limit of lookups; twice as wide below 1e-5
  --out DIR                      results folder (default "results")
  --seed N                       seed of every key set, hash and order (default 1)
  --resume                       go on where an interrupted run stopped; experiments that
                                 have ended are not measured again
  --restart                      discard an interrupted run
  --dry-run                      measure and write nothing: print the points, and how long they
                                 would take by what OUT or results tell of earlier runs
  --keys FILE                    members from a file, one key per line, instead of key sets
  --queries FILE                 absent keys from a file; without it half of --keys is held out

Axes of the experiments; a list replaces the values of the experiment:
` + axesHelp() + `
Examples:
  filterlab run --profile quick --out /tmp/results
  filterlab run fpr-vs-k --precision 5% --seed 7 --bits-per-key 10 --k 5,6,7,8
  filterlab run fpr-vs-bits --filters 'standard,cuckoo(f=12)' --bits-per-key 14
  filterlab run time-vs-n --dry-run
  filterlab run hash-choice --keys words.txt --hashes xxh3,fnv1a64,fnv1a32
`,
		run: runExperiments,
	}
}

// axesHelp explains the flags of the axes, a line each.
func axesHelp() string {
	docs := map[string]string{
		"filters":      "standard,cuckoo(f=12),blocked(512,k=6)",
		"hashes":       "xxhash64,murmur3",
		"keysets":      "random,sequential",
		"n":            "keys the filter is sized for: 1e5,1_000_000,2M",
		"p":            "promised rate: 0.01,1%,2^-10",
		"bits-per-key": "space instead of a rate: 8,10,12.5",
		"k":            "probes: 5,6,7",
		"load":         "keys offered, as a multiple of n: 0.5,1,2",
		"m":            "bits of the table in index-schemes: 512,4096,2^20",
		"words":        "words in the 16-bit filter of teaching: 3,8",
		"slots":        "slots of the table in cuckoo-load: 4096,2^16",
		"hit-ratio":    "share of lookups that ask for a member in hit-ratio: 0,50%,100%",
		"seeds":        "independently seeded filters at each point: 100",
		"length":       "bytes of a key in key-length: 8,64,1024",
		"shards":       "shards that are merged in merge: 1,4,8",
	}
	var b strings.Builder
	for _, name := range axes() {
		fmt.Fprintf(&b, "  --%-17s %s\n", name+" LIST", docs[name])
	}
	return b.String()
}

// axes are the names of all axes of all experiments: each has a flag of its own.
func axes() []string {
	var names []string
	for _, e := range experiments.All() {
		for _, a := range e.Grid(experiments.Profiles()[0]).Axes {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return append(names, "seeds") // every grid takes it
}

func runExperiments(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("run", append(axes(), "profile", "precision", "out", "seed", "keys", "queries")...)
	resume := f.set.Bool("resume", false, "")
	restart := f.set.Bool("restart", false, "")
	dry := f.set.Bool("dry-run", false, "")
	names, err := f.parse(args)
	if err != nil {
		return err
	}
	list, err := experimentsNamed(names)
	if err != nil {
		return err
	}
	o := experiments.Options{Resume: *resume, Restart: *restart, Log: stderr}
	if *resume && *restart {
		return usagef("--resume and --restart: want one of them")
	}
	profile, err := f.get("profile", "default")
	if err != nil {
		return err
	}
	if o.Profile, err = experiments.ProfileByName(profile); err != nil {
		return err
	}
	precision, err := f.get("precision", "")
	if err != nil {
		return err
	}
	if precision != "" {
		r, err := units.ParseRate(precision)
		if err != nil {
			return usagef("--precision: %w", err)
		}
		if o.Profile, err = o.Profile.WithPrecision(r); err != nil {
			return usageError{err}
		}
	}
	if o.Out, err = f.get("out", "results"); err != nil {
		return err
	}
	seed, err := f.get("seed", "1")
	if err != nil {
		return err
	}
	if o.Seed, err = units.ParseCount(seed); err != nil {
		return usagef("--seed: %w", err)
	}
	for _, a := range axes() {
		values, err := f.list(a)
		if err != nil {
			return err
		}
		if values != nil {
			o.Overrides = append(o.Overrides, experiments.Override{Axis: a, Values: values})
		}
	}
	if o.Files, err = openKeys(f, o.Seed, stderr); err != nil {
		return err
	}
	if o.Files != nil && f.text["keysets"].given {
		return usagef("--keys and --keysets: want one of them; the file takes the place of the key sets")
	}
	o.Terminal = isTerminal(stderr)
	// Refuse what cannot run before anything runs. Where no experiment was named, one
	// that cannot run at all, say for want of keys, does not keep the others from it.
	var runnable []experiments.Experiment
	for _, e := range list {
		warnings, err := o.Check(e)
		switch {
		case err == nil:
			runnable = append(runnable, e)
		case len(names) == 0 && errors.Is(err, experiments.ErrNothing):
			warnings = []string{fmt.Sprintf("left out: %v", err)}
		case swapped(f.text["n"].value, f.text["p"].value):
			return usagef("%w; were --n and --p swapped?", err)
		default:
			return usageError{err}
		}
		for _, w := range warnings {
			fmt.Fprintf(stderr, "filterlab run: warning: %s: %s\n", e.Name, w)
		}
	}
	if len(runnable) == 0 {
		return usagef("no experiment can run")
	}
	if *dry {
		return printPlan(stdout, runnable, o)
	}
	return conclude(runnable, o.Out, stderr, func(e experiments.Experiment) (experiments.Outcome, error) {
		return experiments.Run(ctx, e, o)
	})
}

// printPlan prints what a run would visit, a line a point, and how long it would take.
func printPlan(stdout io.Writer, list []experiments.Experiment, o experiments.Options) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	sum := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "experiment\tfilter\ttarget\tinserted\thash\tkeys")
	fmt.Fprintln(sum, "\nexperiment\tpoints\texpected time")
	points, total, unknown := 0, 0.0, 0
	for _, e := range list {
		plan, err := o.Plan(e, o.Out, "results")
		if err != nil {
			return err
		}
		for _, p := range plan.Points {
			fmt.Fprintf(w, "%s\t%v\t%v\t%d\t%s\t%s\n", e.Name, p.Variant, p.Target, p.Inserted(), p.Hash, p.Keys)
		}
		expected := "unknown"
		switch {
		case plan.Seconds == 0:
			unknown++
		case plan.Same:
			expected = duration(plan.Seconds)
		default:
			expected = "about " + duration(plan.Seconds) + ", by another grid"
		}
		fmt.Fprintf(sum, "%s\t%d\t%s\n", e.Name, len(plan.Points), expected)
		points += len(plan.Points)
		total += plan.Seconds
	}
	expected := "unknown"
	switch {
	case unknown == 0:
		expected = duration(total)
	case unknown < len(list):
		expected = fmt.Sprintf("%s and %d unknown", duration(total), unknown)
	}
	fmt.Fprintf(sum, "all\t%d\t%s\n", points, expected)
	return errors.Join(w.Flush(), sum.Flush())
}

func duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second / 10).String()
}

// openKeys reads the key files, if any, and tells what became of their lines.
func openKeys(f *flags, seed uint64, stderr io.Writer) (*experiments.FileKeys, error) {
	keys, err := f.get("keys", "")
	if err != nil {
		return nil, err
	}
	queries, err := f.get("queries", "")
	if err != nil {
		return nil, err
	}
	switch {
	case keys == "" && queries == "":
		return nil, nil
	case keys == "":
		return nil, usagef("--queries %q: want --keys beside it", queries)
	}
	files, err := experiments.OpenKeys(keys, queries, seed)
	if err != nil {
		return nil, usagef("--keys: %w", err)
	}
	fmt.Fprintln(stderr, files.Report())
	return files, nil
}

// isTerminal reports whether w is one, so that progress may redraw a line there.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// experimentsNamed finds the experiments that were named, or all.
func experimentsNamed(names []string) ([]experiments.Experiment, error) {
	if len(names) == 0 {
		return experiments.All(), nil
	}
	var list []experiments.Experiment
	for _, name := range names {
		e, err := experiments.ByName(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(other experiments.Experiment) bool { return other.Name == name }) {
			list = append(list, e)
		}
	}
	return list, nil
}

// conclude runs do for each experiment, prints what was found, and writes the
// index and the page.
func conclude(list []experiments.Experiment, out string, stderr io.Writer, do func(experiments.Experiment) (experiments.Outcome, error)) error {
	bad := false
	for _, e := range list {
		o, err := do(e)
		if err != nil {
			return err
		}
		for i := range o.Cells {
			if c := &o.Cells[i]; c.Bad() {
				bad = true
				fmt.Fprintf(stderr, "%s: %s: %s n=%d inserted=%d hash=%s keys=%s: measured %.4g, expected %.4g %s\n",
					e.Name, c.Verdict, c.Filter, c.N, c.Inserted, c.Hash, c.Keys, c.FPR.Value, c.Predicted.FPR, c.Reason)
			}
		}
		if len(o.Cells) > 0 {
			fmt.Fprintf(stderr, "%s: %s\n", e.Name, o.Finding)
		}
	}
	// A folder with all experiments, or with a ledger already, gets its ledger made
	// anew: claims are judged from the rows of all.
	_, err := os.Stat(filepath.Join(out, experiments.ClaimsFile))
	if len(list) == len(experiments.All()) || err == nil {
		judged, err := experiments.WriteClaims(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "%d claims: %s\n", len(judged), experiments.Tally(judged))
	}
	if err := experiments.WriteIndex(out); err != nil {
		return err
	}
	page, err := report.Write(out)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "results are in %s and %s\n", filepath.Join(out, "README.md"), page)
	if bad {
		return errDiffers
	}
	return nil
}

func plotCommand() command {
	return command{
		name: "plot", args: "[EXPERIMENT ...]", short: "make tables and figures anew from the rows in OUT",
		help: `Usage: filterlab plot [EXPERIMENT ...] [--out DIR]

Reads samples.csv and times.csv of the named experiments (of all that have results
without a name) and makes summary.csv, the figures and the finding anew. Nothing is
measured, and the rows are not touched.

Examples:
  filterlab plot
  filterlab plot fpr-vs-k --out /tmp/results
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			f := newFlags("plot", "out")
			names, err := f.parse(args)
			if err != nil {
				return err
			}
			list, err := experimentsNamed(names)
			if err != nil {
				return err
			}
			out, err := f.get("out", "results")
			if err != nil {
				return err
			}
			if len(names) == 0 {
				list = slices.DeleteFunc(list, func(e experiments.Experiment) bool {
					_, _, err := experiments.Load(e, out)
					return errors.Is(err, os.ErrNotExist)
				})
				if len(list) == 0 {
					return usagef("--out %q: want a folder that filterlab run wrote; it holds no results", out)
				}
			}
			return conclude(list, out, stderr, func(e experiments.Experiment) (experiments.Outcome, error) {
				return experiments.Remake(e, out)
			})
		},
	}
}
