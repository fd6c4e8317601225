package experiments

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"filterlab/experiments/figure"
)

// Verify checks that the results of e in out say what their rows say: it makes
// the summary, the verdicts, the finding and the figures anew and compares them
// with the files, byte for byte. The error names the first difference. It changes
// nothing and takes seconds.
func Verify(e Experiment, out string) error {
	made, _, _, err := derive(e, out)
	if err != nil {
		return err
	}
	dir := filepath.Join(out, e.Name)
	for _, f := range made {
		have, err := os.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return err
		}
		if d := firstDifference(have, f.bytes); d != "" {
			return fmt.Errorf("%s: is not what the rows give: %s", filepath.Join(dir, f.name), d)
		}
	}
	return nil
}

// Rerun repeats every exact row of e: it measures again, with the seed, the
// profile and the grid that the results in out were made with, and compares
// samples.csv byte for byte. Timed measures are left out where they have no exact
// rows. Results of key files are repeated when files names the same ones.
//
// After within (0: no limit) it stops between two groups of points and compares
// what it has: groups are measured in the order in which the rows stand, so that
// it is the beginning of samples.csv. Of the groups, which include the controls,
// it returns how many were measured again.
func Rerun(ctx context.Context, e Experiment, out string, files *FileKeys, within time.Duration, log io.Writer, terminal bool) (again, of int, err error) {
	path := filepath.Join(out, e.Name, runFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	if id.Keys != files.identity() {
		return 0, 0, fmt.Errorf("%s: made with keys %q, and they are now %q", path, id.Keys, files.identity())
	}
	tmp, err := os.MkdirTemp("", "filterlab-verify-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(tmp)
	exact := e
	exact.Measures = nil
	for _, m := range e.Measures {
		if !m.Timed || m.Exact {
			exact.Measures = append(exact.Measures, m)
		}
	}
	o := Options{Profile: id.Profile, Out: tmp, Seed: id.Seed, Overrides: id.Axes, Files: files, Log: log, Terminal: terminal}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if within > 0 {
		limited, cancel = context.WithTimeout(ctx, within)
	}
	defer cancel()
	have := filepath.Join(tmp, e.Name)
	switch err := measureAll(limited, exact, o); {
	case err == nil:
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		have = filepath.Join(have, partialDir)
	default:
		return 0, 0, err
	}
	want, err := os.ReadFile(filepath.Join(out, e.Name, samplesFile))
	if err != nil {
		return 0, 0, err
	}
	got, err := os.ReadFile(filepath.Join(have, samplesFile))
	if err != nil {
		return 0, 0, err
	}
	if of, err = countGroups(exact, o); err != nil {
		return 0, 0, err
	}
	again = of
	if filepath.Base(have) == partialDir {
		log, err := os.ReadFile(filepath.Join(have, journalFile))
		if err != nil {
			return 0, 0, err
		}
		again = max(bytes.Count(log, []byte("\n"))-1, 0) // the first line stands for the headers
		want = want[:min(len(want), len(got))]
	}
	if d := firstDifference(want, got); d != "" {
		return again, of, fmt.Errorf("%s: measuring again gives something else: %s", filepath.Join(out, e.Name, samplesFile), d)
	}
	return again, of, nil
}

// countGroups is the number of groups that a run of e visits.
func countGroups(e Experiment, o Options) (int, error) {
	grid, err := o.grid(e)
	if err != nil {
		return 0, err
	}
	groups, err := grid.Points(o.Seed)
	if err != nil {
		return 0, err
	}
	more, err := controls()
	return len(groups) + len(more), err
}

// firstDifference says where two texts differ first, or nothing.
func firstDifference(a, b []byte) string {
	if bytes.Equal(a, b) {
		return ""
	}
	la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(la), len(lb)) {
		if !bytes.Equal(la[i], lb[i]) {
			return fmt.Sprintf("line %d is\n  %.200s\nand should be\n  %.200s", i+1, la[i], lb[i])
		}
	}
	return fmt.Sprintf("%d lines, and should be %d", len(la), len(lb))
}

// file is one derived file of an experiment.
type file struct {
	name  string
	bytes []byte
}

// derive makes every derived file of e from the rows in out, without writing any.
func derive(e Experiment, out string) (files []file, cells []Cell, finding string, err error) {
	rows, env, err := Load(e, out)
	if err != nil {
		return nil, nil, "", err
	}
	cells, err = Cells(e, rows)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", e.Name, err)
	}
	summary, err := writeSummary(e, cells)
	if err != nil {
		return nil, nil, "", err
	}
	// Figures and findings speak of the grid; the controls are in the table.
	shown := withoutControls(cells)
	if len(shown) == 0 {
		return nil, nil, "", fmt.Errorf("%s: no rows but those of controls", e.Name)
	}
	finding = e.Finding(shown) + " Controls: " + verdicts(cells[len(shown):]) + "."
	files = []file{{summaryFile, summary}, {findingFile, []byte(finding + "\n")}}
	for _, f := range e.Figures(shown, about(shown, env)) {
		for _, format := range []string{"svg", "png"} {
			b, err := figure.Render(f, format)
			if errors.Is(err, figure.ErrEmpty) {
				break // every point was refused, or none had an event: the table says so
			}
			if err != nil {
				return nil, nil, "", fmt.Errorf("%s: %w", e.Name, err)
			}
			files = append(files, file{f.Stem() + "." + format, b})
		}
	}
	return files, cells, finding, nil
}

// withoutControls are the cells of the grid, which come first.
func withoutControls(cells []Cell) []Cell {
	var out []Cell
	for i := range cells {
		if cells[i].Role == "" {
			out = append(out, cells[i])
		}
	}
	return out
}
