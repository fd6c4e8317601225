package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"filterlab/experiments/report"
)

func reportCommand() command {
	return command{
		name: "report", args: "[--results DIR]", short: "make one page of results, to read and to share",
		help: `Usage: filterlab report [--results DIR]

Writes DIR/index.html (DIR is "results" without the flag): one file with the questions, the
findings, the figures, the verdicts, the tables, the claims and the machine. It opens without
a network and reads without a script. The path goes to stdout.

Examples:
  filterlab report
  filterlab report --results /tmp/results
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			f := newFlags("report", "results")
			rest, err := f.parse(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return usagef("argument %q: want flags only", rest[0])
			}
			dir, err := f.get("results", "results")
			if err != nil {
				return err
			}
			path, err := report.Write(dir)
			if errors.Is(err, report.ErrEmpty) {
				return usagef("--results %q: want a folder that filterlab run wrote; it holds no results", dir)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(stdout, path)
			return err
		},
	}
}
