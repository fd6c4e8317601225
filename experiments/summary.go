package experiments

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/theory"
	"filterlab/hashing"
)

// Verdicts of a cell.
const (
	Agree          = "agree"           // measured and expected rate agree, and a difference of 5% would have shown
	AgreeWide      = "agree-wide"      // they agree, but the interval is too wide to say much
	Differ         = "differ"          // they differ, and nothing explains it
	DifferExpected = "differ-expected" // they differ, as the experiment says they must
	NoTheory       = "no-theory"       // the scheme has no formula
	Full           = "full"            // the filter refused keys before all were in
	Refused        = "refused"         // the variant does not accept the point
	Failed         = "failed"          // an error, or a lost key
	ControlOK      = "control-ok"      // a control did what it must
	ControlFailed  = "control-failed"  // a control did not: the run cannot tell right from wrong
)

// alpha is the family-wise error rate of the verdicts of one run, Holm-corrected
// over its cells.
const alpha = 0.01

// Cell is all that the rows of one point say, with one API: one line of
// summary.csv.
type Cell struct {
	Row                         // the coordinates; Metric, Value, Trials and Seed are those of an arbitrary row
	Predicted theory.Prediction // what theory expects of the filter, of its hash width too

	Events, Trials uint64 // false positives among lookups of absent keys, all seeds
	Seeds          int
	FPR            Estimate        // measured rate, pooled over seeds
	Test           measure.Verdict // held against Predicted.FPR, two-sided
	PHolm          float64         // p-value after Holm's correction over the run; NaN where not tested
	Verdict        string
	Reason         string // why the point was refused or failed, or is expected to differ

	Stored uint64              // keys taken, the least over seeds, where the filter filled up
	Times  map[string]Estimate // medians by metric: ns_add, ns_hit, ..., bytes
	Own    map[string]Own      // by metric, the values of the experiment's own

	addKernel string // code path of adds, where Kernel is that of lookups

	variant filters.Variant
	target  filters.Target
	stored  bool
	counts  []measure.Count // by seed
	values  map[string][]float64
	counted map[string][]measure.Count // by metric, of rows with trials
}

// Estimate is a measured value with its 95% interval. Where there are too few
// samples for an interval, Lo and Hi are NaN.
type Estimate struct{ Value, Lo, Hi float64 }

// Bad reports whether the cell is a reason not to trust the run.
func (c *Cell) Bad() bool {
	return c.Verdict == Failed || c.Verdict == Differ || c.Verdict == ControlFailed
}

// Variant is the parsed filter, so that figures can ask it for theory curves.
func (c *Cell) Variant() filters.Variant { return c.variant }

// Target is what the filter was built for.
func (c *Cell) Target() filters.Target { return c.target }

// Load is the number of keys offered as a multiple of n.
func (c *Cell) Load() float64 { return float64(c.Inserted) / float64(c.N) }

// BitsPerInserted is the space per inserted key in bits.
func (c *Cell) BitsPerInserted() float64 { return c.Predicted.BitsPerKey() }

// Cells folds rows into cells, ordered by point. It needs no other input: the
// expectation is predicted anew from the coordinates.
func Cells(e Experiment, rows []Row) ([]Cell, error) {
	type key struct {
		point int
		api   string
	}
	byKey := map[key]*Cell{}
	apis := map[int]map[string]bool{}
	for _, r := range rows {
		if r.API != "" {
			if apis[r.Point] == nil {
				apis[r.Point] = map[string]bool{}
			}
			apis[r.Point][r.API] = true
		}
	}
	for _, r := range rows {
		// Values that do not depend on the API belong to every API of the point.
		to := []string{r.API}
		if r.API == "" && len(apis[r.Point]) > 0 {
			to = to[:0]
			for api := range apis[r.Point] {
				to = append(to, api)
			}
		}
		for _, api := range to {
			k := key{r.Point, api}
			c := byKey[k]
			if c == nil {
				c = &Cell{Row: r, values: map[string][]float64{}, counted: map[string][]measure.Count{}, PHolm: math.NaN()}
				c.API = api
				byKey[k] = c
			}
			c.take(r)
		}
	}
	cells := make([]Cell, 0, len(byKey))
	for _, c := range byKey {
		if err := c.finish(e); err != nil {
			return nil, err
		}
		cells = append(cells, *c)
	}
	sort.Slice(cells, func(i, j int) bool {
		a, b := &cells[i], &cells[j]
		if a.Point != b.Point {
			return a.Point < b.Point
		}
		if x, y := callSize(a.API), callSize(b.API); x != y {
			return x < y
		}
		return a.API > b.API // single before batch
	})
	judge(cells)
	return cells, nil
}

