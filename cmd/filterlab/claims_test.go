package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filterlab/experiments"
	"filterlab/experiments/papers"
)

// Without any rows the claims of arithmetic are judged and the others say what to
// run; the files are those that verify would check.
func TestClaimsCommand(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := filterlab("claims", "--out", out)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"billion", "holds", "no rows"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, name := range []string{"claims.md", "claims.csv"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	if err := experiments.CheckClaims(out); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"claims", "--out", filepath.Join(out, "nowhere")}, {"claims", "results"}, {"claims", "--out", ""}} {
		if code, _, _ := filterlab(args...); code != exitUsage {
			t.Errorf("%v: exit %d, want %d", args, code, exitUsage)
		}
	}
}

func TestPaperCommand(t *testing.T) {
	code, stdout, stderr := filterlab("paper")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, p := range papers.All() {
		if !strings.Contains(stdout, p.Name) {
			t.Errorf("%s is not in the list\n%s", p.Name, stdout)
		}
	}
	if code, stdout, stderr = filterlab("paper", "split-block", "--csv"); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	// 10.5292 bits per key for 1% (theory sheet, block 2.sbbf_sizing).
	if !strings.Contains(stdout, "0.01,10.5,0.0101285,10.5292,") {
		t.Errorf("the table is\n%s", stdout)
	}
	for _, args := range [][]string{{"paper", "nobody"}, {"paper", "putze", "lang"}, {"paper", "putze", "--profile", "huge"}, {"paper", "putze", "--seed", "x"}} {
		if code, _, _ := filterlab(args...); code != exitUsage {
			t.Errorf("%v: exit %d, want %d", args, code, exitUsage)
		}
	}
}

// The table for a text is data, the counts are not.
func TestClaimsMarkdown(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := filterlab("claims", "--markdown", "--out", dir)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if !strings.HasPrefix(stdout, "| claim | stated | measured | verdict |\n|---|") || !strings.Contains(stdout, dir+"/claims.md#k-1pct)") {
		t.Errorf("stdout is %.300s", stdout)
	}
	if !strings.Contains(stderr, " claims: ") || !strings.Contains(stderr, " holds, ") {
		t.Errorf("no counts: %s", stderr)
	}
}
