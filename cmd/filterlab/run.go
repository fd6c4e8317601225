package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"filterlab/experiments"
)

func runCommand() command {
	return command{
		name: "run", args: "[EXPERIMENT ...]", short: "measure, and write CSV files and figures",
		help: `Usage: filterlab run [EXPERIMENT ...] [flags]

Measures every point of the named experiments (all of them without a name), and leaves
in OUT/<experiment>/ the rows (samples.csv, times.csv), the table (summary.csv), the
machine (env.json), the figures (SVG and PNG) and a sentence on what was found.

  --profile quick|default|full   how much effort to spend (default "default")
  --out DIR                      results folder (default "results")
  --seed N                       seed of every key set, hash and order (default 1)
  --resume                       continue an interrupted run, or start one
  --restart                      discard an interrupted run
  --keys FILE                    members from a file, one key per line, instead of key sets
  --queries FILE                 absent keys from a file; without it half of --keys is held out

Axes of the experiments; a list replaces the values of the experiment:
  --filters LIST      standard,cuckoo(f=12),blocked(512,k=6)
  --hashes LIST       xxhash64,murmur3
  --keysets LIST      random,sequential
  --n LIST            keys the filter is sized for: 1e5,1_000_000,2M
  --p LIST            promised rate: 0.01,1%,2^-10
  --bits-per-key LIST space instead of a rate: 8,10,12.5
  --k LIST            probes: 5,6,7
  --load LIST         keys offered, as a multiple of n: 0.5,1,2
  --words LIST        words in the 16-bit filter of the teaching experiment

Examples:
  filterlab run --profile quick --out /tmp/results
  filterlab run fpr-vs-k --seed 7 --bits-per-key 10 --k 5,6,7,8
  filterlab run fpr-vs-bits --filters 'standard,cuckoo(f=12)' --bits-per-key 14
  filterlab run hash-choice --keys words.txt --hashes xxh3,fnv1a64,fnv1a32
`,
		run: runExperiments,
	}
}

// axes are the axes that have a flag of their own name.
func axes() []string {
	return []string{"filters", "hashes", "keysets", "n", "p", "bits-per-key", "k", "load", "words"}
}

func runExperiments(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	profile := fs.String("profile", "default", "")
	out := fs.String("out", "results", "")
	seed := fs.Uint64("seed", 1, "")
	resume := fs.Bool("resume", false, "")
	restart := fs.Bool("restart", false, "")
	keys := fs.String("keys", "", "")
	queries := fs.String("queries", "", "")
	values := map[string]*string{}
	for _, a := range axes() {
		values[a] = fs.String(a, "", "")
	}
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	o := experiments.Options{Out: *out, Seed: *seed, Resume: *resume, Restart: *restart, Log: stderr}
	if o.Profile, err = experiments.ProfileByName(*profile); err != nil {
		return err
	}
	fs.Visit(func(f *flag.Flag) {
		if v, ok := values[f.Name]; ok {
			o.Overrides = append(o.Overrides, experiments.Override{Axis: f.Name, Values: splitList(*v)})
		}
	})
	if *keys == "" && *queries != "" {
		return fmt.Errorf("--queries = %q: want --keys beside it (%w)", *queries, errUsage)
	}
	if *resume && *restart {
		return fmt.Errorf("--resume and --restart: want one of them (%w)", errUsage)
	}
	if *keys != "" {
		if o.Files, err = experiments.OpenKeys(*keys, *queries, *seed); err != nil {
			return err
		}
		fmt.Fprintln(stderr, o.Files.Report())
	}
	if f, ok := stderr.(*os.File); ok {
		o.Terminal = term.IsTerminal(int(f.Fd()))
	}
	list := experiments.All()
	if len(rest) > 0 {
		list = list[:0]
		for _, name := range rest {
			e, err := experiments.ByName(name)
			if err != nil {
				return err
			}
			list = append(list, e)
		}
	}
	// Refuse what cannot run before anything runs.
	for _, e := range list {
		if err := o.Check(e); err != nil {
			return err
		}
	}
	return report(list, *out, stderr, func(e experiments.Experiment) (experiments.Outcome, error) {
		return experiments.Run(ctx, e, o)
	})
}

// report runs do for each experiment, prints what was found, and writes the
// index.
func report(list []experiments.Experiment, out string, stderr io.Writer, do func(experiments.Experiment) (experiments.Outcome, error)) error {
	bad := false
	for _, e := range list {
		o, err := do(e)
		if err != nil {
			return err
		}
		for i := range o.Cells {
			if c := &o.Cells[i]; c.Verdict == experiments.Failed || c.Verdict == experiments.Differ {
				bad = true
				fmt.Fprintf(stderr, "%s: %s: %s n=%d inserted=%d hash=%s keys=%s: measured %.4g, expected %.4g %s\n",
					e.Name, c.Verdict, c.Filter, c.N, c.Inserted, c.Hash, c.Keys, c.FPR.Value, c.Predicted.FPR, c.Reason)
			}
		}
		if len(o.Cells) > 0 {
			fmt.Fprintf(stderr, "%s: %s\n", e.Name, e.Finding(o.Cells))
		}
	}
	if err := experiments.WriteIndex(out); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "results are in %s\n", filepath.Join(out, "README.md"))
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
			fs := flag.NewFlagSet("plot", flag.ContinueOnError)
			out := fs.String("out", "results", "")
			rest, err := parse(fs, args)
			if err != nil {
				return err
			}
			var list []experiments.Experiment
			for _, name := range rest {
				e, err := experiments.ByName(name)
				if err != nil {
					return err
				}
				list = append(list, e)
			}
			if len(rest) == 0 {
				for _, e := range experiments.All() {
					_, _, err := experiments.Load(e, *out)
					if errors.Is(err, os.ErrNotExist) {
						continue
					}
					list = append(list, e)
				}
				if len(list) == 0 {
					return fmt.Errorf("--out = %q: want a folder that filterlab run wrote (%w)", *out, errUsage)
				}
			}
			return report(list, *out, stderr, func(e experiments.Experiment) (experiments.Outcome, error) {
				return experiments.Remake(e, *out)
			})
		},
	}
}
