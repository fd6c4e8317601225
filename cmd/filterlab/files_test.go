package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"filterlab/experiments/workload"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// give makes text the standard input of the test.
func give(t *testing.T, text string) {
	t.Helper()
	f, err := os.Open(write(t, t.TempDir(), "stdin", text))
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stdin
	os.Stdin = f
	t.Cleanup(func() {
		os.Stdin = was
		f.Close()
	})
}

// numbers are the lines from..to-1.
func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// must runs a command that must succeed and returns what it printed.
func must(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := filterlab(args...)
	if code != exitOK {
		t.Fatalf("filterlab %v: exit %d, %s", args, code, stderr)
	}
	return stdout, stderr
}

func families() []string {
	var out []string
	for _, f := range catalog.Families() {
		out = append(out, f.Name)
	}
	return out
}

// D12: what one process builds another one finds, every key, for every family; so does
// the library. Absent keys are found at about the rate that was asked for: in 10,000
// at 1% that is 100, with a standard deviation of 10 and at most 15 more for what
// one filter differs from the next; five of them are allowed for.
func TestD12_AnotherProcessFindsEveryKey(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "keys", numbers(0, 1000))
	for _, family := range families() {
		file := filepath.Join(dir, family)
		cmd, stderr := start(t, "build", keys, "--filter", family, "--p", "1%", "--hash", "siphash", "--seed", "7", "--out", file)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v: %s", family, err, stderr)
		}
		give(t, numbers(0, 1000))
		if stdout, _ := must(t, "query", file, "-", "--count"); stdout != "maybe\t1000\nabsent\t0\n" {
			t.Errorf("%s: %s", family, stdout)
		}
		give(t, numbers(1000, 11000))
		code, stdout, _ := filterlab("query", file, "--count")
		if got := atoi(t, strings.Fields(stdout)[1]); code != exitFailed || got > 175 {
			t.Errorf("%s: exit %d; %d of 10000 absent keys are found", family, code, got)
		}
		// The library.
		f, err := catalog.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		e, err := hashing.ByName(f.Info().Hash)
		if err != nil {
			t.Fatal(err)
		}
		h := e.New(f.Info().Seed)
		for i := range 1000 {
			if !f.Contains(h.SumString(strconv.Itoa(i))) {
				t.Errorf("%s: the library does not find %d", family, i)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if code, _, stderr := filterlab("build", keys, "--hash", "maphash", "--out", filepath.Join(dir, "x")); code != exitUsage || !strings.Contains(stderr, "maphash: want a hash that is the same in every process") {
		t.Errorf("a hash of one process: exit %d, %s", code, stderr)
	}
}

// A16: a key is the line without its end. "abc", "abc\n" and "abc\r\n" make the same
// file, and are found as an argument and as a line of any kind.
func TestA16_FilesAndArgumentsAreTheSameKeys(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, text := range []string{"abc", "abc\n", "abc\r\n", "\xef\xbb\xbfabc\n"} {
		keys := write(t, dir, fmt.Sprintf("keys%d", i), text)
		file := filepath.Join(dir, fmt.Sprintf("filter%d", i))
		must(t, "build", keys, "--p", "1e-9", "--out", file)
		files = append(files, file)
		if stdout, _ := must(t, "query", file, "abc"); stdout != "maybe\tabc\n" {
			t.Errorf("%q: the argument: %q", text, stdout)
		}
		for _, line := range []string{"abc", "abc\n", "abc\r\n"} {
			give(t, line)
			if stdout, _ := must(t, "query", file); stdout != "maybe\tabc\n" {
				t.Errorf("%q: the line %q: %q", text, line, stdout)
			}
		}
		give(t, "abc\\n\n\nabc \n")
		if code, stdout, _ := filterlab("query", file); code != exitFailed || stdout != "absent\tabc\\n\nabsent\t\nabsent\tabc \n" {
			t.Errorf("%q: other keys: exit %d, %q", text, code, stdout)
		}
	}
	for _, file := range files[1:] {
		if stdout, _ := must(t, "diff", files[0], file); stdout != "" {
			t.Errorf("other files: %s", stdout)
		}
	}
	// A18: the empty key is one.
	empty := filepath.Join(dir, "empty")
	must(t, "build", write(t, dir, "keys", "\n"), "--out", empty)
	if stdout, _ := must(t, "query", empty, ""); stdout != "maybe\t\n" {
		t.Errorf("the empty key: %q", stdout)
	}
}

// A20: a saved filter is asked through the hash and the seed that it was filled
// through, or not at all.
func TestA20_HashOfASavedFilterStays(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	must(t, "build", write(t, dir, "keys", numbers(0, 500)), "--hash", "xxhash64", "--seed", "5", "--out", file)
	must(t, "query", file, "7", "--hash", "xxhash64", "--seed", "5")
	for _, c := range []struct{ args, want string }{
		{"--hash murmur3", "hash = murmur3: want xxhash64"},
		{"--hash xxhash64 --seed 6", "seed = 6: want 5"},
		{"--seed 0", "seed = 0: want 5"},
	} {
		code, stdout, stderr := filterlab(append([]string{"query", file, "7"}, strings.Fields(c.args)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, file) {
			t.Errorf("%s: exit %d, %s", c.args, code, stderr)
		}
	}
}

// B27: too many keys are warned of by whoever comes upon them: build, info, merge. Of
// 5,000 keys at 1% and 100,000 added the rate is 1.
func TestB27_OverfullFilesAreWarnedOf(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "keys", numbers(0, 100_000))
	for _, family := range []string{"standard", "blocked", "counting"} {
		file := filepath.Join(dir, family)
		_, stderr := must(t, "build", keys, "--filter", family, "--n", "5000", "--p", "1%", "--out", file)
		if !strings.Contains(stderr, "warning: "+file) || !strings.Contains(stderr, "sized for 5000") {
			t.Errorf("%s: build: %s", family, stderr)
		}
		stdout, stderr := must(t, "info", file)
		if !strings.Contains(stderr, "warning: "+file) || !strings.Contains(stdout, "\noverfull ") {
			t.Errorf("%s: info: %s%s", family, stdout, stderr)
		}
		stdout, _ = must(t, "info", file, "--json")
		var told struct {
			Overfull bool
			FPR      float64
		}
		if err := json.Unmarshal([]byte(stdout), &told); err != nil || !told.Overfull || told.FPR < 0.99 {
			t.Errorf("%s: info --json: %v, %s", family, err, stdout)
		}
	}
	// Two halves, each as full as it should be, are too much together.
	for i, name := range []string{"a", "b"} {
		half := write(t, dir, "half", numbers(5000*i, 5000*i+5000))
		if _, stderr := must(t, "build", half, "--n", "5000", "--out", filepath.Join(dir, name)); strings.Contains(stderr, "warning") {
			t.Errorf("warned without need: %s", stderr)
		}
		if _, stderr := must(t, "info", filepath.Join(dir, name)); stderr != "" {
			t.Errorf("warned without need: %s", stderr)
		}
	}
	if _, stderr := must(t, "merge", filepath.Join(dir, "a"), filepath.Join(dir, "b"), "--out", filepath.Join(dir, "ab")); !strings.Contains(stderr, "warning") || !strings.Contains(stderr, "sized for 5000") {
		t.Errorf("merge: %s", stderr)
	}
	// Scalable filters take them all and keep their rate.
	if _, stderr := must(t, "build", keys, "--filter", "scalable", "--n", "5000", "--out", filepath.Join(dir, "s")); strings.Contains(stderr, "warning") {
		t.Errorf("scalable: %s", stderr)
	}
}

// What info says, in text and as JSON, is what was built.
func TestInfo(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "keys", numbers(0, 2000))
	for _, family := range families() {
		file := filepath.Join(dir, family)
		must(t, "build", keys, "--filter", family, "--p", "1%", "--hash", "murmur3", "--seed", "18446744073709551615", "--out", file)
		text, stderr := must(t, "info", file)
		for _, want := range []string{file, "filter         " + family, "murmur3, seed 18446744073709551615", "rate now"} {
			if !strings.Contains(text, want) || stderr != "" {
				t.Errorf("%s: want %q in\n%s%s", family, want, text, stderr)
			}
		}
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := must(t, "info", file, "--json")
		var told struct {
			Bytes       int64
			Filter      string
			Geometry    map[string]float64
			Hash        string
			Seed        uint64
			SizeBits    float64 `json:"size_bits"`
			EstimatedN  float64 `json:"estimated_n"`
			BitsPerKey  float64 `json:"bits_per_key"`
			FPR         float64
			FPRPromised *float64 `json:"fpr_promised"`
			Overfull    bool
		}
		if err := json.Unmarshal([]byte(out), &told); err != nil || strings.Count(out, "\n") != 1 {
			t.Fatalf("%s: %v in %s", family, err, out)
		}
		// An estimate from about 10,000 of 20,000 bits has an error of a percent or so.
		if told.Bytes != st.Size() || !strings.HasPrefix(told.Filter, family) || len(told.Geometry) == 0 || told.Hash != "murmur3" || told.Seed != math.MaxUint64 ||
			math.Abs(told.EstimatedN-2000) > 80 || math.Abs(told.BitsPerKey*told.EstimatedN-told.SizeBits) > 1e-3 || !(told.FPR > 0 && told.FPR < 0.012) || told.Overfull {
			t.Errorf("%s: %s", family, out)
		}
		if promised := told.FPRPromised; promised != nil && math.Abs(*promised-0.01) > 0.0005 {
			t.Errorf("%s: promised %g", family, *promised)
		}
	}
	// A filter without keys has no bits per key.
	file := filepath.Join(dir, "none")
	must(t, "build", write(t, dir, "empty", ""), "--n", "100", "--out", file)
	text, _ := must(t, "info", file)
	if out, _ := must(t, "info", file, "--json"); !strings.Contains(out, `"bits_per_key":null`) || !strings.Contains(text, "no keys") {
		t.Errorf("%s%s", text, out)
	}
}

