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
// samples.csv byte for byte. Timed measures are left out. Results of key files are
// repeated when o names the same files.
func Rerun(ctx context.Context, e Experiment, out string, files *FileKeys, log io.Writer, terminal bool) error {
	path := filepath.Join(out, e.Name, runFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if id.Keys != files.identity() {
		return fmt.Errorf("%s: made with keys %q, and they are now %q", path, id.Keys, files.identity())
	}
	tmp, err := os.MkdirTemp("", "filterlab-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	exact := e
	exact.Measures = nil
	for _, m := range e.Measures {
		if !m.Timed {
			exact.Measures = append(exact.Measures, m)
		}
	}
	o := Options{Profile: id.Profile, Out: tmp, Seed: id.Seed, Overrides: id.Axes, Files: files, Log: log, Terminal: terminal}
	if err := measureAll(ctx, exact, o); err != nil {
		return err
	}
	want, err := os.ReadFile(filepath.Join(out, e.Name, samplesFile))
	if err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(tmp, e.Name, samplesFile))
	if err != nil {
		return err
	}
	if d := firstDifference(want, got); d != "" {
		return fmt.Errorf("%s: measuring again gives something else: %s", filepath.Join(out, e.Name, samplesFile), d)
	}
	return nil
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
