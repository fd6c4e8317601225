// Package catalog is the one list of filter families. Whoever needs a filter by
// name (the command, an axis of a sweep, a saved header) asks here; whoever adds
// a family adds it to Families and to Loop.
package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/counting"
	"filterlab/filters/cuckoo"
	"filterlab/filters/internal/spec"
	"filterlab/filters/scalable"
	"filterlab/filters/sharded"
	"filterlab/filters/standard"
)

// Family is a kind of filter as the catalog knows it.
type Family struct {
	Name  string // the name its variants begin with
	Doc   string // what it is, in one line
	Knobs []Knob // what can be set besides the target
	Parse func(s string) (filters.Variant, error)

	// arg is the knob whose value is written first and without its name, as in
	// blocked(512); empty when the family has none.
	arg string
}

// Knob is a setting of a family. One that is not set takes the best value for
// the target, or the stated default.
type Knob struct {
	Name string // as written in front of the equals sign
	Doc  string // meaning, range and default in one line
}

// Families lists the families in the order of the literature: Bloom's filter
// first, then what was made of it.
func Families() []Family {
	return []Family{
		{
			Name: "standard",
			Doc:  "Bloom's filter: k bits a key anywhere in one table",
			Knobs: []Knob{
				{"k", "bits set for a key, 1 to 64; best for the target"},
				{"scheme", "how a hash gives k positions: independent (default), double, enhanced, double64, enhanced64, teaching"},
				{"layout", "one table for all probes or a slice for each: shared (default), partitioned"},
				{"sizing", "exact (default: fewest bits that keep the rate) or textbook (rounded formulas)"},
				{"adds", "from one goroutine at a time (plain, default) or from several without a lock (atomic)"},
			},
			Parse: parser(standard.Parse),
		},
		{
			Name: "blocked",
			Doc:  "Bloom filters of one cache line each; a key's bits lie in one of them",
			Knobs: []Knob{
				{"bits", "bits of a block, written first and without the name: 64 to 4096 in powers of two, default 512"},
				{"k", "bits set for a key within its block, 1 to 64; best for the target"},
				{"probes", "may a key's bits coincide: independent (default), distinct"},
				{"layout", "where in a block bits may lie: anywhere (plain, default), one a lane (split, as in Parquet), ready-made (pattern)"},
				{"pages", "memory under the table: as the system gives it (system, default) or pages of 2 MiB (huge)"},
				{"adds", "from one goroutine at a time (plain, default) or from several without a lock (atomic)"},
			},
			Parse: parser(blocked.Parse),
			arg:   "bits",
		},
		{
			Name: "counting",
			Doc:  "Bloom's filter with counters for bits: keys can be deleted and counted",
			Knobs: []Knob{
				{"w", "bits of a counter: 2, 4 (default), 8 or 16"},
				{"k", "counters a key, 1 to 64; best for the target"},
				{"layout", "where a key's counters may lie: anywhere (shared, default) or in one cache line (blocked; w up to 8)"},
			},
			Parse: parser(counting.Parse),
		},
		{
			Name: "scalable",
			Doc:  "stages of standard filters, each larger and stricter: grows and keeps its rate",
			Knobs: []Knob{
				{"n0", "keys in stage 0; an eighth of the target's n"},
				{"s", "growth: how many times the keys of a stage the next one holds, default " + number(scalable.DefaultGrowth)},
				{"r", "tightening: the share of the last stage's rate that the next may have, default " + number(scalable.DefaultTighten)},
				{"scheme", "index scheme of the stages, as in standard"},
			},
			Parse: parser(scalable.Parse),
		},
		{
			Name: "cuckoo",
			Doc:  "fingerprints in one of two buckets: keys can be deleted; the smallest at low rates",
			Knobs: []Knob{
				{"f", "fingerprint bits, 4 to 32; best for the target"},
				{"b", "slots of a bucket: 1, 2, 4 or 8; best for the target"},
			},
			Parse: parser(cuckoo.Parse),
		},
	}
}

