package experiments

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteIndex writes out/README.md: for every experiment that has results its
// question, what was found and its figures, and then what each column means.
func WriteIndex(out string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Results\n\nMade by `filterlab run`; nothing here is edited by hand. Each folder holds the exact samples (`%s`, the same byte for byte "+
		"from the same seed), the samples that depend on a clock or an allocator (`%s`), the table made from both (`%s`), the machine (`%s`), and figures as SVG and PNG.\n",
		samplesFile, timesFile, summaryFile, envFile)
	if _, err := os.Stat(filepath.Join(out, ClaimsFile)); err == nil {
		fmt.Fprintf(&b, "\nWhat people say about filters, held against these rows: [%s](%s).\n", ClaimsFile, ClaimsFile)
	}
	b.WriteString("\nMade beside them by other commands: `index.html`, all of this as one page (`filterlab report`); `skyline/`, which filter is best for which number of keys and price " +
		"of a false positive (`filterlab skyline`); `peers/`, the filters of other libraries in the same races (`make peers`).\n")
	for _, e := range All() {
		finding, err := os.ReadFile(filepath.Join(out, e.Name, findingFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", e.Name, e.Question, finding)
		figures, err := filepath.Glob(filepath.Join(out, e.Name, "*.svg"))
		if err != nil {
			return err
		}
		for _, f := range figures {
			name := filepath.Base(f)
			fmt.Fprintf(&b, "\n![%s](%s/%s)\n", name[:len(name)-len(".svg")], e.Name, name)
		}
	}
	fmt.Fprintf(&b, "\n## Columns of %s\n\nAn empty cell was not measured or does not apply. Intervals are at 95%%.\n\n| column | unit | meaning |\n|---|---|---|\n", summaryFile)
	for _, c := range columns() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, c.Unit, c.Doc)
	}
	for _, e := range All() {
		for _, c := range valueColumns(e.Values) {
			fmt.Fprintf(&b, "| %s | %s | %s (%s only) |\n", c.Name, c.Unit, c.Doc, e.Name)
		}
	}
	fmt.Fprintf(&b, "\n## Columns of %s and %s\n\nOne exact value a row.\n\n| column | meaning |\n|---|---|\n", samplesFile, timesFile)
	for _, c := range rowColumns() {
		fmt.Fprintf(&b, "| %s | %s |\n", c.name, c.doc)
	}
	b.WriteString("\n| metric | value |\n|---|---|\n")
	for _, m := range metrics() {
		fmt.Fprintf(&b, "| %s | %s |\n", m.name, m.doc)
	}
	return writeAtomic(filepath.Join(out, "README.md"), b.Bytes())
}
