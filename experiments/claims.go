package experiments

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filterlab/experiments/measure"
)

// A Claim is a number that people state about filters, and where to look whether
// it is so. Its verdict is never written down: it follows from Low, High and what
// the cases measure.
type Claim struct {
	ID     string
	Source string // who says so
	Text   string // what is said, as a sentence
	Stated string // the number, as it is stated

	// Low and High are the values that bear the claim out: the rounding of the
	// number stated, or one side of a bound. Either may be infinite.
	Low, High float64
	Unit      string // of Low, High and what is measured; "%" is printed as a percentage

	// Cases are the circumstances under which the claim is looked at. Where it is
	// true in some and not in others, it holds if those are given.
	Cases []Case

	// Sentence is what there is to know, with {0}, {1}, ... for what the cases
	// measured.
	Sentence string
}

// Case is one circumstance under which a claim is looked at.
type Case struct {
	If      string // completes "holds if ..."; empty where there is only one
	Measure func(*evidence) (Measured, error)
}

// Measured is a number with its 95% interval and what stands behind it. What
// follows from a formula, or was weighed once, has no interval: Lo and Hi are NaN.
type Measured struct {
	Estimate
	parts int      // how many measured intervals went into it
	Rows  []rowRef // the rows it was taken from
	How   string   // where no row is behind it: the formula, or what was done
}

// Verdicts of a claim.
const (
	Holds     = "holds"
	HoldsIf   = "holds if" // in some cases
	Wrong     = "wrong"
	Undecided = "undecided" // the interval is too wide to tell
	NoRows    = "no rows"   // an experiment has not been run, or not at the point that is needed
)

// Judgment is a claim with its verdict.
type Judgment struct {
	Claim   Claim
	Verdict string
	If      string // when the claim holds if: what must be given
	Cases   []JudgedCase
	Said    string // the sentence, with its numbers
}

// JudgedCase is what was found in one case.
type JudgedCase struct {
	Case     Case
	Measured Measured
	Verdict  string // Holds, Wrong, Undecided or NoRows
	Missing  string // why there are no rows
}

// errNoRows says that what a claim needs was not measured.
var errNoRows = errors.New("no rows")

// evidence is what runs have left in a folder. Each experiment is read once.
type evidence struct {
	out    string
	loaded map[string]loaded
}

type loaded struct {
	cells []Cell
	err   error
}

// rowRef names a line of a summary, and so the samples with the same coordinates.
type rowRef struct {
	experiment string
	line       int    // in summary.csv, from 1; 0 for all lines with the coordinates
	at         string // coordinates
}

func (r rowRef) file() string { return r.experiment + "/" + summaryFile }

// cells are those of the named experiment.
func (ev *evidence) cells(name string) ([]Cell, error) {
	l, ok := ev.loaded[name]
	if !ok {
		l.cells, l.err = ev.load(name)
		ev.loaded[name] = l
	}
	return l.cells, l.err
}

func (ev *evidence) load(name string) ([]Cell, error) {
	e, err := ByName(name)
	if err != nil {
		return nil, err
	}
	rows, _, err := Load(e, ev.out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: filterlab run %s", errNoRows, name)
	}
	if err != nil {
		return nil, err
	}
	return Cells(e, rows)
}

// coords are the coordinates of a cell; those left zero do not matter.
type coords struct {
	filter, hash, keys, api string
	p, bitsPerKey, load     float64
	inserted, bits          uint64
	k                       int
}

func (a coords) matches(c *Cell) bool {
	return c.Role == "" &&
		(a.filter == "" || a.filter == c.Filter) &&
		(a.hash == "" || a.hash == c.Hash) &&
		(a.keys == "" || a.keys == c.Keys) &&
		(a.api == "" || a.api == c.API) &&
		(a.p == 0 || a.p == c.P) &&
		(a.bitsPerKey == 0 || a.bitsPerKey == c.BitsPerKey) &&
		(a.load == 0 || a.load == c.Load()) &&
		(a.inserted == 0 || a.inserted == c.Inserted) &&
		(a.bits == 0 || a.bits == c.Predicted.Bits) &&
		(a.k == 0 || a.k == c.Predicted.K)
}