// Any family in shards has a file, too: its keys are found, info shows the shards, diff
// counts in them, and merge says what it does not do.
func TestShardedFiles(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "keys", numbers(0, 2000))
	for _, family := range families() {
		v := "sharded(3," + family
		file, other := filepath.Join(dir, "sharded-"+family), filepath.Join(dir, "other")
		must(t, "build", keys, "--filter", v+")", "--p", "1%", "--out", file)
		must(t, "build", keys, "--filter", v+")", "--p", "1%", "--seed", "1", "--out", other)
		give(t, numbers(0, 2000))
		if stdout, _ := must(t, "query", file, "-", "--count"); stdout != "maybe\t2000\nabsent\t0\n" {
			t.Errorf("%s: %s", v, stdout)
		}
		text, stderr := must(t, "info", file)
		for _, want := range []string{"filter         " + v, "geometry       shards 3", "shard 2  ", "sized for      2000 keys"} {
			if !strings.Contains(text, want) || stderr != "" {
				t.Errorf("%s: want %q in\n%s%s", v, want, text, stderr)
			}
		}
		if code, stdout, _ := filterlab("diff", file, other); code != exitFailed || !strings.Contains(stdout, "bits differ") || !strings.Contains(stdout, "seed ") {
			t.Errorf("%s: diff: exit %d, %s", v, code, stdout)
		}
		if code, _, stderr := filterlab("merge", file, file, "--out", other); code != exitFailed || !strings.Contains(stderr, "sharded filters cannot merge") {
			t.Errorf("%s: merge: exit %d, %s", v, code, stderr)
		}
	}
}

