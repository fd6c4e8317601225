package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"filterlab/experiments"
)

// killsVariable sets how many processes TestKilledRunsResume kills: 10 without it,
// 200 in "make faults".
const killsVariable = "FILTERLAB_KILLS"

// start starts the real command, with what it prints to stderr in the buffer.
func start(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Skipf("this system starts no processes: %v", err)
	}
	return cmd, &stderr
}

// records reads a CSV file, which must have whole records only.
func records(t *testing.T, path string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) == 0 || b[len(b)-1] != '\n' {
		t.Fatalf("%s ends within a row", path)
	}
	out, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

// rowIDs is how often each row is there, without what was measured, its value and its
// note: what has been measured at which point, in which round. Noise is left out: where
// a net time turns out to be none, there is no row for it.
func rowIDs(t *testing.T, path string) map[string]int {
	t.Helper()
	all := records(t, path)
	ids := map[string]int{}
	for _, r := range all[1:] {
		noise := false
		for i, name := range all[0] {
			if name == "value" || name == "note" {
				r[i] = ""
			}
			noise = noise || name == "metric" && strings.HasPrefix(r[i], "noise")
		}
		if !noise {
			ids[strings.Join(r, ",")]++
		}
	}
	return ids
}

// A run that is killed at any moment, and killed again while it resumes, ends with the
// samples of an undisturbed run, byte for byte, and with each timed row once. At every
// moment the rows that the journal vouches for begin the file of the undisturbed
// run, and the results of an earlier run stand beside them untouched, or the new
// ones do.
func TestKilledRunsResume(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no signals to send")
	}
	kills, lines := 10, []string{"fpr-vs-k --filters standard"}
	if s := os.Getenv(killsVariable); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil || kills < 1 {
			t.Fatalf("%s=%s: want a number of at least 1", killsVariable, s)
		}
		// The second has timed rows as well.
		lines = []string{"fpr-vs-load --n 10000", "hit-ratio --n 1e4"}
	} else if testing.Short() {
		// A few points, and those of the fewest lookups: under the race
		// detector, which the processes run with, they take long enough.
		kills, lines = 2, []string{"fpr-vs-k --filters standard --bits-per-key 4"}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i, line := range lines {
		args := append([]string{"run", "--profile", "quick"}, strings.Fields(line)...)
		killAndResume(t, r, (kills+i)/len(lines), args)
	}
}