func (a coords) String() string {
	var s []string
	text := func(name, value string) {
		if value != "" {
			s = append(s, name+"="+value)
		}
	}
	text("filter", a.filter)
	text("hash", a.hash)
	text("keys", a.keys)
	text("api", a.api)
	text("p", num(a.p))
	text("bits_per_key", num(a.bitsPerKey))
	text("load", num(a.load))
	text("inserted", count(a.inserted))
	text("m_bits", count(a.bits))
	text("k", count(uint64(a.k)))
	return strings.Join(s, " ")
}

// cell finds the first cell at the coordinates.
func (ev *evidence) cell(experiment string, a coords) (*Cell, rowRef, error) {
	cells, err := ev.cells(experiment)
	if err != nil {
		return nil, rowRef{}, err
	}
	for i := range cells {
		c := &cells[i]
		if !a.matches(c) {
			continue
		}
		where := coords{filter: c.Filter, hash: c.Hash, keys: c.Keys, api: c.API, p: c.P, bitsPerKey: c.BitsPerKey, inserted: c.Inserted}
		if where.hash == "xxh3" && where.keys == "random" {
			where.hash, where.keys = "", "" // as in most experiments
		}
		return c, rowRef{experiment, i + 2, where.String()}, nil
	}
	return nil, rowRef{}, fmt.Errorf("%w: %s has none with %v", errNoRows, experiment, a)
}

// measuredRate takes the false-positive rate of a cell.
func measuredRate(experiment string, a coords) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		c, ref, err := ev.cell(experiment, a)
		switch {
		case err != nil:
			return Measured{}, err
		case c.Trials == 0 || c.Verdict == Failed:
			return Measured{}, fmt.Errorf("%w: no rate in %s at %v", errNoRows, experiment, a)
		}
		return measured(c.FPR, ref), nil
	}
}

// measuredMetric takes the median of another metric.
func measuredMetric(experiment, metric string, a coords) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		c, ref, err := ev.cell(experiment, a)
		if err != nil {
			return Measured{}, err
		}
		x, ok := c.Times[metric]
		if !ok || c.Verdict == Failed || c.Verdict == Refused {
			return Measured{}, fmt.Errorf("%w: no %s in %s at %v", errNoRows, metric, experiment, a)
		}
		return measured(x, ref), nil
	}
}

// measuredOwn takes a value of the experiment's own.
func measuredOwn(experiment, metric string, a coords) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		c, ref, err := ev.cell(experiment, a)
		if err != nil {
			return Measured{}, err
		}
		o, ok := c.Own[metric]
		if !ok || c.Verdict == Failed || c.Verdict == Refused {
			return Measured{}, fmt.Errorf("%w: no %s in %s at %v", errNoRows, metric, experiment, a)
		}
		return measured(o.Estimate, ref), nil
	}
}

// measured is what one cell says.
func measured(e Estimate, ref rowRef) Measured {
	m := Measured{Estimate: e, Rows: []rowRef{ref}}
	if e.Lo < e.Hi {
		m.parts = 1
	}
	return m
}

// perKey takes a metric of a cell divided by the keys in its filter.
func perKey(experiment, metric string, a coords) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		m, err := measuredMetric(experiment, metric, a)(ev)
		if err != nil {
			return m, err
		}
		c, _, err := ev.cell(experiment, a)
		if err != nil {
			return m, err
		}
		return m.times(1 / float64(c.Inserted)), nil
	}
}

// formula is a number that needs no rows.
func formula(how string, value float64) func(*evidence) (Measured, error) {
	return func(*evidence) (Measured, error) {
		return Measured{Estimate: exactly(value), How: "by formula: " + how}, nil
	}
}

// ratioOf is the quotient of two measured numbers.
func ratioOf(a, b func(*evidence) (Measured, error)) func(*evidence) (Measured, error) {
	return combine(a, b, quotient)
}

// differenceOf is the difference of two measured numbers.
func differenceOf(a, b func(*evidence) (Measured, error)) func(*evidence) (Measured, error) {
	return combine(a, b, func(x, y Estimate) Estimate {
		return Estimate{
			x.Value - y.Value,
			x.Value - y.Value - math.Hypot(x.Value-x.Lo, y.Hi-y.Value),
			x.Value - y.Value + math.Hypot(x.Hi-x.Value, y.Value-y.Lo),
		}
	})
}