// E07: shards of one size make, bit for bit, the filter that was given all keys; what
// does not fit together is refused by field and both values, and nothing is
// written.
func TestE07_MergeOfFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, family := range []string{"standard", "blocked", "counting"} {
		args := []string{"merge", "--out", path("sum")}
		for i := range 8 {
			shard := path(fmt.Sprintf("shard%d", i))
			must(t, "build", write(t, dir, "keys", numbers(2000*i, 2000*i+2000)), "--filter", family, "--n", "16000", "--out", shard)
			args = append(args, shard)
		}
		must(t, args...)
		must(t, "build", write(t, dir, "keys", numbers(0, 16000)), "--filter", family, "--n", "16000", "--out", path("whole"))
		if stdout, _ := must(t, "diff", path("sum"), path("whole")); stdout != "" {
			t.Errorf("%s: the sum of eight shards is not the whole: %s", family, stdout)
		}
		// One of the parts may be the output.
		must(t, "merge", path("sum"), path("shard1"), "--out", path("shard1"))
		if family != "counting" { // which counts keys twice
			must(t, "diff", path("shard1"), path("whole"))
		}
	}
	keys := write(t, dir, "keys", numbers(0, 1000))
	build := func(name string, args ...string) string {
		must(t, append([]string{"build", keys, "--out", path(name)}, args...)...)
		return path(name)
	}
	a := build("a", "--filter", "standard(k=6)", "--n", "1000")
	for _, c := range []struct {
		other string
		wants []string
	}{
		{build("k", "--filter", "standard(k=7)", "--bits-per-key", "9.6"), []string{"k", "6", "7"}},
		{build("m", "--filter", "standard(k=6)", "--n", "2000"), []string{"m", "here"}},
		{build("hash", "--filter", "standard(k=6)", "--n", "1000", "--hash", "murmur3"), []string{"hash", "xxh3", "murmur3"}},
		{build("seed", "--filter", "standard(k=6)", "--n", "1000", "--seed", "1"), []string{"seed", "0", "1"}},
		{build("family", "--filter", "blocked"), []string{"family", "standard", "blocked"}},
	} {
		code, stdout, stderr := filterlab("merge", a, c.other, "--out", path("none"))
		for _, want := range append(c.wants, a, c.other, "cannot merge") {
			if code != exitFailed || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit %d, want %q in %s", c.other, code, want, stderr)
			}
		}
		if _, err := os.Stat(path("none")); err == nil {
			t.Fatalf("%s was refused and written", c.other)
		}
		// diff tells the same without an error.
		if code, stdout, stderr := filterlab("diff", a, c.other); code != exitFailed || stderr != "" || !strings.Contains(stdout, c.wants[0]+" ") {
			t.Errorf("diff with %s: exit %d, %s%s", c.other, code, stdout, stderr)
		}
	}
	for _, family := range []string{"scalable", "cuckoo"} {
		f := build(family, "--filter", family)
		if code, _, stderr := filterlab("merge", f, f, "--out", path("none")); code != exitFailed || !strings.Contains(stderr, family+" filters cannot merge") {
			t.Errorf("%s: exit %d, %s", family, code, stderr)
		}
	}
}

