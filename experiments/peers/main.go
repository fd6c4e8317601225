//go:debug randautoseed=0

// Command peers measures filters of other libraries beside ours: the conformance
// suite, a survey at one promised rate, and the duels behind the ratios that we
// claim. It leaves everything in OUT/peers.
//
//	go run . --profile quick --out /tmp/results
//	go run . duels --only parquet-go
//
// math/rand, from which two cuckoo filters draw their victims, starts from the same
// seed in every run (randautoseed=0). How much of it the timed passes use up depends
// on the clock, so that the false positives of those two may differ by a few from
// run to run; all other exact rows repeat.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"filterlab/experiments"
	"filterlab/experiments/measure"
	"filterlab/experiments/peers/contest"
	"filterlab/experiments/units"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

// parts are what can be run by name, in their order: what is claimed comes before
// what is looked at.
func parts() []string { return []string{"conformance", "duels", "survey", "equal", "report"} }

// run runs the named parts, all of them without a name, and prints the table of
// ratios when it has fought or is asked for a report. Flags may stand anywhere.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	set.SetOutput(stderr)
	profile := set.String("profile", "default", "quick, default (n up to 1e7) or full (1e8)")
	out := set.String("out", "results", "results folder")
	seed := set.String("seed", "1", "seed of keys and hashes")
	maxN := set.String("max-n", "", "largest number of keys, in place of the profile's")
	minN := set.String("min-n", "1", "fight only the duels of at least so many keys")
	resume := set.Bool("resume", false, "continue an interrupted survey")
	restart := set.Bool("restart", false, "discard an interrupted survey")
	only := set.String("only", "", "fight only the duels whose name, filters, n or op hold this text")
	suffix := set.String("suffix", "", "appended to the name of the file of ratios: -1e8, -prefetch, -purego")
	minutes := set.Float64("minutes", 18, "how long all parts may take with the default profile: on a machine that the duels show to be too slow for that, the survey ends at fewer keys; 0 for no limit")
	dryRun := set.Bool("dry-run", false, "print what would be done and about how long it takes, and do nothing")
	markdown := set.Bool("markdown", false, "print the claimed ratios as a table for a README, and do nothing else")
	var names []string
	for {
		if err := set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		if args = set.Args(); len(args) == 0 {
			break
		}
		if !slices.Contains(parts(), args[0]) {
			return fmt.Errorf("%w: part %q: want some of %v", errUsage, args[0], parts())
		}
		names, args = append(names, args[0]), args[1:]
	}
	if len(names) == 0 {
		names = parts()
	}
	p, err := experiments.ProfileByName(*profile)
	if err != nil {
		return fmt.Errorf("%w: --profile: %w", errUsage, err)
	}
	if p.Name == "default" {
		p.MaxN = 10_000_000 // ten times as many keys as the other experiments: memory is what ratios are about
	}
	if *maxN != "" {
		if p.MaxN, err = units.ParseCount(*maxN); err != nil {
			return fmt.Errorf("%w: --max-n: %w", errUsage, err)
		}
	}
	least, err := units.ParseCount(*minN)
	if err != nil {
		return fmt.Errorf("%w: --min-n: %w", errUsage, err)
	}
	number, err := units.ParseCount(*seed)
	if err != nil {
		return fmt.Errorf("%w: --seed: %w", errUsage, err)
	}
	dir := filepath.Join(*out, contest.Name)
	duels := contest.DuelOptions{Rounds: p.Rounds, MaxN: p.MaxN, MinN: least, Trials: 2_000_000, Seed: number, Only: *only, Log: stderr}
	if *dryRun {
		plan(stdout, p, duels, names)
		return nil
	}
	if *markdown {
		return contest.WriteMarkdown(stdout, dir)
	}
	start := time.Now()
	for _, part := range parts() {
		if !slices.Contains(names, part) {
			continue
		}
		switch part {
		case "conformance":
			fmt.Fprintln(stderr, "conformance of other libraries")
			found, err := contest.AllConformance()
			if err != nil {
				return err
			}
			if err := contest.WriteConformance(dir, found); err != nil {
				return err
			}
		case "survey":
			if p.Name == "default" && *minutes > 0 && slices.Contains(names, "duels") {
				_, planned := contest.DuelSeconds(contest.Duels(), duels)
				p.MaxN = affordable(p, time.Since(start).Seconds(), planned, 60**minutes, stderr)
			}
			if err := survey(ctx, experiments.Options{
				Profile: p, Out: *out, Seed: number, Resume: *resume, Restart: *restart, Log: stderr,
			}, stderr); err != nil {
				return err
			}
		case "duels":
			env := measure.ReadEnv(number, time.Now())
			if err := contest.WriteEnv(dir, *suffix, env); err != nil {
				return err
			}
			if _, err := contest.Fight(ctx, contest.Duels(), duels, func(results []contest.Result) error {
				return contest.WriteRatios(dir, contest.RatiosStem+*suffix, results)
			}); err != nil {
				return err
			}
		case "equal":
			even, err := contest.Equal(ctx, p, number, stderr)
			if err != nil {
				return err
			}
			if err := contest.WriteEqual(dir, even); err != nil {
				return err
			}
		}
	}
	if err := contest.WriteReport(dir, contest.Duels()); err != nil {
		return err
	}
	if slices.Contains(names, "duels") || slices.Contains(names, "report") {
		if err := contest.WriteMarkdown(stdout, dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "results are in %s\n", filepath.Join(dir, "README.md"))
	return nil
}

