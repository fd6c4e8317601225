package experiments

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filterlab/experiments/measure"
)

// Comparison is what two folders of results have in common and what not.
type Comparison struct {
	Equal       []string     // experiments whose exact rows are the same
	Differences []Difference // the first of each other experiment
	Times       []TimeRatio  // of what was timed in both
	Unpaired    int          // timed cells that only one folder has
}

// Difference is the first one between the exact rows of an experiment.
type Difference struct{ Experiment, What string }

func (d Difference) String() string { return d.Experiment + ": " + d.What }

// TimeRatio compares the rounds of one timed cell, as benchstat does: medians, and
// a two-sided Mann-Whitney test.
type TimeRatio struct {
	Experiment, Metric string
	At                 string // the other coordinates
	Old, New           Estimate
	OldN, NewN         int     // rounds
	P                  float64 // of a difference as large if both were the same
}

// Ratio is new over old; NaN where a median is not above zero, as the net time of
// an operation that is lost in the noise may be.
func (t *TimeRatio) Ratio() float64 {
	if !(t.Old.Value > 0 && t.New.Value > 0) {
		return math.NaN()
	}
	return t.New.Value / t.Old.Value
}

// Alpha is the error rate of the test of each time, benchstat's: one in twenty of
// the cells that did not change is called changed.
const Alpha = 0.05

// Changed reports whether the test tells old and new apart.
func (t *TimeRatio) Changed() bool { return t.P < Alpha }

// Mean is the geometric mean of the ratios of one metric of one experiment.
type Mean struct {
	Experiment, Metric string
	Ratio              float64
	Cells              int // that have a ratio
	Faster, Slower     int // cells that the test calls changed
}

// Means are the geometric means by experiment and metric, in the order of the
// times.
func (c *Comparison) Means() []Mean {
	var means []Mean
	for i := range c.Times {
		t := &c.Times[i]
		r := t.Ratio()
		if math.IsNaN(r) {
			continue
		}
		at := slices.IndexFunc(means, func(m Mean) bool { return m.Experiment == t.Experiment && m.Metric == t.Metric })
		if at < 0 {
			at = len(means)
			means = append(means, Mean{Experiment: t.Experiment, Metric: t.Metric})
		}
		m := &means[at]
		m.Ratio += math.Log(r)
		m.Cells++
		switch {
		case t.Changed() && r < 1:
			m.Faster++
		case t.Changed() && r > 1:
			m.Slower++
		}
	}
	for i := range means {
		means[i].Ratio = math.Exp(means[i].Ratio / float64(means[i].Cells))
	}
	return means
}

// Compare compares two folders of results, experiment by experiment: of those
// named, or of all that either folder has. Exact rows must be the same; times are
// compared by statistics. The error is about folders that cannot be read.
func Compare(before, after string, list []Experiment) (Comparison, error) {
	var c Comparison
	seen := 0
	for _, e := range list {
		a, errA := os.ReadFile(filepath.Join(before, e.Name, samplesFile))
		b, errB := os.ReadFile(filepath.Join(after, e.Name, samplesFile))
		goneA, goneB := errors.Is(errA, fs.ErrNotExist), errors.Is(errB, fs.ErrNotExist)
		switch {
		case goneA && goneB:
			continue
		case errA != nil && !goneA || errB != nil && !goneB:
			return c, errors.Join(errA, errB)
		}
		seen++
		switch {
		case goneA:
			c.Differences = append(c.Differences, Difference{e.Name, "no results in " + before})
			continue
		case goneB:
			c.Differences = append(c.Differences, Difference{e.Name, "no results in " + after})
			continue
		}
		what, err := firstExact(e, before, after, a, b)
		if err != nil {
			return c, err
		}
		if what == "" {
			c.Equal = append(c.Equal, e.Name)
		} else {
			c.Differences = append(c.Differences, Difference{e.Name, what})
		}
		if err := c.times(e, before, after); err != nil {
			return c, err
		}
	}
	if seen == 0 {
		return c, fmt.Errorf("%s, %s: %w of the experiments in either", before, after, fs.ErrNotExist)
	}
	return c, nil
}