func killAndResume(t *testing.T, r *rand.Rand, kills int, args []string) {
	name := args[3]
	dir := t.TempDir()
	whole, earlier, out := filepath.Join(dir, "whole"), filepath.Join(dir, "earlier"), filepath.Join(dir, "out")
	file := func(out, file string) string { return filepath.Join(out, name, file) }
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return b
	}
	begin := time.Now()
	for _, c := range [][]string{{"--seed", "1", "--out", whole}, {"--seed", "2", "--out", earlier}} {
		cmd, stderr := start(t, append(args, c...)...)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
	}
	takes := time.Since(begin) / 2
	samples, before := read(file(whole, "samples.csv")), read(file(earlier, "samples.csv"))
	timed := rowIDs(t, file(whole, "times.csv"))
	if bytes.Equal(samples, before) {
		t.Fatal("two seeds give the same samples")
	}

	resumable := func(err error, stderr *bytes.Buffer) {
		t.Helper()
		if err != nil {
			t.Fatalf("resuming: %v: %s", err, stderr)
		}
	}
	var killed, finished, cut, compared int
	for killed < kills {
		if finished == 0 || bytes.Equal(read(file(out, "samples.csv")), samples) {
			// The results of an earlier run are there when each new one begins.
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(out, os.DirFS(earlier)); err != nil {
				t.Fatal(err)
			}
		}
		for ended := false; !ended && killed < kills; {
			cmd, stderr := start(t, append(args, "--seed", "1", "--out", out, "--resume")...)
			timer := time.AfterFunc(time.Duration(r.Int64N(int64(takes))), func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
			err := cmd.Wait()
			timer.Stop()
			var exit *exec.ExitError
			if errors.As(err, &exit) && !exit.Exited() {
				killed++
			} else {
				resumable(err, stderr)
				ended = true
			}
			// What the journal vouches for.
			part := filepath.Join(out, name, "partial")
			if lines := strings.Split(string(read(filepath.Join(part, "journal"))), "\n"); len(lines) > 1 {
				var size int
				if _, err := fmt.Sscan(lines[len(lines)-2], &size); err != nil {
					t.Fatal(err)
				}
				rows := read(filepath.Join(part, "samples.csv"))
				if rows != nil && (len(rows) < size || !bytes.HasPrefix(samples, rows[:size])) {
					t.Fatalf("kill %d: the %d bytes that the journal vouches for are not those of an undisturbed run", killed, size)
				}
				if len(rows) > size {
					cut++
				}
				compared += bytes.Count(rows[:min(size, len(rows))], []byte("\n"))
			}
			now := read(file(out, "samples.csv"))
			if !bytes.Equal(now, before) && !bytes.Equal(now, samples) {
				t.Fatalf("kill %d: samples.csv is neither that of the earlier run nor the new one", killed)
			}
		}
		cmd, stderr := start(t, append(args, "--seed", "1", "--out", out, "--resume")...)
		resumable(cmd.Wait(), stderr)
		finished++
		if !bytes.Equal(read(file(out, "samples.csv")), samples) {
			t.Fatalf("killed and resumed: samples.csv differs from that of an undisturbed run")
		}
		compared += bytes.Count(samples, []byte("\n"))
		got := rowIDs(t, file(out, "times.csv"))
		for id, n := range got {
			if n != 1 || timed[id] != 1 {
				t.Errorf("timed row %s is there %d times, and %d times in an undisturbed run", id, n, timed[id])
			}
		}
		if len(got) != len(timed) {
			t.Errorf("%d timed rows, want %d", len(got), len(timed))
		}
		compared += len(got)
		if code, _, stderr := filterlab("verify", out); code != exitOK {
			t.Errorf("verify: exit %d, %s", code, stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(out, "*", ".tmp-*")); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
	t.Logf("%s, a run of %v: killed at %d random moments (%d within a row or between row and journal), resumed to %d whole runs; %d rows compared, none lost, doubled or torn",
		name, takes.Round(100*time.Millisecond), killed, cut, finished, compared)
}

// smallRun is a run of a fraction of a second.
func smallRun(out string, more ...string) []string {
	return append([]string{"run", "fpr-vs-k", "--profile", "quick", "--filters", "standard", "--bits-per-key", "4", "--k", "2", "--n", "100", "--out", out}, more...)
}

// snapshot is every file under a folder with its content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// missing names a file of before that is gone or has changed in dir.
func missing(t *testing.T, dir string, before map[string]string) string {
	t.Helper()
	now := snapshot(t, dir)
	for path, text := range before {
		if now[path] != text {
			return path
		}
	}
	return ""
}

// mount mounts a tmpfs of so many bytes and skips the test where it may not.
func mount(t *testing.T, options string) (dir string, remount func(options string)) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("mounting a tmpfs takes Linux and root")
	}
	dir = t.TempDir()
	do := func(args ...string) error {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, out)
		}
		return nil
	}
	if err := do("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := do("umount", dir); err != nil {
			t.Error(err)
		}
	})
	return dir, func(options string) {
		if err := do("mount", "-o", "remount,"+options, dir); err != nil {
			t.Skip(err)
		}
	}
}

// page is the unit in which a tmpfs takes memory.
const page = 4096

// fillUp writes a file that takes all the room there is.
func fillUp(t *testing.T, path string) (size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, page))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	size, err = f.Seek(0, io.SeekEnd)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return size
}

// A disk that fills up while a run writes: exit status 1, one line that names the
// file, the results of an earlier run as they were; and with room again --resume ends
// the run as if nothing had been. The disk is filled to leave 0, 3, 6, ... free
// pages (each number of them in "make faults"), so that the fault meets one write after
// another.
func TestDiskFull(t *testing.T) {
	want := filepath.Join(t.TempDir(), "want")
	if code, _, stderr := filterlab(smallRun(want, "--seed", "2")...); code != exitOK {
		t.Fatal(stderr)
	}
	dir, _ := mount(t, "size=1m")
	out := filepath.Join(dir, "out")
	full, step := 0, 3
	if os.Getenv(killsVariable) != "" {
		step = 1
	}
	for free := 0; ; free += step {
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := filterlab(smallRun(out, "--seed", "1")...); code != exitOK {
			t.Fatal(stderr)
		}
		before := snapshot(t, filepath.Join(out, "fpr-vs-k"))
		fill := filepath.Join(dir, "fill")
		size := fillUp(t, fill)
		if err := os.Truncate(fill, max(size/page-int64(free), 0)*page); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := filterlab(smallRun(out, "--seed", "2")...)
		if code == exitOK {
			break // enough room: every fault before it has been met
		}
		full++
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, "no space left on device") || !strings.Contains(stderr, dir) {
			t.Errorf("%d pages free: exit %d, %s", free, code, stderr)
		}
		if _, err := os.Stat(filepath.Join(out, "fpr-vs-k", "partial")); err == nil {
			if name := missing(t, filepath.Join(out, "fpr-vs-k"), before); name != "" {
				t.Errorf("%d pages free: the earlier %s was touched", free, name)
			}
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := filterlab(smallRun(out, "--seed", "2", "--resume")...); code != exitOK {
			t.Errorf("%d pages free, then room again: exit %d, %s", free, code, stderr)
		}
		for _, name := range []string{"samples.csv", "summary.csv", "finding.txt"} {
			a, err := os.ReadFile(filepath.Join(want, "fpr-vs-k", name))
			b, err2 := os.ReadFile(filepath.Join(out, "fpr-vs-k", name))
			if errors.Join(err, err2) != nil || !bytes.Equal(a, b) {
				t.Errorf("%d pages free, then room again: %s differs from that of an undisturbed run", free, name)
			}
		}
	}
	if full < 3 {
		t.Errorf("the disk was full %d times only: the fault was not met", full)
	}
	t.Logf("disk full at %d different points of a run, each resumed to the rows of an undisturbed run", full)
}