// Variants lists a representative of every kind of filter there is: what the
// conformance suite runs over and what a comparison of everything shows.
func Variants() []filters.Variant {
	return []filters.Variant{
		standard.Variant{},
		standard.Variant{K: 3},
		standard.Variant{Layout: standard.Partitioned},
		standard.Variant{Scheme: standard.Double},
		standard.Variant{Scheme: standard.Enhanced64},
		standard.Variant{Sizing: standard.Textbook},
		blocked.Variant{},
		blocked.Variant{Probes: blocked.Distinct},
		blocked.Variant{BlockBits: 64},
		blocked.Variant{BlockBits: 1024, K: 7},
		blocked.Variant{BlockBits: 4096, K: 7},
		blocked.Variant{Layout: blocked.Split},
		blocked.Variant{Layout: blocked.Pattern},
		standard.Variant{Atomic: true},
		blocked.Variant{Atomic: true},
		counting.Variant{},
		counting.Variant{Width: 2},
		counting.Variant{Width: 8, K: 4},
		counting.Variant{Width: 16},
		counting.Variant{Layout: counting.Blocked},
		scalable.Variant{},
		scalable.Variant{N0: 64, Growth: 4},
		cuckoo.Variant{},
		cuckoo.Variant{F: 12, B: 4},
		cuckoo.Variant{F: 4},
		cuckoo.Variant{F: 8, B: 2},
		cuckoo.Variant{B: 8},
		cuckoo.Variant{F: 32},
		sharded.Variant{Shards: 4, Inner: cuckoo.Variant{F: 12, B: 4}},
	}
}

// Parse reads the name of a variant, as its String prints it: "standard",
// "blocked(512,k=6)", "cuckoo(f=12,b=4)". Spaces and the order of knobs do not
// matter. The error for a family that is not there lists those that are. Any of
// them may stand in shards: "sharded(16,counting)".
func Parse(s string) (filters.Variant, error) {
	if sharded.Is(s) {
		return parser(func(s string) (sharded.Variant, error) { return sharded.Parse(s, Parse) })(s)
	}
	sp, err := spec.Parse(s)
	if err != nil {
		return nil, err
	}
	f, err := family(sp.Family)
	if err != nil {
		return nil, err
	}
	return f.Parse(s)
}

// With returns v with one knob set to value, everything else as it was. An empty
// value takes the knob back to its default. It is how an axis of a sweep turns a
// knob that it knows by name only: With(v, "k", "7"). Of a sharded variant, "shards"
// is their number, and the other knobs are those of the family inside.
func With(v filters.Variant, knob, value string) (filters.Variant, error) {
	if s, ok := v.(sharded.Variant); ok {
		if knob == "shards" {
			return Parse(fmt.Sprintf("sharded(%s,%v)", value, s.Inner))
		}
		in, err := With(s.Inner, knob, value)
		if err != nil {
			return nil, err
		}
		s.Inner = in.(filters.Maker) // of the same family
		return s, nil
	}
	sp, err := spec.Parse(v.String())
	if err != nil {
		return nil, err
	}
	f, err := family(sp.Family)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(f.Knobs, func(k Knob) bool { return k.Name == knob }) {
		var known []string
		for _, k := range f.Knobs {
			known = append(known, k.Name)
		}
		return nil, spec.Unknown(f.Name, knob, known...)
	}
	if strings.ContainsAny(value, "(),=") {
		return nil, filters.Refuse(f.Name+": "+knob, strconv.Quote(value), "one value")
	}
	if knob != f.arg {
		return f.Parse(sp.With(knob, value).String())
	}
	sp.Args = nil
	if value != "" {
		sp.Args = []string{value}
	}
	return f.Parse(sp.String())
}

// family finds a family by name, and otherwise says what there is.
func family(name string) (Family, error) {
	var known []string
	for _, f := range Families() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Family{}, filters.Refuse("filter", strconv.Quote(name), filters.OneOf(name, known))
}

// parser turns a family's Parse into one that returns the interface. The concrete
// type is not wrapped on an error: a typed zero would look like a variant.
func parser[V filters.Variant](parse func(string) (V, error)) func(string) (filters.Variant, error) {
	return func(s string) (filters.Variant, error) {
		v, err := parse(s)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
