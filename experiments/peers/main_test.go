package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A slip on the command line is refused before anything runs or is written, and
// flags count wherever they stand.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"survy"},
		{"duels", "--profile", "fast"},
		{"--seed", "one"},
		{"duels", "--max-n", "0x"},
		{"duels", "--onyl", "holiman"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if err := run(context.Background(), append(args, "--out", out), io.Discard, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v", args, err)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: something was written, %v", args, err)
		}
	}
}

// The report alone can be made of nothing, and says what its columns mean.
func TestReport(t *testing.T) {
	out := t.TempDir()
	if err := run(context.Background(), []string{"report", "--out", out}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, "peers", "README.md")); err != nil {
		t.Error(err)
	}
}