// callSize is the N of batch=N, and 0 for any other API.
func callSize(api string) int {
	_, size, _ := strings.Cut(api, "=")
	n, err := strconv.Atoi(size)
	if err != nil {
		return 0
	}
	return n
}

// take adds one row to the cell.
func (c *Cell) take(r Row) {
	switch {
	case r.Kernel == "":
	case r.Metric == MetricAdd:
		c.addKernel = r.Kernel
	default:
		c.Kernel = r.Kernel
	}
	switch r.Metric {
	case MetricFPR:
		c.counts = append(c.counts, measure.Count{Events: uint64(r.Value), Trials: r.Trials})
		c.Events += uint64(r.Value)
		c.Trials += r.Trials
	case MetricLost:
		if r.Value > 0 {
			c.Verdict, c.Reason = Failed, fmt.Sprintf("%v of %d members lost with seed %d", r.Value, r.Trials, r.Seed)
		}
	case MetricStored:
		if !c.stored || uint64(r.Value) < c.Stored {
			c.Stored = uint64(r.Value)
		}
		c.stored = true
	case MetricRefused:
		c.Verdict, c.Reason = Refused, r.Note
	case MetricFailed:
		c.Verdict, c.Reason = Failed, r.Note
	default:
		c.values[r.Metric] = append(c.values[r.Metric], r.Value)
		if r.Trials > 0 {
			c.counted[r.Metric] = append(c.counted[r.Metric], measure.Count{Events: uint64(r.Value), Trials: r.Trials})
		}
	}
}

// finish computes the intervals and the expectation of a cell whose rows are all
// in.
func (c *Cell) finish(e Experiment) error {
	v, err := e.parse(c.Filter)
	if err != nil {
		return fmt.Errorf("point %d: %w", c.Point, err)
	}
	c.variant = v
	c.target = filters.Target{N: c.N, P: c.P, BitsPerKey: c.BitsPerKey}
	c.Seeds = len(c.counts)
	c.Times = map[string]Estimate{}
	for m, xs := range c.values {
		med, iv := measure.Median(xs), measure.MedianInterval(xs, 0.95)
		c.Times[m] = Estimate{med, iv.Lo, iv.Hi}
	}
	if c.Verdict == Refused {
		return nil
	}
	c.Predicted, err = v.Predict(c.target, c.Inserted)
	switch {
	case errors.Is(err, filters.ErrNoTheory):
		if c.Verdict == "" {
			c.Verdict = NoTheory
		}
	case errors.Is(err, filters.ErrParam) && (c.stored || c.Verdict == Failed):
		// It was offered more than it takes: what was built can be said, its rate
		// at so many keys not.
		if atN, err := v.Predict(c.target, c.N); err == nil {
			c.Predicted = theory.Prediction{Bits: atN.Bits, K: atN.K, Inserted: c.Stored}
		}
	case err != nil:
		return fmt.Errorf("point %d: %v: %w", c.Point, v, err)
	}
	// A reference scheme counts keys of one pattern, those of one hash among them.
	if _, own := v.(scheme); !own && c.Predicted.FPR > 0 {
		if h, err := hashing.ByName(c.Hash); err == nil && h.Bits < 64 {
			c.Predicted.FPR = theory.Combine(c.Predicted.FPR, theory.HashFloor(c.Inserted, h.Bits))
		}
	}
	if c.Verdict == "" && c.stored {
		c.Verdict = Full
	}
	for _, bits := range c.values[MetricBits] {
		if c.Verdict == "" && c.Predicted.Bits > 0 && bits != float64(c.Predicted.Bits) {
			c.Verdict, c.Reason = Failed, fmt.Sprintf("the filter has %.0f bits and was predicted to have %d", bits, c.Predicted.Bits)
		}
	}
	if c.Trials > 0 {
		c.FPR = c.rateInterval()
		if c.Predicted.FPR > 0 {
			c.Test = measure.VerdictOf(c.counts, c.Predicted.FPR, c.buildSD())
			if c.Test.P < alpha && c.Events > 0 && len(c.counts) > 1 {
				// Where theory is wrong about the rate, it may be so about the scatter.
				iv := measure.ClusterInterval(c.counts, 0.95)
				c.FPR.Lo, c.FPR.Hi = min(c.FPR.Lo, iv.Lo), max(c.FPR.Hi, iv.Hi)
			}
		}
	}
	if c.Role == "" {
		c.Own = map[string]Own{}
		for _, v := range e.Values {
			if xs := c.values[v.Metric]; len(xs) > 0 {
				o := c.own(v)
				c.Own[v.Metric] = o
				if !v.Median { // rounds on the clock are no seeds
					c.Seeds = max(c.Seeds, len(xs))
				}
				if c.Verdict == NoTheory && !math.IsNaN(o.P) {
					c.Verdict = "" // no formula for the rate, but something to hold the cell to
				}
			}
		}
	}
	if e.Expected != nil && c.Role == "" {
		p := Point{Variant: v, Hash: c.Hash, Keys: c.Keys, Target: c.target, Load: c.Load()}
		if why := e.Expected(&p); why != "" && c.Verdict == "" {
			c.Reason = why
		}
	}
	return nil
}

