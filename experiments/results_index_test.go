package experiments

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder is every file below a folder, by path.
func folder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Making tables, figures, findings and the index anew from the same rows changes
// no byte; and what is not made any more goes.
func TestRemakeChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of drawing")
	}
	o := tinyOptions(t)
	o.Overrides = []Override{{"words", []string{"3"}}}
	e := Teaching()
	if _, err := Run(t.Context(), e, o); err != nil {
		t.Fatal(err)
	}
	if err := WriteIndex(o.Out); err != nil {
		t.Fatal(err)
	}
	before := folder(t, o.Out)
	for _, name := range []string{"README.md", "teaching/samples.csv", "teaching/times.csv", "teaching/summary.csv", "teaching/env.json", "teaching/run.json", "teaching/finding.txt", "teaching/teaching.svg", "teaching/teaching.png"} {
		if len(before["/"+name]) == 0 {
			t.Errorf("%s is missing or empty", name)
		}
	}
	stale := filepath.Join(o.Out, "teaching", "of-an-earlier-version.svg")
	if err := os.WriteFile(stale, []byte("<svg/>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Remake(e, o.Out); err != nil {
		t.Fatal(err)
	}
	if err := WriteIndex(o.Out); err != nil {
		t.Fatal(err)
	}
	after := folder(t, o.Out)
	for name, b := range before {
		if !bytes.Equal(after[name], b) {
			t.Errorf("%s changed", name)
		}
	}
	for name := range after {
		if before[name] == nil {
			t.Errorf("%s is new or was left", name)
		}
	}
}

// The index explains every column and metric that any experiment writes, and
// shows what was found.
func TestIndexExplainsEveryColumn(t *testing.T) {
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "fpr-vs-k"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"finding.txt": "It was found.\n", "fpr-vs-k.svg": "<svg/>"} {
		if err := os.WriteFile(filepath.Join(out, "fpr-vs-k", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteIndex(out); err != nil {
		t.Fatal(err)
	}
	index := string(read(t, out, "README.md"))
	for _, want := range []string{"## fpr-vs-k\n", FPRvsK().Question, "It was found.", "![fpr-vs-k](fpr-vs-k/fpr-vs-k.svg)"} {
		if !strings.Contains(index, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(index, "## memory") {
		t.Error("an experiment without results is shown")
	}
	_, tables, _ := strings.Cut(index, "\n## Columns of summary.csv")
	explained := map[string]bool{}
	for _, line := range strings.Split(tables, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "|---") {
			continue
		}
		if len(cells) < 2 || strings.TrimSpace(cells[len(cells)-1]) == "" {
			t.Errorf("a line without a meaning: %q", line)
		}
		explained[strings.TrimSpace(cells[0])] = true
	}
	for _, c := range columns() {
		if !explained[c.Name] {
			t.Errorf("column %s of summary.csv is not explained", c.Name)
		}
	}
	for _, e := range All() {
		for _, c := range valueColumns(e.Values) {
			if !explained[c.Name] {
				t.Errorf("column %s of %s is not explained", c.Name, e.Name)
			}
		}
	}
	for _, c := range rowColumns() {
		if !explained[c.name] {
			t.Errorf("column %s of samples.csv is not explained", c.name)
		}
	}
	for _, m := range metrics() {
		if !explained[m.name] {
			t.Errorf("metric %s is not explained", m.name)
		}
	}
}
