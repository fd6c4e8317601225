// Package report makes one page of a folder of results that can be shared as a
// single file: what was asked, what was found, how sure it is, and on which
// machine. It opens without a network, reads without a script, on a phone and on
// paper, in light and in dark.
//
// The page is made of the derived files of the results alone, which are made of the
// rows; so the same results give the same bytes, and Check can tell whether a page
// says what the results say.
package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filterlab/experiments"
	"filterlab/experiments/figure"
	"filterlab/experiments/units"
)

// File is the name of the page in a folder of results.
const File = "index.html"

// skyline is the folder, beside those of the experiments, in which filterlab skyline
// leaves its figures.
const skyline = "skyline"

//go:embed page.html
var pageText string

// Write makes the page of the results in out and writes it there. It returns the
// path.
func Write(out string) (path string, err error) {
	b, err := Render(out)
	if err != nil {
		return "", err
	}
	path = filepath.Join(out, File)
	return path, experiments.WriteFile(path, b)
}

// Check compares the page in out with what the results there give. The error is
// fs.ErrNotExist where there is no page.
func Check(out string) error {
	have, err := os.ReadFile(filepath.Join(out, File))
	if err != nil {
		return err
	}
	want, err := Render(out)
	if err != nil {
		return err
	}
	if bytes.Equal(have, want) {
		return nil
	}
	a, b := bytes.Split(have, []byte("\n")), bytes.Split(want, []byte("\n"))
	line := 0
	for line < min(len(a), len(b)) && bytes.Equal(a[line], b[line]) {
		line++
	}
	return fmt.Errorf("%s: is not what the results give, from line %d on; filterlab report writes it anew", filepath.Join(out, File), line+1)
}

// ErrEmpty says that a folder holds no results.
var ErrEmpty = errors.New("no results")

// Render makes the page of the results in out.
func Render(out string) ([]byte, error) {
	p := page{}
	for _, e := range experiments.All() {
		r, err := experiments.ReadPublished(e, out)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.add(r)
	}
	if len(p.Sections) == 0 {
		return nil, fmt.Errorf("%s: %w", out, ErrEmpty)
	}
	maps, err := filepath.Glob(filepath.Join(out, skyline, "*.svg"))
	if err != nil {
		return nil, err
	}
	for _, path := range maps {
		svg, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".svg")
		at := len(p.Skyline)
		if name == skyline { // what the section asks comes first
			at = 0
		}
		p.Skyline = slices.Insert(p.Skyline, at, inline(name, svg))
	}
	if _, err := os.Stat(filepath.Join(out, experiments.ClaimsFile)); err == nil {
		if err := p.addClaims(out); err != nil {
			return nil, err
		}
	}
	t, err := template.New(File).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, &p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// page is what the template shows.
type page struct {
	Sections []section
	Verdicts []tally // of the cells that are no controls
	Controls []tally
	Cells    int
	Timed    bool // some run says how long it took
	Machines []machine
	Skyline  []picture
	Claims   []claim
	Tally    string // of the claims, in words
}

// tally counts one verdict.
type tally struct {
	Verdict, Doc string
	N            int
}

// section is one experiment.
type section struct {
	Name, Question  string
	Finding, Counts string // what was found, and its verdicts in words
	Profile, Keys   string
	Cells           int
	Agree, Wide     int
	Expected, Bad   int
	Other           int
	Controls        string // "2 of 2"
	Minutes         string
	Figures         []picture
	Constant        []fact // columns that have one value in all lines
	Head            []heading
	Rows            [][]cell
}

type picture struct {
	Name, Title, Caption string
	SVG                  template.HTML
}

// inline takes a figure into the page. SVGs are our own, and need no escape.
func inline(name string, svg []byte) picture {
	element, title, caption := figure.Inline(svg)
	return picture{name, title, caption, template.HTML(element)}
}

type fact struct{ Name, Value, Doc string }

type heading struct {
	experiments.Column
	Left bool // over words
}

type cell struct {
	Text string
	Left bool // a word, not a number
	Mark string
}

// machine is a machine with the experiments that ran there.
type machine struct {
	CPU, System, Caches, Go string
	Runs                    []run
}

// run is experiments of one revision and command.
type run struct{ Revision, Start, Command, Experiments string }

type claim struct {
	ID, Text, Source, Stated, Verdict, Mark, Said string
	Told                                          []string
}

