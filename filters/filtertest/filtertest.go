// Package filtertest is what every filter family is held to: one conformance
// suite ([Run]), one fuzz target against an exact oracle ([Fuzz]) and one
// benchmark suite ([Bench]), all written against the contract in package filters
// and nothing else.
//
// A family calls them from its own tests:
//
//	func TestConformance(t *testing.T) { filtertest.Run(t, blocked.Variant{Block: 512}) }
//	func FuzzFilter(f *testing.F)      { filtertest.Fuzz(f, blocked.Variant{}) }
//	func BenchmarkFilter(b *testing.B) { filtertest.Bench(b, catalog.Loop, blocked.Variant{}) }
//
// Capabilities are found by type assertion, so a family is tested for exactly
// what it offers, and a static one (a Variant that is no Maker) for what Build
// returns. Every seed is fixed: a run that passes passes again, and a tolerance
// on a rate is two-sided with its distribution stated, since a filter that is
// too good is broken as well.
package filtertest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"filterlab/filters"
)

// Run holds v to the contract. Each clause is a subtest, so that -run can single
// one out. Clauses about a capability that v lacks are skipped.
//
// Run counts allocations and therefore must not be called from a parallel test.
// It takes about a third of a second a variant; -short cuts the trials of the
// rate checks to a quarter. Under the race detector the clauses about sizes and
// rates are left out: one goroutine computes and counts, by the million.
//
// A variant that breaks a clause on purpose says so with an Exemption. It must
// break it indeed: an exemption that is no longer needed fails.
func Run(t *testing.T, v filters.Variant, exempt ...Exemption) {
	reasons := map[string]string{}
	for _, e := range exempt {
		reasons[e.Clause] = e.Reason
	}
	for _, c := range clauses() {
		t.Run(c.name, func(t *testing.T) {
			if underRace && c.counts {
				t.Skip("nothing to race with")
			}
			r := c.examine(v, testing.Short())
			if reason := reasons[c.name]; reason != "" {
				if len(r.failures) == 0 {
					t.Fatalf("%v keeps this clause; the exemption (%s) is not needed", v, reason)
				}
				t.Skipf("exempt: %s", reason)
			}
			for _, msg := range r.failures {
				t.Error(msg)
			}
			if len(r.failures) == 0 && r.skipped != "" {
				t.Skip(r.skipped)
			}
		})
	}
}

// Result is what one clause found.
type Result struct {
	Clause   string
	Failures []string // empty where the clause holds
	Skipped  string   // why it does not apply; else empty
}

// Examine holds v to the contract as Run does and returns what each clause found
// instead of failing a test, for variants that are not ours to mend. The clauses
// named in leave are left out: those that a variant breaks in ways that differ
// from run to run.
func Examine(v filters.Variant, short bool, leave ...string) []Result {
	var out []Result
	for _, c := range clauses() {
		if slices.Contains(leave, c.name) {
			continue
		}
		r := c.examine(v, short)
		out = append(out, Result{c.name, r.failures, r.skipped})
	}
	return out
}

// Exemption names a clause that a variant breaks by design, and why.
type Exemption struct{ Clause, Reason string }

// clause is one sentence of the contract and the code that examines it.
type clause struct {
	name   string
	run    func(r *report, v filters.Variant)
	counts bool // one goroutine computes or counts for long: nothing to race with
}

// clauses lists the suite in the order of a reader's interest: what a variant
// is, then what its filters must do, then what they promise.
func clauses() []clause {
	return []clause{
		{"variant", checkVariant, false},
		{"bad-targets", checkBadTargets, false},
		{"empty", checkEmpty, false},
		{"lost-keys", checkLostKeys, false},
		{"degenerate-hashes", checkDegenerate, false},
		{"duplicates", checkDuplicates, false},
		{"build", checkBuild, false},
		{"batch-add", checkBatchAdd, false},
		{"bulk-add", checkBulkAdd, false},
		{"batch-contains", checkBatchContains, false},
		{"test-and-add", checkTestAndAdd, false},
		{"refused-add", checkRefusedAdd, false},
		{"reset", checkReset, false},
		{"delete", checkDelete, false},
		{"merge", checkMerge, false},
		{"encoding", checkEncoding, false},
		{"size", checkSize, true},
		{"promise", checkPromise, true},
		{"rate", checkRate, true},
		{"allocations", checkAllocations, false},
		{"concurrent-readers", checkReaders, false},
		{"concurrent-adds", checkWriters, false},
	}
}

