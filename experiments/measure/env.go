package measure

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Unknown stands for a fact that this system does not tell.
const Unknown = "unknown"

// Env is what a run leaves behind about the machine and the program, as
// env.json. It names no host, user or directory, so that it can be published.
type Env struct {
	CPU        string    `json:"cpu"`        // model name
	Cores      int       `json:"cores"`      // logical processors the program may use
	Caches     Caches    `json:"caches"`     // sizes in bytes, 0 when unknown
	OS         string    `json:"os"`         // GOOS
	Arch       string    `json:"arch"`       // GOARCH
	ArchLevel  string    `json:"arch_level"` // GOAMD64, GOARM64 or the like that the program was built for
	Kernel     string    `json:"kernel"`     // version of the operating system's kernel, without what its builder appended
	HugePages  string    `json:"huge_pages"` // transparent huge pages: always, madvise or never
	Go         string    `json:"go"`         // version of the Go toolchain
	GOMAXPROCS int       `json:"gomaxprocs"` // threads that run Go code at once
	BuildTags  string    `json:"build_tags"` // -tags of the build, such as purego
	Revision   string    `json:"revision"`   // commit of the source
	Dirty      string    `json:"dirty"`      // whether the source differed from it: true, false or unknown
	Command    []string  `json:"command"`    // the command line, paths cut down to their last element
	Seed       uint64    `json:"seed"`       // seed of the run
	Start      time.Time `json:"start"`      // when the run began, UTC
	Seconds    float64   `json:"seconds"`    // how long the run took; 0 when unknown
}

// Caches are the sizes of one core's view of the data caches, in bytes; 0 means
// unknown or absent.
type Caches struct {
	L1d uint64 `json:"l1d"`
	L2  uint64 `json:"l2"`
	L3  uint64 `json:"l3"`
}

// ReadEnv gathers the facts of this machine and program. Facts that the system
// does not tell, as on other systems than Linux, are "unknown" or 0; nothing
// fails. It may run `git` once or twice, where the build carries no revision.
func ReadEnv(seed uint64, start time.Time) Env {
	e := Env{
		CPU:        cpuModel(readText("/proc/cpuinfo")),
		Cores:      runtime.NumCPU(),
		Caches:     ReadCaches(),
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		ArchLevel:  Unknown,
		Kernel:     orUnknown(kernelVersion(readText("/proc/sys/kernel/osrelease"))),
		HugePages:  bracketed(readText("/sys/kernel/mm/transparent_hugepage/enabled")),
		Go:         runtime.Version(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Revision:   Unknown,
		Dirty:      Unknown,
		Command:    CommandLine("filterlab", os.Args),
		Seed:       seed,
		Start:      start.UTC().Truncate(time.Second),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOPPC64", "GORISCV64", "GOWASM":
				e.ArchLevel = s.Value
			case "-tags":
				e.BuildTags = s.Value
			case "vcs.revision":
				e.Revision = s.Value
			case "vcs.modified":
				e.Dirty = s.Value
			}
		}
	}
	if e.Revision == Unknown {
		e.Revision, e.Dirty = gitRevision()
	}
	return e
}

// gitRevision asks git about the working directory. `go run` stamps no revision
// into the program, so that this is the usual way for `make experiments`.
func gitRevision() (revision, dirty string) {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return Unknown, Unknown
	}
	revision, dirty = strings.TrimSpace(string(head)), Unknown
	// Untracked files and results are left out: a run makes them.
	if status, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", ":(top)", ":(top,exclude)results").Output(); err == nil {
		dirty = strconv.FormatBool(len(status) > 0)
	}
	return revision, dirty
}

// CommandLine is args with the program replaced by name and every path, alone or
// behind "=", cut down to its last element: a published file must not tell how
// somebody's disk is laid out.
func CommandLine(name string, args []string) []string {
	line := []string{name}
	for i, a := range args {
		if i == 0 {
			continue
		}
		key, value, hasKey := strings.Cut(a, "=")
		switch {
		case hasKey && !isPath(key) && isPath(value):
			a = key + "=" + filepath.Base(value)
		case isPath(a):
			a = filepath.Base(a)
		}
		line = append(line, a)
	}
	return line
}

// isPath reports whether s leads through directories. Names of filters, hashes and
// experiments, and numbers, have no separators.
func isPath(s string) bool {
	return strings.ContainsRune(s, '/') || strings.ContainsRune(s, filepath.Separator)
}

// ReadCaches reads the sizes of the data caches; all are 0 where the system does
// not tell.
func ReadCaches() Caches {
	return readCaches("/sys/devices/system/cpu/cpu0/cache")
}

func readCaches(dir string) Caches {
	var c Caches
	indexes, _ := filepath.Glob(filepath.Join(dir, "index*")) // the pattern is well formed
	for _, index := range indexes {
		if readText(filepath.Join(index, "type")) == "Instruction" {
			continue
		}
		size := cacheBytes(readText(filepath.Join(index, "size")))
		switch readText(filepath.Join(index, "level")) {
		case "1":
			c.L1d = size
		case "2":
			c.L2 = size
		case "3":
			c.L3 = size
		}
	}
	return c
}

// cacheBytes reads the kernel's "48K" and "32M"; anything else is 0.
func cacheBytes(s string) uint64 {
	shift := 0
	if digits, ok := strings.CutSuffix(s, "K"); ok {
		s, shift = digits, 10
	} else if digits, ok := strings.CutSuffix(s, "M"); ok {
		s, shift = digits, 20
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0
	}
	return n << shift
}

// cpuModel finds the processor's name in /proc/cpuinfo, whose keys differ from
// one architecture to the next.
func cpuModel(cpuinfo string) string {
	found := map[string]string{}
	for _, line := range strings.Split(cpuinfo, "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok {
			found[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	for _, key := range []string{"model name", "Model", "cpu model", "cpu", "uarch", "machine"} {
		if v := found[key]; v != "" {
			return v
		}
	}
	return Unknown
}

// bracketed returns the chosen one of "always [madvise] never".
func bracketed(s string) string {
	_, rest, open := strings.Cut(s, "[")
	chosen, _, closed := strings.Cut(rest, "]")
	if !open || !closed {
		return Unknown
	}
	return chosen
}

// readText returns a small system file without the blanks around it; "" when it
// cannot be read.
func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func orUnknown(s string) string {
	if s == "" {
		return Unknown
	}
	return s
}

// kernelVersion is the part of a release that everybody's kernel has: "6.1.0" of
// "6.1.0-13-amd64". The rest names a builder or a site.
func kernelVersion(release string) string {
	version, _, _ := strings.Cut(release, "-")
	return version
}
