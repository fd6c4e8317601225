package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"filterlab/experiments/choose"
	"filterlab/experiments/units"
	"filterlab/experiments/workload"
)

func chooseCommand() command {
	return command{
		name: "choose", args: "", short: "pick a filter by what a lookup costs, with reasons",
		help: `Usage: filterlab choose --n N [--p P] [--memory SIZE] [flags]

Ranks everything that can do the job by the cost of a lookup: hashing and asking the filter,
plus what false positives cost, (1 - hit rate) x rate x miss cost (Lang, Neumann, Kemper,
Boncz, PVLDB 12(5), 2019). No filter at all and an exact set take part.

  --n N             keys: 50M, 1e6
  --p P             the highest false-positive rate: 0.1%, 2^-10. The filter is sized for it
  --memory SIZE     the most memory: 64MiB. The space and rate that cost least are found
  --miss-cost T     what a false positive costs: 80us, 10ms (100us where it is not given)
  --hit-rate H      share of lookups whose key is there: 10%, 0.5 (10% where it is not given)
  --deletes         keys are taken out again
  --growth G        as many times the keys in the end: 4x
  --merge           filters of parts are united
  --static          all keys are known beforehand (no family for it yet: refused)
  --threads T       goroutines that add while others ask
  --batch           lookups come many at a time
  --keys FILE       one key a line: their lengths price the hash, their number is --n if not given
  --untrusted-keys  keys come from strangers: SipHash with a secret seed

  --calibration FILE  measured times; without it those of "filterlab calibrate", and where it
                      was never run, those that come with the program
  --measure         build the best two and measure their cost next to the predicted one
  --json            everything, for programs
  --go              a Go program that builds the choice, and nothing else

Rates and sizes are those of the filter that would be built, after rounding.

Examples:
  filterlab choose --n 50M --p 0.1% --miss-cost 80us --hit-rate 10%
  filterlab choose --n 50M --memory 64MiB --miss-cost 5ms
  filterlab choose --n 1M --p 1% --miss-cost 200ns --batch
  filterlab choose --n 2M --p 0.1% --deletes --growth 4x
  filterlab choose --n 100k --p 1% --memory 1MiB --untrusted-keys --go
`,
		run: runChoose,
	}
}

func runChoose(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("choose", "n", "p", "memory", "miss-cost", "hit-rate", "growth", "threads", "keys", "calibration")
	deletes, merge := f.set.Bool("deletes", false, ""), f.set.Bool("merge", false, "")
	static, batch := f.set.Bool("static", false, ""), f.set.Bool("batch", false, "")
	untrusted := f.set.Bool("untrusted-keys", false, "")
	measured, asJSON, asGo := f.set.Bool("measure", false, ""), f.set.Bool("json", false, ""), f.set.Bool("go", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) > 0:
		return usagef("argument %q: want flags only", rest[0])
	case *static:
		return usagef("--static: no family that is built once (xor, binary fuse, ribbon) is there yet; leave it out for the others")
	case *asJSON && *asGo, *asGo && *measured:
		return usagef("--go: want it without --json and --measure")
	}
	q := choose.Question{Deletes: *deletes, Merge: *merge, Batch: *batch, Untrusted: *untrusted}
	assumed, err := f.question(&q, stderr)
	if err != nil {
		return err
	}
	cal, source, err := calibration(f)
	if err != nil {
		return err
	}
	a, err := choose.Choose(cal, q)
	if err != nil {
		return err
	}
	if *asGo {
		program, err := choose.Snippet(q, a.Ranked[0])
		if err != nil {
			return err
		}
		_, err = io.WriteString(stdout, program)
		return err
	}
	var checks []choose.Check
	if *measured {
		if checks, err = choose.Measure(ctx, a, stderr); err != nil {
			return err
		}
	}
	if *asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Calibration string    `json:"calibration"`
			CPU         string    `json:"cpu"`
			Measured    time.Time `json:"measured_at"`
			*choose.Answer
			Checks []choose.Check `json:"checks,omitempty"`
		}{source, cal.Env.CPU, cal.Env.Start, a, checks})
	}
	fmt.Fprintf(stdout, "Times: %s, %s, %s.\n", source, cal.Env.CPU, cal.Env.Start.Format("2006-01-02"))
	if len(assumed) > 0 {
		fmt.Fprintf(stdout, "Assumed: %s.\n", strings.Join(assumed, ", "))
	}
	if err := printAnswer(a, stdout); err != nil {
		return err
	}
	if *measured {
		return printChecks(checks, stdout)
	}
	_, err = fmt.Fprintf(stdout, "\n--go prints a Go program that builds it instead.\n")
	return err
}