// rateInterval is the measured rate with its interval: exact where seeds hardly
// differ, over seeds where they do, 0 to 3/trials where nothing happened.
func (c *Cell) rateInterval() Estimate {
	pool := measure.Pool(c.counts)
	if pool.Events == 0 {
		return Estimate{0, 0, measure.UpperZero(pool.Trials)}
	}
	design := math.NaN() // unknown: let the seeds speak
	if d := c.designEffect(); d > 0 {
		design = d
	}
	iv, _ := measure.RateInterval(c.counts, design, 0.95)
	return Estimate{pool.Rate(), iv.Lo, iv.Hi}
}

// buildSD is how much the rate of one seed scatters beyond independent lookups:
// because filters differ, and because lookups that repeat keys repeat answers.
// With the shares w of the queries that each distinct key takes, the latter
// adds p(1-p) sum(w^2) to the variance.
func (c *Cell) buildSD() float64 {
	p := c.Predicted.FPR
	repeat := 0.0
	if r := c.values[MetricRepeat]; len(r) > 0 {
		repeat = r[0] // the same for all seeds
	}
	return math.Sqrt(c.Predicted.BuildSD*c.Predicted.BuildSD + p*(1-p)*repeat)
}

func (c *Cell) designEffect() float64 {
	if c.Trials == 0 || !(c.Predicted.FPR > 0) {
		return math.NaN()
	}
	return measure.DesignEffect(c.counts[0].Trials, c.Predicted.FPR, c.buildSD())
}