// A folder that cannot be written to: a read-only file system, which stops root as
// well; a path under a file; a file for a folder. Status 1, a line that names the
// path, and the results that are there stay.
func TestReadOnlyFolder(t *testing.T) {
	refused := func(t *testing.T, path, why string, args ...string) {
		t.Helper()
		code, stdout, stderr := filterlab(args...)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, path) || !strings.Contains(stderr, why) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	dir := t.TempDir()
	file := write(t, dir, "file", "text")
	refused(t, file, "not a directory", smallRun(file)...)
	refused(t, file, "not a directory", smallRun(filepath.Join(file, "below"))...)
	if b, err := os.ReadFile(file); err != nil || string(b) != "text" {
		t.Errorf("the file was touched: %q, %v", b, err)
	}
	t.Run("mounted", func(t *testing.T) {
		dir, remount := mount(t, "size=1m")
		out := filepath.Join(dir, "out")
		if code, _, stderr := filterlab(smallRun(out)...); code != exitOK {
			t.Fatal(stderr)
		}
		before := snapshot(t, out)
		remount("ro")
		refused(t, out, "read-only file system", smallRun(out, "--seed", "3")...)
		refused(t, out, "read-only file system", smallRun(out, "--restart")...)
		refused(t, out, "read-only file system", "plot", "--out", out)
		if name := missing(t, out, before); name != "" {
			t.Errorf("%s was touched", name)
		}
	})
}

// A measure that panics: status 1, one line that names experiment, point and panic, and
// what was measured before can be resumed once the measure is mended.
func TestPanickingMeasure(t *testing.T) {
	e, err := experiments.ByName("fpr-vs-k")
	if err != nil {
		t.Fatal(err)
	}
	quick, err := experiments.ProfileByName("quick")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := experiments.Options{Profile: quick, Seed: 1, Log: io.Discard, Overrides: []experiments.Override{
		{Axis: "filters", Values: []string{"standard"}}, {Axis: "n", Values: []string{"100"}}, {Axis: "bits-per-key", Values: []string{"4"}},
	}}
	do := func(e experiments.Experiment, out string, resume bool) (int, string) {
		o := o
		o.Out, o.Resume = filepath.Join(dir, out), resume
		var stdout, stderr bytes.Buffer
		code := execute(context.Background(), command{name: "run", run: func(ctx context.Context, _ []string, _, stderr io.Writer) error {
			return conclude([]experiments.Experiment{e}, o.Out, stderr, func(e experiments.Experiment) (experiments.Outcome, error) {
				return experiments.Run(ctx, e, o)
			})
		}}, nil, &stdout, &stderr)
		return code, stderr.String()
	}
	if code, stderr := do(e, "whole", false); code != exitOK {
		t.Fatal(stderr)
	}
	broken, calls := e, 0
	broken.Measures = append(broken.Measures[:len(broken.Measures):len(broken.Measures)], experiments.Measure{
		Name: "broken", Timed: true, // one point after the other
		Run: func(context.Context, *experiments.Lab, []*experiments.Point) ([]experiments.Row, error) {
			if calls++; calls == 3 {
				panic("index out of range [7] with length 7")
			}
			return nil, nil
		},
	})
	code, stderr := do(broken, "broken", false)
	first, _, _ := strings.Cut(stderr, "\n")
	if code != exitFailed || !strings.HasPrefix(first, "filterlab run: fpr-vs-k: ") || !strings.Contains(first, "standard") || !strings.HasSuffix(first, "broken: panic: index out of range [7] with length 7") {
		t.Errorf("exit %d, first line %q", code, first)
	}
	rows := records(t, filepath.Join(dir, "broken", "fpr-vs-k", "partial", "samples.csv"))
	if len(rows) < 2 {
		t.Error("the rows of earlier points are gone")
	}
	if code, stderr := do(e, "broken", true); code != exitOK {
		t.Errorf("mended and resumed: exit %d, %s", code, stderr)
	}
	a, err := os.ReadFile(filepath.Join(dir, "whole", "fpr-vs-k", "samples.csv"))
	b, err2 := os.ReadFile(filepath.Join(dir, "broken", "fpr-vs-k", "samples.csv"))
	if errors.Join(err, err2) != nil || !bytes.Equal(a, b) {
		t.Errorf("mended and resumed: samples.csv differs from that of a sound run: %v", errors.Join(err, err2))
	}
}
