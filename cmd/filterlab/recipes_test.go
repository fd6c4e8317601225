package main

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The recipes that README shows, how to add a filter, a hash and an experiment, are
// patches. Applied to a copy of the tree they give a command that measures the new
// filter with the new hash in the new experiment, and finds that theory agrees.
func TestRecipesWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command anew")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("applies patches with git, which is not installed")
	}
	tree := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = tree
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"filters", "hashing", "experiments", "cmd"} {
		if err := os.CopyFS(filepath.Join(tree, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	recipes, err := filepath.Glob("testdata/recipes/*.patch")
	if err != nil || len(recipes) != 3 {
		t.Fatalf("recipes %v, %v: want 3", recipes, err)
	}
	for _, r := range recipes {
		path, err := filepath.Abs(r)
		if err != nil {
			t.Fatal(err)
		}
		run(git, "apply", path)
	}
	run("go", "run", "./cmd/filterlab", "run", "slices", "--filters", "standard,bitmap", "--hashes", "crc64", "--profile", "quick", "--out", "out")
	b, err := os.ReadFile(filepath.Join(tree, "out", "slices", "summary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte("slices,bitmap,crc64,")) {
		t.Errorf("summary.csv has no row of the new filter under the new hash:\n%s", b)
	}
}

// The program that README shows is formatted, compiles against the packages as they
// are, and answers.
func TestProgramOfREADMERuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program anew")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(readme), "```go\n")
	program, _, ends := strings.Cut(program, "```")
	if !found || !ends {
		t.Fatal("README.md shows no Go program")
	}
	if formatted, err := format.Source([]byte(program)); err != nil || string(formatted) != program {
		t.Errorf("README.md: its program is not as gofmt writes it: %v", err)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", file).CombinedOutput()
	if want := "true false\n"; err != nil || string(out) != want {
		t.Errorf("the program of README.md: %v, printed %q, want %q", err, out, want)
	}
}