// question reads the flags that say what is known, and what had to be assumed.
func (f *flags) question(q *choose.Question, stderr io.Writer) (assumed []string, err error) {
	given := map[string]bool{}
	for _, flag := range []struct {
		name string
		read func(string) error
	}{
		{"n", func(s string) (err error) { q.N, err = units.ParseCount(s); return }},
		{"p", func(s string) (err error) {
			if q.P, err = units.ParseRate(s); err == nil && !(q.P > 0 && q.P < 1) {
				err = usagef("%s: want 0 < p < 1", s)
			}
			return
		}},
		{"memory", func(s string) (err error) {
			if q.Memory, err = units.ParseBits(s); err == nil && q.Memory == 0 {
				err = usagef("%s: want at least 1 bit", s)
			}
			return
		}},
		{"miss-cost", func(s string) (err error) { q.MissCost, err = parseTime(s); return }},
		{"hit-rate", func(s string) (err error) { q.HitRate, err = units.ParseRate(s); return }},
		{"growth", func(s string) (err error) { q.Growth, err = units.ParseNumber(strings.TrimSuffix(s, "x")); return }},
		{"threads", func(s string) (err error) {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 {
				return usagef("%q: want a whole number from 1", s)
			}
			q.Threads = n
			return nil
		}},
	} {
		s, err := f.get(flag.name, "")
		if err != nil {
			return nil, err
		}
		if s == "" {
			continue
		}
		given[flag.name] = true
		if err := flag.read(s); err != nil {
			if swapped(f.text["n"].value, f.text["p"].value) {
				return nil, usagef("--%s: %w; were --n and --p swapped?", flag.name, err)
			}
			return nil, usagef("--%s: %w", flag.name, err)
		}
	}
	path, err := f.get("keys", "")
	if err != nil {
		return nil, err
	}
	if path != "" {
		lengths, n, err := keyLengths(path, stderr)
		if err != nil {
			return nil, err
		}
		q.Lengths = lengths
		if !given["n"] {
			q.N, given["n"] = n, true
		}
	} else {
		assumed = append(assumed, fmt.Sprintf("keys of %d bytes (--keys FILE)", choose.DefaultKeyBytes))
	}
	switch {
	case !given["n"]:
		return nil, usagef("want --n, or --keys to count")
	case !given["p"] && !given["memory"]:
		return nil, usagef("want --p (the highest rate), --memory (the most space), or both")
	}
	if !given["miss-cost"] {
		q.MissCost = 100e3
		assumed = append(assumed, "a false positive costs 100us (--miss-cost)")
	}
	if !given["hit-rate"] {
		q.HitRate = 0.1
		assumed = append(assumed, "10% of the lookups hit (--hit-rate)")
	}
	return assumed, nil
}

// parseTime reads a time such as 80us and returns nanoseconds.
func parseTime(s string) (float64, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, usagef("%q: want a time above 0 with its unit, such as 80us, 1.5ms or 300ns", s)
	}
	return float64(d.Nanoseconds()), nil
}

// keyLengths counts the distinct keys of a file by length.
func keyLengths(path string, stderr io.Writer) (map[int]uint64, uint64, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("--keys: %w", err)
	}
	defer in.Close()
	keys, report, err := workload.Read(in)
	if err != nil {
		return nil, 0, fmt.Errorf("--keys: %s: %w", path, err)
	}
	report.Path = path
	fmt.Fprintf(stderr, "filterlab choose: %v\n", report)
	if keys.Len() == 0 {
		return nil, 0, usagef("--keys: %s has no keys", path)
	}
	lengths := map[int]uint64{}
	for i := range keys.Len() {
		lengths[len(keys.At(i))]++
	}
	return lengths, uint64(keys.Len()), nil
}

// calibration finds the times, and says in words which they are.
func calibration(f *flags) (*choose.Calibration, string, error) {
	path, err := f.get("calibration", "")
	if err != nil {
		return nil, "", err
	}
	if path != "" {
		c, err := choose.Load(path)
		if err != nil {
			return nil, "", fmt.Errorf("--calibration: %w", err)
		}
		return c, "those of " + path, nil
	}
	c, own, err := choose.Find()
	if err != nil {
		return nil, "", err
	}
	if own {
		return c, "measured on this machine by filterlab calibrate", nil
	}
	return c, "those that come with the program, of another machine (filterlab calibrate measures this one)", nil
}