func combine(a, b func(*evidence) (Measured, error), f func(x, y Estimate) Estimate) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		x, err := a(ev)
		if err != nil {
			return x, err
		}
		y, err := b(ev)
		if err != nil {
			return y, err
		}
		var how []string
		for _, s := range []string{x.How, y.How} {
			if s != "" {
				how = append(how, s)
			}
		}
		return Measured{f(x.Estimate, y.Estimate), x.parts + y.parts, slices.Concat(x.Rows, y.Rows), strings.Join(how, "; ")}, nil
	}
}

// quotient divides two independent estimates. Its interval puts the two half
// intervals that push the same way together as errors add, on a log scale (the
// method of variance estimates recovery; Donner, Zou 2012, Stat. Methods Med.
// Res. 21(4)). An estimate without an interval counts as exact when the other has
// one.
func quotient(x, y Estimate) Estimate {
	q := x.Value / y.Value
	if math.IsNaN(x.Lo) && math.IsNaN(y.Lo) {
		return exactly(q)
	}
	x, y = closed(x), closed(y)
	down := math.Hypot(math.Log(x.Value/x.Lo), math.Log(y.Hi/y.Value))
	up := math.Hypot(math.Log(x.Hi/x.Value), math.Log(y.Value/y.Lo))
	return Estimate{q, q * math.Exp(-down), q * math.Exp(up)}
}

func closed(e Estimate) Estimate {
	if math.IsNaN(e.Lo) || math.IsNaN(e.Hi) {
		return Estimate{e.Value, e.Value, e.Value}
	}
	return e
}

func exactly(x float64) Estimate { return Estimate{x, math.NaN(), math.NaN()} }

func (m Measured) times(x float64) Measured {
	m.Estimate = Estimate{m.Value * x, m.Lo * x, m.Hi * x}
	return m
}

// judge decides about one number. An interval that keeps clear of what was
// claimed refutes it, one that meets it bears it out; but an interval wider than
// what counts as agreement elsewhere, and not wholly within, says nothing.
//
// The ledger looks at dozens of intervals, and one in twenty at 95% misses the
// truth. So a claim is refuted only by the interval stretched to 99.9%, as if
// errors were normal.
func (c *Claim) judge(m Measured) string {
	e := closed(m.Estimate)
	stretch := measure.ZTwoSided(0.999) / measure.ZTwoSided(0.95)
	lo, hi := e.Value-stretch*(e.Value-e.Lo), e.Value+stretch*(e.Hi-e.Value)
	// Of a quotient no more can be asked than of what it is made of.
	limit := measure.HalfWidthLimit(e.Value) * math.Sqrt(float64(max(1, m.parts)))
	switch {
	case math.IsNaN(e.Value):
		return Undecided
	case hi < c.Low || lo > c.High:
		return Wrong
	case c.Low <= e.Lo && e.Hi <= c.High:
		return Holds
	case (e.Hi-e.Lo)/2 > limit*math.Abs(e.Value):
		return Undecided
	}
	return Holds
}

// on judges the claim.
func (c Claim) on(ev *evidence) (Judgment, error) {
	j := Judgment{Claim: c, Said: c.Sentence}
	n := map[string]int{}
	var given, missing []string
	for i, k := range c.Cases {
		m, err := k.Measure(ev)
		jc := JudgedCase{Case: k, Measured: m}
		switch {
		case errors.Is(err, errNoRows):
			jc.Verdict, jc.Missing = NoRows, err.Error()
			if !slices.Contains(missing, err.Error()) {
				missing = append(missing, err.Error())
			}
		case err != nil:
			return j, fmt.Errorf("claim %s: %w", c.ID, err)
		default:
			jc.Verdict = c.judge(m)
		}
		if jc.Verdict == Holds {
			given = append(given, k.If)
		}
		n[jc.Verdict]++
		j.Cases = append(j.Cases, jc)
		j.Said = strings.ReplaceAll(j.Said, "{"+strconv.Itoa(i)+"}", c.show(m.Value))
	}
	switch {
	case n[NoRows] > 0:
		j.Verdict, j.Said = NoRows, strings.Join(missing, "; ")+"."
	case n[Undecided] > 0:
		j.Verdict = Undecided
	case n[Holds] == len(c.Cases):
		j.Verdict = Holds
	case n[Holds] > 0:
		j.Verdict, j.If = HoldsIf, strings.Join(given, ", or ")
	default:
		j.Verdict = Wrong
	}
	return j, nil
}

