package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeTimes is a calibration with times that are easy to compute with.
const fakeTimes = "../../experiments/choose/testdata/calibration.json"

// The whole of an answer, from fixed times. -short leaves out the question of memory,
// which is answered by a search; its goroutines are those of the other questions.
func TestChooseGolden(t *testing.T) {
	for name, args := range map[string]string{
		"choose-rate.txt":   "--n 50M --p 0.1% --miss-cost 80us --hit-rate 10%",
		"choose-memory.txt": "--n 50M --memory 64MiB --miss-cost 5ms",
		"choose-delete.txt": "--n 2M --p 0.1% --deletes --growth 4x",
	} {
		if testing.Short() && name == "choose-memory.txt" {
			continue
		}
		code, stdout, stderr := filterlab(append([]string{"choose", "--calibration", fakeTimes}, strings.Fields(args)...)...)
		if code != exitOK || stderr != "" {
			t.Fatalf("%s: exit %d, %s", args, code, stderr)
		}
		path := filepath.Join("testdata", name)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(path, []byte(stdout), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if stdout != string(want) {
			t.Errorf("%s: got\n%s\nwant, or UPDATE_GOLDEN=1:\n%s", args, stdout, want)
		}
	}
}

// Every example of the help runs as written, from the times that come with the
// program where this machine has none.
func TestChooseExamples(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	_, help, _ := strings.Cut(chooseCommand().help, "Examples:\n")
	examples := strings.Split(strings.TrimSpace(help), "\n")
	if len(examples) != 5 {
		t.Fatalf("%d examples, want 5", len(examples))
	}
	for _, line := range examples {
		if testing.Short() && strings.Contains(line, "--memory") {
			continue // a search takes its time, and has the goroutines of the other examples
		}
		args := words(t, strings.TrimPrefix(strings.TrimSpace(line), "filterlab "))
		code, stdout, stderr := filterlab(args...)
		if code != exitOK || stderr != "" || stdout == "" {
			t.Errorf("%s: exit %d, %d bytes, %s", line, code, len(stdout), stderr)
		}
		if strings.HasSuffix(line, "--go") {
			if _, err := parser.ParseFile(token.NewFileSet(), "main.go", stdout, 0); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		for _, part := range []string{"Take: ", "another machine", "Why not the others:", "The best choice stays", "twice the keys come"} {
			if !strings.Contains(stdout, part) {
				t.Errorf("%s: no %q in\n%s", line, part, stdout)
			}
		}
	}
}

// What machines read says the same and which times it is from.
func TestChooseJSON(t *testing.T) {
	code, stdout, stderr := filterlab("choose", "--json", "--calibration", fakeTimes, "--n", "50M", "--p", "0.1%", "--deletes")
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	var got struct {
		CPU      string    `json:"cpu"`
		Measured time.Time `json:"measured_at"`
		Ranked   []struct {
			Filter string
			Cost   struct {
				Hash   float64 `json:"ns_hash"`
				Lookup float64 `json:"ns_lookup"`
				False  float64 `json:"ns_false"`
				Total  float64 `json:"ns_total"`
			}
			Reason string
		}
		Refused   []struct{ Filter, Reason string }
		Scenarios []struct{ If, Text string }
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.CPU != "Imaginary CPU @ 3 GHz" || got.Measured.Year() != 2026 || len(got.Ranked) != 4 || len(got.Refused) != 5 || len(got.Scenarios) != 3 {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Ranked {
		if sum := c.Cost.Hash + c.Cost.Lookup + c.Cost.False; sum < 0.999*c.Cost.Total || sum > 1.001*c.Cost.Total || c.Reason == "" {
			t.Errorf("%+v does not add up to %v", c, sum)
		}
	}
}

// Keys from a file are counted and priced by their lengths.
func TestChooseKeys(t *testing.T) {
	path := write(t, t.TempDir(), "keys.txt", "a\nbb\nccc\na\n")
	code, stdout, stderr := filterlab("choose", "--json", "--calibration", fakeTimes, "--keys", path, "--p", "1%")
	if code != exitOK || !strings.Contains(stderr, "3 distinct keys") || !strings.Contains(stdout, `"n": 3,`) {
		t.Errorf("exit %d, %s\n%s", code, stderr, stdout)
	}
}

func TestChooseRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--n 1M", "want --p"},
		{"--p 1%", "want --n"},
		{"--n 1M --p 1% --static", "no family that is built once"},
		{"--n 1% --p 1M", "swapped"},
		{"--n 1M --p 1% --miss-cost 5", "unit"},
		{"--n 1M --p 1% --miss-cost -5us", "above 0"},
		{"--n 1M --p 1% --hit-rate 2", "from 0 to 1"},
		{"--n 1M --p 1% --growth 0.5x", "1 to 1e6"},
		{"--n 1M --p 1% --threads 0", "whole number"},
		{"--n 1M --p 0", "0 < p < 1"},
		{"--n 0 --p 1%", "1 to 2^48"},
		{"--n 1M --p 1% --memory 0", "at least 1 bit"},
		{"--n 1M --p 1% --go --json", "without --json"},
		{"--n 1M --p 1% extra", "flags only"},
	} {
		code, stdout, stderr := filterlab(append([]string{"choose", "--calibration", fakeTimes}, strings.Fields(c.args)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %q, %s; want %q", c.args, code, stdout, stderr, c.want)
		}
	}
	if code, _, stderr := filterlab("choose", "--n", "1M", "--p", "1%", "--calibration", "nowhere.json"); code != exitFailed || !strings.Contains(stderr, "nowhere.json") {
		t.Errorf("a calibration that is not there: exit %d, %s", code, stderr)
	}
}

// The maps have every file they promise, and the table every cell.
func TestSkyline(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of drawing")
	}
	dir := t.TempDir()
	code, stdout, stderr := filterlab("skyline", "--out", dir, "--calibration", fakeTimes)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, name := range []string{"skyline.csv", "skyline.svg", "skyline.png", "dominance.svg", "pareto.svg"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() < 1000 || !strings.Contains(stdout, name) {
			t.Errorf("%s: %v; printed\n%s", name, err, stdout)
		}
	}
	table, err := os.ReadFile(filepath.Join(dir, "skyline.csv"))
	if err != nil {
		t.Fatal(err)
	}
	// 25 numbers of keys from 10^3 to 10^9; 28 miss costs, one at a time and in batches; 23 rates for
	// three questions.
	for part, want := range map[string]int{"\nskyline,": 2 * 25 * 28, "\ndominance,": 3 * 25 * 23} {
		if got := strings.Count(string(table), part); got != want {
			t.Errorf("%d rows of %q, want %d", got, part, want)
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	for _, args := range [][]string{{"calibrate", "extra"}, {"calibrate", "--largest", "huge"}, {"skyline", "extra"}} {
		if code, stdout, stderr := filterlab(args...); code != exitUsage || stdout != "" || stderr == "" {
			t.Errorf("%v: exit %d, %q, %s", args, code, stdout, stderr)
		}
	}
}
