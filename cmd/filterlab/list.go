package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"filterlab/experiments"
	"filterlab/experiments/workload"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

func listCommand() command {
	return command{
		name: "list", args: "", short: "name the experiments, filters, hashes and key sets",
		help: `Usage: filterlab list

Names everything that other commands take: experiments with their questions, filter
families with their knobs, hash functions, key sets and profiles.

Example:
  filterlab list
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			fs := flag.NewFlagSet("list", flag.ContinueOnError)
			rest, err := parse(fs, args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return fmt.Errorf("argument %q: want none (%w)", rest[0], errUsage)
			}
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "Experiments")
			for _, e := range experiments.All() {
				fmt.Fprintf(w, "  %s\t%s\n", e.Name, e.Question)
			}
			fmt.Fprintln(w, "\nFilters")
			for _, f := range catalog.Families() {
				fmt.Fprintf(w, "  %s\t%s\n", f.Name, f.Doc)
				for _, k := range f.Knobs {
					fmt.Fprintf(w, "  \t  %s: %s\n", k.Name, k.Doc)
				}
			}
			fmt.Fprintln(w, "\nHashes")
			for _, h := range hashing.All() {
				name := h.Name
				if h.Alias != "" {
					name += ", " + h.Alias
				}
				fmt.Fprintf(w, "  %s\t%s\n", name, h.Doc)
			}
			fmt.Fprintln(w, "\nKey sets")
			for _, k := range workload.All() {
				fmt.Fprintf(w, "  %s\t%s\n", k.Name, k.Doc)
			}
			fmt.Fprintln(w, "\nProfiles")
			for _, p := range experiments.Profiles() {
				fmt.Fprintf(w, "  %s\tintervals of +-%.0f%%, at least %d seeds, %d timing rounds, n up to %s\n", p.Name, 100*p.Precision, p.Seeds, p.Rounds, strings.TrimSpace(fmt.Sprintf("%8.0e", float64(p.MaxN))))
			}
			return w.Flush()
		},
	}
}
