package catalog_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// room says what a package, and everything below it, may import besides the
// standard library.
type room struct {
	path string
	may  []string // packages, with "/..." for what is below as well
	std  []string // the standard packages allowed; nil for all
}

// rooms is the layering of the project. Arrows point one way: cmd, experiments,
// catalog, families, filters, theory. Of several rooms that fit a package, the
// one with the longest path holds.
func rooms() []room {
	families := []string{"filterlab/filters/standard", "filterlab/filters/blocked", "filterlab/filters/counting", "filterlab/filters/scalable", "filterlab/filters/cuckoo", "filterlab/filters/sharded"}
	family := []string{"filterlab/filters", "filterlab/filters/theory", "filterlab/filters/internal/..."}
	return []room{
		{path: "filterlab/filters/theory", std: []string{"math", "math/big", "math/bits"}},
		{path: "filterlab/filters", may: []string{"filterlab/filters/theory", "golang.org/x/sys/cpu"}},
		{path: "filterlab/filters/internal", may: []string{"filterlab/filters", "filterlab/filters/internal/...", "golang.org/x/sys/cpu"}},
		{path: "filterlab/filters/standard", may: family},
		{path: "filterlab/filters/blocked", may: family},
		{path: "filterlab/filters/counting", may: family},
		{path: "filterlab/filters/cuckoo", may: family},
		{path: "filterlab/filters/sharded", may: family},
		{path: "filterlab/filters/scalable", may: slices.Concat(family, families[:1])},
		{path: "filterlab/filters/filtertest", may: []string{"filterlab/filters"}},
		{path: "filterlab/filters/catalog", may: slices.Concat(family, families)},

		{path: "filterlab/hashing", may: []string{"filterlab/hashing/internal/...", "github.com/...", "golang.org/x/sys/cpu"}},
		{path: "filterlab/hashing/hashtest", may: []string{"filterlab/hashing", "gonum.org/v1/gonum/..."}},

		// An experiment about one family may build it by its own geometry.
		{path: "filterlab/experiments", may: slices.Concat(families, []string{"filterlab/experiments/...", "filterlab/filters", "filterlab/filters/catalog", "filterlab/filters/theory", "filterlab/hashing", "filterlab/hashing/hashtest"})},
		{path: "filterlab/experiments/units"},
		{path: "filterlab/experiments/measure", may: []string{"filterlab/filters", "gonum.org/v1/gonum/..."}},
		{path: "filterlab/experiments/workload", may: []string{"filterlab/filters"}},
		{path: "filterlab/experiments/figure", may: []string{"gonum.org/v1/plot/...", "codeberg.org/go-fonts/...", "golang.org/x/image/..."}},

		{path: "filterlab/cmd", may: []string{"filterlab/experiments", "filterlab/experiments/papers", "filterlab/experiments/units", "filterlab/experiments/workload", "filterlab/experiments/measure", "filterlab/experiments/choose", "filterlab/experiments/report",
			"filterlab/filters", "filterlab/filters/catalog", "filterlab/filters/theory", "filterlab/hashing", "golang.org/x/term"}},
	}
}