// judge gives the verdicts that need the whole run: differences are called only
// after Holm's correction over all tested cells.
func judge(cells []Cell) {
	var at []int // the cell of each test
	var ps []float64
	wide := make([]bool, len(cells))
	for i := range cells {
		c := &cells[i]
		if c.Verdict != "" {
			continue
		}
		rated := c.Trials > 0 && c.Predicted.FPR > 0
		if rated {
			at = append(at, i)
			ps = append(ps, c.Test.P)
			// A hair above the limit is the limit: the plan was made for it.
			wide[i] = !(c.Test.RelHalfWidth() <= 1.02*measure.HalfWidthLimit(c.Predicted.FPR))
		}
		// In the order of their names, for ties and rounding to be those of every run.
		for _, name := range slices.Sorted(maps.Keys(c.Own)) {
			if o := c.Own[name]; !math.IsNaN(o.P) {
				at = append(at, i)
				ps = append(ps, o.P)
				wide[i] = wide[i] || o.Wide && !rated // what a cell is about is its rate, where it has one
			}
		}
	}
	for j, p := range measure.Holm(ps) {
		if c := &cells[at[j]]; !(c.PHolm <= p) {
			c.PHolm = p // the least of its tests
		}
	}
	for i := range cells {
		c := &cells[i]
		p := c.PHolm
		switch {
		case math.IsNaN(p):
		case c.Role != "" && (p < alpha) == (c.Role == MustDiffer):
			c.Verdict = ControlOK
		case c.Role != "":
			c.Verdict = ControlFailed
		case p < alpha && c.Reason != "":
			c.Verdict = DifferExpected
		case p < alpha:
			c.Verdict = Differ
		case wide[i]:
			c.Verdict = AgreeWide
		default:
			c.Verdict = Agree
		}
	}
}

// column is one column of summary.csv.
type column struct {
	Name, Unit, Doc string
	get             func(*Cell) string
}

