package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"os"
	"text/tabwriter"

	"filterlab/filters/catalog"
)

func diffCommand() command {
	return command{
		name: "diff", args: "FILE FILE", short: "in what two saved filters differ",
		help: `Usage: filterlab diff FILE FILE

Prints a line for each thing in which two filters differ: its name, the value in the first
and in the second. The last, where the tables are of one size, is how many bits differ.
Both files are compared with their checksums. Nothing is printed for equal files.

Exit status: 0 if they are equal, 1 if they differ, 2 if something went wrong.

Examples:
  filterlab diff monday.flt tuesday.flt
  filterlab diff monday.flt both.flt
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			return trouble(runDiff(ctx, args, stdout))
		},
	}
}

func runDiff(ctx context.Context, args []string, stdout io.Writer) error {
	f := newFlags("diff")
	paths, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(paths) != 2 {
		return usagef("want the files of two filters; there are %d", len(paths))
	}
	var of [2]*opened
	for i, path := range paths {
		if of[i], err = openFilter(path, true); err != nil {
			return err
		}
		defer of[i].Close() //nolint:errcheck // nothing was written
	}
	// Whatever one of them has a name for; a dash stands for the lack of it.
	values := [2]map[string]string{{}, {}}
	var names []string
	geometry := of[0].Info().Family == of[1].Info().Family
	for i := range of {
		for _, f := range of[i].facts(geometry) {
			if values[0][f.name] == "" && values[1][f.name] == "" {
				names = append(names, f.name)
			}
			values[i][f.name] = f.value
		}
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	differ := false
	for _, name := range names {
		if a, b := cmp.Or(values[0][name], "-"), cmp.Or(values[1][name], "-"); a != b {
			differ = true
			fmt.Fprintf(w, "%s\t%s\t%s\n", name, a, b)
		}
	}
	a, b := of[0].Info(), of[1].Info()
	if a.PayloadBytes == b.PayloadBytes {
		n, err := differentBits(ctx, paths, [2]catalog.Info{a, b})
		if err != nil {
			return err
		}
		if n > 0 {
			differ = true
			fmt.Fprintf(w, "table\t%d of %d bits differ\n", n, 8*a.PayloadBytes)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if differ {
		return errNo
	}
	return nil
}

// fact is what diff compares, with its name.
type fact struct{ name, value string }

// facts lists them; the numbers of the geometry mean something within a family only.
func (o *opened) facts(geometry bool) []fact {
	i := o.Info()
	out := []fact{{"family", i.Family}, {"filter", i.Variant.String()}}
	if geometry {
		for _, g := range i.Geometry {
			out = append(out, fact{g.Name, g.String()})
		}
	}
	out = append(out, fact{"hash", cmp.Or(i.Hash, "-")}, fact{"seed", fmt.Sprint(i.Seed)},
		fact{"sized for", fmt.Sprint(i.Capacity)}, fact{"stored", fmt.Sprint(i.Count)},
		fact{"bytes", fmt.Sprint(i.Size())}, fact{"holds", keyCount(o.EstimatedN())},
		fact{"in use", fmt.Sprintf("%.6g%%", 100*o.FillRatio())}, fact{"rate now", rate(o.EstimatedFPR())})
	return out
}

// differentBits counts the bits that differ in the payloads of two files, which are of
// one length.
func differentBits(ctx context.Context, paths []string, of [2]catalog.Info) (uint64, error) {
	var files [2]*os.File
	for i, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return 0, err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		if _, err := f.Seek(int64(of[i].HeaderBytes), io.SeekStart); err != nil {
			return 0, err
		}
		files[i] = f
	}
	var differ uint64
	a, b := make([]byte, readSize), make([]byte, readSize)
	for left := of[0].PayloadBytes; left > 0 && ctx.Err() == nil; {
		n := min(left, readSize)
		left -= n
		for i, buf := range [][]byte{a[:n], b[:n]} {
			if _, err := io.ReadFull(files[i], buf); err != nil {
				return 0, fmt.Errorf("%s: %w", paths[i], err)
			}
		}
		for i := uint64(0); i < n; i += 8 { // payloads are multiples of 64 bytes
			differ += uint64(bits.OnesCount64(binary.NativeEndian.Uint64(a[i:]) ^ binary.NativeEndian.Uint64(b[i:])))
		}
	}
	return differ, ctx.Err()
}
