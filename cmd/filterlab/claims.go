package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"text/tabwriter"

	"filterlab/experiments"
)

func claimsCommand() command {
	return command{
		name: "claims", args: "", short: "judge what people say about filters by the results",
		help: `Usage: filterlab claims [--out DIR] [--markdown]

Writes DIR/claims.md and DIR/claims.csv (DIR is "results" without the flag): each claim
with its source, the number stated, the number measured with its interval and the rows
behind it, and a verdict that follows from the two. A claim whose rows are missing says
which experiment to run; claims of mere arithmetic need no rows.

A list of verdicts goes to stdout; with --markdown a table to be put into a text, whose
links lead to the claims in DIR/claims.md. How many verdicts there are of each kind goes
to stderr.

Verdicts: holds, holds if (in some of the cases looked at), wrong, undecided (the interval
is too wide) and no rows.

Examples:
  filterlab claims
  filterlab claims --markdown > table.md
  filterlab run --profile quick --out /tmp/results && filterlab claims --out /tmp/results
`,
		run: runClaims,
	}
}

func runClaims(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("claims", "out")
	markdown := f.set.Bool("markdown", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("argument %q: want flags only", rest[0])
	}
	out, err := f.get("out", "results")
	if err != nil {
		return err
	}
	if info, err := os.Stat(out); err != nil || !info.IsDir() {
		return usagef("--out %q: want a folder that filterlab run wrote", out)
	}
	judged, err := experiments.WriteClaims(out)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d claims: %s; see %s/claims.md\n", len(judged), experiments.Tally(judged), out)
	if *markdown {
		_, err := io.WriteString(stdout, experiments.ClaimsTable(judged, path.Join(filepath.ToSlash(out), experiments.ClaimsFile)))
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "claim\tstated\tverdict")
	for _, j := range judged {
		verdict := j.Verdict
		if j.If != "" {
			verdict += " " + j.If
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", j.Claim.ID, j.Claim.Stated, verdict)
	}
	return w.Flush()
}