// show prints a value of the claim's unit with four digits.
func (c *Claim) show(x float64) string {
	switch c.Unit {
	case "":
		return digits(x)
	case "%":
		return digits(100*x) + "%"
	}
	return digits(x) + " " + c.Unit
}

// digits prints four digits, and all of a whole number.
func digits(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// allowed prints the values that bear the claim out.
func (c *Claim) allowed() string {
	switch {
	case math.IsInf(c.High, 1):
		return "at least " + c.show(c.Low)
	case math.IsInf(c.Low, -1):
		return "at most " + c.show(c.High)
	case c.Low == c.High:
		return "exactly " + c.show(c.Low)
	}
	return digitsOf(c, c.Low) + " to " + c.show(c.High)
}

// digitsOf is show without the unit.
func digitsOf(c *Claim, x float64) string {
	if c.Unit == "%" {
		x *= 100
	}
	return digits(x)
}

// tell prints what a case measured, with its interval where it has one.
func (c *Claim) tell(m Measured) string {
	s := c.show(m.Value)
	if !math.IsNaN(m.Lo) && !math.IsNaN(m.Hi) && (m.Lo != m.Value || m.Hi != m.Value) {
		s += fmt.Sprintf(" [%s, %s]", digitsOf(c, m.Lo), digitsOf(c, m.Hi))
	}
	return s
}

// Names of the ledger's files in a folder of results.
const (
	ClaimsFile    = "claims.md"
	claimsCSVFile = "claims.csv"
)

// JudgeClaims judges every claim by the results in out. It needs no rows to be
// there: a claim whose rows are missing says so.
func JudgeClaims(out string) ([]Judgment, error) {
	ev := &evidence{out: out, loaded: map[string]loaded{}}
	var all []Judgment
	for _, c := range Claims() {
		j, err := c.on(ev)
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	return all, nil
}

// WriteClaims writes the ledger, claims.md and claims.csv, into a folder of
// results, and returns what it says.
func WriteClaims(out string) ([]Judgment, error) {
	judged, err := JudgeClaims(out)
	if err != nil {
		return nil, err
	}
	files, err := ledger(judged)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := writeAtomic(filepath.Join(out, f.name), f.bytes); err != nil {
			return nil, err
		}
	}
	return judged, nil
}

// CheckClaims checks that the ledger in out is what its results give, byte for
// byte. The error names the first difference; without a ledger it wraps
// fs.ErrNotExist.
func CheckClaims(out string) error {
	judged, err := JudgeClaims(out)
	if err != nil {
		return err
	}
	files, err := ledger(judged)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(out, f.name)
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if d := firstDifference(have, f.bytes); d != "" {
			return fmt.Errorf("%s: is not what the rows give: %s", path, d)
		}
	}
	return nil
}

