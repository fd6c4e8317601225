package contest

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filterlab/experiments"
	"filterlab/experiments/measure"
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
// the ratios with the reasons that duels give, what other libraries do wrong, and the
// figures.
func WriteReport(dir string, duels []Duel) error {
	var b strings.Builder
	b.WriteString("# Other libraries\n\nMade by `make peers`, `make peers-large` and `make peers-kernels`; nothing here is edited by hand. ")
	fmt.Fprintf(&b, "%s\n\n", Survey().Question)
	if text, err := read(dir, "finding.txt"); err != nil {
		return err
	} else if text != "" {
		b.WriteString(text + "\n")
	}
	if err := ratioTables(&b, dir, duels); err != nil {
		return err
	}
	if err := evenTables(&b, dir); err != nil {
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
		{"-1e8", "Ratios at the largest sizes"},
		{"-prefetch", "Ratios without vectors (GODEBUG=cpu.avx2=off): Go with a prefetch instruction"},
		{"-purego", "Ratios of pure Go (tag purego), against parquet-go's assembly all the same"},
	}
}

// WriteEnv writes down what the ratios of a suffix were measured with.
func WriteEnv(dir, suffix string, env measure.Env) error {
	b, err := json.MarshalIndent(env, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, RatiosStem+suffix+"_env.json"), append(b, '\n'))
}

// machine says what the ratios of a suffix were measured with, and nothing where that
// is not known.
func machine(dir, suffix string) (string, error) {
	text, err := read(dir, RatiosStem+suffix+"_env.json")
	if err != nil || text == "" {
		return "", err
	}
	var env measure.Env
	if err := json.Unmarshal([]byte(text), &env); err != nil {
		return "", fmt.Errorf("%s: %w", RatiosStem+suffix+"_env.json", err)
	}
	level := env.ArchLevel
	if env.BuildTags != "" {
		level += ", tags " + env.BuildTags
	}
	return fmt.Sprintf("%s, %d cores, %s %s (%s), %s, one core used", env.CPU, env.Cores, env.OS, env.Arch, level, env.Go), nil
}

// table is a CSV file with its columns by name.
type table struct {
	at   map[string]int
	rows [][]string
}

// readTable reads dir/name; a file that is not there has no rows.
func readTable(dir, name string) (table, error) {
	text, err := read(dir, name)
	if err != nil || text == "" {
		return table{}, err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return table{}, fmt.Errorf("%s: %w", name, err)
	}
	t := table{map[string]int{}, rows[1:]}
	for i, name := range rows[0] {
		t.at[name] = i
	}
	return t, nil
}

// get is the cell of a row in the named column, empty where there is no such column.
func (t *table) get(row []string, name string) string {
	if i, ok := t.at[name]; ok {
		return row[i]
	}
	return ""
}

// keys is the number of keys of a row, as people write it.
func (t *table) keys(row []string) (string, error) {
	n, err := strconv.ParseUint(t.get(row, "n"), 10, 64)
	return units.FormatCount(n), err
}

