package experiments

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"filterlab/experiments/measure"
	"filterlab/filters"
	"filterlab/filters/theory"
)

// rows builds the rows of one point by hand.
type rows []Row

// at is a point of a standard filter for 1000 keys at 10 bits each, whose exact
// rate is 0.8215% (theory sheet, standard filter, one probe at a time).
func at(point int) Row {
	return Row{Experiment: "e", Point: point, Filter: "standard(k=7)", Hash: "xxh3", Keys: "random", N: 1000, BitsPerKey: 10, Inserted: 1000}
}

func with(r Row, metric string, value float64, trials uint64) Row {
	r.Metric, r.Value, r.Trials = metric, value, trials
	return r
}

// seeds are the rows of independently seeded filters that had the given false
// positives among so many lookups each.
func seeds(r Row, trials uint64, events ...float64) rows {
	var out rows
	for round, e := range events {
		r.Round, r.Seed = round, uint64(100+round)
		out = append(out, with(r, MetricLost, 0, r.Inserted), with(r, MetricFPR, e, trials))
	}
	return out
}

func cellsOf(t *testing.T, e Experiment, rs ...rows) []Cell {
	t.Helper()
	cells, err := Cells(e, slices.Concat(rs...))
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// table renders cells and returns the lines of summary.csv by column.
func table(t *testing.T, e Experiment, cells []Cell) []map[string]string {
	t.Helper()
	b, err := writeSummary(e, cells)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, record := range records[1:] {
		line := map[string]string{}
		for i, name := range records[0] {
			line[name] = record[i]
		}
		out = append(out, line)
	}
	return out
}

// The order of the columns is a promise: whatever an experiment adds comes after
// these.
func TestSummaryColumns(t *testing.T) {
	const promised = "experiment, filter, hash, keys, api, kernel, n, inserted, p, m_bits, k, bits_per_key, fpr, fpr_lo, fpr_hi, fpr_expected, verdict, trials, seeds, " +
		"ns_add, ns_add_lo, ns_add_hi, ns_hit, ns_hit_lo, ns_hit_hi, ns_miss, ns_miss_lo, ns_miss_hi, bytes"
	b, err := writeSummary(tiny(), nil)
	if err != nil {
		t.Fatal(err)
	}
	head := strings.Split(strings.TrimSpace(string(b)), ",")
	want := strings.Split(promised, ", ")
	if len(head) < len(want) || !slices.Equal(head[:len(want)], want) {
		t.Errorf("columns\n%v, want these first\n%v", head, want)
	}
	seen := map[string]bool{}
	for _, name := range head {
		if seen[name] {
			t.Errorf("column %s is there twice", name)
		}
		seen[name] = true
	}
}

// H18: a line has the rate and the space beside each other, so that nothing is
// compared by one of them alone.
func TestH18_RateAndSpaceStandSideBySide(t *testing.T) {
	rate, space := at(0), at(1)
	rate.P, rate.BitsPerKey = 0.01, 0
	for _, line := range table(t, tiny(), cellsOf(t, tiny(), seeds(rate, 10_000, 99, 101), seeds(space, 10_000, 81, 83))) {
		for _, name := range []string{"fpr", "fpr_lo", "fpr_hi", "fpr_expected", "m_bits", "bits_per_key", "k"} {
			if line[name] == "" {
				t.Errorf("point of %v: %s is empty", line["filter"], name)
			}
		}
	}
}

// H01: the rate is false positives among lookups of absent keys. Lookups of
// members do not count; without any lookup the cell is empty, neither 0 nor NaN.
func TestH01_RateIsAmongAbsentKeys(t *testing.T) {
	measured, not := at(0), at(1)
	cells := cellsOf(t, tiny(), seeds(measured, 10_000, 100), rows{with(not, MetricBytes, 1250, 0)})
	if c := cells[0]; c.FPR.Value != 0.01 || c.Events != 100 || c.Trials != 10_000 {
		t.Errorf("1000 members and 100 of 10,000 absent keys found: rate %v of %d", c.FPR, c.Trials)
	}
	line := table(t, tiny(), cells)[1]
	for _, name := range []string{"fpr", "fpr_lo", "fpr_hi", "verdict", "trials", "events", "ratio", "p_holm"} {
		if line[name] != "" {
			t.Errorf("%s is %q where nothing was looked up", name, line[name])
		}
	}
	if line["bytes"] != "1250" {
		t.Errorf("bytes %q", line["bytes"])
	}
}

// H08: no event among N lookups says that the rate is below 3/N, not that it is 0;
// and it is no proof of a small rate.
func TestH08_NoEvents(t *testing.T) {
	r := at(0)
	r.Filter, r.P, r.BitsPerKey = "standard", 1e-6, 0
	cells := cellsOf(t, tiny(), seeds(r, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	if f := cells[0].FPR; f.Value != 0 || f.Lo != 0 || math.Abs(f.Hi/3e-4-1) > 0.01 {
		t.Errorf("no event among 10,000 lookups: %v, want 0 to 3e-4", f)
	}
	line := table(t, tiny(), cells)[0]
	for name, want := range map[string]string{"fpr": "0", "fpr_lo": "0", "events": "0", "verdict": AgreeWide, "trials": "10000", "seeds": "10"} {
		if line[name] != want {
			t.Errorf("%s is %q, want %q", name, line[name], want)
		}
	}
	if hi := line["fpr_hi"]; !strings.HasPrefix(hi, "0.0003") && !strings.HasPrefix(hi, "0.000299") {
		t.Errorf("fpr_hi is %q", hi)
	}
}

// A verdict is two-sided, needs an interval that would have shown a difference of
// 5%, and is corrected for the number of cells.
func TestVerdicts(t *testing.T) {
	p := theory.Standard(10_000, 1000, 7)
	const trials = 1_000_000
	events := func(rate float64) []float64 {
		var out []float64
		for i := range 20 {
			// Evenly above and below, so that seeds differ and the mean is exact.
			out = append(out, math.Round(rate*trials*(1+0.001*(float64(i)-9.5))))
		}
		return out
	}
	for _, tc := range []struct {
		name string
		rate float64
		want string
	}{
		{"as expected", p, Agree},
		{"1% off", p * 1.01, Agree},
		{"20% too high", p * 1.2, Differ},
		{"20% too low", p * 0.8, Differ}, // too good is wrong as well
	} {
		c := cellsOf(t, tiny(), seeds(at(0), trials, events(tc.rate)...))[0]
		if c.Verdict != tc.want {
			t.Errorf("%s: %s (p = %g), want %s", tc.name, c.Verdict, c.PHolm, tc.want)
		}
	}
	// Few lookups agree with everything near, and say so.
	if c := cellsOf(t, tiny(), seeds(at(0), 1000, 8, 9, 8, 8, 8, 8, 8, 9, 8, 8))[0]; c.Verdict != AgreeWide {
		t.Errorf("10,000 lookups: %s, want %s", c.Verdict, AgreeWide)
	}
	// An experiment may expect a difference; agreement is not held against it.
	e := tiny()
	e.Expected = func(*Point) string { return "a control" }
	for rate, want := range map[float64]string{p * 1.2: DifferExpected, p: Agree} {
		c := cellsOf(t, e, seeds(at(0), trials, events(rate)...))[0]
		if c.Verdict != want || c.Reason != "a control" {
			t.Errorf("expected to differ, at %g: %s because %q", rate, c.Verdict, c.Reason)
		}
	}
}

// Of many cells one is far off by chance: Holm's correction over the run keeps
// that from being called a difference. (Holm 1979: the smallest of m p-values is
// held against alpha/m, the next against alpha/(m-1).)
func TestVerdictsAreCorrectedForTheNumberOfCells(t *testing.T) {
	p := theory.Standard(10_000, 1000, 7)
	sd := math.Sqrt(p * (1 - p) * 10_000)
	few := math.Round(p*10_000 + 3.1*sd) // once in 300 by chance
	alone := cellsOf(t, tiny(), seeds(at(0), 10_000, few))[0]
	if alone.Test.P > alpha || alone.Verdict != Differ {
		t.Fatalf("alone: %s at p = %g, want a difference", alone.Verdict, alone.Test.P)
	}
	var all rows
	all = append(all, seeds(at(0), 10_000, few)...)
	for i := 1; i < 40; i++ {
		all = append(all, seeds(at(i), 10_000, math.Round(p*10_000))...)
	}
	cells := cellsOf(t, tiny(), all)
	if c := cells[0]; c.Verdict == Differ || math.Abs(c.PHolm/(40*alone.Test.P)-1) > 1e-9 {
		t.Errorf("among 40: %s at corrected p = %g, want 40 times %g", c.Verdict, c.PHolm, alone.Test.P)
	}
}

// What a point is refused or fails for goes before everything else.
func TestVerdictsWithoutARate(t *testing.T) {
	lost := seeds(at(1), 10_000, 82, 82)
	lost[2].Value = 3
	refused, failed := with(at(2), MetricRefused, 0, 0), with(at(3), MetricFailed, 0, 0)
	refused.Note, failed.Note = "too small", "time: it broke"
	refused.Filter = "cuckoo(f=4)" // whose theory need not accept the point
	noTheory := at(4)
	noTheory.Filter, noTheory.N, noTheory.Inserted, noTheory.BitsPerKey = "standard(scheme=enhanced64,k=7)", 5, 5, 2 // too few bits for its formula
	full := at(5)
	full.Filter, full.P, full.BitsPerKey, full.Inserted = "cuckoo", 0.01, 0, 4000
	nothing := at(6) // nothing looked up
	cells := cellsOf(t, tiny(), seeds(at(0), 10_000, 82), lost, rows{refused}, seeds(at(3), 10_000, 82), rows{failed}, seeds(noTheory, 10_000, 82),
		rows{with(full, MetricStored, 1050, 4000), with(full, MetricStored, 1020, 4000), with(full, MetricStored, 1030, 4000)}, rows{with(nothing, MetricBits, 10_000, 0)})
	for i, want := range []struct{ verdict, reason string }{
		{AgreeWide, ""}, {Failed, "3 of 1000 members lost with seed 101"}, {Refused, "too small"}, {Failed, "time: it broke"}, {NoTheory, ""}, {Full, ""}, {"", ""},
	} {
		if c := cells[i]; c.Verdict != want.verdict || c.Reason != want.reason {
			t.Errorf("cell %d: %q because %q, want %q because %q", i, c.Verdict, c.Reason, want.verdict, want.reason)
		}
	}
	if got := cells[5].Stored; got != 1020 {
		t.Errorf("stored %d, want 1020, the least over seeds", got)
	}
	lines := table(t, tiny(), cells)
	// A full filter has a size, and no rate at keys that it does not hold.
	if l := lines[5]; l["stored"] != "1020" || l["m_bits"] == "" || l["fpr"] != "" || l["fpr_expected"] != "" {
		t.Errorf("full: %v", l)
	}
	if l := lines[2]; l["note"] != "too small" || l["m_bits"] != "" || l["fpr"] != "" {
		t.Errorf("refused: %v", l)
	}
	for i, bad := range []bool{false, true, false, true, false, false, false} {
		if cells[i].Bad() != bad {
			t.Errorf("cell %d (%s): Bad is %v", i, cells[i].Verdict, !bad)
		}
	}
}

// Controls must do what their role says, and it is the verdict that says whether
// they did.
func TestControls(t *testing.T) {
	p := theory.Standard(10_000, 1000, 7)
	for _, tc := range []struct {
		role string
		rate float64
		want string
	}{{MustAgree, p, ControlOK}, {MustAgree, 1.5 * p, ControlFailed}, {MustDiffer, p, ControlFailed}, {MustDiffer, 1.5 * p, ControlOK}} {
		r := at(controlIndex)
		r.Role = tc.role
		c := cellsOf(t, tiny(), seeds(r, 1_000_000, math.Round(1_000_000*tc.rate)))[0]
		if c.Verdict != tc.want || c.Bad() != (tc.want == ControlFailed) {
			t.Errorf("%s at %.3g of the expected rate: %s, want %s", tc.role, tc.rate/p, c.Verdict, tc.want)
		}
	}
}

// A point that was timed through two interfaces has two lines: each its own times,
// both the rate.
func TestLinesByInterface(t *testing.T) {
	r := at(0)
	all := seeds(r, 10_000, 82)
	for api, ns := range map[string]float64{"single": 20, "batch": 10} {
		for round := range 6 {
			timed := with(r, MetricMiss, ns+float64(round), 0)
			timed.API, timed.Kernel, timed.Round = api, "go", round
			all = append(all, timed)
		}
	}
	all = append(all, seeds(at(1), 10_000, 82)...)
	lines := table(t, tiny(), cellsOf(t, tiny(), all))
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3", len(lines))
	}
	for i, want := range []struct{ api, kernel, ns string }{{"single", "go", "22.5"}, {"batch", "go", "12.5"}, {"", "", ""}} {
		l := lines[i]
		if l["api"] != want.api || l["kernel"] != want.kernel || l["ns_miss"] != want.ns || l["fpr"] != "0.0082" || l["ns_add"] != "" {
			t.Errorf("line %d: api %q, kernel %q, ns_miss %q, fpr %q, ns_add %q; want %v", i, l["api"], l["kernel"], l["ns_miss"], l["fpr"], l["ns_add"], want)
		}
	}
	// Six rounds: the 95% order-statistic interval of a median is from the least to
	// the greatest (1 - 2/2^6 = 96.9%).
	if l := lines[0]; l["ns_miss_lo"] != "20" || l["ns_miss_hi"] != "25" {
		t.Errorf("interval of six rounds: %s to %s, want 20 to 25", l["ns_miss_lo"], l["ns_miss_hi"])
	}
}

// The expectation is that of the hash's width as well: a 32-bit hash gives n/2^32
// of the absent keys the hash of a member.
func TestExpectationHasTheHashWidth(t *testing.T) {
	wide, narrow := at(0), at(1)
	narrow.Hash = "fnv1a32"
	cells := cellsOf(t, tiny(), seeds(wide, 1000, 8), seeds(narrow, 1000, 8))
	p, floor := cells[0].Predicted.FPR, 1000/math.Exp2(32)
	if want := p + floor - p*floor; math.Abs(cells[1].Predicted.FPR-want) > 1e-12 {
		t.Errorf("expected %.12g, want %.12g", cells[1].Predicted.FPR, want)
	}
}

// Lookups that repeat keys repeat answers: the interval and the test allow for it.
func TestRepeatedLookupsWidenTheInterval(t *testing.T) {
	plain := seeds(at(0), 100_000, 800, 810, 820, 830, 840, 800, 810, 820, 830, 840)
	var zipf rows
	for _, r := range seeds(at(1), 100_000, 800, 810, 820, 830, 840, 800, 810, 820, 830, 840) {
		zipf = append(zipf, r)
		if r.Metric == MetricFPR {
			zipf = append(zipf, with(r, MetricRepeat, zipfRepeat, 0))
		}
	}
	cells := cellsOf(t, tiny(), plain, zipf)
	// Variance of the rate of one seed: the filters' own scatter, and p(1-p)(1/Q +
	// sum of squared shares).
	pred := cells[0].Predicted
	p, own := pred.FPR, pred.BuildSD*pred.BuildSD
	want := math.Sqrt((own + p*(1-p)*(1e-5+zipfRepeat)) / (own + p*(1-p)*1e-5))
	if ratio := cells[1].Test.SD / cells[0].Test.SD; want < 5 || math.Abs(ratio/want-1) > 1e-9 {
		t.Errorf("standard deviations differ by %.12g, want %.12g", ratio, want)
	}
}

// Rows that no program wrote are refused rather than guessed at.
func TestCellsRefuseUnknownFilters(t *testing.T) {
	r := at(0)
	r.Filter = "quantum"
	if _, err := Cells(tiny(), seeds(r, 10, 1)); err == nil || !strings.Contains(err.Error(), "quantum") {
		t.Errorf("%v", err)
	}
}

// The order in which rows come makes no difference to the table but for rows of
// one point, which keep theirs.
func TestTableIsInTheOrderOfThePoints(t *testing.T) {
	var forth, back rows
	for i := range 12 {
		r := at(i)
		r.Keys = fmt.Sprintf("keys%d", i)
		forth = append(forth, seeds(r, 1000, 8, 9)...)
		back = append(seeds(r, 1000, 8, 9), back...)
	}
	a, err := writeSummary(tiny(), cellsOf(t, tiny(), forth))
	if err != nil {
		t.Fatal(err)
	}
	b, err := writeSummary(tiny(), cellsOf(t, tiny(), back))
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("\n%s\nand\n%s", a, b)
	}
}

// What depends on a clock, an allocator or a process-random hash is kept out of
// the file that is the same on every machine.
func TestVolatileRows(t *testing.T) {
	for _, tc := range []struct {
		metric, hash string
		want         bool
	}{
		{MetricFPR, "xxh3", false}, {MetricLost, "xxh3", false}, {MetricBits, "sha256", false}, {MetricStored, "xxh3", false}, {MetricRefused, "xxh3", false},
		{MetricFPR, "maphash", true}, {MetricLost, "maphash", true},
		{MetricAdd, "xxh3", true}, {MetricMiss, "xxh3", true}, {MetricHash, "xxh3", true}, {MetricBytes, "xxh3", true}, {NoiseOf(MetricAdd), "xxh3", true}, {MetricLoop, "xxh3", true},
		{"unheard of", "xxh3", true},
	} {
		r := at(0)
		r.Metric, r.Hash = tc.metric, tc.hash
		if got := r.volatile(); got != tc.want {
			t.Errorf("%s with %s: volatile is %v", tc.metric, tc.hash, got)
		}
	}
}

// Figures and findings are made of whatever cells there are: every experiment's
// stand single points, points without events, refused, full and failed ones.
func TestFiguresAndFindingsStandAnything(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of theory curves")
	}
	for _, e := range All() {
		groups, err := e.Grid(Profiles()[0]).Points(1)
		if err != nil {
			t.Fatal(err)
		}
		var points []*Point
		for _, g := range groups {
			points = append(points, g...)
		}
		kinds := map[string]func(p *Point) rows{
			"as expected": func(p *Point) rows {
				pred, err := p.Variant.Predict(p.Target, p.Inserted())
				switch {
				case errors.Is(err, filters.ErrParam):
					return rows{with(p.row(""), MetricStored, 1, p.Inserted())} // more keys than it takes
				case err != nil:
					pred.FPR = 0.01
				}
				return append(seeds(p.row(""), 1_000_000, math.Round(1e6*pred.FPR), math.Round(1e6*pred.FPR)), timed(p)...)
			},
			"no event":     func(p *Point) rows { return fits(p, seeds(p.row(""), 10, 0, 0)) },
			"all positive": func(p *Point) rows { return fits(p, seeds(p.row(""), 10, 10, 10)) },
			"only timed":   func(p *Point) rows { return fits(p, timed(p)) },
			"refused":      func(p *Point) rows { return rows{with(p.row(""), MetricRefused, 0, 0)} },
			"full":         func(p *Point) rows { return rows{with(p.row(""), MetricStored, 1, p.Inserted())} },
			"failed":       func(p *Point) rows { return rows{with(p.row(""), MetricFailed, 0, 0)} },
		}
		draw := func(name string, rs rows) {
			t.Helper()
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%s, %s: panic: %v", e.Name, name, v)
				}
			}()
			cells := cellsOf(t, e, rs)
			if len(cells) == 0 {
				return
			}
			e.Figures(cells, about(cells, measure.Env{}))
			if e.Finding(cells) == "" {
				t.Errorf("%s, %s: no finding", e.Name, name)
			}
		}
		names := slices.Sorted(maps.Keys(kinds))
		var mixed rows
		for i, p := range points {
			mixed = append(mixed, kinds[names[i%len(names)]](p)...)
		}
		for i, name := range names {
			draw(name+", one point", kinds[name](points[i%len(points)]))
		}
		draw("all kinds", mixed)
	}
}

// fits are the given rows, or none for a point with more keys than its filter
// takes, which has no rate.
func fits(p *Point, rs rows) rows {
	if _, err := p.Variant.Predict(p.Target, p.Inserted()); errors.Is(err, filters.ErrParam) {
		return nil
	}
	return rs
}

// timed are rows of every timed metric.
func timed(p *Point) rows {
	var out rows
	for _, m := range metrics() {
		if m.exact {
			continue
		}
		for round := range 6 {
			r := with(p.row(m.name), m.name, 10+float64(round), 0)
			r.Round = round
			if strings.HasPrefix(m.name, "ns_") && m.name != MetricHash {
				r.API = []string{"single", "batch"}[round%2]
			}
			out = append(out, r)
		}
	}
	return out
}