// diff counts the bits that differ: 3 that are set by hand are 3. Checksums are made
// anew, as a writer would.
func TestDiffCountsBits(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	must(t, "build", write(t, dir, "keys", numbers(0, 5000)), "--bits-per-key", "20", "--out", file)
	f, err := catalog.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	head := f.Info().HeaderBytes
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[head] ^= 1
	b[head+1000] ^= 0x80
	b[head+10001] ^= 0x10
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint32(b[40:], crc32.Checksum(b[head:], table))
	binary.LittleEndian.PutUint32(b[head-4:], crc32.Checksum(b[:head-4], table))
	other := write(t, dir, "other", string(b))
	code, stdout, stderr := filterlab("diff", file, other)
	if code != exitFailed || stderr != "" || !strings.Contains(stdout, "table") || !strings.Contains(stdout, "3 of ") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

// Files that are no filter, cut short, damaged or followed by something else are
// refused by every command with one line that names the file, and status 2 where 1
// is an answer. Nothing is written.
func TestE02_E09_DamagedFiles(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	must(t, "build", write(t, dir, "keys", numbers(0, 300)), "--filter", "blocked", "--out", good)
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(i int) string {
		c := bytes.Clone(b)
		c[i] ^= 4
		return string(c)
	}
	// A header that promises 2^40 bits, with its checksum right, and nothing behind.
	huge := bytes.Clone(b[:192])
	binary.LittleEndian.PutUint64(huge[32:], 1<<37)
	binary.LittleEndian.PutUint64(huge[112:], 1<<31)
	binary.LittleEndian.PutUint32(huge[188:], crc32.Checksum(huge[:188], crc32.MakeTable(crc32.Castagnoli)))
	tried := 0
	for name, text := range map[string]string{
		"empty": "", "text": "not a filter, but long enough to be taken for one" + strings.Repeat(".", 200),
		"magic": string(b[:4]), "header": string(b[:100]), "noPayload": string(b[:192]), "short": string(b[:len(b)-1]), "half": string(b[:len(b)/2]),
		"trailing": string(b) + "x", "twice": string(b) + string(b),
		"version": flip(8), "family": flip(17), "sum": flip(41), "seed": flip(97), "geometry": flip(113), "padding": flip(180), "huge": string(huge),
		"payload": flip(200), "lastBit": flip(len(b) - 1),
	} {
		bad := write(t, dir, "bad-"+name, text)
		out := filepath.Join(dir, "out")
		inPayload := name == "payload" || name == "lastBit"
		for _, c := range []struct {
			args []string
			want int
		}{
			{[]string{"info", bad}, exitFailed},
			{[]string{"info", "--json", bad}, exitFailed},
			{[]string{"merge", good, bad, "--out", out}, exitFailed},
			{[]string{"merge", bad, good, "--out", out}, exitFailed},
			{[]string{"diff", good, bad}, exitUsage},
			{[]string{"query", bad, "7"}, exitUsage},
			{[]string{"query", bad, "7", "--verify"}, exitUsage},
		} {
			if inPayload && c.args[0] == "query" && len(c.args) == 3 {
				continue // it looks at the header alone, as it says
			}
			tried++
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			code, stdout, stderr := filterlab(c.args...)
			runtime.ReadMemStats(&after)
			if code != c.want || stdout != "" || !strings.Contains(stderr, bad) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: %v: exit %d, want %d, %s%s", name, c.args, code, c.want, stdout, stderr)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
				t.Errorf("%s: %v: allocates %d bytes", name, c.args, took)
			}
			if _, err := os.Stat(out); err == nil {
				t.Fatalf("%s: %v: wrote %s", name, c.args, out)
			}
		}
	}
	for _, bad := range []string{dir, filepath.Join(dir, "nothing")} {
		if code, _, stderr := filterlab("query", bad, "7"); code != exitUsage || !strings.Contains(stderr, bad) {
			t.Errorf("query %s: exit %d, %s", bad, code, stderr)
		}
		if code, _, stderr := filterlab("info", bad); code != exitFailed || !strings.Contains(stderr, bad) {
			t.Errorf("info %s: exit %d, %s", bad, code, stderr)
		}
	}
	t.Logf("%d commands on damaged files refused", tried)
}

