package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"filterlab/experiments"
	"filterlab/experiments/papers"
	"filterlab/experiments/units"
)

func paperCommand() command {
	return command{
		name: "paper", args: "[NAME]", short: "make a published table anew and compare",
		help: `Usage: filterlab paper [NAME] [--profile P] [--seed N] [--csv]

Makes a table that others have published, next to what they state, and checks our numbers
against bands around theirs. Without a name it lists the tables. Exit status 1 when a number
lies outside its band; no band is on a time.

  --profile P   quick (a second or two), default (some ten seconds), full (the published size)
  --seed N      another set of keys
  --csv         the table alone, as comma-separated values

Examples:
  filterlab paper
  filterlab paper putze
  filterlab paper fan-table3 --profile full
  filterlab paper split-block --csv
`,
		run: runPaper,
	}
}

func runPaper(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("paper", "profile", "seed")
	asCSV := f.set.Bool("csv", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	name, err := f.get("profile", "default")
	if err != nil {
		return err
	}
	effort := papers.Effort{}
	if _, err := experiments.ProfileByName(name); err != nil {
		return err
	}
	for i, p := range experiments.Profiles() {
		if p.Name == name {
			effort.Scale = i
		}
	}
	seed, err := f.get("seed", "1")
	if err != nil {
		return err
	}
	if effort.Seed, err = units.ParseCount(seed); err != nil {
		return fmt.Errorf("--seed: %w", err)
	}
	switch len(rest) {
	case 0:
		w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
		for _, p := range papers.All() {
			fmt.Fprintf(w, "%s\t%s\n", p.Name, p.About)
		}
		return w.Flush()
	case 1:
	default:
		return usagef("argument %q: want one name", rest[1])
	}
	p, err := papers.ByName(rest[0])
	if err != nil {
		return err
	}
	t, err := p.Make(ctx, effort)
	if err != nil {
		return err
	}
	if *asCSV {
		err = t.WriteCSV(stdout)
	} else {
		err = t.WriteText(stdout, p)
	}
	if err != nil {
		return err
	}
	if off := t.Off(); off > 0 {
		return fmt.Errorf("%s: %d of %d checks lie outside their band", p.Name, off, len(t.Checks))
	}
	return nil
}
