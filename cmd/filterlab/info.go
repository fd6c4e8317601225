package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"filterlab/experiments/units"
	"filterlab/filters/catalog"
)

func infoCommand() command {
	return command{
		name: "info", args: "FILE", short: "what a saved filter is, how full, and at what rate it errs now",
		help: `Usage: filterlab info FILE [--json]

Reads all of FILE, compares it with its checksums, and prints what the filter is, how full
it is, about how many keys it holds, at what rate it answers true for absent keys now
and what was promised. A filter that holds more than it was sized for is warned of.

  --json    the same as one JSON object, on one line; what is not known is null

Examples:
  filterlab info words.flt
  filterlab info words.flt --json
`,
		run: runInfo,
	}
}

// about is what info tells; the tags are the names in JSON.
type about struct {
	File         string                 `json:"file"`
	Bytes        uint64                 `json:"bytes"`
	Version      int                    `json:"version"`
	Filter       string                 `json:"filter"`
	Geometry     []catalog.Number       `json:"-"`
	Numbers      map[string]json.Number `json:"geometry"`
	Hash         *string                `json:"hash"`
	Seed         *uint64                `json:"seed"`
	SizeBits     uint64                 `json:"size_bits"`
	Fill         float64                `json:"fill"`
	Capacity     *uint64                `json:"capacity"`
	Stored       *uint64                `json:"stored"`
	Estimated    *float64               `json:"estimated_n"`
	BitsPerKey   *float64               `json:"bits_per_key"`
	Rate         float64                `json:"fpr"`
	Promised     *float64               `json:"fpr_promised"`
	Overfull     bool                   `json:"overfull"`
	overfullness string
}

func runInfo(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("info")
	asJSON := f.set.Bool("json", false, "")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("want the file of one filter; there are %d", len(rest))
	}
	o, err := openFilter(rest[0], true)
	if err != nil {
		return err
	}
	defer o.Close() //nolint:errcheck // nothing was written
	a := o.about()
	if *asJSON {
		err = json.NewEncoder(stdout).Encode(a)
	} else {
		_, err = io.WriteString(stdout, a.String())
	}
	if a.Overfull {
		fmt.Fprintf(stderr, "filterlab info: warning: %s: %s\n", a.File, a.overfullness)
	}
	return err
}

func (o *opened) about() about {
	i := o.Info()
	a := about{
		File: o.path, Bytes: i.Size(), Version: i.Version, Filter: i.Variant.String(), Geometry: i.Geometry,
		Numbers: map[string]json.Number{}, SizeBits: o.SizeBits(), Fill: o.FillRatio(), Rate: o.EstimatedFPR(),
		Capacity: known(i.Capacity), Stored: known(i.Count),
	}
	for _, g := range i.Geometry {
		a.Numbers[g.Name] = json.Number(g.String())
	}
	if i.Hash != "" {
		a.Hash, a.Seed = &i.Hash, &i.Seed
	}
	if n := o.EstimatedN(); !math.IsInf(n, 0) && !math.IsNaN(n) {
		a.Estimated = &n
		if n >= 0.5 {
			perKey := float64(a.SizeBits) / n
			a.BitsPerKey = &perKey
		}
	}
	promised, capacity := promise(i, o.Saved)
	if !math.IsNaN(promised) {
		a.Promised = &promised
	}
	a.overfullness = overfull(o.Saved, promised, capacity, i.Count)
	a.Overfull = a.overfullness != ""
	return a
}

// known is nil for 0, which stands for a number that is not known.
func known(n uint64) *uint64 {
	if n == 0 {
		return nil
	}
	return &n
}

// String is the text for a person, a line for each fact.
func (a about) String() string {
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name, fmt.Sprintf(format, values...))
	}
	line("file", "%s, %s, format %d, checksums right", a.File, units.FormatBytes(a.Bytes), a.Version)
	line("filter", "%s", a.Filter)
	// The numbers of a stage, "stage 2: k", have a line of their own.
	part, numbers := "geometry", []string(nil)
	for _, g := range a.Geometry {
		of, name, ok := strings.Cut(g.Name, ": ")
		if !ok {
			of, name = "geometry", g.Name
		}
		if of != part {
			line(part, "%s", strings.Join(numbers, ", "))
			part, numbers = of, nil
		}
		numbers = append(numbers, name+" "+g.String())
	}
	line(part, "%s", strings.Join(numbers, ", "))
	if a.Hash != nil {
		line("hash", "%s, seed %d", *a.Hash, *a.Seed)
	} else {
		line("hash", "not named")
	}
	line("table", "%d bits (%s), %.4g%% in use", a.SizeBits, units.FormatBytes((a.SizeBits+7)/8), 100*a.Fill)
	if a.Capacity != nil {
		line("sized for", "%d keys", *a.Capacity)
	}
	if a.Stored != nil {
		line("stored", "%d keys", *a.Stored)
	}
	switch {
	case a.Estimated == nil:
		line("holds", "more keys than its fill can tell")
	case a.BitsPerKey == nil:
		line("holds", "no keys")
	default:
		line("holds", "about %.0f keys, %.4g bits per key", *a.Estimated, *a.BitsPerKey)
	}
	line("rate now", "%s", rate(a.Rate))
	if a.Promised != nil {
		line("rate promised", "%s", rate(*a.Promised))
	}
	if a.Overfull {
		line("overfull", "%s", a.overfullness)
	}
	return b.String()
}
