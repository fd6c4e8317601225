package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"filterlab/experiments"
	"filterlab/experiments/peers/contest"
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

// A machine as fast as planned surveys all, one of a third of the speed leaves the
// largest filters out.
func TestAffordable(t *testing.T) {
	p, err := experiments.ProfileByName("default")
	if err != nil {
		t.Fatal(err)
	}
	p.MaxN = 10_000_000
	fought, planned := contest.DuelSeconds(contest.Duels(), contest.DuelOptions{Rounds: p.Rounds, MaxN: p.MaxN, Trials: 2_000_000})
	if fought < 50 || !(planned > 30) {
		t.Fatalf("%d duels in %v seconds are planned", fought, planned)
	}
	const limit = 18 * 60
	for _, c := range []struct {
		slower float64
		want   uint64
	}{{0.5, 1e7}, {1, 1e7}, {2.5, 1e6}, {100, 1e5}} {
		if got := affordable(p, c.slower*planned, planned, limit, io.Discard); got != c.want {
			t.Errorf("%v times as slow: up to %d keys, want %d", c.slower, got, c.want)
		}
	}
}