// firstExact names the first difference between two samples.csv: the row, the
// column and both values; or that the runs were asked for different things.
func firstExact(e Experiment, before, after string, a, b []byte) (string, error) {
	if bytes.Equal(a, b) {
		return "", nil
	}
	var was, is identity
	if err := readJSON(filepath.Join(before, e.Name, runFile), &was); err != nil {
		return "", err
	}
	if err := readJSON(filepath.Join(after, e.Name, runFile), &is); err != nil {
		return "", err
	}
	was.Revision = is.Revision // another revision is what the comparison is for
	asked := ""
	if d := was.differs(is); d != "" {
		asked = "; the runs were asked for different things: " + d
	}
	ra, rb := csv.NewReader(bytes.NewReader(a)), csv.NewReader(bytes.NewReader(b))
	ra.FieldsPerRecord, rb.FieldsPerRecord = -1, -1
	var head []string
	for {
		x, errA := ra.Read()
		y, errB := rb.Read()
		switch {
		case errA == io.EOF && errB == io.EOF:
			return "the files differ in bytes, not in values" + asked, nil
		case errA == io.EOF:
			return fmt.Sprintf("the new samples go on where the old ones end, with %s%s", place(head, y), asked), nil
		case errB == io.EOF:
			return fmt.Sprintf("the new samples end where the old ones go on, with %s%s", place(head, x), asked), nil
		case errA != nil || errB != nil:
			return "", errors.Join(errA, errB)
		}
		line, _ := ra.FieldPos(0)
		if head == nil {
			head = x
		}
		for i := range max(len(x), len(y)) {
			if i >= len(x) || i >= len(y) || x[i] != y[i] {
				return fmt.Sprintf("line %d, column %s: %q before, %q now (%s)%s", line, field(head, i), field(x, i), field(y, i), place(head, x), asked), nil
			}
		}
	}
}

func field(record []string, i int) string {
	if i < len(record) {
		return record[i]
	}
	return ""
}

// place names the coordinates of a record.
func place(head, record []string) string {
	var s []string
	for i, name := range head {
		switch name {
		case "schema", "experiment", "point", "value", "trials", "note":
			continue
		}
		if v := field(record, i); v != "" && v != "0" {
			s = append(s, name+"="+v)
		}
	}
	return strings.Join(s, " ")
}

// timedAt is the coordinates of what was timed.
type timedAt struct{ metric, at string }

// ofFilter reports whether a metric is the time of something a filter or a hash does.
// The loop without a filter and the clock are the machine's own, and the longest of
// many single operations is a pause of the system.
func ofFilter(metric string) bool {
	return strings.HasPrefix(metric, "ns_") && metric != MetricLoop && metric != MetricClock && !strings.HasSuffix(metric, "_worst")
}

// rounds reads the times of a run: nanoseconds, by what was timed, in the order of
// the file.
func rounds(e Experiment, out string) (order []timedAt, values map[timedAt][]float64, err error) {
	rows, _, err := Load(e, out)
	if err != nil {
		return nil, nil, err
	}
	values = map[timedAt][]float64{}
	for i := range rows {
		r := &rows[i]
		if r.Role != "" || !ofFilter(r.Metric) {
			continue
		}
		k := timedAt{r.Metric, r.coordinates(" ")}
		if values[k] == nil {
			order = append(order, k)
		}
		values[k] = append(values[k], r.Value)
	}
	return order, values, nil
}

// coordinates are those of a row but its metric and its round; what is empty or
// zero is left out.
func (r *Row) coordinates(separator string) string {
	var s []string
	for _, c := range rowColumns() {
		switch c.name {
		case "filter", "hash", "keys", "api", "n", "p", "bits_per_key", "inserted", "hit_ratio":
			if v := c.put(r); v != "" && v != "0" {
				s = append(s, c.name+"="+v)
			}
		}
	}
	return strings.Join(s, separator)
}

// times compares what was timed.
func (c *Comparison) times(e Experiment, before, after string) error {
	order, a, err := rounds(e, before)
	if err != nil {
		return err
	}
	_, b, err := rounds(e, after)
	if err != nil {
		return err
	}
	for _, k := range order {
		x, y := a[k], b[k]
		if len(y) == 0 {
			c.Unpaired++
			continue
		}
		t := TimeRatio{Experiment: e.Name, Metric: k.metric, At: k.at, Old: median(x), New: median(y), OldN: len(x), NewN: len(y)}
		_, t.P = measure.MannWhitney(x, y)
		c.Times = append(c.Times, t)
	}
	for k := range b {
		if len(a[k]) == 0 {
			c.Unpaired++
		}
	}
	return nil
}

// median is the median of the values with its 95% interval.
func median(xs []float64) Estimate {
	iv := measure.MedianInterval(xs, 0.95)
	return Estimate{measure.Median(xs), iv.Lo, iv.Hi}
}

// WriteBenchmarks writes the times of the experiments in a folder in the Go
// benchmark format, a line a round, for benchstat and what else reads it. The error
// is fs.ErrNotExist where none of them has results.
func WriteBenchmarks(w io.Writer, out string, list []Experiment) error {
	found := false
	for _, e := range list {
		rows, env, err := Load(e, out)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		found = true
		var marks []measure.Benchmark
		for i := range rows {
			r := &rows[i]
			if r.Role == "" && strings.HasPrefix(r.Metric, "ns_") {
				// Slashes separate the keys of the format; blanks become underscores.
				at := strings.ReplaceAll(r.coordinates("\n"), "/", "_")
				marks = append(marks, measure.Benchmark{
					Name: "experiment=" + e.Name + "/metric=" + r.Metric + "/" + strings.ReplaceAll(at, "\n", "/"),
					Ns:   r.Value,
				})
			}
		}
		if len(marks) == 0 {
			continue
		}
		if err := measure.WriteBenchmarks(w, env, marks); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s: %w of the experiments", out, fs.ErrNotExist)
	}
	return nil
}