// What is wrong on the command line is refused before anything is read or written.
func TestRefusalsOfFileCommands(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "keys", "a\nb\n")
	write(t, dir, "empty", "")
	must(t, "build", "keys", "--out", "f")
	give(t, "a\n")
	for _, c := range []struct{ line, want string }{
		{"build keys", "--out: want the file to write"},
		{"build keys --out .", `--out ".": want a file; it is a folder`},
		{"build keys --out keys", `--out "keys": want another file than that of the keys`},
		{"build keys more --out x", `argument "more"`},
		{"build --out x", "stdin cannot be counted beforehand, and standard does not grow (scalable does)"},
		{"build - --filter blocked --out x", "--n: want how many keys will come"},
		{"build empty --out x", "empty has no keys: want at least 1 key, or --n"},
		{"build keys --n 0 --out x", "--n 0: want at least 1 key"},
		{"build keys --n 1,000 --out x", `"1,000"`},
		{"build keys --n 1% --p 1000 --out x", "were --n and --p swapped?"},
		{"build keys --p 0 --out x", "--p 0: want 0 < p < 1"},
		{"build keys --p nan --out x", `"nan"`},
		{"build keys --p 1.5 --out x", `"1.5"`},
		{"build keys --p 1% --bits-per-key 9 --out x", "want one of them"},
		{"build keys --bits-per-key 0 --out x", "--bits-per-key 0: want more than 0"},
		{"build keys --filter blokced --out x", "did you mean blocked?"},
		{"build keys --filter standard(k=65) --out x", "k = 65"},
		{"build keys --hash xxh --out x", `hash = "xxh": want one of xxhash64, `},
		{"build keys --seed -1 --out x", `--seed: count "-1"`},
		{"build keys --n 1e18 --p 20% --out x", "at most 2^48 bits"},
		{"build keys --n 1e13 --p 1% --out x", "under the memory limit"},
		{"query", "want the file of a filter"},
		{"query f a --only yes", `--only "yes": want maybe or absent`},
		{"query f a --only maybe --count", "and no --count"},
		{"query f a --hash xxh", `hash = "xxh": want one of`},
		{"info", "want the file of one filter; there are 0"},
		{"info f f", "there are 2"},
		{"merge f --out x", "want the files of two filters or more; there are 1"},
		{"merge f f", "--out: want the file to write"},
		{"diff f", "want the files of two filters; there are 1"},
	} {
		if strings.Contains(c.line, "1e13") && strconv.IntSize == 64 && runtime.GOOS != "linux" {
			continue // only Linux tells how much memory there is
		}
		code, stdout, stderr := filterlab(words(t, c.line)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("filterlab %s: exit %d, stdout %q, want %q in\n%s", c.line, code, stdout, c.want, stderr)
		}
		if _, err := os.Stat("x"); err == nil {
			t.Fatalf("filterlab %s: was refused and wrote a file", c.line)
		}
	}
	if left, _ := filepath.Glob("*tmp*"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// Keys from a pipe: with --n for any filter, without it for one that grows. What is
// built is what a file gives.
func TestBuildFromStdin(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	keys := write(t, dir, "keys", numbers(0, 20_000))
	give(t, numbers(0, 20_000))
	must(t, "build", "--n", "20000", "--out", path("a"))
	must(t, "build", keys, "--out", path("b"))
	must(t, "diff", path("a"), path("b"))

	give(t, numbers(0, 20_000)+numbers(0, 20_000)+"0\n0\n")
	_, stderr := must(t, "build", "--filter", "scalable", "--out", path("s"))
	if !strings.Contains(stderr, "40002 keys in scalable") {
		t.Error(stderr)
	}
	// Every repetition is noticed, and a few false positives besides.
	out, _ := must(t, "info", path("s"), "--json")
	var told struct {
		Stored float64
		FPR    float64
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.Stored > 20_000 || told.Stored < 19_700 || told.FPR > 0.01 {
		t.Errorf("%v: %s", err, out)
	}
	give(t, numbers(0, 20_000))
	must(t, "query", path("s"), "--count")

	// A cuckoo filter is full at some time, and says where and why.
	give(t, strings.Repeat("again\n", 100))
	code, _, stderr := filterlab("build", "--filter", "cuckoo(b=4)", "--n", "1000", "--out", path("c"))
	if code != exitFailed || !strings.Contains(stderr, "stdin: line 9: ") || !strings.Contains(stderr, "each key once") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if _, err := os.Stat(path("c")); err == nil {
		t.Error("half a filter was left")
	}
}

// I13, I07: stdout is the data and nothing else, and where it cannot be written the
// status says so. A filter in a pipe is the file.
func TestI07_I13_StreamsOfFileCommands(t *testing.T) {
	dir := t.TempDir()
	keys := write(t, dir, "keys", numbers(0, 5000))
	file := filepath.Join(dir, "f")
	if stdout, _ := must(t, "build", keys, "--out", file); stdout != "" {
		t.Errorf("build wrote %q to stdout", stdout)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if stdout, _ := must(t, "build", keys, "--out", "-"); stdout != string(want) {
		t.Error("what build writes to stdout is not the file")
	}
	if stdout, _ := must(t, "merge", file, file, "--out", "-"); stdout != string(want) {
		t.Error("what merge writes to stdout is not the file")
	}
	other := filepath.Join(dir, "g")
	must(t, "build", keys, "--seed", "1", "--out", other)
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"build", keys, "--out", "-"}, exitFailed},
		{[]string{"merge", file, file, "--out", "-"}, exitFailed},
		{[]string{"info", file}, exitFailed},
		{[]string{"info", file, "--json"}, exitFailed},
		{[]string{"query", file, "1"}, exitUsage},
		{[]string{"query", file, "1", "--count"}, exitUsage},
		{[]string{"diff", file, other}, exitUsage},
	} {
		var stderr bytes.Buffer
		if code := run(context.Background(), c.args, fullWriter{}, &stderr); code != c.code || !strings.Contains(stderr.String(), "no space") {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr.String())
		}
	}
	if runtime.GOOS == "linux" {
		for _, args := range [][]string{{"build", keys}, {"merge", file, file}} {
			code, _, stderr := filterlab(append(args, "--out", "/dev/full")...)
			if code != exitFailed || !strings.Contains(stderr, "/dev/full: no space left on device") {
				t.Errorf("%v: exit %d, %s", args, code, stderr)
			}
		}
	}
	// --only prints keys fit for the next command.
	give(t, numbers(4998, 5002))
	code, stdout, _ := filterlab("query", file, "--only", "absent")
	give(t, numbers(4998, 5002))
	_, stdout2, _ := filterlab("query", file, "--only", "maybe")
	if code != exitFailed || stdout+stdout2 != "5000\n5001\n4998\n4999\n" {
		t.Errorf("exit %d, %q and %q", code, stdout, stdout2)
	}
}

