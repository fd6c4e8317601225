package experiments

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filterlab/experiments/measure"
)

// Column names a column of a table, with its unit and what it means.
type Column struct{ Name, Unit, Doc string }

// Published is what a run of an experiment left for readers: the derived files,
// which Verify holds against the rows, and where they come from.
type Published struct {
	Experiment Experiment
	Finding    string
	Columns    []Column
	Table      [][]string // a line for each cell, as in summary.csv
	Figures    []Picture
	Env        measure.Env
	Profile    string // name of the profile; empty when unknown
	Keys       string // key files, by name and content; empty for key sets
}

// Picture is a figure as it was drawn.
type Picture struct {
	Name string
	SVG  []byte
}

// ReadPublished reads what the run of e in out left. The error is fs.ErrNotExist
// where there was none.
func ReadPublished(e Experiment, out string) (Published, error) {
	p := Published{Experiment: e}
	dir := filepath.Join(out, e.Name)
	table, err := os.Open(filepath.Join(dir, summaryFile))
	if err != nil {
		return p, err
	}
	p.Table, err = csv.NewReader(table).ReadAll()
	table.Close()
	if err != nil || len(p.Table) == 0 {
		return p, fmt.Errorf("%s: %w", table.Name(), errors.Join(err, errors.New("want a header line and rows")))
	}
	docs := map[string]Column{}
	for _, c := range append(columns(), valueColumns(e.Values)...) {
		docs[c.Name] = Column{c.Name, c.Unit, c.Doc}
	}
	for _, name := range p.Table[0] {
		c := docs[name]
		c.Name = name // a column of an earlier version has no doc
		p.Columns = append(p.Columns, c)
	}
	p.Table = p.Table[1:]

	finding, err := os.ReadFile(filepath.Join(dir, findingFile))
	if err != nil {
		return p, err
	}
	p.Finding = strings.TrimSpace(string(finding))
	figures, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return p, err
	}
	for _, path := range figures {
		svg, err := os.ReadFile(path)
		if err != nil {
			return p, err
		}
		p.Figures = append(p.Figures, Picture{strings.TrimSuffix(filepath.Base(path), ".svg"), svg})
	}
	if err := readJSON(filepath.Join(dir, envFile), &p.Env); err != nil {
		return p, err
	}
	var id identity
	if err := readJSON(filepath.Join(dir, runFile), &id); err != nil {
		return p, err
	}
	p.Profile, p.Keys = id.Profile.Name, id.Keys
	return p, nil
}

// readJSON reads a file into v, and nothing where there is none: facts about the
// run may be missing, rows not.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Told is what each case of the claim measured, with its interval.
func (j *Judgment) Told() []string {
	var all []string
	for i := range j.Cases {
		k := &j.Cases[i]
		s := ""
		if k.Case.If != "" {
			s = "if " + k.Case.If + ": "
		}
		if k.Verdict == NoRows {
			s += NoRows
		} else {
			s += j.Claim.tell(k.Measured)
		}
		all = append(all, s)
	}
	return all
}

// WriteFile writes a derived file so that a reader sees the old one or the new
// one, and never a part.
func WriteFile(path string, b []byte) error { return writeAtomic(path, b) }
