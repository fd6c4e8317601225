package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"filterlab/experiments"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

func buildCommand() command {
	return command{
		name: "build", args: "[KEYFILE|-]", short: "make a filter of the keys in a file, and save it",
		help: fmt.Sprintf(`Usage: filterlab build [KEYFILE|-] --out FILE [flags]

Adds each line of KEYFILE (or of stdin, without it or for "-") to a filter and saves it.
A key is a line without its end, LF or CRLF; an empty line is the empty key; a key may
have up to %d MiB. Keys stream through: memory is that of the filter. The file appears
under its name when it is whole.

  --out FILE           where the filter goes; - for stdout
  --filter VARIANT     such as blocked or 'cuckoo(f=12)' (default "standard"); see list
  --n N                keys to size it for: 1e6, 1_000_000, 1M. Without it the lines of
                       KEYFILE are counted first; stdin needs it, or a scalable filter
  --p P                false-positive rate at n keys: 1%%, 0.001, 2^-10 (default 1%%)
  --bits-per-key C     space instead of a rate
  --hash NAME          hash of the keys (default "xxh3"); see list
  --seed N             seed of the hash (default 0). It stands in the file: take one that
                       others do not know, and siphash, where keys come from strangers

Keys that the filter answers true for already, which are repeated ones and a few false
positives, are counted. A cuckoo or counting filter stores them once more, so that
each can be deleted; the others need not.

Examples:
  filterlab build words.txt --out words.flt
  filterlab build words.txt --filter blocked --n 1M --p 0.1%% --hash siphash --seed 7 --out a.flt
  cut -d, -f1 log.csv | filterlab build - --filter scalable --out log.flt
`, longestLine>>20),
		run: runBuild,
	}
}

// firstStage is the target of a scalable filter for which nobody has said how many
// keys will come: it begins with room for an eighth.
const firstStage = 1 << 16

func runBuild(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("build", "out", "filter", "n", "p", "bits-per-key", "hash", "seed")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	keyfile := "-"
	switch len(rest) {
	case 0:
	case 1:
		keyfile = rest[0]
	default:
		return usagef("argument %q: want one key file", rest[1])
	}
	out, err := f.get("out", "")
	if err != nil {
		return err
	}
	if out == "" {
		return usagef("--out: want the file to write")
	}
	h, err := f.hash()
	if err != nil {
		return err
	}
	variant, err := f.maker()
	if err != nil {
		return err
	}
	target, err := f.target()
	if err != nil {
		return err
	}

	in := stdin(ctx)
	var size uint64 // of the file, where that is known
	if keyfile != "-" {
		file, err := os.Open(keyfile)
		if err != nil {
			return err
		}
		defer file.Close()
		st, err := file.Stat()
		if err != nil {
			return err
		}
		if was, err := os.Stat(out); err == nil && os.SameFile(was, st) {
			return usagef("--out %q: want another file than that of the keys", out)
		}
		in = file
		if st.Mode().IsRegular() {
			size = uint64(st.Size())
			if target.N == 0 {
				if target.N, err = countLines(ctx, file); err != nil {
					return fmt.Errorf("%s: %w", keyfile, err)
				}
				if target.N == 0 {
					return usagef("%s has no keys: want at least 1 key, or --n", keyfile)
				}
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					return err
				}
			}
		}
	}
	if target.N == 0 {
		if family, _, _ := strings.Cut(variant.String(), "("); family != scalableFamily {
			return usagef("--n: want how many keys will come: those of %s cannot be counted beforehand, and %v does not grow (scalable does)", name(keyfile), variant)
		}
		target.N = firstStage
	}
	if err := writable(out); err != nil {
		return err
	}
	filter, err := variant.New(target)
	if err != nil {
		return err
	}
	b := &builder{filter: filter, hash: h, lines: newKeyLines(in), tell: newTeller(stderr, "build", size)}
	if err := b.run(ctx); err != nil {
		if errors.Is(err, filters.ErrFull) {
			err = fmt.Errorf("%w; it was sized for %d keys, and %d of the keys so far were in it already: want a larger --n, or each key once", err, target.N, b.present)
		}
		return fmt.Errorf("%s: %w", name(keyfile), err)
	}
	if err := saveFilter(out, filters.Keyed{Filter: filter, Hash: h}, stdout); err != nil {
		return err
	}
	b.report(stderr, out, variant, target)
	return nil
}

// name is what a key file is called in messages.
func name(keyfile string) string {
	if keyfile == "-" {
		return "stdin"
	}
	return keyfile
}

// hash makes the hash that --hash and --seed name.
func (f *flags) hash() (hashing.Hash, error) {
	name, err := f.get("hash", "xxh3")
	if err != nil {
		return nil, err
	}
	e, err := experiments.HashByName(name)
	if err != nil {
		return nil, usagef("--%w", err)
	}
	if !e.Reproducible {
		return nil, usagef("--hash %s: want a hash that is the same in every process; the saved filter would lose its keys", e.Name)
	}
	seed, err := f.get("seed", "0")
	if err != nil {
		return nil, err
	}
	s, err := units.ParseCount(seed)
	if err != nil {
		return nil, usagef("--seed: %w", err)
	}
	return e.New(s), nil
}

// maker reads --filter.
func (f *flags) maker() (filters.Maker, error) {
	name, err := f.get("filter", "standard")
	if err != nil {
		return nil, err
	}
	v, err := catalog.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	m, ok := v.(filters.Maker)
	if !ok {
		return nil, usagef("--filter %v: want a filter that takes keys one by one", v)
	}
	return m, nil
}