// affordable is the largest number of keys of a survey that ends in time, on a machine
// where the duels took so many seconds in place of those planned.
func affordable(p experiments.Profile, took, planned, limit float64, log io.Writer) uint64 {
	slower := took / max(planned, 1)
	for ; p.MaxN > 100_000; p.MaxN /= 10 {
		left := limit - took - slower*contest.EqualSeconds(p)
		if needs := slower * contest.SurveySeconds(p); needs <= left {
			break
		}
		fmt.Fprintf(log, "the duels took %.2g times as long as on an idle machine of 2.8 GHz: the survey leaves %s keys out, to end in %.0f minutes\n", slower, units.FormatCount(p.MaxN), limit/60)
	}
	return p.MaxN
}

// plan prints what the named parts would do, and about how long that takes on an idle
// machine.
func plan(w io.Writer, p experiments.Profile, o contest.DuelOptions, names []string) {
	total := 0.0
	line := func(part, what string, seconds float64) {
		if slices.Contains(names, part) {
			total += seconds
			fmt.Fprintf(w, "%-12s %-50s %6.1f minutes\n", part, what, seconds/60)
		}
	}
	fought, seconds := contest.DuelSeconds(contest.Duels(), o)
	line("conformance", "the suite on every library", 10)
	line("duels", fmt.Sprintf("%d ratios, %d rounds each, up to %s keys", fought, o.Rounds, units.FormatCount(o.MaxN)), seconds)
	line("survey", fmt.Sprintf("every filter promised 1%%, up to %s keys", units.FormatCount(p.MaxN)), contest.SurveySeconds(p))
	line("equal", "every filter sized to err at 1% as measured", contest.EqualSeconds(p))
	line("report", "figures and tables", 5)
	fmt.Fprintf(w, "%-12s %-50s %6.1f minutes, on an idle machine of 2.8 GHz\n", "together", "", total/60)
}

// survey runs the experiment. Only our own filters can fail it: what others do is
// a finding.
func survey(ctx context.Context, o experiments.Options, stderr io.Writer) error {
	e := contest.Survey()
	outcome, err := experiments.Run(ctx, e, o)
	if err != nil {
		return err
	}
	bad := 0
	for i := range outcome.Cells {
		if c := &outcome.Cells[i]; c.Bad() && !contest.Foreign(c.Filter) {
			bad++
			fmt.Fprintf(stderr, "%s n=%d: %s: measured %.4g, expected %.4g %s\n", c.Filter, c.N, c.Verdict, c.FPR.Value, c.Predicted.FPR, c.Reason)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d cells of our own filters are bad", bad)
	}
	return nil
}
