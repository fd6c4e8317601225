package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

func sizeCommand() command {
	return command{
		name: "size", args: "", short: "from two of keys, rate and space, the third, for every family",
		help: `Usage: filterlab size [--n N] [--p P] [--bits SIZE | --bits-per-key C] [flags]

Give two of the three and get the rest, for every family, by the exact formula of the
filter that would be built, after rounding. Nothing is allocated, so any size can be asked.

  --n N               keys: 1e6, 1_000_000, 1M
  --p P               false-positive rate at n keys: 1%, 0.01, 2^-10
  --bits SIZE         the whole table: 9_600_000, 64MiB, 1.2GB (bits where no unit is given)
  --bits-per-key C    the same divided by n: 10, 12.5
  --filters LIST      variants, such as 'blocked(256),cuckoo(f=12)'; every family without it
  --csv               comma-separated values with sizes in bytes

Columns: k is the number of probes (of fingerprint bits for cuckoo, of the most probes in a
stage for scalable), fpr_expected the exact false-positive rate at n keys. Families that
cannot give what was asked are named on stderr, with the reason.

Examples:
  filterlab size --n 1M --p 1%
  filterlab size --n 50M --bits 64MiB
  filterlab size --p 0.1% --bits 1GiB --filters 'standard,blocked,cuckoo(f=16)'
  filterlab size --n 1e6 --bits-per-key 10 --csv
`,
		run: runSize,
	}
}

// question is what was typed: two of the three, the others zero.
type question struct {
	n          uint64
	p          float64
	bits       uint64
	bitsPerKey float64
}

// sizing is one line of the answer.
type sizing struct {
	filter string
	n      uint64
	pred   theory.Prediction
}

