package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"filterlab/experiments"
	"filterlab/experiments/units"
)

// wordList is a file of n distinct words, as Windows writes it, that ends without
// a newline and repeats its first word.
func wordList(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d%c\r\n", i*7919, 'a'+rune(i%26))
	}
	return b.String() + "word0a"
}

// summary reads a column of the summary.csv of an experiment, by header name.
func summary(t *testing.T, out, experiment string) []map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(out, experiment, "summary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// The same command twice leaves the same bytes: rows, table, figures, finding.
func TestSameCommandSameBytes(t *testing.T) {
	dir, bits := t.TempDir(), "6,10"
	if testing.Short() {
		bits = "6"
	}
	var made []map[string][]byte
	for _, out := range []string{"a", "b"} {
		out := filepath.Join(dir, out)
		code, stdout, stderr := filterlab("run", "fpr-vs-k", "--profile", "quick", "--seed", "7", "--bits-per-key", bits, "--k", "4,7", "--out", out)
		if code != exitOK {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		// I13: nothing but data on stdout, and a run has none.
		if stdout != "" {
			t.Errorf("a run wrote %q to stdout", stdout)
		}
		files := map[string][]byte{}
		for _, name := range []string{"samples.csv", "summary.csv", "finding.txt", "fpr-vs-k.svg", "fpr-vs-k.png"} {
			b, err := os.ReadFile(filepath.Join(out, "fpr-vs-k", name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = b
		}
		made = append(made, files)
	}
	for name := range made[0] {
		if !bytes.Equal(made[0][name], made[1][name]) {
			t.Errorf("%s differs between two runs with one seed", name)
		}
	}
	// What was made is what verify makes, and plot changes nothing.
	if code, stdout, stderr := filterlab("verify", filepath.Join(dir, "a"), "--rerun"); code != exitOK || stdout != "fpr-vs-k: ok\nindex.html: ok\n" {
		t.Errorf("verify: exit %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := filterlab("plot", "--out", filepath.Join(dir, "a")); code != exitOK {
		t.Errorf("plot: exit %d, %s", code, stderr)
	}
	for name, want := range made[1] {
		if got, err := os.ReadFile(filepath.Join(dir, "a", "fpr-vs-k", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("plot changed %s", name)
		}
	}
	// And it tells a table that somebody mended by hand.
	path := filepath.Join(dir, "b", "fpr-vs-k", "summary.csv")
	if err := os.WriteFile(path, bytes.Replace(made[1]["summary.csv"], []byte("agree"), []byte("AGREE"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := filterlab("verify", filepath.Join(dir, "b")); code != exitFailed || stdout != "" || !strings.Contains(stderr, "summary.csv") {
		t.Errorf("verify of a table that was changed: exit %d, %s%s", code, stdout, stderr)
	}
}

// The sizes of tables are exact rows of a measure that is timed, since it weighs the
// heap: verify --rerun makes them again and tells one that was changed.
func TestRerunWeighsAgain(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := filterlab("run", "memory", "--profile", "quick", "--filters", "standard", "--n", "1e4", "--p", "1%", "--out", dir); code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if code, _, stderr := filterlab("verify", dir, "--rerun"); code != exitOK {
		t.Errorf("exit %d, %s", code, stderr)
	}
	path := filepath.Join(dir, "memory", "samples.csv")
	samples, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(`,\d+,bits,95`).ReplaceAll(samples, []byte(",1,bits,95")) // another seed; 9.59 bits a key
	if bytes.Equal(changed, samples) {
		t.Fatalf("no size of a table in\n%s", samples)
	}
	if err := os.WriteFile(path, changed, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := filterlab("verify", dir, "--rerun"); code != exitFailed || !strings.Contains(stderr, "measuring again gives something else") {
		t.Errorf("after a change: exit %d, %s", code, stderr)
	}
}

// Where time is short, verify --rerun measures again from the first row on, says how
// far it came, and still sees a row of that part that was changed.
func TestVerifyInPart(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "fpr-vs-load", "--profile", "quick", "--filters", "standard,cuckoo(f=12)", "--p", "1%", "--out", dir}
	if testing.Short() {
		args = append(args, "--load", "1")
	}
	if code, _, stderr := filterlab(args...); code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if code, stdout, stderr := filterlab("verify", dir, "--rerun", "--within", "0"); code != exitOK || stdout != "fpr-vs-load: ok\nindex.html: ok\n" {
		t.Errorf("without a limit: exit %d, %s%s", code, stdout, stderr)
	}
	code, stdout, stderr := filterlab("verify", dir, "--rerun", "--within", "1ms")
	if code != exitOK || !strings.Contains(stdout, "groups of points measured again") {
		t.Errorf("a millisecond: exit %d, %s%s", code, stdout, stderr)
	}
	for _, line := range [][]string{{"--rerun", "--within", "x"}, {"--rerun", "--within", "-1s"}, {"--within", "1m"}} {
		if code, _, stderr := filterlab(append([]string{"verify", dir}, line...)...); code != exitUsage || !strings.Contains(stderr, "--within") {
			t.Errorf("%v: exit %d, %s", line, code, stderr)
		}
	}
	// Counts that nobody measured, with a summary that fits them: only measuring again
	// shows it.
	path := filepath.Join(dir, "fpr-vs-load", "samples.csv")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(`,fpr,(\d+),`).ReplaceAllStringFunc(string(b[:1000]), func(string) string { return ",fpr,1," })
	if err := os.WriteFile(path, append([]byte(changed), b[1000:]...), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := filterlab("plot", "--out", dir); code == exitUsage {
		t.Fatal(stderr)
	}
	if code, _, stderr := filterlab("verify", dir, "--rerun"); code != exitFailed || !strings.Contains(stderr, "measuring again gives something else") {
		t.Errorf("rows that nobody measured: exit %d, %s", code, stderr)
	}
}

// --precision decides how often is asked, beforehand, and stays in run.json. The
// planned numbers of lookups for 1% are those of the formula z²(1-p)/(p r²) at the rate
// that is expected.
func TestPrecision(t *testing.T) {
	trials := map[string]float64{}
	for _, precision := range []string{"10%", "0.05"} {
		dir := t.TempDir()
		code, _, stderr := filterlab("run", "fpr-vs-load", "--profile", "quick", "--filters", "cuckoo(f=12)", "--p", "1%", "--load", "1", "--n", "20000", "--precision", precision, "--out", dir)
		if code != exitOK {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		row := summary(t, dir, "fpr-vs-load")[0]
		value := func(name string) float64 {
			x, err := strconv.ParseFloat(row[name], 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return x
		}
		p := value("fpr_expected")
		want, err := units.ParseRate(precision)
		if err != nil {
			t.Fatal(err)
		}
		trials[precision] = value("trials")
		planned := 1.96 * 1.96 * (1 - p) / (p * want * want)
		if got := trials[precision] / planned; !(got > 1 && got < 1.06) { // 0.98 of the half-width is planned for
			t.Errorf("precision %s: %.0f lookups, %.3f of what the formula gives", precision, trials[precision], got)
		}
		b, err := os.ReadFile(filepath.Join(dir, "fpr-vs-load", "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		if field := fmt.Sprintf(`"Precision": %v,`, want); !strings.Contains(string(b), field) {
			t.Errorf("run.json has no %s: %s", field, b)
		}
		if code, _, stderr := filterlab("verify", dir, "--rerun"); code != exitOK {
			t.Errorf("verify --rerun: exit %d, %s", code, stderr)
		}
	}
	for _, bad := range []string{"0", "60%", "-1%", "x", "0.0001"} {
		if code, _, stderr := filterlab("run", "fpr-vs-load", "--precision", bad, "--out", t.TempDir()); code != exitUsage || !strings.Contains(stderr, "precision") && !strings.Contains(stderr, "rate") {
			t.Errorf("--precision %s: exit %d, %s", bad, code, stderr)
		}
	}
}

// Keys from a file work with every experiment. Its first filter stands for all: the
// keys are what is tried.
func TestKeysFromAFileWorkWithEveryExperiment(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "words.txt", wordList(1500))
	for _, e := range experiments.All() {
		if testing.Short() && e.Name != "fpr-vs-k" && e.Name != "hash-choice" {
			continue
		}
		args := []string{"run", e.Name, "--keys", keys, "--profile", "quick", "--out", dir}
		for _, axis := range e.Grid(experiments.Profiles()[0]).Axes {
			switch axis.Name {
			case "filters":
				args = append(args, "--filters", axis.Values[0])
			case "slots":
				args = append(args, "--slots", "2^8") // as many as there are words to fill
			}
		}
		code, _, stderr := filterlab(args...)
		if code != exitOK {
			t.Errorf("%s: exit %d, %s", e.Name, code, stderr)
			continue
		}
		if !strings.Contains(stderr, "words.txt: 1501 lines, 1500 distinct keys, 1 duplicates left out\n") {
			t.Errorf("%s: what became of the lines is not told: %s", e.Name, stderr)
		}
		measured := 0
		for _, row := range summary(t, dir, e.Name) {
			if strings.HasPrefix(row["verdict"], "control") {
				continue
			}
			if strings.HasPrefix(row["keys"], "file:words.txt") == e.OwnKeys {
				t.Errorf("%s, which has its own keys: %v: a row has keys %q", e.Name, e.OwnKeys, row["keys"])
			}
			got := row["fpr"] != "" || row["bytes"] != "" || row["stored"] != "" || row["ns_miss"] != ""
			for _, v := range e.Values {
				got = got || row[v.Metric] != ""
			}
			if got {
				measured++
			}
		}
		if measured == 0 {
			t.Errorf("%s: no row was measured", e.Name)
		}
	}
}

// A16: a key is the line without its end, whatever the system that wrote it:
// "abc", "abc\n" and "abc\r\n" are one key.
func TestA16_LineEndsAreNoPartOfKeys(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "keys.txt", "abc\r\ndef\r\nghi\r\njkl")
	queries := write(t, dir, "queries.txt", "abc\ndef\nother\n\nlast")
	code, _, stderr := filterlab("run", "fpr-vs-k", "--keys", keys, "--queries", queries, "--profile", "quick", "--filters", "standard", "--bits-per-key", "4", "--k", "2", "--out", dir)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"keys.txt: 4 lines, 4 distinct keys\n", "queries.txt: 5 lines, 3 distinct keys, 2 that are members left out, among them the empty key\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("want %q in %s", want, stderr)
		}
	}
	// All four members, and the three queries that are left, for each seed.
	for _, row := range summary(t, dir, "fpr-vs-k") {
		if row["filter"] == "standard(k=2)" && (row["inserted"] != "4" || row["trials"] != fmt.Sprint(3*atoi(t, row["seeds"]))) {
			t.Errorf("inserted %s, trials %s with %s seeds", row["inserted"], row["trials"], row["seeds"])
		}
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Ten keys are too few for some points, and those say so; the rest is measured,
// and an experiment that has no point left is left out of a run of all.
func TestFewKeys(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "ten.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")
	code, _, stderr := filterlab("run", "teaching", "--keys", keys, "--profile", "quick", "--out", dir)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	seen := map[string]bool{}
	for _, row := range summary(t, dir, "teaching") {
		if row["keys"] != "file:ten.txt" {
			continue
		}
		refused := row["n"] == "8"
		if (row["verdict"] == "refused") != refused || refused != strings.Contains(row["note"], "at most the 5 members") {
			t.Errorf("n = %s: verdict %s, note %q", row["n"], row["verdict"], row["note"])
		}
		seen[row["n"]] = true
	}
	if !seen["3"] || !seen["8"] {
		t.Errorf("rows for n = %v, want 3 and 8", seen)
	}
}

// B07: a hash whose width alone takes a tenth of the promised rate is warned of.
func TestB07_NarrowHashIsWarnedOf(t *testing.T) {
	t.Chdir(t.TempDir())
	// Warnings come before the first point is measured, and nothing else is wanted.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	warnings := func(p string) string {
		var out, err bytes.Buffer
		args := []string{"run", "hash-choice", "--profile", "quick", "--filters", "standard", "--keysets", "random", "--hashes", "xxh3,fnv1a32", "--n", "20000", "--restart", "--p", p}
		if code := run(ctx, args, &out, &err); code != exitInterrupted {
			t.Fatalf("exit %d, %s", code, err.String())
		}
		return err.String()
	}
	// n/2^32 is 4.7e-6: above a tenth of 2^-15, below a tenth of 1%.
	if got := warnings("2^-15"); strings.Count(got, "warning") != 1 || !strings.Contains(got, "fnv1a32 has 32 bits: with 20000 keys 4.7e-06") {
		t.Errorf("no warning, or not one: %s", got)
	}
	if got := warnings("1%"); strings.Contains(got, "warning") {
		t.Errorf("a warning without need: %s", got)
	}
}

// What cannot be written is an error that names the path.
func TestOutThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "fpr-vs-k", "--profile", "quick", "--filters", "standard", "--bits-per-key", "4", "--k", "2", "--n", "100", "--out"}
	file := write(t, dir, "file", "")
	if code, _, stderr := filterlab(append(args, file)...); code != exitFailed || !strings.Contains(stderr, file) {
		t.Errorf("a file for a folder: exit %d, %s", code, stderr)
	}
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(locked, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write anywhere")
	}
	if code, _, stderr := filterlab(append(args, locked)...); code != exitFailed || !strings.Contains(stderr, locked) {
		t.Errorf("a folder that cannot be written to: exit %d, %s", code, stderr)
	}
}

// A run of one point, or of points that give nothing to draw, ends well, and what
// it leaves is what verify makes.
func TestSparseGrids(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of drawing")
	}
	dir := t.TempDir()
	for _, line := range []string{
		"hash-choice --filters standard --hashes xxh3 --keysets random --n 1000",
		"time-vs-n --n 1e3 --filters blocked",
		"fpr-vs-k --bits-per-key 10 --k 7 --filters standard --n 1000",
		"fpr-vs-k --bits-per-key 60 --k 20 --filters standard --n 1000", // no event; in the place of the run before
		"fpr-vs-load --load 4 --filters cuckoo --p 1% --n 1000",         // nothing but full
		"memory --filters cuckoo(f=8) --p 5%,1e-9 --n 1000",             // one of two refused
	} {
		code, _, stderr := filterlab(append([]string{"run", "--profile", "quick", "--out", dir}, strings.Fields(line)...)...)
		if code != exitOK {
			t.Errorf("run %s: exit %d, %s", line, code, stderr)
		}
	}
	if code, _, stderr := filterlab("verify", dir); code != exitOK {
		t.Errorf("verify: exit %d, %s", code, stderr)
	}
	if figures, _ := filepath.Glob(filepath.Join(dir, "fpr-vs-load", "*.svg")); len(figures) > 0 {
		t.Errorf("figures without a point: %v", figures)
	}
}

// A dry run prints the points and writes nothing.
func TestDryRun(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"run", "fpr-vs-k", "--profile", "quick", "--filters", "standard,blocked", "--bits-per-key", "4", "--k", "2,3", "--n", "100"}
	dry := func() string {
		t.Helper()
		code, stdout, stderr := filterlab(append(args, "--dry-run")...)
		if code != exitOK || stderr != "" {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		return stdout
	}
	stdout := dry()
	if n := strings.Count(stdout, "\nfpr-vs-k  "); n != 4+1 || !strings.Contains(stdout, "standard(k=3)") || !strings.HasSuffix(stdout, "\nall         4       unknown\n") {
		t.Errorf("%d lines of fpr-vs-k in\n%s", n, stdout)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("a dry run wrote %v, %v", files, err)
	}
	// Once it has run, the time is known. No clock is fine enough to promise how much.
	if code, _, stderr := filterlab(args...); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	b, err := os.ReadFile(filepath.Join("results", "fpr-vs-k", "env.json"))
	if err != nil {
		t.Fatal(err)
	}
	seconds := regexp.MustCompile(`"seconds": [0-9.]+`)
	if !seconds.Match(b) {
		t.Fatalf("no seconds in %s", b)
	}
	if err := os.WriteFile(filepath.Join("results", "fpr-vs-k", "env.json"), seconds.ReplaceAll(b, []byte(`"seconds": 90`)), 0o666); err != nil {
		t.Fatal(err)
	}
	if stdout := dry(); !strings.HasSuffix(stdout, "\nfpr-vs-k    4       1m30s\nall         4       1m30s\n") {
		t.Errorf("after a run of 90 s:\n%s", stdout)
	}
}