func printAnswer(a *choose.Answer, stdout io.Writer) error {
	best := a.Ranked[0]
	fmt.Fprintf(stdout, "\nTake: %s. %s.\n\n", inALine(&best), best.Reason)
	for i := range a.Ranked {
		if c := &a.Ranked[i]; c.K > 0 {
			if i > 0 {
				fmt.Fprintf(stdout, "The best filter: %s. %s.\n\n", inALine(c), c.Reason)
			}
			break
		}
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "filter\tns a lookup\thash\tasking\tfalse pos.\trate\tk\tbits/key\tmemory\tbuild\thash function\t")
	for i := range a.Ranked {
		c := &a.Ranked[i]
		more := ""
		if c.Beyond {
			more = "*"
		}
		k, rate := "", ""
		if c.K > 0 {
			k, rate = strconv.Itoa(c.K), fmt.Sprintf("%.3g%%", 100*c.FPR)
		}
		fmt.Fprintf(w, "%s\t%s%s\t%s\t%s\t%s\t%s\t%s\t%.4g\t%s\t%s\t%s\t\n", c.Filter, nanos(c.Cost.Total), more, nanos(c.Cost.Hash), nanos(c.Cost.Lookup), nanos(c.Cost.False),
			rate, k, c.BitsPerKey, units.FormatBytes(c.Bits/8), seconds(c.Build), c.Hash)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range a.Ranked {
		if a.Ranked[i].Beyond {
			fmt.Fprintln(stdout, "* the table is larger than any that was timed: the time goes on as it rose")
			break
		}
	}
	fmt.Fprintln(stdout, "\nWhy not the others:")
	for _, c := range a.Ranked[1:] {
		fmt.Fprintf(stdout, "  %s: %s\n", c.Filter, c.Reason)
	}
	for _, r := range a.Refused {
		fmt.Fprintf(stdout, "  %s: %s\n", r.Filter, r.Reason)
	}
	fmt.Fprintf(stdout, "\nThe best choice stays %s for\n", best.Filter)
	for _, r := range a.Ranges {
		fmt.Fprintf(stdout, "  %s: %s\n", r.Of, r.Description)
	}
	fmt.Fprintln(stdout, "\nIf")
	for _, s := range a.Scenarios {
		fmt.Fprintf(stdout, "  %s: %s\n", s.If, s.Text)
	}
	return nil
}

// inALine is a choice in a line: geometry, memory, rate, hash.
func inALine(c *choose.Choice) string {
	switch c.Filter {
	case choose.NoFilter:
		return c.Filter
	case choose.ExactSet:
		return fmt.Sprintf("%s, about %s", c.Filter, units.FormatBytes(c.Bits/8))
	}
	s := fmt.Sprintf("%s for %s keys in %s (%.4g bits a key, k = %d), rate %.3g%%, hash %s", c.Filter, units.FormatCount(c.Target.N), units.FormatBytes(c.Bits/8), c.BitsPerKey, c.K, 100*c.FPR, c.Hash)
	if c.Now < c.Bits {
		s += ", " + units.FormatBytes(c.Now/8) + " of it at first"
	}
	return s
}

func printChecks(checks []choose.Check, stdout io.Writer) error {
	fmt.Fprintln(stdout, "\nPredicted and measured, ns a lookup:")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "filter\tpredicted\tmeasured\tdifference\thash\tasking\trate predicted\tmeasured\t")
	for _, c := range checks {
		if c.Skipped != "" {
			fmt.Fprintf(w, "%s\t%s\t%s\t\t\t\t\t\t\n", c.Filter, nanos(c.Predicted.Total), c.Skipped)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%+.1f%%\t%s\t%s\t%.4g%%\t%.4g%%\t\n", c.Filter, nanos(c.Predicted.Total), nanos(c.Measured.Total), 100*(c.Predicted.Total/c.Measured.Total-1),
			nanos(c.Measured.Hash), nanos(c.Measured.Lookup), 100*c.FPR, 100*c.MeasuredFPR)
	}
	return w.Flush()
}

// nanos is a number of nanoseconds for a column.
func nanos(ns float64) string {
	if ns >= 1e5 {
		return strconv.FormatFloat(ns, 'f', 0, 64)
	}
	return strconv.FormatFloat(ns, 'f', int(max(0, 2-math.Floor(math.Log10(max(ns, 1))))), 64)
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return time.Duration(rounded(s) * 1e9).String()
}

// rounded keeps two significant digits.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64)
	if err != nil {
		return x
	}
	return y
}