func ratioTables(b *strings.Builder, dir string, duels []Duel) error {
	for _, t := range titles() {
		rows, err := readTable(dir, RatiosStem+t.suffix+".csv")
		if err != nil {
			return err
		}
		if len(rows.rows) == 0 {
			continue
		}
		fmt.Fprintf(b, "## %s\n\n", t.title)
		on, err := machine(dir, t.suffix)
		if err != nil {
			return err
		}
		if on != "" {
			b.WriteString(on + ". ")
		}
		b.WriteString("How many times as fast ours is: the median of the paired ratios of gross times in one race, its exact 95% sign interval, and the noise, which is how far " +
			"ours, timed twice in that race, differs from itself. Both sides have a promised rate of 1% unless they share their bits.\n\n")
		b.WriteString("| duel | against | keys | op | ratio | interval | noise | wanted | reached | ours, ns | theirs, ns | ours | rate, ours / theirs | bits per key, ours / theirs |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		var whys []string
		reasons := map[string]string{}
		for _, d := range duels {
			if d.Why != "" {
				reasons[d.Name+d.Theirs] = d.Why
			}
		}
		for _, r := range rows.rows {
			get := func(name string) string { return rows.get(r, name) }
			if get("note") != "" && get("wanted") == "" {
				continue
			}
			n, err := rows.keys(r)
			if err != nil {
				return err
			}
			if note := get("note"); note != "" {
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s | | | %s | | | | | | |\n", get("duel"), label(get("theirs")), n, get("op"), note, get("wanted"))
				continue
			}
			ratio := get("ratio")
			if get("separated") != "true" {
				ratio += " (not separated)"
			}
			fmt.Fprintf(b, "| %s | %s (%s) | %s | %s | %s | %s to %s | %s | %s | %s | %s | %s | %s %s | %s / %s | %s / %s |\n",
				get("duel"), label(get("theirs")), get("theirs_api"), n, get("op"), ratio,
				get("ratio_lo"), get("ratio_hi"), get("noise"), get("wanted"), get("reached"), get("ours_ns"), get("theirs_ns"),
				get("ours_api"), get("ours_kernel"), percent(get("ours_fpr")), percent(get("theirs_fpr")), get("ours_bits_per_key"), get("theirs_bits_per_key"))
			if why := reasons[get("duel")+get("theirs")]; why != "" && get("reached") == notReached {
				reason := fmt.Sprintf("- %s, against %s: %s.\n", get("duel"), label(get("theirs")), why)
				if !slices.Contains(whys, reason) {
					whys = append(whys, reason)
				}
			}
		}
		b.WriteString("\n")
		if len(whys) > 0 {
			b.WriteString("Not reached, and why:\n\n" + strings.Join(whys, "") + "\n")
		}
	}
	return nil
}

// WriteMarkdown writes the ratios that are claimed, those of presence and absence of a
// key in one line, with what they were measured on: the table of a README.
func WriteMarkdown(w io.Writer, dir string) error {
	for _, t := range titles() {
		rows, err := readTable(dir, RatiosStem+t.suffix+".csv")
		if err != nil {
			return err
		}
		on, err := machine(dir, t.suffix)
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, r := range rows.rows {
			get := func(name string) string { return rows.get(r, name) }
			if get("wanted") == "" || get("note") != "" {
				continue
			}
			n, err := rows.keys(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s× (%s to %s) | %s | %s | %s |\n", label(get("theirs")), get("duel"), get("op"), n,
				short(get("ratio")), short(get("ratio_lo")), short(get("ratio_hi")), percent(get("noise")), get("wanted"), get("reached"))
		}
		if b.Len() == 0 {
			continue
		}
		if on != "" {
			on = ", " + on
		}
		if _, err := fmt.Fprintf(w, "%s%s:\n\n| against | job | op | keys | ratio (95%% interval) | noise | wanted | reached |\n|---|---|---|---|---|---|---|---|\n%s\n", t.title, on, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// short is a ratio of a CSV cell in three digits.
func short(s string) string {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// evenTables writes what the filters spend at the same promised rate and at the same
// measured one.
func evenTables(b *strings.Builder, dir string) error {
	survey, err := readTable(dir, "summary.csv")
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, r := range survey.rows {
		get := func(name string) string { return survey.get(r, name) }
		if get("role") != "" || get("p") != "0.01" || (get("ns_miss") == "" && get("ns_add") == "") {
			continue
		}
		n, err := survey.keys(r)
		if err != nil {
			return err
		}
		bytes := ""
		if x, err := strconv.ParseFloat(get("bytes"), 64); err == nil {
			if keys, err := strconv.ParseFloat(get("n"), 64); err == nil {
				bytes = fmt.Sprintf("%.3g", 8*x/keys)
			}
		}
		fmt.Fprintf(&lines, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", n, label(get("filter")), get("api"),
			short(get("bits_per_key")), percent(get("fpr")), short(get("ns_hit")), short(get("ns_miss")), short(get("ns_add")), bytes, short(get(experiments.MetricAllocs)))
	}
	if lines.Len() > 0 {
		b.WriteString("## At the same promised rate\n\nAll were asked for 1%. ns per key, medians; `summary.csv` has intervals and noise.\n\n" +
			"| keys | filter | api | bits per key | measured rate | present, ns | absent, ns | add, ns | heap, bits per key | allocations to build |\n|---|---|---|---|---|---|---|---|---|---|\n" + lines.String() + "\n")
	}
	even, err := readTable(dir, equalFile)
	if err != nil || len(even.rows) == 0 {
		return err
	}
	b.WriteString("## At the same measured rate\n\nEach was asked for the rate at which it errs at 1% as measured, or as near to that as its sizes come. " +
		"ns per key, medians of one race: single calls net of the loop, batches gross.\n\n" +
		"| keys | filter | asked for | measured rate | bits per key | present, ns | absent, ns | present, ns, batch | absent, ns, batch |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range even.rows {
		get := func(name string) string { return even.get(r, name) }
		n, err := even.keys(r)
		if err != nil {
			return err
		}
		if note := get("note"); note != "" {
			fmt.Fprintf(b, "| %s | %s | %s | | | | | | |\n", n, label(get("filter")), note)
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", n, label(get("filter")), percent(get("p_asked")), percent(get("fpr")),
			short(get("bits_per_key")), short(get("ns_hit_single")), short(get("ns_miss_single")), short(get("ns_hit_batch")), short(get("ns_miss_batch")))
	}
	b.WriteString("\n")
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
