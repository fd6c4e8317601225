package contest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"filterlab/experiments/measure"
	"filterlab/experiments/peers/adapter"
	"filterlab/filters"
	"filterlab/filters/filtertest"
)

// The clauses that are examined beside those of the suite in filtertest.
const (
	clausePromised   = "promised-rate"   // a rate of 1% is kept with 100,000 random keys, whatever theory says
	clauseSequential = "sequential-keys" // integers that count up have the rate of random keys
)

// readers is the clause that a filter which shares a hash object breaks by the
// chance of the moment; it is not run for those.
const readers = "concurrent-readers"

// Finding is what one library does against the contract, or that it keeps to it.
type Finding struct {
	Peer    string
	Clause  string
	Holds   bool
	Skipped string // why the clause does not apply
	Trigger string // the first failure, as the suite reports it
	More    int    // failures beyond that one
}

// Known is a clause that a library is known to break.
type Known struct{ Peer, Clause, Why string }

// KnownFailures lists what the versions in go.mod are known to do wrong. The test
// of this package holds the list to what the suite finds, both ways.
func KnownFailures() []Known {
	const (
		fresh  = "Reset makes a new table; there is no way to empty the old one"
		small  = "k is rounded up and m is not chosen for it, so that filters for a few keys miss the rate"
		kicked = "a refused insertion has already moved fingerprints about and drops the last one (known-failure list, A01)"
		full   = "slots are a power of two near n, so that a filter for n keys may refuse some of them"
		hashes = "every lookup and add allocates the two hashes"
		shared = "one hash object serves all calls, so that even lookups disturb each other"
		fnv    = "FNV-1 spreads the last bytes of a key too little"
	)
	return []Known{
		{"peer:bits-and-blooms", "promise", small},
		{"peer:holiman", "promise", small},
		{"peer:holiman", "allocations", fresh},
		{"peer:boom", "allocations", fresh},
		{"peer:boom", readers, shared},
		{"peer:boom-counting", "allocations", fresh},
		{"peer:boom-counting", readers, shared},
		{"peer:boom-scalable", readers, shared},
		{"peer:boom-scalable", clausePromised, "stages have rates p, 0.8p, 0.64p, ... which add up to up to 5p"},
		{"peer:boom-scalable", clauseSequential, fnv},
		{"peer:boom-cuckoo", "allocations", hashes},
		{"peer:boom-cuckoo", clauseSequential, fnv},
		{"peer:boom-cuckoo", readers, shared},
		{"peer:seiflotfy", "lost-keys", full},
		{"peer:seiflotfy", "degenerate-hashes", kicked},
		{"peer:seiflotfy", "batch-contains", full},
		{"peer:seiflotfy", "refused-add", kicked},
		{"peer:seiflotfy", "reset", full},
		{"peer:seiflotfy", "delete", full + "; " + kicked},
		{"peer:seiflotfy", "promise", "fingerprints have 8 bits whatever rate is asked for"},
		{"peer:seiflotfy", "rate", full},
		{"peer:seiflotfy", "size", full},
		{"peer:seiflotfy", readers, full},
		{"peer:seiflotfy", clausePromised, "fingerprints have 8 bits whatever rate is asked for"},
		{"peer:bbloom", "promise", "k belongs to the size before rounding, and double hashing in small tables is not what the formula assumes"},
		{"peer:ristretto", "promise", "k belongs to the size before rounding, and double hashing in small tables is not what the formula assumes"},
		{"peer:arrow-go", "promise", "the formula for the size leaves out that blocks are loaded unevenly; rounding to a power of two hides it at most sizes"},
		{"peer:arrow-go", "allocations", "CheckBulk returns a new slice, and there is no way to empty a filter"},
		{"peer:pebble", clausePromised, "ten bits per key are taken for 1%, and bits come from double hashing of 32 bits"},
		{"peer:xor8", "variant", "the library makes no filter of no keys"},
		{"peer:fuse8", "variant", "the library makes no filter of no keys"},
		{"peer:fuse16", "variant", "the library makes no filter of no keys"},
	}
}

// Conformance holds one library to the contract.
func Conformance(v filters.Variant) ([]Finding, error) {
	var out []Finding
	var leave []string
	for _, k := range KnownFailures() {
		if k.Peer == v.String() && k.Clause == readers {
			leave = append(leave, readers)
			out = append(out, Finding{Peer: k.Peer, Clause: k.Clause, Trigger: "not run, since what it finds differs from run to run: " + k.Why})
		}
	}
	for _, r := range filtertest.Examine(v, true, leave...) {
		f := Finding{Peer: v.String(), Clause: r.Clause, Holds: len(r.Failures) == 0, Skipped: r.Skipped}
		if !f.Holds {
			f.Trigger, _, _ = strings.Cut(r.Failures[0], "\n")
			f.More = len(r.Failures) - 1
		}
		out = append(out, f)
	}
	more, err := rateFindings(v)
	return append(out, more...), err
}