// A file is replaced when the new one is whole: a disk that is full leaves the old one
// and no rest of the new.
func TestFullDiskLeavesTheOldFilter(t *testing.T) {
	dir, _ := mount(t, "size=1m")
	keys := write(t, t.TempDir(), "keys", numbers(0, 1000))
	file := filepath.Join(dir, "f")
	must(t, "build", keys, "--out", file)
	before := snapshot(t, dir)
	for _, args := range [][]string{{"build", keys, "--n", "1e7"}, {"merge", file, file}} {
		if args[0] == "merge" {
			fillUp(t, filepath.Join(dir, "fill"))
		}
		code, _, stderr := filterlab(append(args, "--out", file)...)
		if code != exitFailed || !strings.Contains(stderr, "no space left on device") || !strings.Contains(stderr, dir) {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
		if err := os.RemoveAll(filepath.Join(dir, "fill")); err != nil {
			t.Fatal(err)
		}
		if now := snapshot(t, dir); len(now) != 1 || now["/f"] != before["/f"] {
			t.Errorf("%v: the old file is gone, or something is left of the new: %d files", args, len(now))
		}
	}
}

// Ctrl-C while build waits for a pipe: status 130, at once, and no file.
func TestBuildInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no signals to send")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "build", "--n", "1000", "--out", filepath.Join(dir, "f"))
	cmd.Env = append(os.Environ(), asCommand+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, numbers(0, 100)); err != nil {
		t.Fatal(err)
	}
	// There is nothing to see of a command that waits; the handler is in place soon.
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("%v, want exit status %d", err, exitInterrupted)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A reader that has seen enough ends a query in silence, as other commands of a pipe.
// Answers come while the keys still do.
func TestQueryInAPipe(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no signals to send")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	must(t, "build", write(t, dir, "keys", numbers(0, 1000)), "--out", file)
	cmd := exec.Command(os.Args[0], "query", file)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"7", "999"} {
		if _, err := fmt.Fprintln(in, key); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, len("maybe\t\n")+len(key))
		if _, err := io.ReadFull(out, answer); err != nil || string(answer) != "maybe\t"+key+"\n" {
			t.Fatalf("%q, %v", answer, err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	// A write or two still fit into a pipe that is about to close; then comes the signal.
	for range 100 {
		if _, err := fmt.Fprintln(in, "7"); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() || exit.Sys().(syscall.WaitStatus).Signal().String() != "broken pipe" || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, stderr.String())
	}
}

// keysOf is what keyLines gives, with the reader's pieces as they come.
func keysOf(r io.Reader, most int) ([]string, error) {
	lines := newKeyLines(r)
	var out []string
	keys := make([][]byte, 0, most)
	for {
		var err error
		keys, err = lines.next(keys)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		for _, k := range keys {
			out = append(out, string(k))
		}
	}
}

// Keys longer than the buffer come whole, up to the limit, and those beyond it are
// refused by line.
func TestLongKeys(t *testing.T) {
	long := strings.Repeat("x", 3*readSize+5)
	got, err := keysOf(iotest.HalfReader(strings.NewReader("a\n"+long+"\r\nb")), 10)
	if err != nil || len(got) != 3 || got[1] != long || got[2] != "b" {
		t.Errorf("%d keys, %v", len(got), err)
	}
	forever := io.MultiReader(strings.NewReader("a\nb\n"), endless('x'))
	if _, err := keysOf(forever, 10); err == nil || !strings.Contains(err.Error(), "line 3: want a key of less than 16777216 bytes") {
		t.Errorf("an endless line: %v", err)
	}
	if _, err := keysOf(iotest.TimeoutReader(strings.NewReader(strings.Repeat("abc\n", readSize))), 10); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("an error of the reader: %v", err)
	}
}

