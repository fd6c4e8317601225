package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"text/tabwriter"

	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

func sizeCommand() command {
	return command{
		name: "size", args: "--n N --p P | ...", short: "from two of keys, rate and space, the third, for every family",
		help: `Usage: filterlab size [--n N] [--p P] [--bits SIZE | --bits-per-key C] [--filters LIST] [--csv]

Give two of the three and get the rest, for every family, by the exact formula of the
filter that would be built after rounding. Nothing is allocated, so any size can be asked.

  --n N               keys: 1e6, 1_000_000, 1M
  --p P               false-positive rate at n keys: 1%, 0.01, 2^-10
  --bits SIZE         the whole table: 9_600_000, 64MiB, 1.2GB (bits without a unit)
  --bits-per-key C    the same divided by n
  --filters LIST      variants (default: every family)
  --csv               comma-separated, without units

Examples:
  filterlab size --n 1M --p 1%
  filterlab size --n 50M --bits 64MiB
  filterlab size --p 0.1% --bits 1GiB --filters 'standard,blocked,cuckoo(f=16)'
  filterlab size --n 1e6 --bits-per-key 10 --csv
`,
		run: runSize,
	}
}

// sizing is one line of the answer.
type sizing struct {
	filter string
	n      uint64
	pred   theory.Prediction
	err    error
}

func runSize(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("size", flag.ContinueOnError)
	nFlag := fs.String("n", "", "")
	pFlag := fs.String("p", "", "")
	bitsFlag := fs.String("bits", "", "")
	perKeyFlag := fs.String("bits-per-key", "", "")
	list := fs.String("filters", "", "")
	asCSV := fs.Bool("csv", false, "")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("argument %q: want only flags (%w)", rest[0], errUsage)
	}
	var n, bits uint64
	var p, perKey float64
	for _, f := range []struct {
		name, text string
		read       func(string) error
	}{
		{"n", *nFlag, func(s string) (err error) { n, err = units.ParseCount(s); return }},
		{"p", *pFlag, func(s string) (err error) { p, err = units.ParseRate(s); return }},
		{"bits", *bitsFlag, func(s string) (err error) { bits, err = units.ParseBits(s); return }},
		{"bits-per-key", *perKeyFlag, func(s string) (err error) { perKey, err = units.ParseNumber(s); return }},
	} {
		if f.text == "" {
			continue
		}
		if err := f.read(f.text); err != nil {
			return fmt.Errorf("--%s: %w (%w)", f.name, err, errUsage)
		}
	}
	given := 0
	for _, s := range []string{*nFlag, *pFlag, *bitsFlag, *perKeyFlag} {
		if s != "" {
			given++
		}
	}
	if given != 2 || *bitsFlag != "" && *perKeyFlag != "" {
		return fmt.Errorf("want two of --n, --p and --bits (or --bits-per-key) (%w)", errUsage)
	}
	if *perKeyFlag != "" {
		if *nFlag == "" {
			return fmt.Errorf("--bits-per-key with --p leaves n open: any n fits; want --n or --bits (%w)", errUsage)
		}
		if perKey > 64 {
			fmt.Fprintf(stderr, "filterlab size: warning: %g bits per key is more than an exact set of the hashes takes\n", perKey)
		}
	}
	var variants []string
	if *list != "" {
		variants = splitList(*list)
	} else {
		for _, f := range catalog.Families() {
			variants = append(variants, f.Name)
		}
	}
	var lines []sizing
	for _, name := range variants {
		v, err := catalog.Parse(name)
		if err != nil {
			return err
		}
		l := sizing{filter: v.String(), n: n}
		switch {
		case *nFlag == "":
			l.n, l.pred, l.err = mostKeys(v, p, bits)
		case *pFlag != "":
			l.pred, l.err = v.Predict(filters.Target{N: n, P: p}, n)
		case *bitsFlag != "":
			l.pred, l.err = v.Predict(filters.Target{N: n, BitsPerKey: float64(bits) / float64(n)}, n)
		default:
			l.pred, l.err = v.Predict(filters.Target{N: n, BitsPerKey: perKey}, n)
		}
		lines = append(lines, l)
	}
	return printSizes(lines, *asCSV, stdout, stderr)
}

// mostKeys finds the largest n that a filter of the given bits holds at rate p
// or better.
func mostKeys(v filters.Variant, p float64, bits uint64) (uint64, theory.Prediction, error) {
	if err := (filters.Target{N: 1, P: p}).Validate(); err != nil {
		return 0, theory.Prediction{}, err
	}
	at := func(n uint64) (theory.Prediction, error) {
		return v.Predict(filters.Target{N: n, BitsPerKey: float64(bits) / float64(n)}, n)
	}
	// The information bound says that no filter holds more.
	limit := uint64(math.Min(float64(bits)/theory.LowerBound(p), 1<<62)) + 1
	var last error
	n := uint64(sort.Search(int(limit), func(i int) bool {
		pred, err := at(uint64(i) + 1)
		if err != nil {
			// Too few bits for so many keys, or too many for so few: the error of a
			// small n says that more keys are needed to fill the table.
			last = err
			return i > 0
		}
		return pred.FPR > p || pred.Bits > bits
	}))
	if n == 0 {
		return 0, theory.Prediction{}, errors.Join(filters.Refuse("bits", bits, fmt.Sprintf("enough for one key at p = %g", p)), last)
	}
	pred, err := at(n)
	return n, pred, err
}

func printSizes(lines []sizing, asCSV bool, stdout, stderr io.Writer) error {
	head := []string{"filter", "n", "m_bits", "k", "bits_per_key", "bytes", "fpr_expected"}
	failed := 0
	var table [][]string
	for _, l := range lines {
		if l.err != nil {
			failed++
			fmt.Fprintf(stderr, "filterlab size: %s: %v\n", l.filter, l.err)
			continue
		}
		bytes := (l.pred.Bits + 7) / 8
		row := []string{l.filter, strconv.FormatUint(l.n, 10), strconv.FormatUint(l.pred.Bits, 10), strconv.Itoa(l.pred.K),
			fmt.Sprintf("%.4g", float64(l.pred.Bits)/float64(l.n)), strconv.FormatUint(bytes, 10), fmt.Sprintf("%.5g", l.pred.FPR)}
		if !asCSV {
			row[5] = units.FormatBytes(bytes)
		}
		table = append(table, row)
	}
	if asCSV {
		w := csv.NewWriter(stdout)
		if err := w.WriteAll(append([][]string{head}, table...)); err != nil {
			return err
		}
	} else if len(table) > 0 {
		w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{head}, table...) {
			for _, cell := range row {
				fmt.Fprint(w, cell, "\t")
			}
			fmt.Fprintln(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d filters refuse this (%w)", failed, len(lines), errUsage)
	}
	return nil
}
