package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"filterlab/filters"
	"filterlab/filters/catalog"
)

func mergeCommand() command {
	return command{
		name: "merge", args: "FILE FILE ...", short: "one filter of the keys of several, and save it",
		help: `Usage: filterlab merge FILE FILE ... --out FILE

Makes the filter that holds the keys of all. They must be of one family, geometry, hash and
seed: size each part for the keys of the whole, as in the examples, and the merged
filter is, bit for bit, the one that was given all keys. Standard, blocked and counting
filters merge. Every file is compared with its checksums. The file appears when it is whole.

  --out FILE    where the filter goes, which may be one of the parts; - for stdout

Examples:
  filterlab build words.txt --n 1e5 --out monday.flt
  filterlab build words.txt --n 1e5 --out tuesday.flt
  filterlab merge monday.flt tuesday.flt --out both.flt
`,
		run: runMerge,
	}
}

func runMerge(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("merge", "out")
	paths, err := f.parse(args)
	if err != nil {
		return err
	}
	out, err := f.get("out", "")
	if err != nil {
		return err
	}
	if out == "" {
		return usagef("--out: want the file to write")
	}
	if len(paths) < 2 {
		return usagef("want the files of two filters or more; there are %d", len(paths))
	}
	if err := writable(out); err != nil {
		return err
	}
	// Only the first is in memory; the others are read where they lie.
	sum, info, err := readFilter(paths[0])
	if err != nil {
		return err
	}
	if _, ok := sum.Filter.(filters.Merger); !ok {
		return fmt.Errorf("%s: %s filters cannot merge: want standard, blocked or counting ones", paths[0], info.Family)
	}
	for _, path := range paths[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := mergeFile(sum, info.Family, path); err != nil {
			return fmt.Errorf("%s and %s: %w", paths[0], path, err)
		}
	}
	var w io.WriterTo = sum
	if sum.Hash == nil {
		w = sum.Filter.(filters.Saver) // readFilter has looked
	}
	if err := saveFilter(out, w, stdout); err != nil {
		return err
	}
	if out == "-" {
		out = "stdout"
	}
	saved := sum.Filter.(catalog.Saved) // what it was read as
	fmt.Fprintf(stderr, "%s: %d filters, %s keys\n", out, len(paths), keyCount(saved.EstimatedN()))
	promised, capacity := promise(info, saved)
	if worse := overfull(saved, promised, capacity, 0); worse != "" {
		fmt.Fprintf(stderr, "filterlab merge: warning: %s: %s\n", out, worse)
	}
	return nil
}

// mergeFile adds the keys of the filter in a file to sum, which is of the family.
func mergeFile(sum filters.Keyed, family, path string) error {
	o, err := openFilter(path, true)
	if err != nil {
		return err
	}
	defer o.Close() //nolint:errcheck // nothing was written
	other := filters.Keyed{Filter: o.Saved}
	if o.hash != nil {
		other.Hash = o.hash
	}
	switch {
	case o.Info().Family != family:
		return filters.Differ("family", family, o.Info().Family)
	case sum.Hash == nil && other.Hash == nil:
		// Both were saved without it: then the filters are all there is to compare.
		none := noHash{}
		return filters.Keyed{Filter: sum.Filter, Hash: none}.Merge(filters.Keyed{Filter: other.Filter, Hash: none})
	case sum.Hash == nil:
		return filters.Differ("hash", "not named", other.Hash.Name())
	case other.Hash == nil:
		return filters.Differ("hash", sum.Hash.Name(), "not named")
	}
	return sum.Merge(other)
}

// noHash stands for the hash of files that name none.
type noHash struct{ filters.Hasher }

func (noHash) Name() string { return "" }
func (noHash) Seed() uint64 { return 0 }

// readFilter reads all of a file into memory, where keys can be added to it. The hash is
// nil where the file does not name one.
func readFilter(path string) (k filters.Keyed, info catalog.Info, err error) {
	f, err := os.Open(path)
	if err != nil {
		return k, info, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	q, info, err := catalog.Read(f)
	if err == nil {
		err = ends(f)
	}
	if err == nil && info.Hash != "" {
		h, herr := hashOf(info, "", "")
		k.Hash, err = h, herr
	}
	if err == nil {
		if _, ok := q.(filters.Saver); !ok {
			err = filters.Refuse("filter", info.Family, "a family that can be saved")
		}
	}
	if err != nil {
		return k, info, fileError{fmt.Errorf("%s: %w", path, err)}
	}
	k.Filter = q
	return k, info, nil
}

// ends refuses bytes behind the filter that was read from r.
func ends(r io.Reader) error {
	n, err := io.ReadFull(r, make([]byte, 1))
	if n > 0 {
		return &filters.FormatError{Kind: filters.ErrCorrupt, Field: "end of the file", Value: "bytes behind the filter", Accepted: "none"}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
