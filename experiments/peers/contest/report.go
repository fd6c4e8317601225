package contest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filterlab/experiments/units"
)

// Files in the results folder, beside those that every experiment has.
const (
	RatiosStem      = "ratios"
	conformanceFile = "conformance.csv"
	tableFile       = "conformance.md"
)

// WriteConformance writes what the suite found, as CSV and as a table.
func WriteConformance(dir string, fs []Finding) error {
	b, err := conformanceCSV(fs)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, conformanceFile), b); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, tableFile), []byte(conformanceTable(fs)))
}

// WriteReport writes dir/README.md from the files that are in dir: what was found,
// the ratios, what other libraries do wrong, and the figures.
func WriteReport(dir string) error {
	var b strings.Builder
	b.WriteString("# Other libraries\n\nMade by `make peers`; nothing here is edited by hand. ")
	fmt.Fprintf(&b, "%s\n\n", Survey().Question)
	if text, err := read(dir, "finding.txt"); err != nil {
		return err
	} else if text != "" {
		b.WriteString(text + "\n")
	}
	if err := ratioTables(&b, dir); err != nil {
		return err
	}
	if text, err := read(dir, tableFile); err != nil {
		return err
	} else if text != "" {
		b.WriteString("## What other libraries do against the contract\n\nClauses of the conformance suite that a library breaks, " +
			"with the first failure that the suite reports; `" + conformanceFile + "` has all clauses and the versions.\n\n" + text + "\n")
	}
	figures, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	if len(figures) > 0 {
		b.WriteString("## Figures\n")
	}
	for _, f := range figures {
		name := filepath.Base(f)
		fmt.Fprintf(&b, "\n![%s](%s)\n", strings.TrimSuffix(name, ".svg"), name)
	}
	b.WriteString("\n## Columns of " + RatiosStem + ".csv\n\n| column | meaning |\n|---|---|\n")
	for _, c := range ratioColumns() {
		fmt.Fprintf(&b, "| %s | %s |\n", c.name, c.doc)
	}
	return writeFile(filepath.Join(dir, "README.md"), []byte(b.String()))
}

// read is the text of a file, and nothing where there is none.
func read(dir, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// titles name the files of ratios by what is appended to the stem.
func titles() []struct{ suffix, title string } {
	return []struct{ suffix, title string }{
		{"", "Ratios"},
		{"-prefetch", "Ratios without vectors (GODEBUG=cpu.avx2=off): Go with a prefetch instruction"},
		{"-purego", "Ratios of pure Go (tag purego), against parquet-go's assembly all the same"},
	}
}

func ratioTables(b *strings.Builder, dir string) error {
	for _, t := range titles() {
		text, err := read(dir, RatiosStem+t.suffix+".csv")
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			return err
		}
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		fmt.Fprintf(b, "## %s\n\n", t.title)
		if t.suffix == "" {
			b.WriteString("How many times as fast ours is: the median of the paired ratios of gross times in one race, its exact 95% sign interval, and the noise, which is how far " +
				"ours, timed twice in that race, differs from itself. Both sides have a promised rate of 1% unless they share their bits.\n\n")
		}
		b.WriteString("| duel | against | keys | op | ratio | interval | noise | wanted | reached | ours, ns | theirs, ns | ours | rate, ours / theirs | bits per key, ours / theirs |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		for _, r := range rows[1:] {
			get := func(name string) string { return r[at[name]] }
			if get("note") != "" && get("wanted") == "" {
				continue
			}
			var n uint64
			if _, err := fmt.Sscan(get("n"), &n); err != nil {
				return err
			}
			if note := get("note"); note != "" {
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s | | | %s | | | | | | |\n", get("duel"), label(get("theirs")), units.FormatCount(n), get("op"), note, get("wanted"))
				continue
			}
			ratio := get("ratio")
			if get("separated") != "true" {
				ratio += " (not separated)"
			}
			fmt.Fprintf(b, "| %s | %s (%s) | %s | %s | %s | %s to %s | %s | %s | %s | %s | %s | %s %s | %s / %s | %s / %s |\n",
				get("duel"), label(get("theirs")), get("theirs_api"), units.FormatCount(n), get("op"), ratio,
				get("ratio_lo"), get("ratio_hi"), get("noise"), get("wanted"), get("reached"), get("ours_ns"), get("theirs_ns"),
				get("ours_api"), get("ours_kernel"), percent(get("ours_fpr")), percent(get("theirs_fpr")), get("ours_bits_per_key"), get("theirs_bits_per_key"))
		}
		b.WriteString("\n")
	}
	return nil
}

// percent writes a rate from a CSV cell as people read it.
func percent(s string) string {
	var x float64
	if _, err := fmt.Sscan(s, &x); err != nil {
		return s
	}
	return fmt.Sprintf("%.3g%%", 100*x)
}
