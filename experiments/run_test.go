package experiments

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/standard"
)

// tiny is an experiment of a second: the runner is tested on it, not the filters.
func tiny(measures ...Measure) Experiment {
	return Experiment{
		Name:     "tiny",
		Question: "Does the runner keep what it is given?",
		Grid: func(Profile) Grid {
			return Grid{Axes: []Axis{
				FilterAxis("standard", "blocked"), HashAxis("xxh3"), KeysAxis("random"),
				NAxis("1000"), PAxis("10%"), LoadAxis("0.5", "1", "2", "3"),
			}}
		},
		Measures: measures,
		Figures:  func([]Cell, About) []figure.Figure { return nil },
		Finding:  func(cells []Cell) string { return verdicts(cells) },
	}
}

var tinyProfile = Profile{Name: "tiny", Precision: 0.1, MaxTrials: 100_000, Seeds: 10, Rounds: 6, MaxN: 1000}

func tinyOptions(t *testing.T) Options {
	return Options{Profile: tinyProfile, Out: t.TempDir(), Seed: 7, Log: io.Discard}
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRunIsReproducible(t *testing.T) {
	a, b := tinyOptions(t), tinyOptions(t)
	oa, err := Run(context.Background(), tiny(Rate(0)), a)
	if err != nil {
		t.Fatal(err)
	}
	// One core or two, the rows come in the same order.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err := Run(context.Background(), tiny(Rate(0)), b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, a.Out, "tiny", samplesFile), read(t, b.Out, "tiny", samplesFile)) {
		t.Error("samples.csv differs between two runs with the same seed")
	}
	if len(oa.Cells) != 8+2 {
		t.Fatalf("%d cells, want 8 and 2 controls", len(oa.Cells))
	}
	for _, c := range oa.Cells[8:] {
		if c.Verdict != ControlOK {
			t.Errorf("control %s, which %s: %s, measured %v, expected %v", c.Filter, c.Role, c.Verdict, c.FPR, c.Predicted.FPR)
		}
	}
	for _, c := range oa.Cells[:8] {
		if c.Verdict != Agree && c.Verdict != AgreeWide {
			t.Errorf("%s at load %g: %s, measured %v, expected %v", c.Filter, c.Load(), c.Verdict, c.FPR, c.Predicted.FPR)
		}
	}
	b.Seed, b.Out = 8, t.TempDir()
	if _, err := Run(context.Background(), tiny(Rate(0)), b); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(read(t, a.Out, "tiny", samplesFile), read(t, b.Out, "tiny", samplesFile)) {
		t.Error("another seed gives the same samples")
	}
}

// stopAfter cancels the run when it has been called n times.
func stopAfter(n int, cancel context.CancelFunc) Measure {
	return Measure{Name: "stop", Timed: true, Run: func(context.Context, *Lab, []*Point) ([]Row, error) {
		if n--; n == 0 {
			cancel()
		}
		return nil, nil
	}}
}

func TestInterruptedRunResumesWithoutLoss(t *testing.T) {
	whole := tinyOptions(t)
	if _, err := Run(context.Background(), tiny(Rate(0)), whole); err != nil {
		t.Fatal(err)
	}
	want := read(t, whole.Out, "tiny", samplesFile)

	step := 1
	if testing.Short() {
		step = 3
	}
	for stop := 1; stop <= 8; stop += step {
		o := tinyOptions(t)
		ctx, cancel := context.WithCancel(context.Background())
		_, err := Run(ctx, tiny(Rate(0), stopAfter(stop, cancel)), o)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: error %v, want one that wraps context.Canceled", stop, err)
		}
		// What a crash leaves behind: half a row, half a journal line.
		part := filepath.Join(o.Out, "tiny", partialDir)
		for name, torn := range map[string]string{samplesFile: "1,tiny,3,standard,xx", timesFile: "1,ti", journalFile: "99999"} {
			f, err := os.OpenFile(filepath.Join(part, name), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(torn); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if _, err := Run(context.Background(), tiny(Rate(0)), o); err == nil || !strings.Contains(err.Error(), "--resume") {
			t.Fatalf("an interrupted run was overwritten or the error does not say how to go on: %v", err)
		}
		o.Resume = true
		if _, err := Run(context.Background(), tiny(Rate(0)), o); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, o.Out, "tiny", samplesFile), want) {
			t.Errorf("stopped after %d and resumed: samples.csv differs from that of an uninterrupted run", stop)
		}
		if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
			t.Error("the partial folder is still there")
		}
	}
}

