package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// asCommand makes the test binary run main, so that a test can send it a signal.
const asCommand = "FILTERLAB_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// filterlab runs the command in this process.
func filterlab(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// words splits a command line at spaces outside single quotes, as a shell does.
func words(t *testing.T, line string) []string {
	t.Helper()
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// write puts a file into a folder of the test and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOverview(t *testing.T) {
	const (
		head = `filterlab measures approximate-membership filters and holds them against their formulas.

Usage: filterlab COMMAND [arguments]

  run [EXPERIMENT ...]     measure, and write CSV files and figures
`
		foot = `  help [COMMAND]           explain a command, with examples

Start with:
  filterlab run --profile quick --out /tmp/results
  filterlab size --n 1M --p 1%

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 a point failed or
differs from theory, 2 the command line was refused, 130 interrupted.
`
	)
	code, want, stderr := filterlab("help")
	if code != exitOK || stderr != "" || !strings.HasPrefix(want, head) || !strings.HasSuffix(want, foot) {
		t.Errorf("exit %d, stderr %q, stdout:\n%s", code, stderr, want)
	}
	for _, c := range commands() {
		if !strings.Contains(want, "\n  "+c.name+" ") || !strings.Contains(want, " "+c.short+"\n") {
			t.Errorf("%s is not explained", c.name)
		}
	}
	for _, arg := range []string{"-h", "-help", "--help"} {
		if code, stdout, stderr := filterlab(arg); code != exitOK || stderr != "" || stdout != want {
			t.Errorf("%s: exit %d, stderr %q, stdout:\n%s", arg, code, stderr, stdout)
		}
	}
	// Without a command the same text is an error message.
	if code, stdout, stderr := filterlab(); code != exitUsage || stdout != "" || stderr != want {
		t.Errorf("no command: exit %d, stdout %q, stderr:\n%s", code, stdout, stderr)
	}
}

func TestHelpOfEveryCommand(t *testing.T) {
	flags := regexp.MustCompile(`--[a-z-]+`)
	for _, c := range commands() {
		code, want, _ := filterlab("help", c.name)
		if code != exitOK || !strings.HasPrefix(want, "Usage: filterlab "+c.name) || !strings.Contains(want, "\nExample") {
			t.Errorf("help %s: exit %d, no usage or no examples in\n%s", c.name, code, want)
		}
		for i, line := range strings.Split(want, "\n") {
			if len(line) > width {
				t.Errorf("help %s: line %d has %d columns", c.name, i+1, len(line))
			}
		}
		for _, args := range [][]string{{c.name, "-h"}, {c.name, "--help"}, {c.name, "anything", "--help"}} {
			if code, stdout, stderr := filterlab(args...); code != exitOK || stdout != want || stderr != "" {
				t.Errorf("%v: exit %d, stderr %q, stdout\n%s", args, code, stderr, stdout)
			}
		}
		// Every flag that the text explains is there.
		explained, _, _ := strings.Cut(want, "\nExample")
		for _, flag := range flags.FindAllString(explained, -1) {
			if _, _, stderr := filterlab(c.name, flag, "x", "--no-such-flag"); strings.Contains(stderr, "not defined: "+flag[1:]+":") {
				t.Errorf("help %s names %s, which is no flag", c.name, flag)
			}
		}
	}
}

func TestHelpOfRunNamesEveryAxis(t *testing.T) {
	for _, a := range axes() {
		if !regexp.MustCompile(`(?m)^  --` + a + ` LIST +\S`).MatchString(runCommand().help) {
			t.Errorf("--%s is not explained", a)
		}
	}
}

// Every example in a help text is taken as it stands. Runs and calibrations are
// cancelled before they measure, after everything that can be refused; what follows
// them behind && is parsed no further. TestChooseExamples has those of choose.
func TestExamplesRunAsWritten(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	results := filepath.Join(dir, "tmp", "results")
	write(t, dir, "words.txt", wordList(500)+"\nzebra")
	// What plot and verify need.
	for _, out := range []string{"results", results} {
		if code, _, stderr := filterlab("run", "fpr-vs-k", "--profile", "quick", "--filters", "standard", "--bits-per-key", "4", "--k", "2", "--n", "100", "--out", out); code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, text := range append(helps(), overview()) {
		_, examples, _ := strings.Cut(text, "\nExample")
		if examples == "" {
			_, examples, _ = strings.Cut(text, "\nStart with:")
		}
		found := 0
		for _, line := range strings.Split(examples, "\n") {
			line, ok := strings.CutPrefix(line, "  filterlab ")
			if !ok {
				continue
			}
			found++
			for _, line := range strings.Split(line, " && filterlab ") {
				line, _, _ = strings.Cut(line, " > ") // the shell's
				if strings.HasPrefix(line, "choose ") || testing.Short() && strings.HasPrefix(line, "skyline ") {
					continue // seconds
				}
				args := words(t, strings.ReplaceAll(line, "/tmp/", filepath.Join(dir, "tmp")+string(filepath.Separator)))
				ctx, want := context.Background(), exitOK
				if args[0] == "run" && !slices.Contains(args, "--dry-run") || args[0] == "calibrate" || line == "paper fan-table3 --profile full" {
					ctx, want = cancelled, exitInterrupted
				}
				var out, err bytes.Buffer
				if code := run(ctx, args, &out, &err); code != want {
					t.Errorf("filterlab %s: exit %d, want %d: %s", line, code, want, err.String())
				}
				if want != exitOK {
					break
				}
			}
			// What a cancelled run left would be in the way of the next.
			for _, out := range []string{"results", results} {
				os.RemoveAll(filepath.Join(out, "teaching", "partial"))
				os.RemoveAll(filepath.Join(out, "fpr-vs-k", "partial"))
			}
		}
		if found == 0 {
			t.Errorf("no example in\n%s", text)
		}
	}
}

func helps() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.help)
	}
	return out
}