// target reads --n, --p and --bits-per-key; N is 0 where --n was not given.
func (f *flags) target() (t filters.Target, err error) {
	n, err := f.get("n", "")
	if err != nil {
		return t, err
	}
	p, err := f.get("p", "")
	if err != nil {
		return t, err
	}
	space, err := f.get("bits-per-key", "")
	if err != nil {
		return t, err
	}
	if swapped(n, p) {
		return t, usagef("--n %s --p %s: were --n and --p swapped?", n, p)
	}
	if n != "" {
		if t.N, err = units.ParseCount(n); err != nil {
			return t, usagef("--n: %w", err)
		}
		if t.N == 0 {
			return t, usagef("--n %s: want at least 1 key", n)
		}
	}
	switch {
	case p != "" && space != "":
		return t, usagef("--p and --bits-per-key: want one of them")
	case space != "":
		if t.BitsPerKey, err = units.ParseNumber(space); err != nil {
			return t, usagef("--bits-per-key: %w", err)
		}
		if t.BitsPerKey == 0 {
			return t, usagef("--bits-per-key %s: want more than 0", space)
		}
		return t, nil
	case p == "":
		p = "1%"
	}
	if t.P, err = units.ParseRate(p); err != nil {
		return t, usagef("--p: %w", err)
	}
	if !(t.P > 0 && t.P < 1) {
		return t, usagef("--p %s: want 0 < p < 1", p)
	}
	return t, nil
}

// builder adds the keys of a file to a filter.
type builder struct {
	filter  filters.Filter
	hash    hashing.Hash
	lines   *keyLines
	tell    *teller
	present uint64 // keys that the filter answered true for before they were added
}

func (b *builder) run(ctx context.Context) error {
	keys := make([][]byte, 0, batch)
	hs := make([]uint64, batch)
	defer b.tell.clear()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := b.lines.lines
		var err error
		keys, err = b.lines.next(keys)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b.hash.SumMany(hs, keys)
		if n, err := b.add(hs[:len(keys)]); err != nil {
			return fmt.Errorf("line %d: %w", before+uint64(n)+1, err)
		}
		b.tell.step(b.lines.lines, b.lines.read)
	}
}

// add stores hs and counts those that were in already.
func (b *builder) add(hs []uint64) (n int, err error) {
	if c, ok := b.filter.(filters.BatchTestAdder); ok {
		b.present += uint64(len(hs) - c.AddManyCount(hs))
		return len(hs), nil
	}
	t, ok := b.filter.(filters.TestAdder)
	if !ok {
		return filters.AddMany(b.filter, hs)
	}
	for i, h := range hs {
		present, err := t.TestAndAdd(h)
		if err != nil {
			return i, err
		}
		if present {
			b.present++
		}
	}
	return len(hs), nil
}

// report says what was built.
func (b *builder) report(stderr io.Writer, out string, variant filters.Variant, target filters.Target) {
	if out == "-" {
		out = "stdout"
	}
	fmt.Fprintf(stderr, "%s: %d keys in %v, %s, hash %s seed %d, in %s\n", out, b.lines.lines, variant, units.FormatBytes((b.filter.SizeBits()+7)/8),
		b.hash.Name(), b.hash.Seed(), time.Since(b.tell.start).Round(time.Millisecond))
	if b.present > 0 {
		fmt.Fprintf(stderr, "%s: %d of them were in already: repeated keys, or false positives\n", out, b.present)
	}
	f, ok := b.filter.(catalog.Saved)
	if !ok {
		return
	}
	promised, capacity := math.NaN(), target.N
	if pred, err := variant.Predict(target, target.N); err == nil {
		promised = pred.FPR
	}
	if family, _, _ := strings.Cut(variant.String(), "("); family == scalableFamily {
		promised, capacity = math.Max(promised, target.P), 0
	}
	if worse := overfull(f, promised, capacity, 0); worse != "" {
		fmt.Fprintf(stderr, "filterlab build: warning: %s: %s\n", out, worse)
	}
}

// teller tells how many keys have been read: on a terminal in a line that redraws
// itself, elsewhere in a line now and then.
type teller struct {
	w        io.Writer
	terminal bool
	what     string
	size     uint64 // bytes in all, 0 if that is not known
	start    time.Time
	last     time.Time
}

func newTeller(w io.Writer, what string, size uint64) *teller {
	now := time.Now()
	return &teller{w: w, terminal: isTerminal(w), what: what, size: size, start: now, last: now}
}

func (t *teller) step(keys, bytes uint64) {
	every := 10 * time.Second
	if t.terminal {
		every = 200 * time.Millisecond
	}
	now := time.Now()
	if now.Sub(t.last) < every {
		return
	}
	t.last = now
	s := fmt.Sprintf("%s: %d keys, %.1f million a second", t.what, keys, float64(keys)/now.Sub(t.start).Seconds()/1e6)
	if t.size > 0 {
		s += fmt.Sprintf(", %.0f%%", 100*float64(bytes)/float64(t.size))
	}
	if t.terminal {
		fmt.Fprintf(t.w, "\r%s\x1b[K", s)
		return
	}
	fmt.Fprintln(t.w, s)
}

// clear takes the line that redraws itself away.
func (t *teller) clear() {
	if t.terminal {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}
