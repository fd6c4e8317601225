package experiments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"filterlab/filters"
)

// C06: a point is refused when its table and the hashes of its keys are more than
// the memory there is, and only then; the message has the need and the limit.
func TestC06_PointsThatDoNotFit(t *testing.T) {
	p := point(t, "standard", filters.Target{N: 1e6, BitsPerKey: 8})
	bits, err := p.bits()
	if err != nil || bits != 8e6 {
		t.Fatalf("%g bits, %v", bits, err)
	}
	const need = 1e6 + 8e6 // table and hashes, in bytes
	for _, memory := range []uint64{need, need + 1, math.MaxUint64, 0} {
		if err := p.fits(bits, p.Inserted(), memory); err != nil {
			t.Errorf("%d bytes: %v", memory, err)
		}
	}
	err = p.fits(bits, p.Inserted(), need-1)
	if !errors.Is(err, filters.ErrParam) {
		t.Fatalf("%v, want a refusal", err)
	}
	for _, want := range []string{"n = 1000000", "8.58 MiB of this machine", "977 KiB for its table", "7.63 MiB for the hashes of 1000000 keys"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q in it", err, want)
		}
	}
	// Nothing overflows on the way.
	p.Target.N, p.Load = 1e18, 4
	if err := p.fits(8e18, p.Inserted(), 1<<34); err == nil {
		t.Error("4e18 keys fit into 16 GiB")
	}
}

// The size of a table is known for every kind of point, formula or not.
func TestBitsOfAPoint(t *testing.T) {
	for _, tc := range []struct {
		filter string
		target filters.Target
		load   float64
		least  float64 // and not above twice that
	}{
		{"standard", filters.Target{N: 1000, P: 0.01}, 0, 9594},
		{"standard(scheme=enhanced64)", filters.Target{N: 1000, BitsPerKey: 10}, 0, 10_000}, // no theory
		{"standard(scheme=enhanced64)", filters.Target{N: 1000, P: 0.01}, 0, 6643},          // the lower bound
		{"cuckoo", filters.Target{N: 1000, P: 0.01}, 4, 10_000},                             // more than it takes
	} {
		p := point(t, tc.filter, tc.target)
		p.Load = tc.load
		if got, err := p.bits(); err != nil || got < tc.least || got > 2*tc.least {
			t.Errorf("%v: %g bits, %v; want at least %g", p, got, err, tc.least)
		}
	}
	if _, err := point(t, "cuckoo(f=8)", filters.Target{N: 1000, P: 1e-9}).bits(); !errors.Is(err, filters.ErrParam) {
		t.Errorf("a point that the variant refuses: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name string
		over []Override
		want string // in the error; none when empty
	}{
		{"as it is", nil, ""},
		{"one of two filters cannot", []Override{{"filters", []string{"standard", "cuckoo(f=4)"}}, {"p", []string{"1e-6"}}}, ""},
		{"none can", []Override{{"filters", []string{"cuckoo(f=4)"}}, {"p", []string{"1e-6"}}}, "no point can be measured; the first: cuckoo: f = 4"},
		{"some have the keys", []Override{{"keysets", []string{"threeletter"}}, {"n", []string{"8000"}}, {"load", []string{"1", "4"}}}, ""},
		{"none has the keys", []Override{{"keysets", []string{"threeletter"}}, {"n", []string{"9000"}}, {"load", []string{"1", "4"}}}, "at most the 8788 members that threeletter has"},
		{"no such axis", []Override{{"k", []string{"7"}}}, "--k"},
		{"no such keys", []Override{{"keysets", []string{"file:gone.txt"}}}, "file:gone.txt"},
	} {
		o := tinyOptions(t)
		o.Overrides = tc.over
		_, err := o.Check(tiny())
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "tiny: ")) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		if nothing := strings.HasPrefix(tc.name, "none"); errors.Is(err, ErrNothing) != nothing {
			t.Errorf("%s: ErrNothing is %v", tc.name, !nothing)
		}
	}
}

// A knob that one of the filters lacks refuses the points of that filter, in rows
// that say so; the others are measured. Where no filter has it nothing runs.
func TestAKnobThatOneFilterLacks(t *testing.T) {
	e := tiny(Rate(0))
	e.Grid = func(Profile) Grid {
		return Grid{Axes: []Axis{FilterAxis("standard", "cuckoo"), NAxis("100"), PAxis("10%"), KAxis("3", "4")}}
	}
	o := tinyOptions(t)
	if _, err := o.Check(e); err != nil {
		t.Fatal(err)
	}
	out, err := Run(context.Background(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for i := range out.Cells {
		c := &out.Cells[i]
		if c.Role != "" {
			continue
		}
		got[fmt.Sprintf("%s refused=%v", c.Filter, c.Verdict == Refused)]++
		if c.Verdict == Refused && !strings.Contains(c.Reason, "k") {
			t.Errorf("refused without saying why: %q", c.Reason)
		}
	}
	want := map[string]int{"standard(k=3) refused=false": 1, "standard(k=4) refused=false": 1, "cuckoo refused=true": 2}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	o.Overrides = []Override{{"filters", []string{"cuckoo"}}}
	if _, err := o.Check(e); !errors.Is(err, ErrNothing) {
		t.Errorf("no filter has the knob: %v", err)
	}
}

// B07: n/2^32 of the absent keys collide under a 32-bit hash; from a tenth of the
// promised rate on the user is told.
func TestB07_NarrowHash(t *testing.T) {
	for _, tc := range []struct {
		hash string
		n    uint64
		p    float64
		warn bool
	}{
		{"fnv1a32", 1e6, 0.01, false}, // 2.3e-4
		{"fnv1a32", 1e6, 0.001, true},
		{"fnv1a32", 1e4, 1e-5, true},
		{"fnv1a32", 1e4, 1e-4, false},
		{"xxh3", 1e6, 1e-9, false},
	} {
		p := point(t, "standard", filters.Target{N: tc.n, P: tc.p})
		p.Hash = tc.hash
		if got := p.narrowHash(); (got != "") != tc.warn {
			t.Errorf("%v: warning %q", p, got)
		}
	}
}

// A run that has ended is not measured again on Resume, and its rows stay; any
// difference in what was asked measures anew.
func TestResumeOfAFinishedRun(t *testing.T) {
	o := tinyOptions(t)
	visits := 0
	count := Measure{Name: "count", Timed: true, Run: func(context.Context, *Lab, []*Point) ([]Row, error) {
		visits++
		return nil, nil
	}}
	e := tiny(Rate(0), count)
	run := func() int {
		t.Helper()
		visits = 0
		if _, err := Run(t.Context(), e, o); err != nil {
			t.Fatal(err)
		}
		return visits
	}
	all := run()
	if all == 0 {
		t.Fatal("nothing measured")
	}
	before := string(read(t, o.Out, "tiny", samplesFile))
	if again := run(); again != all {
		t.Errorf("without Resume %d groups were measured again, want all %d", again, all)
	}
	o.Resume = true
	if again := run(); again != 0 {
		t.Errorf("%d groups of a finished run were measured again", again)
	}
	if after := string(read(t, o.Out, "tiny", samplesFile)); after != before {
		t.Error("the rows changed")
	}
	o.Seed++
	if again := run(); again != all {
		t.Errorf("with another seed %d groups were measured, want all %d", again, all)
	}
}
