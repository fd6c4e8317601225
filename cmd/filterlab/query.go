package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

func queryCommand() command {
	return command{
		name: "query", args: "FILE [KEY ...|-]", short: "ask a saved filter which keys it may hold",
		help: `Usage: filterlab query FILE [KEY ...|-] [flags]

Prints a line for each key: "maybe" if it may have been added, "absent" if it certainly was
not, a tab, and the key. Keys are arguments, or the lines of stdin (for "-", or without
any), as build takes them; answers come as the lines do. FILE is mapped, so that the
first answer takes milliseconds whatever its size.

  --only maybe|absent  print the keys with this answer, without the answer
  --count              print how many keys have which answer, and no key
  --verify             compare all of FILE with its checksum first
  --hash NAME, --seed N   the hash of the keys, for a file that does not name it; one that
                       does must name the same

Exit status: 0 if every key may be there, 1 if one is absent, 2 if something went wrong.

Examples:
  filterlab query words.flt zebra
  filterlab query words.flt zebra zebra --count
  cut -f1 new.tsv | filterlab query words.flt --only absent -
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			return trouble(runQuery(ctx, args, stdout))
		},
	}
}

// Answers to a query.
const (
	maybe  = "maybe"
	absent = "absent"
)

func runQuery(ctx context.Context, args []string, stdout io.Writer) (err error) {
	f := newFlags("query", "only", "hash", "seed")
	counts := f.set.Bool("count", false, "")
	verify := f.set.Bool("verify", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return usagef("want the file of a filter")
	}
	only, err := f.get("only", "")
	if err != nil {
		return err
	}
	if only != "" && (only != maybe && only != absent || *counts) {
		return usagef("--only %q: want %s or %s, and no --count", only, maybe, absent)
	}
	hash, err := f.get("hash", "")
	if err != nil {
		return err
	}
	seed, err := f.get("seed", "")
	if err != nil {
		return err
	}
	path, keys := rest[0], rest[1:]
	o, err := openFilter(path, *verify)
	if err != nil {
		return err
	}
	defer o.Close() //nolint:errcheck // nothing was written
	h, err := hashOf(o.Info(), hash, seed)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}

	out := bufio.NewWriter(stdout)
	var yes, no uint64
	hs, in := make([]uint64, batch), make([]bool, batch)
	answer := func(keys [][]byte) error {
		h.SumMany(hs, keys)
		hits := o.ContainsMany(in, hs[:len(keys)])
		yes, no = yes+uint64(hits), no+uint64(len(keys)-hits)
		if *counts {
			return nil
		}
		for i, key := range keys {
			word := absent
			if in[i] {
				word = maybe
			}
			switch only {
			case "":
				out.WriteString(word) //nolint:errcheck // Flush tells
				out.WriteByte('\t')   //nolint:errcheck
			case word:
			default:
				continue
			}
			out.Write(key)      //nolint:errcheck
			out.WriteByte('\n') //nolint:errcheck
		}
		return out.Flush()
	}
	if len(keys) == 0 || len(keys) == 1 && keys[0] == "-" {
		err = eachBatch(ctx, newKeyLines(stdin(ctx)), answer)
		if err != nil {
			err = fmt.Errorf("stdin: %w", err)
		}
	} else {
		for len(keys) > 0 && err == nil {
			some := keys[:min(batch, len(keys))]
			keys = keys[len(some):]
			err = answer(asBytes(some))
		}
	}
	if err != nil {
		return err
	}
	if *counts {
		if _, err := fmt.Fprintf(stdout, "%s\t%d\n%s\t%d\n", maybe, yes, absent, no); err != nil {
			return err
		}
	}
	if no > 0 {
		return errNo
	}
	return nil
}

// eachBatch hands the lines to do, as many at a time as there are, up to a batch.
func eachBatch(ctx context.Context, lines *keyLines, do func([][]byte) error) error {
	keys := make([][]byte, 0, batch)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		keys, err = lines.next(keys)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(keys)
		}
		if err != nil {
			return err
		}
	}
}

func asBytes(keys []string) [][]byte {
	out := make([][]byte, len(keys))
	for i, key := range keys {
		out[i] = []byte(key)
	}
	return out
}
