package experiments

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filterlab/experiments/figure"
)

// compared has one experiment, run with the seed, whose times are those given by n
// and round.
func compared(t *testing.T, seed uint64, ns func(n uint64, round int) float64) (Experiment, string) {
	t.Helper()
	e := tiny(Rate(0))
	e.Figures = func([]Cell, About) []figure.Figure { return nil }
	o := tinyOptions(t)
	o.Seed = seed
	o.Overrides = []Override{{"filters", []string{"standard"}}, {"load", []string{"1"}}, {"n", []string{"1000", "2000"}}}
	if err := measureAll(t.Context(), e, o); err != nil {
		t.Fatal(err)
	}
	// Times that are known, instead of those of a clock.
	var rows []Row
	for _, n := range []uint64{1000, 2000} {
		for round := range 8 {
			rows = append(rows,
				Row{Experiment: e.Name, Filter: "standard", Hash: "xxh3", Keys: "random", API: "single", N: n, P: 0.1, Inserted: n, Round: round, Metric: MetricHit, Value: ns(n, round)},
				Row{Experiment: e.Name, Filter: "standard", Hash: "xxh3", Keys: "random", API: "single", N: n, P: 0.1, Inserted: n, Round: round, Metric: MetricLoop, Value: float64(round)})
		}
	}
	var b bytes.Buffer
	if err := writeRows(&b, rows, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Out, e.Name, timesFile), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return e, o.Out
}

func steady(n uint64, round int) float64 { return 10 + float64(round)/100 }

func TestCompareSame(t *testing.T) {
	e, a := compared(t, 7, steady)
	_, b := compared(t, 7, steady)
	c, err := Compare(a, b, []Experiment{e})
	if err != nil || len(c.Differences) > 0 || len(c.Equal) != 1 || c.Unpaired != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	means := c.Means()
	if len(means) != 1 || math.Abs(means[0].Ratio-1) > 1e-15 || means[0].Cells != 2 || means[0].Faster+means[0].Slower != 0 {
		t.Errorf("means %+v", means)
	}
	for _, x := range c.Times {
		if x.Changed() || x.Metric != MetricHit || x.OldN != 8 || !strings.Contains(x.At, "filter=standard") {
			t.Errorf("%+v", x)
		}
	}
}

// Twice as slow at one n and half as fast again at the other: the geometric mean is
// sqrt(2 * 3/2), and both are changes that eight rounds against eight show, at
// p = 2/C(16,8) = 0.000155.
func TestCompareTimes(t *testing.T) {
	e, a := compared(t, 7, steady)
	_, b := compared(t, 7, func(n uint64, round int) float64 {
		if n == 1000 {
			return 2 * steady(n, round)
		}
		return 1.5 * steady(n, round)
	})
	c, err := Compare(a, b, []Experiment{e})
	if err != nil || len(c.Differences) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	m := c.Means()[0]
	if math.Abs(m.Ratio-math.Sqrt(3)) > 1e-12 || m.Slower != 2 || m.Faster != 0 {
		t.Errorf("mean %+v, want %v", m, math.Sqrt(3))
	}
	for _, x := range c.Times {
		if math.Abs(x.P-2.0/12870) > 1e-12 {
			t.Errorf("p = %v, want %v", x.P, 2.0/12870)
		}
	}
}

func TestCompareNamesTheFirstDifference(t *testing.T) {
	e, a := compared(t, 7, steady)
	_, b := compared(t, 7, steady)
	path := filepath.Join(b, e.Name, samplesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	changed := func(lines []string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := Compare(a, b, []Experiment{e})
		if err != nil || len(c.Differences) != 1 || len(c.Equal) != 0 {
			t.Fatalf("%+v, %v", c, err)
		}
		return c.Differences[0].String()
	}
	// One false positive more in line 4.
	record := strings.Split(lines[3], ",")
	columns := strings.Split(lines[0], ",")
	at := -1
	for i, name := range columns {
		if name == "value" {
			at = i
		}
	}
	old := record[at]
	record[at] = old + "1"
	other := append([]string{}, lines...)
	other[3] = strings.Join(record, ",")
	if got, want := changed(other), `tiny: line 4, column value: "`+old+`" before, "`+old+`1" now (`; !strings.HasPrefix(got, want) || !strings.Contains(got, "filter=standard") {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := changed(lines[:len(lines)-1]), "tiny: the new samples end where the old ones go on, with "; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := changed(append(append([]string{}, lines...), lines[1])), "tiny: the new samples go on where the old ones end, with "; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	// Another seed is another question.
	_, d := compared(t, 8, steady)
	c, err := Compare(a, d, []Experiment{e})
	if err != nil || len(c.Differences) != 1 || !strings.HasSuffix(c.Differences[0].What, "; the runs were asked for different things: seed is 7 there and 8 now") {
		t.Errorf("%+v, %v", c, err)
	}
	// And no results are no equal results.
	if c, err := Compare(a, t.TempDir(), []Experiment{e}); err != nil || len(c.Differences) != 1 || !strings.Contains(c.Differences[0].What, "no results in ") {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Compare(t.TempDir(), t.TempDir(), []Experiment{e}); err == nil {
		t.Error("two empty folders were compared")
	}
}

func TestWriteBenchmarks(t *testing.T) {
	e, a := compared(t, 7, steady)
	var b bytes.Buffer
	if err := WriteBenchmarks(&b, a, []Experiment{e}); err != nil {
		t.Fatal(err)
	}
	// Four lines of facts, and eight rounds of two metrics at two n.
	if n := strings.Count(b.String(), "\n"); n != 4+32 {
		t.Errorf("%d lines", n)
	}
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if !regexp.MustCompile(`^((goos|goarch|cpu|pkg): .+|BenchmarkRace/experiment=tiny/metric=ns_(hit|loop)/filter=standard/hash=xxh3/keys=random/api=single/n=[12]000/p=0\.1/inserted=[12]000-\d+\t1\t\S+ ns/op)$`).MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	if err := WriteBenchmarks(io.Discard, t.TempDir(), []Experiment{e}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestTimesOfFilters(t *testing.T) {
	for metric, want := range map[string]bool{
		MetricHit: true, MetricHash: true, metricAddAt(95): true, MetricAddP999: true,
		MetricAddWorst: false, MetricLoop: false, MetricClock: false, MetricFPR: false, MetricBytes: false,
	} {
		if ofFilter(metric) != want {
			t.Errorf("%s: %v", metric, !want)
		}
	}
}