// docs says what the verdicts mean, in the order in which they are shown.
func docs() []tally {
	return []tally{
		{Verdict: experiments.Agree, Doc: "measured and expected agree, and a difference of 5% would have shown"},
		{Verdict: experiments.AgreeWide, Doc: "they agree, but the interval is too wide to say much"},
		{Verdict: experiments.DifferExpected, Doc: "they differ, as the experiment says they must"},
		{Verdict: experiments.Differ, Doc: "they differ, and nothing explains it"},
		{Verdict: experiments.NoTheory, Doc: "no formula is known"},
		{Verdict: experiments.Full, Doc: "the filter refused keys before all were in"},
		{Verdict: experiments.Refused, Doc: "the filter does not accept the point"},
		{Verdict: experiments.Failed, Doc: "an error, or a lost key"},
		{Verdict: experiments.ControlOK, Doc: "a control did what it must"},
		{Verdict: experiments.ControlFailed, Doc: "a control did not: the run cannot tell right from wrong"},
		{Verdict: "", Doc: "nothing was held against theory"},
	}
}

// mark is the class of a verdict, for its colour: "ok", "bad" or "note".
func mark(verdict string) string {
	switch verdict {
	case experiments.Agree, experiments.ControlOK, experiments.Holds:
		return "ok"
	case experiments.Differ, experiments.Failed, experiments.ControlFailed, experiments.Wrong:
		return "bad"
	case "":
		return ""
	}
	return "note"
}

// add takes an experiment into the page.
func (p *page) add(r experiments.Published) {
	s := section{Name: r.Experiment.Name, Question: r.Experiment.Question, Profile: r.Profile, Keys: r.Keys}
	// The finding ends in the verdicts, which are of less weight here.
	s.Finding = r.Finding
	if i := strings.LastIndex(r.Finding, " Verdicts: "); i >= 0 {
		s.Finding, s.Counts = r.Finding[:i], r.Finding[i+1:]
	}
	if r.Env.Seconds > 0 {
		p.Timed = true
		s.Minutes = strconv.FormatFloat(r.Env.Seconds/60, 'f', 1, 64)
	}
	for _, f := range r.Figures {
		s.Figures = append(s.Figures, inline(f.Name, f.SVG))
	}
	p.count(&s, r)
	s.table(r)
	p.machine(r)
	p.Sections = append(p.Sections, s)
}

// count counts the verdicts of an experiment.
func (p *page) count(s *section, r experiments.Published) {
	at := slices.IndexFunc(r.Columns, func(c experiments.Column) bool { return c.Name == "verdict" })
	if at < 0 {
		return
	}
	if p.Verdicts == nil {
		for _, d := range docs() {
			if d.Verdict == experiments.ControlOK || d.Verdict == experiments.ControlFailed {
				p.Controls = append(p.Controls, d)
			} else {
				p.Verdicts = append(p.Verdicts, d)
			}
		}
	}
	controls, good := 0, 0
	for _, line := range r.Table {
		v := line[at]
		for _, to := range [][]tally{p.Verdicts, p.Controls} {
			for i := range to {
				if to[i].Verdict == v {
					to[i].N++
				}
			}
		}
		switch v {
		case experiments.ControlOK:
			controls, good = controls+1, good+1
			continue
		case experiments.ControlFailed:
			controls++
			continue
		case experiments.Agree:
			s.Agree++
		case experiments.AgreeWide:
			s.Wide++
		case experiments.DifferExpected:
			s.Expected++
		case experiments.Differ, experiments.Failed:
			s.Bad++
		default:
			s.Other++
		}
		s.Cells++
	}
	p.Cells += s.Cells
	s.Controls = fmt.Sprintf("%d of %d", good, controls)
}

// folded are columns that a reader of the page does without; they stay in the
// files.
func folded(name string) bool {
	switch name {
	case "experiment", "events", "design_effect", "fill":
		return true
	}
	return false
}

