package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// small runs a small experiment with the seed and returns the folder.
func small(t *testing.T, seed string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "results")
	code, _, stderr := filterlab("run", "fpr-vs-k", "--profile", "quick", "--filters", "standard", "--bits-per-key", "4", "--k", "2", "--n", "100", "--seed", seed, "--out", out)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return out
}

// The same run twice is the same, another seed is not, and the exit status says it.
func TestCompareCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of drawing")
	}
	a, b, c := small(t, "1"), small(t, "1"), small(t, "2")
	code, stdout, stderr := filterlab("compare", a, b, "--slower", "1%")
	if code != exitOK || stdout != "exact rows: 1 experiments the same, 0 not\n" || stderr != "" {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
	code, stdout, stderr = filterlab("compare", a, c)
	want := regexp.MustCompile(`^fpr-vs-k: line \d+, column \S+: "[^"]*" before, "[^"]*" now \(.*filter=standard.*\); the runs were asked for different things: seed is 1 there and 2 now\n`)
	if code != exitFailed || !want.MatchString(stdout) || !strings.Contains(stderr, "1 experiments differ in their exact rows") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
	for _, x := range []struct{ line, want string }{
		{"compare " + a, "1 arguments: want two folders"},
		{"compare " + a + " nothing-here", `"nothing-here": want a folder`},
		{"compare " + a + " " + b + " nosuch", "experiment = nosuch: want one of"},
		{"compare " + a + " " + b + " --slower much", "--slower: "},
		{"compare " + t.TempDir() + " " + t.TempDir(), "of the experiments in either"},
		{"compare --bench", "0 arguments: want one folder"},
		{"compare --bench --all " + a, "--bench: want neither"},
		{"compare --bench " + t.TempDir(), "of the experiments"},
		{"report nothing", `argument "nothing": want flags only`},
		{"report --results " + t.TempDir(), "it holds no results"},
	} {
		if code, stdout, stderr := filterlab(strings.Fields(x.line)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit %d, stdout %q, %s", x.line, code, stdout, stderr)
		}
	}
	// A run leaves its page, verify looks at it, and report makes it anew.
	page := filepath.Join(a, "index.html")
	if code, stdout, stderr := filterlab("verify", a); code != exitOK || !strings.Contains(stdout, "index.html: ok\n") {
		t.Errorf("verify: exit %d, %s, %s", code, stdout, stderr)
	}
	write(t, a, "index.html", "something else")
	if code, _, stderr := filterlab("verify", a); code != exitFailed || !strings.Contains(stderr, "index.html: is not what the results give") {
		t.Errorf("verify of another page: exit %d, %s", code, stderr)
	}
	if code, stdout, stderr := filterlab("report", "--results", a); code != exitOK || stdout != page+"\n" || stderr != "" {
		t.Errorf("report: exit %d, %q, %s", code, stdout, stderr)
	}
	if code, _, stderr := filterlab("verify", a); code != exitOK {
		t.Errorf("verify of the page made anew: exit %d, %s", code, stderr)
	}
}
