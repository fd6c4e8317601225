package experiments

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filterlab/filters"
)

// leave writes rows as an experiment's results.
func leave(t *testing.T, out, experiment string, rows []Row) {
	t.Helper()
	dir := filepath.Join(out, experiment)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	parts := map[string][]Row{samplesFile: nil, timesFile: nil}
	for _, r := range rows {
		r.Experiment = experiment
		name := samplesFile
		if r.volatile() {
			name = timesFile
		}
		parts[name] = append(parts[name], r)
	}
	for name, rows := range parts {
		var b bytes.Buffer
		if err := writeRows(&b, rows, true); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// overfilled are rows of a textbook filter for 1% with twice its keys, as if it
// had erred at the given rate: ten seeds, each a little off.
func overfilled(rate float64, trials uint64) []Row {
	var rows []Row
	for seed := range 10 {
		off := 1 + 0.002*(float64(seed)-4.5)
		rows = append(rows, Row{
			Filter: "standard(sizing=textbook)", Hash: "xxh3", Keys: "random", N: 10_000, P: 0.01, Inserted: 20_000,
			Round: seed, Seed: uint64(seed), Metric: MetricFPR, Value: math.Round(rate * off * float64(trials)), Trials: trials,
		})
	}
	return rows
}

func judged(t *testing.T, out, id string) Judgment {
	t.Helper()
	all, err := JudgeClaims(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		if j.Claim.ID == id {
			return j
		}
	}
	t.Fatalf("no claim %s", id)
	return Judgment{}
}

// A verdict follows from the rows: it changes with them and with nothing else.
func TestVerdictOfAClaimFollowsTheRows(t *testing.T) {
	for _, x := range []struct {
		rate   float64
		trials uint64
		want   string
	}{
		{0.157, 1_000_000, Holds},
		{0.2, 1_000_000, Wrong},
		{0.12, 1_000_000, Wrong},
		{0.157, 100, Undecided}, // ±7%: could be anything from 14.6% to 16.8%
	} {
		out := t.TempDir()
		leave(t, out, "fpr-vs-load", overfilled(x.rate, x.trials))
		j := judged(t, out, "twice-the-keys")
		if j.Verdict != x.want {
			t.Errorf("a rate of %g in %d trials: %s, want %s (%+v)", x.rate, x.trials, j.Verdict, x.want, j.Cases[0].Measured)
		}
	}
}

func TestClaimWithoutRowsSaysSo(t *testing.T) {
	out := t.TempDir()
	j := judged(t, out, "twice-the-keys")
	if j.Verdict != NoRows || !strings.Contains(j.Said, "filterlab run fpr-vs-load") {
		t.Errorf("without results: %s, %q", j.Verdict, j.Said)
	}
	rows := overfilled(0.157, 1_000_000)
	for i := range rows {
		rows[i].Inserted = 10_000 // the point that is needed is not among them
	}
	leave(t, out, "fpr-vs-load", rows)
	if j := judged(t, out, "twice-the-keys"); j.Verdict != NoRows || !strings.Contains(j.Said, "load=2") {
		t.Errorf("without the point: %s, %q", j.Verdict, j.Said)
	}
	// What is arithmetic needs no rows: 9.593 bits times 1e9 keys are 1.199 GB, and
	// 365e9 × 10 bits 456.25 GB (theory sheet, block 1.memory).
	if j := judged(t, out, "billion"); j.Verdict != Holds || math.Abs(j.Cases[0].Measured.Value-1.199) > 0.0005 {
		t.Errorf("a billion: %s, %+v", j.Verdict, j.Cases[0].Measured)
	}
	j = judged(t, out, "year-of-crawling")
	if j.Verdict != HoldsIf || j.If != "9.585 bits per key are taken" || j.Cases[0].Measured.Value != 456.25 || math.Abs(j.Cases[1].Measured.Value-437.318288467) > 1e-6 {
		t.Errorf("365 billion: %s %s, %+v", j.Verdict, j.If, j.Cases)
	}
}

// Rows that cannot be read are an error, not a claim without rows.
func TestClaimsRefuseBrokenRows(t *testing.T) {
	out := t.TempDir()
	leave(t, out, "fpr-vs-load", overfilled(0.157, 1000))
	if err := os.WriteFile(filepath.Join(out, "fpr-vs-load", samplesFile), []byte("schema\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := JudgeClaims(out); err == nil || !strings.Contains(err.Error(), samplesFile) {
		t.Errorf("error %v, want one that names the file", err)
	}
}

// Ratios of counted bits are exact: 4 bits a counter cost four times. A table of
// another size than predicted is a failed cell, which no claim is judged by.
func TestCountingClaim(t *testing.T) {
	for width, want := range map[float64]string{4: Holds, 2: NoRows} {
		out := t.TempDir()
		bits := func(filter string, value float64) Row {
			return Row{Filter: filter, Hash: "xxh3", Keys: "random", N: 1_000_000, P: 0.01, Inserted: 1_000_000, Metric: MetricBits, Value: value}
		}
		counting := bits("counting", 9_592_957*width)
		counting.Point = 1
		leave(t, out, "memory", []Row{bits("standard", 9_592_957), counting})
		if j := judged(t, out, "counting-4x"); j.Verdict != want || want == Holds && j.Cases[0].Measured.Value != width {
			t.Errorf("counters of %v bits: %s, %+v", width, j.Verdict, j.Cases[0].Measured)
		}
	}
}

func TestEveryClaimIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Claims() {
		t.Run(c.ID, func(t *testing.T) {
			if c.ID == "" || seen[c.ID] {
				t.Error("the name is missing, or taken")
			}
			seen[c.ID] = true
			if c.Source == "" || c.Stated == "" || !strings.HasSuffix(c.Text, ".") || !strings.HasSuffix(c.Sentence, ".") {
				t.Errorf("source %q, stated %q, claim %q, sentence %q", c.Source, c.Stated, c.Text, c.Sentence)
			}
			if !(c.Low <= c.High) || math.IsInf(c.Low, -1) && math.IsInf(c.High, 1) {
				t.Errorf("everything from %v to %v would bear it out", c.Low, c.High)
			}
			if len(c.Cases) == 0 {
				t.Error("nothing is looked at")
			}
			ifs := map[string]bool{}
			for i, k := range c.Cases {
				if (len(c.Cases) > 1) != (k.If != "") || ifs[k.If] {
					t.Errorf("case %d of %d holds if %q", i, len(c.Cases), k.If)
				}
				ifs[k.If] = true
				if !strings.Contains(c.Sentence, fmt.Sprintf("{%d}", i)) {
					t.Errorf("the sentence does not tell what case %d measured: %q", i, c.Sentence)
				}
			}
			if strings.Contains(c.Sentence, fmt.Sprintf("{%d}", len(c.Cases))) {
				t.Errorf("the sentence has more numbers than there are cases: %q", c.Sentence)
			}
		})
	}
}

// What the ledger must hold at least.
func TestClaimsAreThere(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range Claims() {
		ids[c.ID] = true
	}
	for _, id := range []string{
		"bits-1pct", "k-1pct", "bits-01pct", "k-01pct", "bits-10pct", "k-10pct", "factor-ten", "half-full", "million", "billion", "year-of-crawling",
		"two-hashes", "twice-the-keys", "tutorial-3-words", "tutorial-8-words", "counting-4x", "cuckoo-smaller", "scalable-bound", "or-is-union", "item-size",
		"sha256-slow", "good-hashes", "fast-hashes", "cache-line-10", "cache-line-20", "cache-line-free", "textbook-sizing",
	} {
		if !ids[id] {
			t.Errorf("no claim %s", id)
		}
	}
}

// Claims of arithmetic have the verdicts of the theory sheet, section 0.
func TestVerdictsByFormula(t *testing.T) {
	all, err := JudgeClaims(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"k-1pct": Holds, "k-01pct": Holds, "k-10pct": Holds, "billion": Holds,
		"year-of-crawling":  "holds if 9.585 bits per key are taken",
		"textbook-sizing":   Wrong, // 0.2: 1.0039% at 1%
		"best-in-a-line":    Wrong, // 0.5: 0.9550%, not 0.9535%
		"parquet-sizing":    Wrong, // 0.8: 1.46% at 1%
		"counting-overflow": "holds if the filter holds the keys it was sized for",
		"cuckoo-smaller":    "holds if buckets of 4 are semi-sorted", // 0.9
	}
	for _, j := range all {
		if w, ok := want[j.Claim.ID]; ok {
			if got := strings.TrimSpace(j.Verdict + " " + j.If); got != w {
				t.Errorf("%s: %s, want %s", j.Claim.ID, got, w)
			}
			delete(want, j.Claim.ID)
		}
	}
	if len(want) > 0 {
		t.Errorf("not judged: %v", want)
	}
}

func TestJudge(t *testing.T) {
	two := Claim{Low: 1.9, High: 2.1}
	most := Claim{Low: math.Inf(-1), High: 2}
	nan := math.NaN()
	for _, x := range []struct {
		c     Claim
		e     Estimate
		parts int
		want  string
	}{
		{two, Estimate{2, nan, nan}, 0, Holds},
		{two, Estimate{2.11, nan, nan}, 0, Wrong},
		{two, Estimate{2.15, 2.05, 2.25}, 1, Holds}, // the interval meets the band
		{two, Estimate{2.4, 2.3, 2.5}, 1, Wrong},    // and here it does not
		{two, Estimate{2.25, 2.14, 2.36}, 1, Holds}, // clear at 95%, not at 99.9%: 2.25 - 1.68 × 0.11 = 2.065
		{two, Estimate{2.2, 2.08, 2.32}, 1, Undecided},
		{two, Estimate{2.2, 2.08, 2.32}, 2, Holds}, // ±5.5% is too wide for a rate, not for a quotient of two
		{two, Estimate{2, 1, 3}, 2, Undecided},
		{two, Estimate{nan, nan, nan}, 0, Undecided},
		{most, Estimate{0.5, 0.1, 0.9}, 1, Holds}, // wide, but wholly within
		{most, Estimate{3, 1.5, 4.5}, 1, Undecided},
		{most, Estimate{3, 2.5, 3.5}, 1, Wrong},
	} {
		if got := x.c.judge(Measured{Estimate: x.e, parts: x.parts}); got != x.want {
			t.Errorf("%v against %v to %v: %s, want %s", x.e, x.c.Low, x.c.High, got, x.want)
		}
	}
}

// The short table has a line for each claim, and each of its links an anchor in
// the ledger.
func TestClaimsTable(t *testing.T) {
	out := t.TempDir()
	judged, err := WriteClaims(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(ClaimsTable(judged, "results/"+ClaimsFile), "\n"), "\n")
	if len(lines) != len(judged)+2 {
		t.Fatalf("%d lines for %d claims", len(lines), len(judged))
	}
	text := read(t, out, "", ClaimsFile)
	for i, j := range judged {
		line := lines[i+2]
		if !strings.Contains(line, "](results/claims.md#"+j.Claim.ID+")") || !strings.Contains(line, j.Claim.Source) || strings.Count(line, "|") != 5 {
			t.Errorf("claim %s: %s", j.Claim.ID, line)
		}
		if !bytes.Contains(text, []byte(`<a id="`+j.Claim.ID+`"></a>`)) {
			t.Errorf("claim %s has no anchor", j.Claim.ID)
		}
	}
	if want := "| 3 (exactly 3) | 3 | [**holds**](results/claims.md#k-10pct) |"; !strings.HasSuffix(lines[7], want) {
		t.Errorf("%s\nhas not %s", lines[7], want)
	}
}

// Counts are added over all cells of a filter: a single answer that differs
// refutes a claim of none, and failed builds are judged by their share of all.
func TestClaimsOfCounts(t *testing.T) {
	or := func(differ float64) []Row {
		var rows []Row
		for i, filter := range []string{"standard", "blocked", "counting"} {
			r := point(t, filter, filters.Target{N: 8000, P: 0.01}).row("")
			r.Point = i
			rows = append(rows, with(r, MetricAnswersDiffer, 0, 1000))
			r.Round++
			rows = append(rows, with(r, MetricAnswersDiffer, differ, 1000))
		}
		return rows
	}
	built := func(failed float64) []Row {
		var rows []Row
		for i, filter := range []string{"cuckoo(f=16,b=1)", "cuckoo(f=12,b=2)", "cuckoo(f=12,b=4)", "cuckoo(f=5,b=4)", "cuckoo(f=12,b=8)"} {
			for j, n := range []uint64{10, 20} {
				r := point(t, filter, filters.Target{N: n, P: 0.5}).row("")
				r.Point = 2*i + j
				rows = append(rows, with(r, MetricBuildFailed, failed, 50_000))
			}
		}
		return rows
	}
	for _, x := range []struct {
		experiment, id string
		rows           []Row
		want           string
	}{
		{"merge", "or-is-union", nil, NoRows},
		{"merge", "or-is-union", or(0), Holds},
		{"merge", "or-is-union", or(1), Wrong},
		{"cuckoo-build", "cuckoo-sized", built(0), Holds},     // at most 3.7e-5
		{"cuckoo-build", "cuckoo-sized", built(5), Undecided}, // 1e-4, and an interval around it
		{"cuckoo-build", "cuckoo-sized", built(50), Wrong},
	} {
		out := t.TempDir()
		if x.rows != nil {
			leave(t, out, x.experiment, x.rows)
		}
		if j := judged(t, out, x.id); j.Verdict != x.want {
			t.Errorf("%s: %s, want %s; %s", x.id, j.Verdict, x.want, j.Said)
		}
	}
}

// Loads are those of 2^20 slots, over what the paper states.
func TestClaimOfLoads(t *testing.T) {
	filled := func(loads ...float64) (rows []Row) {
		for i, b := range bucketSizes {
			p := loadPoint(t, fmt.Sprintf("cuckoo(f=16,b=%d)", b), "2^20")
			p.Index = i
			for round := range 6 {
				r := p.row("")
				r.Round = round
				rows = append(rows, with(r, MetricFilled, math.Round(loads[i]*(1<<20))+float64(round), 1<<20))
			}
		}
		return rows
	}
	for _, x := range []struct {
		loads []float64
		want  string
	}{{[]float64{0.501, 0.877, 0.973, 0.996}, Holds}, {[]float64{0.51, 0.877, 0.94, 0.996}, HoldsIf}, {[]float64{0.4, 0.8, 0.9, 0.95}, Wrong}} {
		out := t.TempDir()
		leave(t, out, "cuckoo-load", filled(x.loads...))
		if j := judged(t, out, "cuckoo-load"); j.Verdict != x.want {
			t.Errorf("%v: %s, want %s; %s", x.loads, j.Verdict, x.want, j.Said)
		}
	}
}

// A claim holds if the cases say so; one that cannot be told makes all untold.
func TestCasesDecideTogether(t *testing.T) {
	value := func(e Estimate, err error) func(*evidence) (Measured, error) {
		return func(*evidence) (Measured, error) { return Measured{Estimate: e}, err }
	}
	yes, no := value(exactly(1), nil), value(exactly(2), nil)
	wide, none := value(Estimate{1, 0.1, 9}, nil), value(Estimate{}, fmt.Errorf("%w: nowhere", errNoRows))
	for _, x := range []struct {
		cases       []Case
		want, given string
	}{
		{[]Case{{"a", yes}, {"b", yes}}, Holds, ""},
		{[]Case{{"a", yes}, {"b", no}}, HoldsIf, "a"},
		{[]Case{{"a", yes}, {"b", no}, {"c", yes}}, HoldsIf, "a, or c"},
		{[]Case{{"a", no}, {"b", no}}, Wrong, ""},
		{[]Case{{"a", yes}, {"b", wide}}, Undecided, ""},
		{[]Case{{"a", yes}, {"b", wide}, {"c", none}}, NoRows, ""},
	} {
		j, err := Claim{Low: 0.9, High: 1.1, Cases: x.cases, Sentence: "It is {0}."}.on(&evidence{})
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != x.want || j.If != x.given {
			t.Errorf("%v: %s %q, want %s %q", x.cases, j.Verdict, j.If, x.want, x.given)
		}
	}
	broken := Claim{Cases: []Case{{"", value(Estimate{}, errors.New("disk on fire"))}}}
	if _, err := broken.on(&evidence{}); err == nil {
		t.Error("an error became a verdict")
	}
}

// An exact divisor leaves the interval as it is, two intervals add as errors do:
// ln 1.1 twice is ln 1.1 times the root of 2.
func TestQuotient(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	if q := quotient(Estimate{4, 3.6, 4.4}, exactly(2)); !near(q.Value, 2) || !near(q.Lo, 1.8) || !near(q.Hi, 2.2) {
		t.Errorf("by an exact number: %+v", q)
	}
	e := Estimate{1, 1 / 1.1, 1.1}
	if q, r := quotient(e, e), math.Pow(1.1, math.Sqrt2); !near(q.Value, 1) || !near(q.Lo, 1/r) || !near(q.Hi, r) {
		t.Errorf("of equals: %+v, want 1 within a factor of %g", q, r)
	}
	if q := quotient(exactly(3), exactly(2)); q.Value != 1.5 || !math.IsNaN(q.Lo) || !math.IsNaN(q.Hi) {
		t.Errorf("of exact numbers: %+v", q)
	}
}

// The ledger is a function of the rows, its check finds a changed byte, and its
// links lead to the line they name.
func TestLedger(t *testing.T) {
	out := t.TempDir()
	leave(t, out, "fpr-vs-load", overfilled(0.157, 1_000_000))
	if err := CheckClaims(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a ledger: %v, want a file that is not there", err)
	}
	judged, err := WriteClaims(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(judged) != len(Claims()) {
		t.Errorf("%d claims judged of %d", len(judged), len(Claims()))
	}
	if err := CheckClaims(out); err != nil {
		t.Errorf("fresh: %v", err)
	}
	text := string(read(t, out, ClaimsFile))
	link := "[fpr-vs-load: filter=standard(sizing=textbook) p=0.01 inserted=20000](fpr-vs-load/summary.csv#L2)"
	if !strings.Contains(text, link) {
		t.Errorf("no link %s in\n%s", link, text)
	}
	for _, j := range judged {
		if n := strings.Count(text, "<a id=\""+j.Claim.ID+"\">"); n != 1 {
			t.Errorf("%s stands in the ledger %d times", j.Claim.ID, n)
		}
	}
	// A table of Markdown has as many bars in every line.
	for _, line := range strings.Split(text, "\n") {
		if n := strings.Count(line, "|") - strings.Count(line, "\\|"); strings.HasPrefix(line, "|") && n != 6 {
			t.Errorf("%d bars in %s", n, line)
		}
	}
	for _, name := range []string{ClaimsFile, claimsCSVFile} {
		was := read(t, out, name)
		if err := os.WriteFile(filepath.Join(out, name), bytes.Replace(was, []byte("15.7"), []byte("16.7"), 1), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := CheckClaims(out); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s was changed: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), was, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Other rows, another ledger.
	leave(t, out, "fpr-vs-load", overfilled(0.2, 1_000_000))
	if err := CheckClaims(out); err == nil {
		t.Error("the ledger agrees with rows that it was not made from")
	}
}