// What is wrong on a command line is refused with exit status 2, before anything
// is measured or written, by a message that quotes it; stdout stays empty.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "empty.txt", "")
	write(t, dir, "one.txt", "a\n")
	write(t, dir, "ten.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")
	for _, c := range []struct{ line, want string }{
		{"nosuch", `command "nosuch": want one of run, list`},
		{"hepl", "did you mean help?"},
		{"run fpr-vs-k --profil quick", "not defined: -profil: want one of --bits-per-key, "},
		{"run fpr-vs-k --profil quick", "; did you mean --profile?"},
		{"run fprvsk", "; did you mean fpr-vs-k?"},
		{"run fpr-vs-k --profile defualt", "; did you mean default?"},
		{"run fpr-vs-k --hashes xxh4", "; did you mean xxh3?"},
		{"run fpr-vs-k --keysets randm", "; did you mean random?"},
		{"list --wrong", "not defined: -wrong: want none"},
		{"help nosuch", `command "nosuch": want one of run, list`},
		{"list extra", `argument "extra": want none`},
		{"list --n 5", "not defined: -n"},
		{"plot nosuch", `experiment = nosuch: want one of teaching, `},
		{"plot --out nothing-here", `--out "nothing-here": want a folder that filterlab run wrote`},
		{"verify nothing-here", `"nothing-here": want a folder that filterlab run wrote`},
		{"verify a b", `argument "b": want one folder`},

		{"run fpr-vs-q", "experiment = fpr-vs-q: want one of teaching, "},
		{"run fpr-vs-k --profile quik", "profile = quik: want one of quick, default, full"},
		{"run fpr-vs-k --filters cukoo", "did you mean cuckoo?"},
		{"run fpr-vs-k --filters 'standard(j=3)'", "j"},
		{"run fpr-vs-k --hashes xxh", `hash = "xxh": want one of xxhash64, `},
		{"run fpr-vs-k --keysets rnd", `keys = "rnd": want one of random, `},
		{"run fpr-vs-k --keysets file:words.txt", "want one of random, "},
		{"run fpr-vs-k --resume --restart", "want one of them"},
		{"run fpr-vs-k --wrong 1", "not defined: -wrong"},
		{"run fpr-vs-k --p 1%", "--p: want one of the axes of this experiment: --filters, --hashes, "},
		{"run fpr-vs-k --k 65", "k = 65: want a whole number from 1 to 64"},
		{"run fpr-vs-k --k 0", "k"},
		{"run fpr-vs-k --seed -1", `--seed: count "-1"`},
		{"run fpr-vs-k --seed 0.5", `--seed: count "0.5"`},
		{"run fpr-vs-k --n 1e6,", `--n "1e6,": value 2 of 2 is empty`},
		{"run fpr-vs-k --n ,", `--n ",": value 1 of 2 is empty`},
		{"run fpr-vs-k --n=", "--n: the value is empty"},
		{"run fpr-vs-k --filters ''", "--filters: the value is empty"},
		{"run fpr-vs-k --n 1000 --n 2000", "given twice"},
		{"run fpr-vs-load --load 0", `load = "0": want a number above 0`},
		{"run fpr-vs-bits --bits-per-key nan", `"nan"`},
		{"run teaching --words 0", `words = "0"`},
		{"run fpr-vs-bits --filters scalable --bits-per-key 7 --n 10", "no point can be measured; the first: scalable: bits per key = 7"},

		{"run teaching --keys nosuch.txt", "nosuch.txt"},
		{"run teaching --keys .", "directory"},
		{"run teaching --keys empty.txt", "empty.txt has 0 distinct keys"},
		{"run teaching --keys one.txt", "one.txt has 1 distinct keys: want at least 2"},
		{"run teaching --keys ten.txt --queries empty.txt", "empty.txt has no query"},
		{"run teaching --keys ten.txt --queries ten.txt", "ten.txt has no query that is not among the keys"},
		{"run teaching --queries ten.txt", `--queries "ten.txt": want --keys beside it`},
		{"run teaching --keys ten.txt --keysets random", "--keys and --keysets: want one of them"},
		{"run fpr-vs-k --keys ten.txt --n 6", "inserted = 6: want at most the 5 members that file:ten.txt has"},

		{"size", "want two of --n, --p and --bits"},
		{"size --n 5", "want two of"},
		{"size --n 5 --p 1% --bits 100", "want two of"},
		{"size --bits 5 --bits-per-key 10", "want two of"},
		{"size --p 1% --bits-per-key 10", "leaves n open"},
		{"size --n 5 --p 1% --filters cukoo", "did you mean cuckoo?"},
		{"size --n 5 --p 1% --filters standard,", "value 2 of 2 is empty"},
		{"size --n 5 --p 1% 6", `argument "6"`},
		{"size --n 5 --bits 0", "--bits 0: want at least 1 bit"},
		{"size --n 5 --bits-per-key 0", "--bits-per-key 0: want more than 0"},
		{"size --n 5 --bits 1.5B --p", "flag needs an argument"},
	} {
		code, stdout, stderr := filterlab(words(t, c.line)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("filterlab %s: exit %d, stdout %q, want %q in\n%s", c.line, code, stdout, c.want, stderr)
		}
		if _, err := os.Stat("results"); err == nil {
			t.Fatalf("filterlab %s: was refused and wrote results", c.line)
		}
	}
}