// endless reads as one byte without end.
type endless byte

func (r endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// The keys of a file are the same to build and query as to the experiments, however
// the bytes come in; and counting lines beforehand counts them.
func FuzzKeyLines(f *testing.F) {
	for _, s := range []string{"", "\n", "a", "a\n", "a\r\n", "a\r", "\r\n\r\n", "\n\na\n\n", "\xef\xbb\xbf", "\xef\xbb\xbfa\nb", "\xef\xbba\n", "a\nb\r\nc\nd\ne\nf\ng\n", "\xef\xbb\xbf\r\n", "a\x00\nb\xff"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, most uint8) {
		var want []string
		// The experiments leave repeated lines out: compare what is left of both, and the
		// number of lines.
		keys, report, err := workload.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range keys.Len() {
			want = append(want, string(keys.At(i)))
		}
		for _, r := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text))} {
			got, err := keysOf(r, int(most)+1)
			if err != nil {
				t.Fatal(err)
			}
			if uint64(len(got)) != report.Lines {
				t.Fatalf("%d lines, want %d", len(got), report.Lines)
			}
			seen := map[string]bool{}
			var distinct []string
			for _, k := range got {
				if !seen[k] {
					seen[k] = true
					distinct = append(distinct, k)
				}
			}
			if strings.Join(distinct, "\n") != strings.Join(want, "\n") || len(distinct) != len(want) {
				t.Fatalf("keys %q, want %q", distinct, want)
			}
		}
		// A mark alone is a line to nobody but the count, which only sizes the filter.
		n, err := countLines(context.Background(), bytes.NewReader(text))
		if err != nil || n != report.Lines {
			t.Fatalf("counted %d lines, %v, want %d", n, err, report.Lines)
		}
	})
}