func num(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func count(x uint64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatUint(x, 10)
}

// rate prints a measured value that may be zero for good reason: only where
// nothing was measured is the cell empty.
func (c *Cell) rate(x float64) string {
	if c.Trials == 0 {
		return ""
	}
	return number(x)
}

// timeColumns are the three columns of one timed metric.
func timeColumns(metric, what string) []column {
	return []column{
		{metric, "ns", "median time " + what + ", net of the loop without a filter, which for batches only reads keys and writes answers", func(c *Cell) string { return num(c.Times[metric].Value) }},
		{metric + "_lo", "ns", "lower end of its 95% order-statistic interval", func(c *Cell) string { return num(c.Times[metric].Lo) }},
		{metric + "_hi", "ns", "upper end of its 95% order-statistic interval", func(c *Cell) string { return num(c.Times[metric].Hi) }},
	}
}

// number prints a value that may be zero.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// columns is the one place that knows what summary.csv looks like. An experiment
// appends those of its own values.
func columns() []column {
	cols := []column{
		{"experiment", "", "name of the experiment", func(c *Cell) string { return c.Experiment }},
		{"filter", "", "variant: family and the knobs that were set; the rest is best for the target", func(c *Cell) string { return c.Filter }},
		{"hash", "", "hash function", func(c *Cell) string { return c.Hash }},
		{"keys", "", "key set", func(c *Cell) string { return c.Keys }},
		{"api", "", "single: one call a key; batch: one call for all keys of a pass; batch=N: a call for each N keys; bulk, parallel: all keys at once by one goroutine or by several; empty where it does not matter", func(c *Cell) string { return c.API }},
		{"kernel", "", "code path that ran; that of lookups where there are any", func(c *Cell) string { return c.Kernel }},
		{"n", "keys", "keys the filter was sized for", func(c *Cell) string { return count(c.N) }},
		{"inserted", "keys", "distinct keys offered", func(c *Cell) string { return count(c.Inserted) }},
		{"p", "1", "promised false-positive rate at n keys; empty when sized by space", func(c *Cell) string { return num(c.P) }},
		{"m_bits", "bits", "size of all tables", func(c *Cell) string { return count(c.Predicted.Bits) }},
		{"k", "", "probes per key; for cuckoo the bits of a fingerprint", func(c *Cell) string { return count(uint64(c.Predicted.K)) }},
		{"bits_per_key", "bits", "m_bits / inserted, or / stored where not all were taken", func(c *Cell) string { return num(c.BitsPerInserted()) }},
		{"fpr", "1", "measured false-positive rate, pooled over seeds", func(c *Cell) string { return c.rate(c.FPR.Value) }},
		{"fpr_lo", "1", "lower end of its 95% interval", func(c *Cell) string { return c.rate(c.FPR.Lo) }},
		{"fpr_hi", "1", "upper end of its 95% interval; without any event 3/trials", func(c *Cell) string { return c.rate(c.FPR.Hi) }},
		{"fpr_expected", "1", "exact expectation for the geometry really built", func(c *Cell) string { return num(c.Predicted.FPR) }},
		{"verdict", "", "agree, agree-wide, differ, differ-expected, no-theory, full, refused, failed, control-ok or control-failed", func(c *Cell) string { return c.Verdict }},
		{"trials", "lookups", "lookups of absent keys, all seeds", func(c *Cell) string { return count(c.Trials) }},
		{"seeds", "", "independently seeded filters", func(c *Cell) string { return count(uint64(c.Seeds)) }},
	}
	cols = append(cols, timeColumns(MetricAdd, "to add a key")...)
	cols = append(cols, timeColumns(MetricHit, "of a positive lookup")...)
	cols = append(cols, timeColumns(MetricMiss, "of a negative lookup")...)
	cols = append(cols,
		column{"bytes", "bytes", "live heap of the built filter after two collections", func(c *Cell) string { return num(c.Times[MetricBytes].Value) }},
		column{"hit_ratio", "1", "share of lookups that ask for a member, in random order; empty where positive and negative ones are apart", func(c *Cell) string { return c.Hit }},
	)
	cols = append(cols, timeColumns(MetricMixed, "of a lookup at the hit ratio")...)
	return append(cols,
		column{"bits_per_key_asked", "bits", "space asked for at n keys; empty when sized by rate", func(c *Cell) string { return num(c.BitsPerKey) }},
		column{"events", "lookups", "false positives, all seeds", func(c *Cell) string { return c.rate(float64(c.Events)) }},
		column{"ratio", "1", "fpr / fpr_expected", func(c *Cell) string { return num(c.FPR.Value / c.Predicted.FPR) }},
		column{"p_holm", "1", "p-value of the difference, Holm-corrected over the run", func(c *Cell) string { return num(c.PHolm) }},
		column{"design_effect", "1", "expected variance of the rate of one seed over that of as many independent lookups", func(c *Cell) string { return num(c.designEffect()) }},
		column{"fill", "1", "expected share of the table in use", func(c *Cell) string { return num(c.Predicted.Fill) }},
		column{"stored", "keys", "keys taken before one was refused, the least over seeds; empty when all were", func(c *Cell) string { return count(c.Stored) }},
		column{"ns_loop", "ns", "median time per key of the loop without a filter, in the race of ns_miss; for batches keys read and answers written by the block", func(c *Cell) string { return num(c.Times[MetricLoop].Value) }},
		column{"ns_hash", "ns", "median time to hash one key", func(c *Cell) string { return num(c.Times[MetricHash].Value) }},
		column{"kernel_add", "", "code path of adds", func(c *Cell) string { return c.addKernel }},
		noiseColumn(MetricAdd), noiseColumn(MetricHit), noiseColumn(MetricMiss), noiseColumn(MetricMixed),
		column{"touched_bytes", "bytes", "table, keys and answers that one timed pass over lookups goes through at most", (*Cell).touched},
		column{"note", "", "why a point was refused, failed, or is expected to differ, or cannot be repeated to the bit", (*Cell).note},
	)
}

// noiseColumn is how noisy the race was that the metric is from.
func noiseColumn(metric string) column {
	noise := NoiseOf(metric)
	return column{noise, "1", "relative difference below which the race of " + metric + " tells nothing: how far its first filter, timed twice, differs from itself",
		func(c *Cell) string { return num(c.Times[noise].Value) }}
}

// touched is empty where no lookups were timed.
func (c *Cell) touched() string {
	for _, m := range []string{MetricHit, MetricMiss, MetricMixed} {
		if _, ok := c.Times[m]; ok && c.Predicted.Bits > 0 {
			return count(touchedBytes(c.Predicted.Bits))
		}
	}
	return ""
}

// note is the reason of the verdict, and otherwise whether the cell can be
// measured again to the bit.
func (c *Cell) note() string {
	if h, err := hashing.ByName(c.Hash); c.Reason == "" && err == nil && !h.Reproducible {
		return "not reproducible: " + c.Hash + " differs from process to process"
	}
	return c.Reason
}

// writeSummary renders cells as summary.csv.
func writeSummary(e Experiment, cells []Cell) ([]byte, error) {
	cols := append(columns(), valueColumns(e.Values)...)
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	rec := make([]string, len(cols))
	for i, c := range cols {
		rec[i] = c.Name
	}
	if err := w.Write(rec); err != nil {
		return nil, err
	}
	for i := range cells {
		for j, c := range cols {
			rec[j] = c.get(&cells[i])
		}
		if err := w.Write(rec); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return buf.Bytes(), w.Error()
}

// Load reads the rows and the machine facts that a run of e left in out.
func Load(e Experiment, out string) ([]Row, measure.Env, error) {
	dir := filepath.Join(out, e.Name)
	var rows []Row
	for _, name := range []string{samplesFile, timesFile} {
		path := filepath.Join(dir, name)
		f, err := os.Open(path)
		if err != nil {
			return nil, measure.Env{}, err
		}
		more, err := ReadRows(f)
		f.Close()
		if err != nil {
			return nil, measure.Env{}, fmt.Errorf("%s: %w", path, err)
		}
		rows = append(rows, more...)
	}
	var env measure.Env
	b, err := os.ReadFile(filepath.Join(dir, envFile))
	if err == nil {
		err = json.Unmarshal(b, &env)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // rows speak for themselves; a figure then names no machine
	}
	return rows, env, err
}

// Remake makes summary.csv, the figures and the finding of e anew from the rows
// in out. It is what Run ends with, and what changes nothing when repeated.
func Remake(e Experiment, out string) (Outcome, error) {
	if err := settle(filepath.Join(out, e.Name)); err != nil {
		return Outcome{}, err
	}
	files, cells, finding, err := derive(e, out)
	if err != nil {
		return Outcome{}, err
	}
	for _, f := range files {
		if err := writeAtomic(filepath.Join(out, e.Name, f.name), f.bytes); err != nil {
			return Outcome{}, err
		}
	}
	if err := removeStale(filepath.Join(out, e.Name), files); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Cells: cells, Finding: finding}
	for i := range cells {
		if cells[i].Bad() {
			o.Failed++
		}
	}
	return o, nil
}

// removeStale removes the figures of an earlier run that the rows give no more, and
// files that a process which was killed had begun to write.
func removeStale(dir string, files []file) error {
	for _, pattern := range []string{"*.svg", "*.png", tempFiles} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if slices.ContainsFunc(files, func(f file) bool { return f.name == filepath.Base(path) }) {
				continue
			}
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

const findingFile = "finding.txt"

// About says where cells come from.
type About struct {
	Env  measure.Env // the machine and the program
	Text string      // the end of every caption: how much was measured, on what, with which code
	Bare string      // the same for figures that draw no intervals
}

func about(cells []Cell, env measure.Env) About {
	var trials, least, most uint64
	seeds := 0
	for i := range cells {
		c := &cells[i]
		trials = max(trials, c.Trials)
		seeds = max(seeds, c.Seeds)
		if least == 0 || c.N < least {
			least = c.N
		}
		most = max(most, c.N)
	}
	text := "n = " + units.FormatCount(least)
	if most > least {
		text += " to " + units.FormatCount(most)
	}
	text += " keys. "
	intervals := ""
	if trials > 0 {
		text += fmt.Sprintf("Up to %d seeds and %s lookups a point", seeds, threeDigits(trials))
		intervals = "; 95% intervals"
	}
	end := fmt.Sprintf("%s, %s, revision %.12s.", env.CPU, env.Go, env.Revision)
	if trials > 0 {
		end = ". " + end
	}
	return About{Env: env, Text: text + intervals + end, Bare: text + end}
}

// threeDigits writes a count to three digits: "4.41e5".
func threeDigits(n uint64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(fmt.Sprintf("%.3g", float64(n)))
}
