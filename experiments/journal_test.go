package experiments

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Publishing moves four files one by one. A process may die between any two of them,
// or while it cleans up: whoever comes next ends it, and neither rows of two runs
// stand beside each other nor is anything measured twice.
func TestPublishingEndsWhereverItWasCutOff(t *testing.T) {
	old := tinyOptions(t)
	old.Seed = 8
	whole := tinyOptions(t)
	for _, o := range []Options{old, whole} {
		if _, err := Run(context.Background(), tiny(Rate(0), Weigh()), o); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{envFile, samplesFile, timesFile, runFile}
	for moved := 0; moved <= len(names); moved++ {
		for _, next := range []string{"resume", "restart", "plot"} {
			if next == "restart" && moved != 2 {
				continue // the way in is the same; measuring takes the time
			}
			o := tinyOptions(t)
			dir := filepath.Join(o.Out, "tiny")
			part := filepath.Join(dir, partialDir)
			if err := os.MkdirAll(part, 0o777); err != nil {
				t.Fatal(err)
			}
			put := func(path string, b []byte) {
				if err := os.WriteFile(path, b, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for i, name := range names {
				b := read(t, whole.Out, "tiny", name)
				if i < moved {
					put(filepath.Join(dir, name), b)
				} else {
					put(filepath.Join(part, name), b)
					put(filepath.Join(dir, name), read(t, old.Out, "tiny", name))
				}
			}
			put(filepath.Join(part, completeFile), nil)
			put(filepath.Join(part, journalFile), []byte("9 9\n"))
			var err error
			measured := 0
			count := Measure{Name: "count", Run: func(context.Context, *Lab, []*Point) ([]Row, error) { measured++; return nil, nil }}
			switch next {
			case "plot":
				_, err = Remake(tiny(), o.Out)
			default:
				o.Resume, o.Restart = next == "resume", next == "restart"
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // measured is counted
				_, err = Run(context.Background(), tiny(Rate(0), Weigh(), count), o)
			}
			if err != nil {
				t.Fatalf("%d files moved, then %s: %v", moved, next, err)
			}
			if next != "restart" && measured > 0 {
				t.Errorf("%d files moved, then %s: what was complete was measured again", moved, next)
			}
			if !bytes.Equal(read(t, dir, samplesFile), read(t, whole.Out, "tiny", samplesFile)) {
				t.Errorf("%d files moved, then %s: other samples", moved, next)
			}
			if next != "restart" && !bytes.Equal(read(t, dir, timesFile), read(t, whole.Out, "tiny", timesFile)) {
				t.Errorf("%d files moved, then %s: other times", moved, next)
			}
			if _, err := os.Stat(part); !os.IsNotExist(err) {
				t.Errorf("%d files moved, then %s: the partial folder is still there", moved, next)
			}
		}
	}
}

// Two runs into one folder would tear each other's rows: the second is refused and
// touches nothing.
func TestTwoRunsInOneFolder(t *testing.T) {
	probe, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	second, err := os.Open(probe.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if lock(probe) != nil || lock(second) == nil {
		t.Skip("this system has no flock")
	}

	want := tinyOptions(t)
	if _, err := Run(context.Background(), tiny(Rate(0)), want); err != nil {
		t.Fatal(err)
	}
	o := tinyOptions(t)
	refused := 0
	other := Measure{Name: "other", Timed: true, Run: func(context.Context, *Lab, []*Point) ([]Row, error) {
		for _, again := range []Options{{}, {Resume: true}, {Restart: true}} {
			again.Profile, again.Out, again.Seed, again.Log = o.Profile, o.Out, o.Seed, o.Log
			if _, err := Run(context.Background(), tiny(Rate(0)), again); err == nil || !strings.Contains(err.Error(), "another process is writing there") {
				t.Errorf("resume %v, restart %v beside a run: %v", again.Resume, again.Restart, err)
			}
			refused++
		}
		return nil, nil
	}}
	if _, err := Run(context.Background(), tiny(Rate(0), other), o); err != nil {
		t.Fatal(err)
	}
	if refused == 0 || !bytes.Equal(read(t, o.Out, "tiny", samplesFile), read(t, want.Out, "tiny", samplesFile)) {
		t.Error("a run that was disturbed left other samples")
	}
}