// table makes the table of the section: a value and the two ends of its interval
// share a column, columns of one value stand above the table, empty ones go, and so
// do the controls, which are of other filters, hashes and keys.
func (s *section) table(r experiments.Published) {
	column := map[string]int{}
	for i, c := range r.Columns {
		column[c.Name] = i
	}
	var lines [][]string
	for _, line := range r.Table {
		if v, ok := column["verdict"]; !ok || line[v] != experiments.ControlOK && line[v] != experiments.ControlFailed {
			lines = append(lines, line)
		}
	}
	var at []int
	for i, c := range r.Columns {
		base := strings.TrimSuffix(strings.TrimSuffix(c.Name, "_lo"), "_hi")
		if _, end := column[base]; folded(c.Name) || end && base != c.Name {
			continue
		}
		same := true
		for _, line := range lines {
			same = same && line[i] == lines[0][i]
		}
		switch {
		case !same:
			at = append(at, i)
			s.Head = append(s.Head, heading{Column: c})
		case len(lines) > 0 && lines[0][i] != "":
			s.Constant = append(s.Constant, fact{c.Name, lines[0][i], c.Doc})
		}
	}
	for _, line := range lines {
		var cells []cell
		for j, i := range at {
			c := cell{Text: digits(line[i])}
			name := r.Columns[i].Name
			lo, hasLo := column[name+"_lo"]
			hi, hasHi := column[name+"_hi"]
			if hasLo && hasHi && (line[lo] != "" || line[hi] != "") {
				c.Text += " [" + digits(line[lo]) + ", " + digits(line[hi]) + "]"
			}
			if _, err := strconv.ParseFloat(line[i], 64); err != nil && line[i] != "" {
				c.Left, s.Head[j].Left = true, true
			}
			if name == "verdict" {
				c.Mark = mark(line[i])
			}
			cells = append(cells, c)
		}
		s.Rows = append(s.Rows, cells)
	}
}

// digits shortens a fraction to four digits; whole numbers and words stay.
func digits(s string) string {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !strings.ContainsAny(s, ".e") {
		return s
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// machine notes where an experiment ran.
func (p *page) machine(r experiments.Published) {
	e := r.Env
	if e.CPU == "" {
		return // no env.json
	}
	m := machine{
		CPU: fmt.Sprintf("%s, %d logical processors", e.CPU, e.Cores),
		System: fmt.Sprintf("%s/%s (%s), kernel %s, transparent huge pages %s",
			e.OS, e.Arch, e.ArchLevel, e.Kernel, e.HugePages),
		Caches: fmt.Sprintf("L1d %s, L2 %s, L3 %s", size(e.Caches.L1d), size(e.Caches.L2), size(e.Caches.L3)),
		Go:     fmt.Sprintf("%s, GOMAXPROCS %d", e.Go, e.GOMAXPROCS),
	}
	if e.BuildTags != "" {
		m.Go += ", tags " + e.BuildTags
	}
	i := slices.IndexFunc(p.Machines, func(o machine) bool {
		return o.CPU == m.CPU && o.System == m.System && o.Caches == m.Caches && o.Go == m.Go
	})
	if i < 0 {
		i = len(p.Machines)
		p.Machines = append(p.Machines, m)
	}
	to := &p.Machines[i]
	this := run{Revision: fmt.Sprintf("%.12s", e.Revision), Start: e.Start.UTC().Format("2006-01-02"), Command: strings.Join(e.Command, " ")}
	if e.Dirty == "true" {
		this.Revision += " with changes"
	}
	j := slices.IndexFunc(to.Runs, func(o run) bool {
		return o.Revision == this.Revision && o.Start == this.Start && o.Command == this.Command
	})
	if j < 0 {
		this.Experiments = r.Experiment.Name
		to.Runs = append(to.Runs, this)
		return
	}
	to.Runs[j].Experiments += ", " + r.Experiment.Name
}

func size(bytes uint64) string {
	if bytes == 0 {
		return "unknown"
	}
	return units.FormatBytes(bytes)
}

// addClaims takes the ledger into the page.
func (p *page) addClaims(out string) error {
	judged, err := experiments.JudgeClaims(out)
	if err != nil {
		return err
	}
	p.Tally = experiments.Tally(judged)
	for i := range judged {
		j := &judged[i]
		verdict := j.Verdict
		if j.If != "" {
			verdict += " " + j.If
		}
		p.Claims = append(p.Claims, claim{
			ID: j.Claim.ID, Text: j.Claim.Text, Source: j.Claim.Source, Stated: j.Claim.Stated,
			Verdict: verdict, Mark: mark(j.Verdict), Said: j.Said, Told: j.Told(),
		})
	}
	return nil
}