// examine runs the clause and turns a panic into a failure: the contract allows
// none.
func (c clause) examine(v filters.Variant, short bool) (r *report) {
	r = &report{short: short}
	defer func() {
		if p := recover(); p != nil && p != errStop {
			r.failures = append(r.failures, fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	c.run(r, v)
	return r
}

// errStop ends a clause early through panic; examine swallows it.
var errStop = errors.New("enough")

// maxFailures ends a clause: the first few tell the story.
const maxFailures = 8

// report collects what a clause found. It is not a testing.TB, so that the suite
// can be run against filters that are broken on purpose.
type report struct {
	short    bool
	failures []string
	skipped  string
}

// errorf records a failure and ends the clause when there are many.
func (r *report) errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
	if len(r.failures) >= maxFailures {
		panic(errStop)
	}
}

// fatalf records a failure that makes the rest of the clause pointless.
func (r *report) fatalf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
	panic(errStop)
}

// skip ends the clause: v does not have what it is about.
func (r *report) skip(why string) {
	r.skipped = why
	panic(errStop)
}

// ladder holds the targets tried for a variant, most usual first. A variant with
// fixed knobs refuses some (a 4-bit fingerprint keeps no rate of 1%); one that
// refuses them all is of no use.
func ladder(n uint64) []filters.Target {
	return []filters.Target{
		{N: n, P: 0.01},
		{N: n, P: 0.1},
		{N: n, P: 0.5},
		{N: n, BitsPerKey: 10},
		{N: n, BitsPerKey: 20},
		{N: n, BitsPerKey: 40},
	}
}

// target returns the first target of the ladder that v takes at n keys.
func target(v filters.Variant, n int) (filters.Target, error) {
	var first error
	for _, t := range ladder(uint64(max(n, 1))) {
		_, err := v.Build(t, nil)
		if err == nil {
			return t, nil
		}
		if !errors.Is(err, filters.ErrParam) {
			return t, fmt.Errorf("%v: Build(%v, nil): %w; only a ParamError may refuse a target", v, t, err)
		}
		if first == nil {
			first = err
		}
	}
	return filters.Target{}, fmt.Errorf("%v takes no target for %d keys; the first refusal is: %w", v, n, first)
}

// target is a target that v takes; without one the clause ends.
func (r *report) target(v filters.Variant, n int) filters.Target {
	t, err := target(v, n)
	if err != nil {
		r.fatalf("%v", err)
	}
	return t
}

// maker asserts that v is dynamic, or skips the clause.
func (r *report) maker(v filters.Variant) filters.Maker {
	m, ok := v.(filters.Maker)
	if !ok {
		r.skip(fmt.Sprintf("%v is static", v))
	}
	return m
}

// make builds an empty filter of v for a target that was accepted before.
func (r *report) make(v filters.Maker, t filters.Target) filters.Filter {
	f, err := v.New(t)
	if err != nil {
		r.fatalf("%v: New(%v): %v", v, t, err)
	}
	return f
}

// build builds a filter that holds hs.
func (r *report) build(v filters.Variant, t filters.Target, hs []uint64) filters.Querier {
	q, err := v.Build(t, hs)
	if err != nil {
		r.fatalf("%v: Build(%v, %d hashes): %v", v, t, len(hs), err)
	}
	return q
}

// need asserts a capability, or skips the clause.
func need[C any](r *report, q filters.Querier, name string) C {
	c, ok := q.(C)
	if !ok {
		r.skip("no " + name)
	}
	return c
}