// within reports whether pkg is pattern or, for a pattern that ends in "/...",
// below it.
func within(pkg, pattern string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	return pkg == base || below && strings.HasPrefix(pkg, base+"/")
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// packages asks the go command for everything in the module, with and without the
// tag that leaves out assembly.
func packages(t *testing.T) []listed {
	t.Helper()
	var all []listed
	for _, tags := range []string{"", "purego"} {
		cmd := exec.Command("go", "list", "-tags", tags, "-json=ImportPath,Imports,TestImports,XTestImports", "filterlab/...")
		out, err := cmd.Output()
		if err != nil {
			var ee *exec.ExitError
			if errors.As(err, &ee) {
				t.Fatalf("%v: %v\n%s", cmd, err, ee.Stderr)
			}
			t.Skipf("no go command to ask: %v", err)
		}
		d := json.NewDecoder(strings.NewReader(string(out)))
		for {
			var p listed
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
	}
	return all
}

// standardLibrary reports whether an import path belongs to Go itself: its first
// element has no dot, and it is not ours.
func standardLibrary(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".") && first != "filterlab"
}

// offence says what is wrong with an import, or nothing.
func offence(from, to string, rs []room) string {
	best := room{}
	for _, r := range rs {
		if within(from, r.path+"/...") && len(r.path) > len(best.path) {
			best = r
		}
	}
	switch {
	case best.path == "":
		return "is in no room: add it to the list"
	case standardLibrary(to):
		if best.std != nil && !slices.Contains(best.std, to) {
			return "may import of the standard library only " + strings.Join(best.std, ", ")
		}
	case !slices.ContainsFunc(best.may, func(p string) bool { return within(to, p) }):
		return "may import only " + strings.Join(best.may, ", ")
	}
	return ""
}

// The layering holds for what is built, and its prohibitions for tests as well.
func TestRooms(t *testing.T) {
	rs := rooms()
	pkgs := packages(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	for _, p := range pkgs {
		for _, to := range p.Imports {
			if why := offence(p.ImportPath, to, rs); why != "" {
				t.Errorf("%s imports %s; it %s", p.ImportPath, to, why)
			}
		}
		for _, to := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			below := func(dir string) bool { return within(p.ImportPath, dir+"/...") }
			switch {
			case within(to, "filterlab/experiments") && !below("filterlab/experiments") && !below("filterlab/cmd"):
				t.Errorf("%s imports %s: only the command and the peers may", p.ImportPath, to)
			case within(to, "gonum.org/v1/plot/...") && !below("filterlab/experiments/figure"):
				t.Errorf("%s imports %s: drawing belongs to experiments/figure", p.ImportPath, to)
			case within(to, "filterlab/hashing/...") && below("filterlab/filters"):
				t.Errorf("%s imports %s: filters know no hash function", p.ImportPath, to)
			case within(to, "testing/...") && slices.Contains(p.Imports, to) && !strings.HasSuffix(path.Base(p.ImportPath), "test"):
				t.Errorf("%s imports %s outside its tests", p.ImportPath, to)
			}
		}
	}
}

// A rule that cannot be broken is none.
func TestRoomsFindOffences(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"filterlab/filters/theory", "math/big", true},
		{"filterlab/filters/theory", "fmt", false},
		{"filterlab/filters", "filterlab/filters/theory", true},
		{"filterlab/filters", "filterlab/hashing", false},
		{"filterlab/filters", "filterlab/filters/standard", false},
		{"filterlab/filters/internal/packed", "golang.org/x/sys/cpu", true},
		{"filterlab/filters/internal/packed", "golang.org/x/sys/unix", false},
		{"filterlab/filters/scalable", "filterlab/filters/standard", true},
		{"filterlab/filters/blocked", "filterlab/filters/standard", false},
		{"filterlab/filters/blocked", "filterlab/filters/catalog", false},
		{"filterlab/filters/filtertest", "filterlab/filters/catalog", false},
		{"filterlab/filters/catalog", "filterlab/filters/filtertest", false},
		{"filterlab/filters/catalog", "filterlab/experiments", false},
		{"filterlab/filters/newcomer", "filterlab/filters/standard", false},
		{"filterlab/hashing", "filterlab/filters", false},
		{"filterlab/experiments/measure", "filterlab/experiments", false},
		{"filterlab/experiments", "gonum.org/v1/plot", false},
		{"filterlab/experiments/figure", "gonum.org/v1/plot/vg", true},
		{"filterlab/experiments/figure", "filterlab/experiments", false},
		{"filterlab/cmd/filterlab", "gonum.org/v1/plot", false},
		{"filterlab/cmd/filterlab", "filterlab/experiments", true},
		{"filterlab/elsewhere", "fmt", false},
	} {
		if why := offence(c.from, c.to, rooms()); (why == "") != c.ok {
			t.Errorf("%s importing %s: %q; allowed should be %v", c.from, c.to, why, c.ok)
		}
	}
}
