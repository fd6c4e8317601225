package catalog_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module, seen from this one.
const root = "../.."

// numbered finds the tests, fuzz targets and examples whose names begin with the
// numbers of known failures: TestA01_..., TestC01_C03_C06_..., also TestA16WholeKey.
func numbered(t *testing.T) map[string][]string {
	t.Helper()
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)((?:[A-Z][0-9]{2}_?)+)\w*)\(`)
	id := regexp.MustCompile(`[A-Z][0-9]{2}`)
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			for _, n := range id.FindAllString(m[2], -1) {
				found[n] = append(found[n], filepath.ToSlash(dir)+"."+m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestKNOWN_FAILURES holds the list of faults that others reported against the tests
// of the module: each has a test of its number, or a line that says why it cannot
// happen here. go test -v -run KNOWN_FAILURES ./filters/catalog prints the table.
func TestKNOWN_FAILURES(t *testing.T) {
	text, err := os.ReadFile("testdata/known_failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	found := numbered(t)
	var table strings.Builder
	known := map[string]bool{}
	tests, reasons := 0, 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 2 || len(fields) > 3 {
			t.Fatalf("%q: want number, fault and perhaps a reason, with tabs between", line)
		}
		id, title, why := fields[0], fields[1], ""
		if len(fields) == 3 {
			why = fields[2]
		}
		if known[id] {
			t.Errorf("%s stands in the list twice", id)
		}
		known[id] = true
		names := found[id]
		slices.Sort(names)
		switch {
		case len(names) > 0 && why != "":
			t.Errorf("%s cannot happen (%s), and yet has a test: %s", id, why, names[0])
		case len(names) > 0:
			tests++
			why = strings.Join(names, ", ")
		case why != "":
			reasons++
			why = "cannot happen: " + why
		default:
			t.Errorf("%s (%s) has neither a test nor a reason", id, title)
		}
		fmt.Fprintf(&table, "\n%s  %-70s  %s", id, title, why)
	}
	for id, names := range found {
		if !known[id] {
			t.Errorf("%s is a test for %s, which is no known failure", names[0], id)
		}
	}
	t.Logf("KNOWN_FAILURES: %d faults, %d with tests, %d that cannot happen%s", len(known), tests, reasons, table.String())
}

// H05: no benchmark stops its timer inside its loop, which makes it run for minutes
// and measures the stopping; what must be set up is set up before.
func TestH05_NoTimerInsideALoop(t *testing.T) {
	// Written apart, so that this file does not find itself.
	calls := regexp.MustCompile(`\b[a-z]\.(` + "Stop" + `Timer|` + "Start" + `Timer)\(\)`)
	// Fills a filter to a load before each 10,000 adds that are timed.
	const reviewed = root + "/filters/cuckoo/cuckoo_test.go"
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if at := calls.Find(text); at != nil && filepath.ToSlash(path) != reviewed {
			t.Errorf("%s calls %s: set up before the loop, or time a batch", path, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}