func runSize(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("size", "n", "p", "bits", "bits-per-key", "filters")
	asCSV := f.set.Bool("csv", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("argument %q: want flags only", rest[0])
	}
	q, err := ask(f)
	if err != nil {
		return err
	}
	names, err := f.list("filters")
	if err != nil {
		return err
	}
	asked := names != nil // by name: then a refusal is an error
	if !asked {
		for _, family := range catalog.Families() {
			names = append(names, family.Name)
		}
	}
	variants := make([]filters.Variant, len(names))
	for i, name := range names {
		if variants[i], err = catalog.Parse(name); err != nil {
			return fmt.Errorf("--filters: %w", err)
		}
	}
	if c := q.perKey(); c > 64 {
		fmt.Fprintf(stderr, "filterlab size: warning: %.4g bits per key; the 64-bit hashes themselves take no more than 64\n", c)
	}
	var lines []sizing
	for _, v := range variants {
		l, err := q.answer(v)
		if err != nil {
			// Families put their name in front of what they refuse; the variant says more.
			family, _, _ := strings.Cut(v.String(), "(")
			fmt.Fprintf(stderr, "filterlab size: %v: %s\n", v, strings.TrimPrefix(err.Error(), family+": "))
			continue
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		if m, k, ok := theory.SizeTextbook(q.n, q.p); ok {
			fmt.Fprintf(stderr, "filterlab size: the textbook formulas, which know no limits, ask for %d bits (%s) and k = %d\n", m, units.FormatBytes(m/8), k)
		}
	}
	if err := printSizes(lines, *asCSV, stdout); err != nil {
		return err
	}
	if refused := len(variants) - len(lines); refused == len(variants) || asked && refused > 0 {
		return usagef("%d of %d filters cannot give this", refused, len(variants))
	}
	return nil
}

// ask reads the flags and refuses everything but two of the three in their
// ranges.
func ask(f *flags) (question, error) {
	var q question
	typed := map[string]string{}
	for _, flag := range []struct {
		name string
		read func(string) error
	}{
		{"n", func(s string) (err error) { q.n, err = units.ParseCount(s); return }},
		{"p", func(s string) (err error) { q.p, err = units.ParseRate(s); return }},
		{"bits", func(s string) (err error) { q.bits, err = units.ParseBits(s); return }},
		{"bits-per-key", func(s string) (err error) { q.bitsPerKey, err = units.ParseNumber(s); return }},
	} {
		s, err := f.get(flag.name, "")
		if err != nil {
			return q, err
		}
		if s == "" {
			continue
		}
		typed[flag.name] = s
		if err := flag.read(s); err != nil {
			if swapped(f.text["n"].value, f.text["p"].value) {
				return q, usagef("--%s: %w; were --n and --p swapped?", flag.name, err)
			}
			return q, usagef("--%s: %w", flag.name, err)
		}
	}
	has := func(name string) bool { return typed[name] != "" }
	switch {
	case len(typed) != 2 || has("bits") && has("bits-per-key"):
		return q, usagef("want two of --n, --p and --bits (or --bits-per-key)")
	case has("p") && has("bits-per-key"):
		return q, usagef("--p with --bits-per-key leaves n open: want --n, or --bits for the whole table")
	case has("n") && q.n == 0:
		return q, usagef("--n %s: want at least 1 key", typed["n"])
	case has("p") && !(q.p > 0 && q.p < 1):
		return q, usagef("--p %s: want 0 < p < 1", typed["p"])
	case has("bits") && q.bits == 0:
		return q, usagef("--bits %s: want at least 1 bit", typed["bits"])
	case has("bits-per-key") && !(q.bitsPerKey > 0):
		return q, usagef("--bits-per-key %s: want more than 0", typed["bits-per-key"])
	}
	return q, nil
}

// swapped reports whether n looks like a rate and p like a count.
func swapped(n, p string) bool {
	rate, err := units.ParseRate(n)
	if err != nil || rate >= 1 {
		return false
	}
	count, err := units.ParseCount(p)
	return err == nil && count > 1
}

// perKey is the space asked for in bits per key; 0 where rate and space are
// given, or no space.
func (q question) perKey() float64 {
	if q.n > 0 && q.bits > 0 {
		return float64(q.bits) / float64(q.n)
	}
	return q.bitsPerKey
}

// answer sizes one variant.
func (q question) answer(v filters.Variant) (sizing, error) {
	l := sizing{filter: v.String(), n: q.n}
	var err error
	if q.n == 0 {
		l.n, l.pred, err = mostKeys(v, q.p, q.bits)
		return l, err
	}
	t := filters.Target{N: q.n, P: q.p}
	if q.p == 0 {
		t.BitsPerKey = q.perKey()
	}
	l.pred, err = v.Predict(t, q.n)
	return l, err
}

// mostKeys finds the largest n for which a filter of rate p fits into the bits:
// the inverse of sizing by n and p.
//
// Space grows with n, nearly in proportion, but for small steps back where a
// family changes its geometry; and a family may refuse some n. So the search
// comes down from more keys than any filter can hold until one fits, and then
// closes in from both sides, in turn by proportion and by halves: some families
// take milliseconds to size, and proportion alone can creep.
func mostKeys(v filters.Variant, p float64, bits uint64) (uint64, theory.Prediction, error) {
	at := func(n uint64) (theory.Prediction, error) {
		return v.Predict(filters.Target{N: n, P: p}, n)
	}
	pred, err := at(1)
	if err == nil && pred.Bits > bits {
		return 0, theory.Prediction{}, filters.Refuse("bits", bits, fmt.Sprintf("at least %d, for one key", pred.Bits))
	}
	// log2(1/p) bits a key are the lower bound for a large set; the rest is room
	// for small ones.
	lo := uint64(math.Min(1.01*float64(bits)/theory.LowerBound(p), 1<<62)) + 64
	hi, hiBits := lo+1, uint64(0) // hi keys do not fit; 0 bits where they are refused
	for lo > 0 {
		if pred, err = at(lo); err == nil && pred.Bits <= bits {
			break
		}
		hi, hiBits = lo, pred.Bits
		lo -= lo/4 + 1
		if err == nil {
			lo = min(lo, uint64(float64(hi)*float64(bits)/float64(hiBits))+1)
		}
	}
	if lo == 0 {
		return 0, theory.Prediction{}, err
	}
	for halve := false; hi-lo > 1; halve = !halve {
		step := (hi - lo) / 2
		if !halve && hiBits > pred.Bits {
			share := float64(bits-pred.Bits) / float64(hiBits-pred.Bits)
			step = min(max(uint64(share*float64(hi-lo)), 1), hi-lo-1)
		}
		if next, err := at(lo + step); err == nil && next.Bits <= bits {
			lo, pred = lo+step, next
		} else {
			hi, hiBits = lo+step, next.Bits
		}
	}
	return lo, pred, nil
}

func printSizes(lines []sizing, asCSV bool, stdout io.Writer) error {
	table := [][]string{{"filter", "n", "m_bits", "k", "bits_per_key", "bytes", "fpr_expected"}}
	for _, l := range lines {
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
		return errors.Join(w.WriteAll(table), w.Error())
	}
	if len(lines) == 0 {
		return nil
	}
	// Names to the left, numbers to the right.
	longest := 0
	for _, row := range table {
		longest = max(longest, len(row[0]))
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range table {
		fmt.Fprintf(w, "%-*s\t%s\t\n", longest, row[0], strings.Join(row[1:], "\t"))
	}
	return w.Flush()
}