// C01: no keys at all are refused everywhere.
func TestC01_NoKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{"size --n 0 --p 1%", "size --n 0 --bits 100", "run fpr-vs-k --n 0", "run fpr-vs-k --n 1000,0"} {
		code, _, stderr := filterlab(strings.Fields(line)...)
		if code != exitUsage || !strings.Contains(stderr, "want at least 1 key") {
			t.Errorf("filterlab %s: exit %d, %s", line, code, stderr)
		}
	}
}

// C03: a rate outside (0, 1) is refused by value and range, and swapped
// arguments are recognised.
func TestC03_RateOutOfRange(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, p := range []string{"0", "-0.1", "1", "1.5", "2", "10.1", "NaN", "+Inf", "1e-400", "100%", "0,01"} {
		for _, line := range [][]string{{"size", "--n", "1000", "--p", p}, {"run", "fpr-vs-load", "--p", p}} {
			code, stdout, stderr := filterlab(line...)
			if code != exitUsage || stdout != "" || !strings.Contains(stderr, strings.Split(p, ",")[0]) || !strings.Contains(stderr, "want") {
				t.Errorf("filterlab %v: exit %d, %s", line, code, stderr)
			}
		}
	}
	for _, line := range [][]string{{"size", "--n", "0.01", "--p", "1000"}, {"run", "fpr-vs-load", "--n", "1%", "--p", "1e5"}} {
		if code, _, stderr := filterlab(line...); code != exitUsage || !strings.Contains(stderr, "were --n and --p swapped?") {
			t.Errorf("filterlab %v: exit %d, %s", line, code, stderr)
		}
	}
	// A rate below what 64-bit hashes can keep is a reason of the families.
	if code, _, stderr := filterlab("size", "--n", "1000", "--p", "1e-320"); code != exitUsage || !strings.Contains(stderr, "64-bit hash") {
		t.Errorf("p = 1e-320: exit %d, %s", code, stderr)
	}
}

