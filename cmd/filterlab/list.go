package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"filterlab/experiments"
	"filterlab/experiments/units"
	"filterlab/experiments/workload"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

func listCommand() command {
	return command{
		name: "list", args: "", short: "name the experiments, filters, hashes and key sets",
		help: `Usage: filterlab list

Names everything that other commands take: experiments with their questions, filter
families with their knobs, hash functions, key sets and profiles.

A filter is a family and, in parentheses, the knobs to set; what is not set takes the best
value for the target: standard, standard(k=7), blocked(256,k=6), cuckoo(f=12,b=4).

Example:
  filterlab list
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			rest, err := newFlags("list").parse(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return usagef("argument %q: want none", rest[0])
			}
			_, err = io.WriteString(stdout, listing())
			return err
		},
	}
}

// width is what a line of output takes at most, in columns.
const width = 100

// listing is the output of the command.
func listing() string {
	var b strings.Builder
	section := func(title string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", title)
	}
	// entry puts the name in a column of its own and wraps the text beside it.
	const indent = 16
	entry := func(name, doc string) {
		label := "  " + name
		if len(label) >= indent {
			fmt.Fprintf(&b, "%s\n", label)
			label = ""
		}
		for _, line := range wrap(doc, width-indent) {
			fmt.Fprintf(&b, "%-*s%s\n", indent, label, line)
			label = ""
		}
	}

	section("Experiments")
	for _, e := range experiments.All() {
		entry(e.Name, e.Question)
	}
	section("Filters")
	for _, f := range catalog.Families() {
		entry(f.Name, f.Doc)
		for _, k := range f.Knobs {
			entry("  "+k.Name, k.Doc)
		}
	}
	section("Hashes")
	for _, h := range hashing.All() {
		doc := h.Doc
		if h.Alias != "" {
			doc += " (also named " + h.Alias + ")"
		}
		entry(h.Name, doc)
	}
	section("Key sets")
	for _, k := range workload.All() {
		entry(k.Name, k.Doc)
	}
	entry(experiments.Zipf, "random keys whose non-members are asked for by a Zipf law, as popular pages are")
	section("Profiles")
	for _, p := range experiments.Profiles() {
		entry(p.Name, fmt.Sprintf("rates to within %.0f%%, at least %d seeds, %d timing rounds, n up to %s",
			100*p.Precision, p.Seeds, p.Rounds, units.FormatCount(p.MaxN)))
	}
	return b.String()
}

// wrap breaks text at spaces into lines of at most n bytes; a longer word has a
// line of its own.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
