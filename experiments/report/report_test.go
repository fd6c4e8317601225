package report

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filterlab/experiments"
)

// results runs a small experiment and returns its folder.
func results(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	_, err := experiments.Run(t.Context(), experiments.FPRvsBits(), experiments.Options{
		Profile:   experiments.Profile{Name: "tiny", Precision: 0.3, MaxTrials: 100_000, Seeds: 10, Rounds: 6, MaxN: 1000},
		Overrides: []experiments.Override{{Axis: "filters", Values: []string{"standard", "blocked"}}, {Axis: "n", Values: []string{"1000"}}, {Axis: "bits-per-key", Values: []string{"6", "8"}}},
		Out:       out, Seed: 7, Log: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReport(t *testing.T) {
	out := results(t)
	path, err := Write(out)
	if err != nil || path != filepath.Join(out, File) {
		t.Fatalf("%q, %v", path, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	finding, err := os.ReadFile(filepath.Join(out, "fpr-vs-bits", "finding.txt"))
	if err != nil {
		t.Fatal(err)
	}
	found, _, _ := strings.Cut(strings.TrimSpace(string(finding)), " Verdicts: ")
	for _, want := range []string{
		experiments.FPRvsBits().Question, found, `<a href="#fpr-vs-bits">`, `<svg role="img"`, "<figcaption><b>", "seeds and",
		"Table of 4 rows", ">2 of 2<", ">control-ok<td>2<", "keys = random", "logical processors", "prefers-color-scheme: dark", "@media print", `name="viewport"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	// One file: names of namespaces are the only addresses, and links stay within.
	text := regexp.MustCompile(`xmlns(:xlink)?="[^"]*"`).ReplaceAllString(page, "")
	for _, not := range []string{"http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(text, not) {
			t.Errorf("%q would load something", not)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("id %q stands twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("a link to #%s leads nowhere", m[1])
		}
	}
	again, err := Render(out)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("the same results give another page (%v)", err)
	}
}

// The claims are in the page when the folder has its ledger.
func TestReportOfClaims(t *testing.T) {
	out := results(t)
	judged, err := experiments.WriteClaims(out)
	if err != nil {
		t.Fatal(err)
	}
	page, err := Render(out)
	if err != nil {
		t.Fatal(err)
	}
	for i := range judged {
		if !bytes.Contains(page, []byte(`<tr id="claim-`+judged[i].Claim.ID+`">`)) {
			t.Errorf("claim %s is missing", judged[i].Claim.ID)
		}
	}
}

// The figures of the skyline are in the page where the folder has them.
func TestReportOfSkyline(t *testing.T) {
	out := results(t)
	if err := os.Mkdir(filepath.Join(out, "skyline"), 0o777); err != nil {
		t.Fatal(err)
	}
	svg := `<svg viewBox="0 0 1 1" xmlns="http://www.w3.org/2000/svg"><title>Best where</title><path d="M0,0"/></svg>`
	if err := os.WriteFile(filepath.Join(out, "skyline", "dominance.svg"), []byte(svg), 0o666); err != nil {
		t.Fatal(err)
	}
	page, err := Render(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<h2 id="skyline">`, `<svg role="img" aria-label="Best where" viewBox="0 0 1 1"`, "<b>Best where.</b>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestCheck(t *testing.T) {
	out := results(t)
	if err := Check(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a page: %v", err)
	}
	if _, err := Write(out); err != nil {
		t.Fatal(err)
	}
	if err := Check(out); err != nil {
		t.Error(err)
	}
	// Results that have changed since.
	path := filepath.Join(out, "fpr-vs-bits", "finding.txt")
	if err := os.WriteFile(path, []byte("Something else.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Check(out); err == nil || !strings.Contains(err.Error(), "not what the results give, from line") {
		t.Errorf("a stale page: %v", err)
	}
	if _, err := Write(t.TempDir()); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestDigits(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "xxh3": "xxh3", "1000000": "1000000", "0.0123456": "0.01235", "1e-09": "1e-09", "12": "12", "2.5": "2.5", "agree": "agree", "file:a.txt": "file:a.txt",
	} {
		if got := digits(s); got != want {
			t.Errorf("digits(%q) = %q, want %q", s, got, want)
		}
	}
}