func TestResumeRefusesAnotherRun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"seed", func(o *Options) { o.Seed = 9 }, "seed is 7 there and 9 now"},
		{"profile", func(o *Options) { o.Profile.Seeds = 12 }, "profile"},
		{"precision", func(o *Options) { o.Profile.Precision = 0.05 }, "precision is 0.1 there and 0.05 now"},
		{"grid", func(o *Options) { o.Overrides = []Override{{"load", []string{"1"}}} }, "grid"},
	} {
		o := tinyOptions(t)
		ctx, cancel := context.WithCancel(context.Background())
		if _, err := Run(ctx, tiny(Rate(0), stopAfter(2, cancel)), o); err == nil {
			t.Fatal("not interrupted")
		}
		before := read(t, o.Out, "tiny", partialDir, samplesFile)
		o.Resume = true
		tc.change(&o)
		_, err := Run(context.Background(), tiny(Rate(0)), o)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "--restart") {
			t.Errorf("%s: error %v, want %q and the way out", tc.name, err, tc.want)
		}
		if !bytes.Equal(before, read(t, o.Out, "tiny", partialDir, samplesFile)) {
			t.Errorf("%s: a refused resume changed the interrupted run", tc.name)
		}
		o.Resume, o.Restart = false, true
		if _, err := Run(context.Background(), tiny(Rate(0)), o); err != nil {
			t.Errorf("%s: --restart: %v", tc.name, err)
		}
	}
}

// planted is a filter with a bug, under the name of a sound one.
type planted struct {
	standard.Variant
	name string
	make func(t filters.Target) (filters.Filter, error)
}

func (p planted) String() string                                          { return p.name }
func (p planted) New(t filters.Target) (filters.Filter, error)            { return p.make(t) }
func (p planted) Build(filters.Target, []uint64) (filters.Querier, error) { panic("not used") }

// forgetful loses every hundredth key.
type forgetful struct {
	filters.Filter
	n int
}

func (f *forgetful) Add(h uint64) error {
	if f.n++; f.n%100 == 0 {
		return nil
	}
	return f.Filter.Add(h)
}

// deaf ignores the lowest hash bits, so that four hashes are one.
type deaf struct{ filters.Filter }

func (f deaf) Add(h uint64) error     { return f.Filter.Add(h &^ (1<<52 - 1)) }
func (f deaf) Contains(h uint64) bool { return f.Filter.Contains(h &^ (1<<52 - 1)) }

func TestPlantedBugsAreFound(t *testing.T) {
	sound := func(v standard.Variant) func(filters.Target) (filters.Filter, error) { return v.New }
	for _, tc := range []struct {
		name, filter, want string
		make               func(filters.Target) (filters.Filter, error)
	}{
		{"none", "standard", Agree, sound(standard.Variant{})},
		{"lost key", "standard", Failed, func(t filters.Target) (filters.Filter, error) {
			f, err := standard.Variant{}.New(t)
			return &forgetful{Filter: f}, err
		}},
		{"swapped k", "standard(k=3)", Differ, func(t filters.Target) (filters.Filter, error) {
			p, err := standard.Variant{K: 3}.Predict(t, t.N)
			if err != nil {
				return nil, err
			}
			return standard.New(standard.Config{Bits: p.Bits, K: 1})
		}},
		{"dropped hash bits", "standard", Differ, func(t filters.Target) (filters.Filter, error) {
			f, err := standard.Variant{}.New(t)
			return deaf{f}, err
		}},
	} {
		e := tiny(Rate(0))
		e.Grid = func(Profile) Grid {
			g := tiny().Grid(tinyProfile)
			g.Axes[0] = Axis{"filters", []string{"planted"}, func(p *Point, _ string) error {
				p.Variant = planted{name: tc.filter, make: tc.make}
				return nil
			}}
			g.Axes = g.Axes[:len(g.Axes)-1]
			return g
		}
		o := tinyOptions(t)
		o.Profile.Precision, o.Profile.MaxTrials = 0.03, 1_000_000
		out, err := Run(context.Background(), e, o)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if got := out.Cells[0].Verdict; got != tc.want {
			t.Errorf("%s: verdict %s, want %s (measured %v, expected %v)", tc.name, got, tc.want, out.Cells[0].FPR, out.Cells[0].Predicted.FPR)
		}
		if bad := tc.want == Failed || tc.want == Differ; (out.Failed > 0) != bad {
			t.Errorf("%s: %d points reported as failed", tc.name, out.Failed)
		}
	}
}

func TestPanicInAMeasureKeepsEarlierResults(t *testing.T) {
	o := tinyOptions(t)
	if _, err := Run(context.Background(), tiny(Rate(0)), o); err != nil {
		t.Fatal(err)
	}
	before := read(t, o.Out, "tiny", samplesFile)
	boom := Measure{Name: "boom", Run: func(context.Context, *Lab, []*Point) ([]Row, error) { panic("boom") }}
	if _, err := Run(context.Background(), tiny(boom), o); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("error %v, want the panic", err)
	}
	if !bytes.Equal(before, read(t, o.Out, "tiny", samplesFile)) {
		t.Error("earlier results were touched")
	}
}

// C14: the rows say both what a filter was sized for and what was put in, and
// the expectation is that of what was put in.
func TestC14RowsCarryConfiguredAndActualN(t *testing.T) {
	o := tinyOptions(t)
	out, err := Run(context.Background(), tiny(Rate(0)), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range withoutControls(out.Cells) {
		if c.N != 1000 || c.Inserted != uint64(c.Load()*1000) {
			t.Errorf("n=%d inserted=%d", c.N, c.Inserted)
		}
		if over := c.Predicted.FPR > 0.11; over != (c.Load() > 1) {
			t.Errorf("load %g: expected rate %g", c.Load(), c.Predicted.FPR)
		}
	}
}