// Tally counts verdicts: "20 holds, 6 holds if, 7 wrong".
func Tally(judged []Judgment) string {
	n := map[string]int{}
	for _, j := range judged {
		n[j.Verdict]++
	}
	var parts []string
	for _, v := range []string{Holds, HoldsIf, Wrong, Undecided, NoRows} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

// ledger renders the two files.
func ledger(judged []Judgment) ([]file, error) {
	table, err := claimsTable(judged)
	if err != nil {
		return nil, err
	}
	return []file{{ClaimsFile, claimsText(judged)}, {claimsCSVFile, table}}, nil
}

// ClaimsTable is the ledger in short, as a table in Markdown: who says what, what
// was measured, and the verdict, which links to the claim in ledger, the path of
// claims.md from where the table will stand.
func ClaimsTable(judged []Judgment, ledger string) string {
	var b strings.Builder
	b.WriteString("| claim | stated | measured | verdict |\n|---|---|---|---|\n")
	for i := range judged {
		j := &judged[i]
		c := &j.Claim
		var measured []string
		for k := range j.Cases {
			jc := &j.Cases[k]
			s := "no rows"
			if jc.Verdict != NoRows {
				s = tableCell(c.tell(jc.Measured))
			}
			if jc.Case.If != "" {
				s += " if " + tableCell(jc.Case.If)
			}
			measured = append(measured, s)
		}
		fmt.Fprintf(&b, "| %s *%s* | %s (%s) | %s | [**%s**](%s#%s) |\n",
			tableCell(c.Text), tableCell(c.Source), tableCell(c.Stated), tableCell(c.allowed()), strings.Join(measured, "; "), j.Verdict, ledger, c.ID)
	}
	return b.String()
}

func claimsText(judged []Judgment) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What people say about filters

%d claims, each held against the rows in this folder, or against exact theory where it is arithmetic: %s.

Made by %s; nothing here is edited by hand. The verdict is decided by a comparison: a claim *holds* when the interval of what was measured meets the values that bear
it out (in parentheses, mostly the rounding of the number stated), is *wrong* when it keeps clear of them, *holds if* when its cases differ, and stays *undecided* while
the interval is too wide. Intervals are printed at 95%%; since dozens are looked at here, only one stretched to 99.9%% calls a claim wrong. A number without an interval follows from a formula, or from counting bits. Links name the coordinates and lead to the
line of the summary; the samples behind it have the same coordinates. Hash and keys are xxh3 and random where none are named.

| claim | stated | measured | verdict | in one sentence |
|---|---|---|---|---|
`, len(judged), Tally(judged), "`filterlab claims`")
	for i := range judged {
		j := &judged[i]
		c := &j.Claim
		verdict := "**" + j.Verdict + "**"
		if j.If != "" {
			verdict += " " + j.If
		}
		var cases []string
		for k := range j.Cases {
			cases = append(cases, j.Cases[k].text(c))
		}
		fmt.Fprintf(&b, "| <a id=\"%s\"></a>%s *%s* | %s (%s) | %s | %s | %s |\n",
			c.ID, tableCell(c.Text), tableCell(c.Source), tableCell(c.Stated), tableCell(c.allowed()), strings.Join(cases, "<br>"), tableCell(verdict), tableCell(j.Said))
	}
	return b.Bytes()
}

// tableCell escapes what would end a cell of a table.
func tableCell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func (k *JudgedCase) text(c *Claim) string {
	s := ""
	if k.Case.If != "" {
		s = "if " + tableCell(k.Case.If) + ": "
	}
	if k.Verdict == NoRows {
		return s + "no rows"
	}
	s += c.tell(k.Measured)
	for _, r := range k.Measured.Rows {
		line := ""
		if r.line > 0 {
			line = "#L" + strconv.Itoa(r.line)
		}
		s += fmt.Sprintf(" [%s: %s](%s%s)", r.experiment, r.at, r.file(), line)
	}
	if k.Measured.How != "" {
		s += " " + tableCell(k.Measured.How)
	}
	return s
}

// behind is what stands behind a number, for the table.
func (m *Measured) behind() string {
	var parts []string
	for _, r := range m.Rows {
		s := r.file()
		if r.line > 0 {
			s += ":" + strconv.Itoa(r.line)
		}
		parts = append(parts, s+" "+r.at)
	}
	if m.How != "" {
		parts = append(parts, m.How)
	}
	return strings.Join(parts, "; ")
}

func claimsTable(judged []Judgment) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rec := []string{"id", "source", "claim", "stated", "low", "high", "unit", "case", "measured", "measured_lo", "measured_hi", "case_verdict", "verdict", "behind", "sentence"}
	if err := w.Write(rec); err != nil {
		return nil, err
	}
	// Zero is a number here, unlike in a summary.
	number := func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	for i := range judged {
		j := &judged[i]
		c := &j.Claim
		verdict := strings.TrimSpace(j.Verdict + " " + j.If)
		unit := c.Unit
		if unit == "%" {
			unit = "1" // the table has shares
		}
		for k := range j.Cases {
			jc := &j.Cases[k]
			m := jc.Measured
			if jc.Verdict == NoRows {
				m = Measured{Estimate: Estimate{math.NaN(), math.NaN(), math.NaN()}}
			}
			rec := []string{c.ID, c.Source, c.Text, c.Stated, number(c.Low), number(c.High), unit, jc.Case.If,
				number(m.Value), number(m.Lo), number(m.Hi), jc.Verdict, verdict, m.behind() + jc.Missing, j.Said}
			if err := w.Write(rec); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