// C06: an absurd n is refused by the run with what it needs and what there is,
// before any allocation.
func TestC06_RunRefusesBeforeItAllocates(t *testing.T) {
	t.Chdir(t.TempDir())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range []struct{ line, want string }{
		{"run fpr-vs-load --filters standard --n 1e18 --p 20%", "at most 2^48 bits; for 1000000000000000000 keys this needs"},
		{"run fpr-vs-load --filters standard --n 1e11 --p 1% --load 1", "standard takes 112 GiB for its table and 745 GiB for the hashes of 100000000000 keys"},
		{"run fpr-vs-load --filters standard --n 1000 --p 1% --load 1e9", "for the hashes of 1000000000000 keys"},
	} {
		if runtime.GOOS != "linux" && strings.Contains(c.want, "hashes") {
			continue // only Linux tells how much memory there is
		}
		code, _, stderr := filterlab(strings.Fields(c.line)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("filterlab %s: exit %d, want %q in %s", c.line, code, c.want, stderr)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("refusing allocated %d bytes", took)
	}
}

// I10: flags behind arguments count, on every command.
func TestI10_FlagsBehindArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := filterlab("run", "fpr-vs-k", "--profile", "quick", "fpr-vs-bits", "--n", "0")
	if code != exitUsage || !strings.Contains(stderr, "n = 0") {
		t.Errorf("--n behind the experiments was ignored: exit %d, %s", code, stderr)
	}
	code, _, stderr = filterlab("run", "--k", "2", "fpr-vs-k", "--bits-per-key", "4", "--filters", "standard", "--n", "100", "--profile", "quick", "-out", "x")
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join("x", "fpr-vs-k", "samples.csv")); err != nil {
		t.Error(err)
	}
}

// I11: numbers are taken as people type them, exactly.
func TestI11_NumbersAsTyped(t *testing.T) {
	_, want, _ := filterlab("size", "--n", "1000000", "--p", "0.01", "--csv")
	for _, n := range []string{"1e6", "1_000_000", "1M", "1000k", "10^6"} {
		for _, p := range []string{"1%", ".01", "1e-2"} {
			if code, got, stderr := filterlab("size", "--n", n, "--p", p, "--csv"); code != exitOK || got != want {
				t.Errorf("--n %s --p %s: exit %d, %s%s", n, p, code, got, stderr)
			}
		}
	}
	for _, n := range []string{"1,000,000", "0.5", "-1", "18446744073709551616", "1 000", "1e6x", "nan", "0x10"} {
		if code, got, stderr := filterlab("size", "--n", n, "--p", "1%"); code != exitUsage || got != "" || !strings.Contains(stderr, `"`+n+`"`) {
			t.Errorf("--n %q: exit %d, %s%s", n, code, got, stderr)
		}
	}
}

// A run that was told to stop exits with 130 and says how to go on.
func TestInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"run", "fpr-vs-k", "--profile", "quick"}, &out, &errs); code != exitInterrupted || !strings.Contains(errs.String(), "--resume") || out.Len() > 0 {
		t.Errorf("exit %d, %s", code, errs.String())
	}
	// Neither lost nor overwritten without a word.
	if code, _, stderr := filterlab("run", "fpr-vs-k", "--profile", "quick"); code != exitFailed || !strings.Contains(stderr, "--resume continues it, --restart discards it") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// Ctrl-C on the real command.
func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no signals to send")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "run", "fpr-vs-k", "--out", dir)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() //nolint:errcheck // it has ended unless the test failed
	// The default profile takes minutes. It has begun when its folder is there.
	for range 600 {
		if _, err := os.Stat(filepath.Join(dir, "fpr-vs-k", "partial", "run.json")); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("%v, want exit status %d", err, exitInterrupted)
	}
	if !strings.Contains(stderr.String(), "--resume continues") || stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
}

// I07: output that cannot be written is an error, not a short file.
func TestI07_OutputThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"help", "size"}, {"size", "--help"}, {"list"}, {"size", "--n", "5", "--p", "1%"}, {"size", "--n", "5", "--p", "1%", "--csv"}} {
		var stderr bytes.Buffer
		if code := run(context.Background(), args, fullWriter{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "no space") {
			t.Errorf("%v: exit %d, %s", args, code, stderr.String())
		}
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

var _ io.Writer = fullWriter{}