// rateFindings measures rates where theory may be silent.
func rateFindings(v filters.Variant) ([]Finding, error) {
	const n, queries = 100_000, 400_000
	t := filters.Target{N: n, P: 0.01}
	random := func(i uint64, absent bool) []uint64 {
		if absent {
			return filtertest.NonMembers(i, queries)
		}
		return filtertest.Members(i, n)
	}
	counting := func(i uint64, absent bool) []uint64 {
		hs := make([]uint64, n)
		first := i << 40
		if absent {
			hs = make([]uint64, queries)
			first += n
		}
		for j := range hs {
			hs[j] = first + uint64(j)
		}
		return hs
	}
	const seeds = 3
	rate := func(keys func(uint64, bool) []uint64) (c measure.Count, err error) {
		for i := range uint64(seeds) {
			q, err := v.Build(t, keys(i, false))
			if err != nil {
				return c, err
			}
			c.Events += uint64(filters.ContainsMany(q, make([]bool, queries), keys(i, true)))
			c.Trials += queries
		}
		return c, nil
	}
	c, err := rate(random)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", v, err)
	}
	promised := Finding{Peer: v.String(), Clause: clausePromised, Holds: true}
	// Five standard deviations above what counts as kept: no chance of the seeds.
	const kept = 0.0105
	if limit := kept + 5*math.Sqrt(kept/float64(c.Trials)); c.Rate() > limit {
		promised.Holds = false
		promised.Trigger = fmt.Sprintf("%v: %.3f%% of %d lookups of absent keys are positive", t, 100*c.Rate(), c.Trials)
	}
	sequential := Finding{Peer: v.String(), Clause: clauseSequential, Holds: true}
	if _, ok := hashesInside()[v.String()]; !ok {
		sequential.Skipped = "takes hashes, and a counter is none"
		return []Finding{promised, sequential}, nil
	}
	s, err := rate(counting)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", v, err)
	}
	// A tenth apart, and five standard deviations.
	if d := math.Abs(s.Rate() - c.Rate()); d > 0.1*c.Rate() && d > 5*math.Sqrt((s.Rate()+c.Rate())/float64(c.Trials)) {
		sequential.Holds = false
		sequential.Trigger = fmt.Sprintf("%v: %.3f%% of absent keys are positive with integers that count up, %.3f%% with random keys", t, 100*s.Rate(), 100*c.Rate())
	}
	return []Finding{promised, sequential}, nil
}

// hashesInside are the libraries that hash the eight bytes they are given.
func hashesInside() map[string]bool {
	return map[string]bool{
		"peer:bits-and-blooms": true, "peer:boom": true, "peer:boom-counting": true, "peer:boom-scalable": true,
		"peer:boom-cuckoo": true, "peer:seiflotfy": true, "peer:bbloom": true, "peer:pebble": true,
	}
}

// Modules are the libraries and the versions that this program was built with,
// by the variant.
func Modules() map[string]string {
	path := map[string]string{
		"peer:bits-and-blooms": "github.com/bits-and-blooms/bloom/v3",
		"peer:holiman":         "github.com/holiman/bloomfilter/v2",
		"peer:boom":            "github.com/tylertreat/BoomFilters",
		"peer:boom-counting":   "github.com/tylertreat/BoomFilters",
		"peer:boom-scalable":   "github.com/tylertreat/BoomFilters",
		"peer:boom-cuckoo":     "github.com/tylertreat/BoomFilters",
		"peer:seiflotfy":       "github.com/seiflotfy/cuckoofilter",
		"peer:bbloom":          "github.com/ipfs/bbloom",
		"peer:ristretto":       "github.com/dgraph-io/ristretto/v2",
		"peer:parquet-go":      "github.com/parquet-go/parquet-go",
		"peer:arrow-go":        "github.com/apache/arrow-go/v18",
		"peer:pebble":          "github.com/cockroachdb/pebble/v2",
		"peer:xor8":            "github.com/FastFilter/xorfilter",
		"peer:fuse8":           "github.com/FastFilter/xorfilter",
		"peer:fuse16":          "github.com/FastFilter/xorfilter",
	}
	out := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	for peer, p := range path {
		out[peer] = p
		if !ok {
			continue
		}
		for _, d := range info.Deps {
			if d.Path == p {
				out[peer] = p + " " + d.Version
			}
		}
	}
	return out
}

// conformanceCSV is one line for each library and clause.
func conformanceCSV(fs []Finding) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"peer", "module", "clause", "result", "known", "trigger", "more"}}
	modules := Modules()
	for _, f := range fs {
		result := "holds"
		switch {
		case !f.Holds:
			result = "fails"
		case f.Skipped != "":
			result = "does not apply"
			f.Trigger = f.Skipped
		}
		why := ""
		for _, k := range KnownFailures() {
			if k.Peer == f.Peer && k.Clause == f.Clause {
				why = k.Why
			}
		}
		rows = append(rows, []string{f.Peer, modules[f.Peer], f.Clause, result, why, f.Trigger, fmt.Sprint(f.More)})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// conformanceTable is the same as a Markdown table of failures.
func conformanceTable(fs []Finding) string {
	var b strings.Builder
	b.WriteString("| library | clause | why | trigger |\n|---|---|---|---|\n")
	for _, f := range fs {
		if f.Holds {
			continue
		}
		why := "new: not on the known list"
		for _, k := range KnownFailures() {
			if k.Peer == f.Peer && k.Clause == f.Clause {
				why = k.Why
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", label(f.Peer), f.Clause, why, strings.ReplaceAll(f.Trigger, "|", "\\|"))
	}
	return b.String()
}

// AllConformance examines every library.
func AllConformance() ([]Finding, error) {
	var out []Finding
	for _, v := range adapter.All() {
		fs, err := Conformance(v)
		if err != nil {
			return nil, err
		}
		out = append(out, fs...)
	}
	return out, nil
}
