package measure

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCommandLineTellsNoPaths(t *testing.T) {
	got := CommandLine("filterlab", []string{"/home/someone/go/bin/filterlab", "run", "fpr-vs-k", "--out", "/home/someone/results", "--keys=/srv/words.txt", "--n", "1e5,1e6", "--filters", "standard,cuckoo(f=12,b=4)", "./rel/dir/", "--p=1%"})
	want := []string{"filterlab", "run", "fpr-vs-k", "--out", "results", "--keys=words.txt", "--n", "1e5,1e6", "--filters", "standard,cuckoo(f=12,b=4)", "dir", "--p=1%"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("command line\n%q, want\n%q", got, want)
	}
	if got := CommandLine("filterlab", nil); !reflect.DeepEqual(got, []string{"filterlab"}) {
		t.Errorf("no arguments: %q", got)
	}
}

func TestReadCaches(t *testing.T) {
	// A directory laid out as the kernel does.
	dir := t.TempDir()
	for name, files := range map[string]map[string]string{
		"index0": {"level": "1\n", "type": "Data\n", "size": "48K\n"},
		"index1": {"level": "1\n", "type": "Instruction\n", "size": "32K\n"},
		"index2": {"level": "2\n", "type": "Unified\n", "size": "1280K\n"},
		"index3": {"level": "3\n", "type": "Unified\n", "size": "48M\n"},
		"index4": {"level": "4\n", "type": "Unified\n", "size": "what\n"},
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := readCaches(dir), (Caches{48 << 10, 1280 << 10, 48 << 20}); got != want {
		t.Errorf("caches %+v, want %+v", got, want)
	}
	if got := readCaches(filepath.Join(dir, "none")); got != (Caches{}) {
		t.Errorf("no caches told: %+v", got)
	}
	for s, want := range map[string]uint64{"": 0, "K": 0, "-1K": 0, "64": 64, "99999999999K": 0} {
		if got := cacheBytes(s); got != want {
			t.Errorf("cacheBytes(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestParseMachineFiles(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nmodel name\t: Some CPU @ 2.80GHz\n": "Some CPU @ 2.80GHz",
		"processor : 0\ncpu : POWER9\nmachine : pSeries\n":   "POWER9",
		"Hardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n":   "Raspberry Pi 4",
		"": Unknown,
	} {
		if got := cpuModel(text); got != want {
			t.Errorf("cpuModel(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"always [madvise] never": "madvise", "[always] madvise never": "always", "": Unknown, "always": Unknown, "]x[": Unknown} {
		if got := bracketed(text); got != want {
			t.Errorf("bracketed(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestReadEnv(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 678, time.FixedZone("somewhere", 3600))
	e := ReadEnv(42, start)
	if e.OS != runtime.GOOS || e.Arch != runtime.GOARCH || e.Go != runtime.Version() || e.Cores < 1 || e.GOMAXPROCS < 1 || e.Seed != 42 {
		t.Errorf("env %+v", e)
	}
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && f.Len() == 0 && v.Type().Field(i).Name != "BuildTags" {
			t.Errorf("%s is empty, want a fact or %q", v.Type().Field(i).Name, Unknown)
		}
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"start":"2030-01-02T02:04:05Z"`) {
		t.Errorf("start is not UTC in whole seconds: %s", b)
	}
	var back Env
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if wd, err := os.Getwd(); err != nil || strings.Contains(string(b), wd) {
		t.Errorf("the working directory stands in %s (%v)", b, err)
	}
}
