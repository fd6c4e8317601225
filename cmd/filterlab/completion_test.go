package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filterlab/experiments"
	"filterlab/hashing"
)

// Completion knows flags from the help texts: they must name every flag that there
// is, and no other.
func TestHelpNamesEveryFlag(t *testing.T) {
	listed := regexp.MustCompile(`--[a-z0-9-]+`)
	for _, c := range commands() {
		_, _, stderr := filterlab(c.name, "--no-such-flag-as-this")
		_, list, ok := strings.Cut(stderr, "not defined: -no-such-flag-as-this: want ")
		if !ok {
			t.Errorf("%s takes a flag that there is not: %s", c.name, stderr)
			continue
		}
		list, _, _ = strings.Cut(list, " (see ")
		have := listed.FindAllString(list, -1)
		var explained []string
		for _, o := range c.options() {
			explained = append(explained, "--"+o.name)
		}
		slices.Sort(explained)
		if !slices.Equal(have, explained) {
			t.Errorf("%s has the flags\n%q and explains\n%q", c.name, have, explained)
		}
	}
}

// Bash itself, asked as the Tab key asks it.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	_, script, _ := filterlab("completion", "bash")
	ask := func(line ...string) []string {
		t.Helper()
		quoted := "'" + strings.Join(append([]string{"filterlab"}, line...), "' '") + "'"
		out, err := exec.Command(bash, "--norc", "-c", script+"\nCOMP_WORDS=("+quoted+"); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _filterlab; printf '%s\\n' \"${COMPREPLY[@]}\"").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Fields(string(out))
	}
	var hashes []string
	for _, h := range hashing.All() {
		hashes = append(hashes, h.Name)
	}
	var all []string
	for _, e := range experiments.All() {
		all = append(all, e.Name)
	}
	for _, c := range []struct {
		line []string
		want []string
	}{
		{[]string{""}, names()},
		{[]string{"verif"}, []string{"verify"}},
		{[]string{"help", "verif"}, []string{"verify"}},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish"}},
		{[]string{"run", "fpr-vs-b"}, []string{"fpr-vs-bits"}},
		{[]string{"run", "fpr-vs-bits", "--prof"}, []string{"--profile"}},
		{[]string{"run", "--profile", ""}, []string{"quick", "default", "full"}},
		{[]string{"run", "--hashes", ""}, hashes},
		{[]string{"run", "--filters", "standard,cuc"}, []string{"standard,cuckoo"}},
		{[]string{"run", "--seed", ""}, nil},
		{[]string{"paper", "putz"}, []string{"putze"}},
	} {
		if got := ask(c.line...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
	if got := ask("plot", "t"); !slices.Contains(got, "teaching") || slices.Contains(got, "run") || slices.ContainsFunc(got, func(s string) bool { return !slices.Contains(all, s) }) {
		t.Errorf("plot t: %q", got)
	}
}

// The other shells take their scripts, where they are installed, and get the same words.
func TestOtherShells(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		code, script, stderr := filterlab("completion", shell)
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit %d, %s", shell, code, stderr)
		}
		for _, want := range append(names(), "fpr-vs-bits", "xxh3", "standard", "zipf", "quick", "putze", "keysets") {
			if !strings.Contains(script, want) {
				t.Errorf("%s: no %q", shell, want)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		if out, err := exec.Command(path, "-n", write(t, t.TempDir(), "script", script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"completion", "0 arguments: want one of bash, zsh, fish"},
		{"completion bsh", "shell = bsh: want one of bash, zsh, fish; did you mean bash?"},
	} {
		if code, stdout, stderr := filterlab(strings.Fields(c.line)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %q, %s", c.line, code, stdout, stderr)
		}
	}
}
