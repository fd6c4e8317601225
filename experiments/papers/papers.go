// Package papers makes tables anew that others have published, and says where
// ours differ. It is apart from package experiments because a published table is
// no grid of points: each has a shape of its own, is made in seconds, and leaves
// no rows behind. Experiments ask questions; this package checks answers that are
// in print.
//
// Each table carries checks. A check is a number with a band around what the
// source states, and whether ours lies in it is a comparison, not an opinion. No
// check rests on a clock.
package papers

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"text/tabwriter"

	"filterlab/filters"
)

// Paper is a published table and how to make it.
type Paper struct {
	Name   string // as typed: "putze"
	Source string // author, year, title, table
	About  string // what the table says, in one line

	// Make makes the table with the given effort. It depends on nothing but the
	// effort and the seed, times excepted.
	Make func(ctx context.Context, e Effort) (*Table, error)
}

// Effort is how much a table may cost.
type Effort struct {
	Scale int // 0: a second or two; 1: some ten seconds; 2: the size that was published
	Seed  uint64
}

// Table is a table with what there is to say about it.
type Table struct {
	Columns []string
	Rows    [][]string
	Checks  []Check
	Notes   []string // what the source states, and how ours differs
}

// Check holds one of our numbers against a band.
type Check struct {
	What      string // the number, in words
	Stated    string // what the source says
	Ours      float64
	Low, High float64 // the band, ends included
}

// OK reports whether our number lies in the band. NaN lies in none.
func (c Check) OK() bool { return c.Low <= c.Ours && c.Ours <= c.High }

// Off counts the checks that failed.
func (t *Table) Off() (n int) {
	for _, c := range t.Checks {
		if !c.OK() {
			n++
		}
	}
	return n
}

func (t *Table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case float64:
			row[i] = strconv.FormatFloat(c, 'g', 6, 64)
		default:
			row[i] = fmt.Sprint(c)
		}
	}
	t.Rows = append(t.Rows, row)
}

func (t *Table) check(what, stated string, ours, low, high float64) {
	t.Checks = append(t.Checks, Check{what, stated, ours, low, high})
}

func (t *Table) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// All lists the tables.
func All() []Paper {
	return []Paper{putze(), fanTable3(), fanLoads(), almeida(), dillinger(), splitBlock(), lang()}
}

// ByName finds a table.
func ByName(name string) (Paper, error) {
	var names []string
	for _, p := range All() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Paper{}, filters.Refuse("paper", strconv.Quote(name), filters.OneOf(name, names))
}

// WriteText prints the table, its checks and its notes for a person.
func (t *Table) WriteText(w io.Writer, p Paper) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n%s\n\n", wrap(p.Source, 100), wrap(p.About, 100))
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		fmt.Fprintln(tw, strings.Join(row, "\t")+"\t")
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	b.WriteByte('\n')
	for _, c := range t.Checks {
		mark, stated := "ok ", ""
		if !c.OK() {
			mark = "OFF"
		}
		if c.Stated != "" {
			stated = "stated " + c.Stated + ", "
		}
		fmt.Fprintf(&b, "%s  %s: %sours %.6g, band %.6g to %.6g\n", mark, c.What, stated, c.Ours, c.Low, c.High)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\n%s\n", wrap(n, 100))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// wrap breaks a text into lines of at most width bytes where its words allow.
func wrap(s string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(s) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// WriteCSV prints the table alone.
func (t *Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Columns); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}

// stream gives random numbers for the hashes of distinct keys: as good as the
// best of hashes, and free of any limit to memory. Streams with different numbers
// do not repeat each other but by the chance of 64-bit hashes.
func stream(seed, number uint64) func(dst []uint64) {
	r := rand.New(rand.NewPCG(seed, number))
	return func(dst []uint64) {
		for i := range dst {
			dst[i] = r.Uint64()
		}
	}
}
