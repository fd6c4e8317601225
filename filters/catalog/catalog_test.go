package catalog_test

import (
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/filtertest"
)

// exemptions lists the clauses that a variant breaks by design.
func exemptions(v filters.Variant) []filtertest.Exemption {
	if v.String() == "standard(sizing=textbook)" {
		return []filtertest.Exemption{{Clause: "promise", Reason: "the textbook's rounded sizing overshoots, most of all for few keys"}}
	}
	return nil
}

// Every variant is held to the contract; with -short, for the slow builds, one of
// each family, since the families' own tests run over the others.
func TestConformance(t *testing.T) {
	for _, v := range catalog.Variants() {
		if testing.Short() && strings.Contains(v.String(), "(") {
			continue
		}
		t.Run(v.String(), func(t *testing.T) { filtertest.Run(t, v, exemptions(v)...) })
	}
}

func FuzzFilters(f *testing.F) { filtertest.Fuzz(f, catalog.Variants()...) }

func BenchmarkFilters(b *testing.B) {
	var vs []filters.Variant
	for _, f := range catalog.Families() {
		v, err := catalog.Parse(f.Name)
		if err != nil {
			b.Fatal(err)
		}
		vs = append(vs, v)
	}
	filtertest.Bench(b, catalog.Loop, vs...)
}

// A variant is what its name says, and no two have one name.
func TestParseIsTheInverseOfString(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range catalog.Variants() {
		got, err := catalog.Parse(v.String())
		if err != nil || got != v {
			t.Errorf("Parse(%q) = %#v, %v; want %#v", v, got, err, v)
		}
		if seen[v.String()] {
			t.Errorf("%v is listed twice", v)
		}
		seen[v.String()] = true
	}
}

// People write names as they like; the canonical form is one.
func TestParseForms(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"standard", "standard"},
		{" standard ( k = 7 ) ", "standard(k=7)"},
		{"standard()", "standard"},
		{"standard(scheme=independent,layout=shared,sizing=exact)", "standard"},
		{"blocked(k=6)", "blocked(k=6)"},
		{"blocked(512, k=6)", "blocked(512,k=6)"},
		{"blocked(probes=distinct,k=6)", "blocked(k=6,probes=distinct)"},
		{"counting(k=4,w=8)", "counting(w=8,k=4)"},
		{"scalable(r=0.5,s=4)", "scalable(s=4,r=0.5)"},
		{"cuckoo(b=4,f=12)", "cuckoo(f=12,b=4)"},
	} {
		v, err := catalog.Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
		} else if v.String() != c.want {
			t.Errorf("Parse(%q) prints as %q; want %q", c.in, v, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ in, says string }{
		{"", "family name"},
		{"bloom", "one of standard, blocked, counting, scalable, cuckoo"},
		{"standart", "did you mean standard?"},
		{"Cuckoo(f=12)", "did you mean cuckoo?"},
		{"cukcoo", "did you mean cuckoo?"},
		{"standard(k=0)", "1 to 64"},
		{"standard(k=65)", "1 to 64"},
		{"standard(k=7", "parentheses"},
		{"standard(k=7)x", "parentheses"},
		{"standard(k=7,k=8)", "twice"},
		{"standard(k=)", "equals sign"},
		{"standard(q=7)", "one of the knobs"},
		{"blocked(100)", "power"},
		{"blocked(512,1024)", "one value"},
		{"blocked(k=6,512)", "before"},
		{"counting(w=3)", "2, 4, 8"},
		{"cuckoo(f=3)", "4 to 32"},
		{"cuckoo(f=33)", "4 to 32"},
		{"cuckoo(b=3)", "1, 2, 4 or 8"},
		{"scalable(r=1.5)", "r"},
		{"scalable(s=NaN)", "s"},
		{"sharded", "one of standard"},
		{"sharded(16)", "sharded(16,counting)"},
		{"sharded(0,counting)", "1 to 4096"},
		{"sharded(4,bloom)", "one of standard"},
		{"sharded(2,sharded(2,counting))", "one layer"},
	} {
		v, err := catalog.Parse(c.in)
		if err == nil {
			t.Errorf("Parse(%q) = %v; want an error", c.in, v)
			continue
		}
		if !errors.Is(err, filters.ErrParam) {
			t.Errorf("Parse(%q): %v is not a ParamError", c.in, err)
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("Parse(%q): %q does not say %q", c.in, err, c.says)
		}
	}
	if v, err := catalog.Parse("bloom"); err == nil || strings.Contains(err.Error(), "did you mean") || v != nil {
		t.Errorf("Parse(bloom) = %v, %v; nothing is near, and nothing is returned", v, err)
	}
}

func TestWith(t *testing.T) {
	for _, c := range []struct{ v, knob, value, want string }{
		{"standard", "k", "7", "standard(k=7)"},
		{"standard(k=7)", "k", "8", "standard(k=8)"},
		{"standard(k=7)", "k", "", "standard"},
		{"standard(layout=partitioned)", "k", "3", "standard(layout=partitioned,k=3)"},
		{"standard(k=3)", "scheme", "double", "standard(scheme=double,k=3)"},
		{"blocked", "bits", "64", "blocked(64)"},
		{"blocked(512,k=6)", "bits", "1024", "blocked(1024,k=6)"},
		{"blocked(512,k=6)", "bits", "", "blocked(k=6)"},
		{"counting(w=8)", "k", "4", "counting(w=8,k=4)"},
		{"scalable", "s", "4", "scalable(s=4)"},
		{"cuckoo(f=12)", "b", "2", "cuckoo(f=12,b=2)"},
		{"sharded(4,cuckoo(f=12))", "b", "2", "sharded(4,cuckoo(f=12,b=2))"},
		{"sharded(4,cuckoo(f=12))", "shards", "16", "sharded(16,cuckoo(f=12))"},
	} {
		v, err := catalog.Parse(c.v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := catalog.With(v, c.knob, c.value)
		if err != nil {
			t.Errorf("With(%v, %q, %q): %v", v, c.knob, c.value, err)
		} else if got.String() != c.want {
			t.Errorf("With(%v, %q, %q) = %v; want %s", v, c.knob, c.value, got, c.want)
		}
	}
	for _, c := range []struct{ v, knob, value string }{
		{"cuckoo", "k", "7"}, {"standard", "k", "0"}, {"standard", "k", "a"}, {"standard", "", "7"},
		{"standard", "k", "7,scheme=double"}, {"blocked", "bits", "512,k=6"}, {"blocked", "k=6,probes", "distinct"},
	} {
		v, err := catalog.Parse(c.v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := catalog.With(v, c.knob, c.value); !errors.Is(err, filters.ErrParam) {
			t.Errorf("With(%v, %q, %q) = %v, %v; want a ParamError", v, c.knob, c.value, got, err)
		}
	}
}

// The list and what the families take are one: every knob that is listed can be
// set, and every knob a family prints is listed.
func TestKnobsAreThoseOfTheFamilies(t *testing.T) {
	// A value that each knob accepts, whatever the family or in one of them.
	values := map[string]string{
		"k": "5", "scheme": "double", "layout": "partitioned", "sizing": "textbook", "bits": "256", "probes": "distinct",
		"w": "8", "n0": "100", "s": "3", "r": "0.6", "f": "12", "b": "2",
		"pages": "huge", "blocked layout": "plain", "counting layout": "blocked", "adds": "atomic",
	}
	oneLine := regexp.MustCompile(`^[^\n]{10,100}[^.\n]$`)
	for _, f := range catalog.Families() {
		if !oneLine.MatchString(f.Doc) {
			t.Errorf("%s: Doc %q is not one line", f.Name, f.Doc)
		}
		plain, err := f.Parse(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if plain.String() != f.Name {
			t.Errorf("the variant without knobs prints as %q; want %q", plain, f.Name)
		}
		v := plain
		for _, k := range f.Knobs {
			value, own := values[f.Name+" "+k.Name]
			if !own {
				value = values[k.Name]
			}
			next, err := catalog.With(v, k.Name, value)
			if err != nil {
				t.Errorf("%s: knob %q: %v", f.Name, k.Name, err)
				continue
			}
			if next == v {
				t.Errorf("%s: knob %q changes nothing in %v", f.Name, k.Name, v)
			}
			v = next
		}
		if n := reflect.TypeOf(v).NumField(); n != len(f.Knobs) {
			t.Errorf("%s has %d knobs, %d are listed", f.Name, n, len(f.Knobs))
		}
		if again, err := catalog.Parse(v.String()); err != nil || again != v {
			t.Errorf("%s with every knob set: Parse(%q) = %v, %v", f.Name, v, again, err)
		}
	}
}

// The loops answer as the methods do.
func TestLoop(t *testing.T) {
	const n = 1000
	hs, others := filtertest.Members(1, n), filtertest.NonMembers(1, 4*n)
	queries := slices.Concat(hs, others)
	target := filters.Target{N: n, P: 0.05}
	for _, f := range catalog.Families() {
		v, err := catalog.Parse(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := v.Build(target, nil)
		if err != nil {
			t.Fatal(err)
		}
		loops := catalog.Loop(q)
		if got, err := loops.Add(hs); got != n || err != nil {
			t.Errorf("%v: Add loop = %d, %v", v, got, err)
		}
		got, want := make([]bool, len(queries)), make([]bool, len(queries))
		hits := loops.Contains(got, queries)
		if wantHits := filters.ContainsMany(q, want, queries); hits != wantHits || !slices.Equal(got, want) {
			t.Errorf("%v: the loop finds %d, the batch method %d, or other ones", v, hits, wantHits)
		}
	}

	// Refusals stop the loop where they happen.
	v, err := catalog.Parse("cuckoo")
	if err != nil {
		t.Fatal(err)
	}
	q, err := v.Build(filters.Target{N: 100, P: 0.05}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := catalog.Loop(q).Add(others)
	if !errors.Is(err, filters.ErrFull) || got < 100 || got == len(others) {
		t.Errorf("Add loop into a small cuckoo filter = %d, %v", got, err)
	}

	// Filters from elsewhere get loops as well, static ones a refusal to add.
	hits := catalog.Loop(everything{}).Contains(make([]bool, 3), []uint64{1, 2, 3})
	if hits != 3 {
		t.Errorf("loop over an unknown type finds %d of 3", hits)
	}
	if n, err := catalog.Loop(everything{}).Add(hs); n != 0 || !errors.Is(err, filters.ErrParam) {
		t.Errorf("Add loop over a static filter = %d, %v", n, err)
	}
}

// The single calls of the pattern layout are inlined into their loops, which is
// what they are there for; see patternLoops for what took it away.
func TestLoopIsInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler to ask: %v\n%s", err, out)
	}
	for _, call := range []string{"inlining call to blocked.Patterns.Contains", "inlining call to blocked.Patterns.Add"} {
		if !strings.Contains(string(out), call+"\n") {
			t.Errorf("the compiler does not say %q", call)
		}
	}
	if strings.Contains(string(out), "inlining call to patternLoops\n") {
		t.Error("patternLoops is inlined")
	}
}

// everything is a static filter that denies nothing.
type everything struct{}

func (everything) Contains(uint64) bool { return true }
func (everything) SizeBits() uint64     { return 0 }

// Nothing one can type makes Parse panic, and whatever it takes has one name.
func FuzzParse(f *testing.F) {
	for _, v := range catalog.Variants() {
		f.Add(v.String())
	}
	for _, s := range []string{"", "(", ")", "standard(", "standard(k=7))", "blocked(,)", "cuckoo(f=12,,b=4)", "scalable(s=Inf)", "scalable(s=1e309)",
		"scalable(n0=18446744073709551616)", "scalable(r=0x1p-1)", "standard(k=+7)", "standard(\x00=1)", "é(k=1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := catalog.Parse(s)
		if err != nil {
			if !errors.Is(err, filters.ErrParam) {
				t.Errorf("Parse(%q): %v is not a ParamError", s, err)
			}
			return
		}
		again, err := catalog.Parse(v.String())
		if err != nil || again != v {
			t.Errorf("Parse(%q) prints as %q, which parses as %#v (%v)", s, v, again, err)
		}
	})
}

// Deleting from a filter whose bits are shared takes other keys with it, so the
// families without counters or fingerprints do not offer it at all. The other
// capabilities are those the contract gives each family.
func TestA10_Capabilities(t *testing.T) {
	deletes := []string{"counting", "cuckoo"}
	merges := []string{"standard", "blocked", "counting"}
	for _, f := range catalog.Families() {
		v, err := catalog.Parse(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := v.Build(filters.Target{N: 10, P: 0.1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		has := func(name string, got, want bool) {
			if got != want {
				t.Errorf("%s has %s: %v; want %v", f.Name, name, got, want)
			}
		}
		_, ok := v.(filters.Maker)
		has("New", ok, true)
		_, ok = q.(filters.BatchAdder)
		has("AddMany", ok, true)
		_, ok = q.(filters.BatchQuerier)
		has("ContainsMany", ok, true)
		_, ok = q.(filters.TestAdder)
		has("TestAndAdd", ok, true)
		_, ok = q.(filters.Resetter)
		has("Reset", ok, true)
		_, ok = q.(filters.FillReporter)
		has("FillRatio", ok, true)
		_, ok = q.(filters.Estimator)
		has("EstimatedFPR and EstimatedN", ok, true)
		_, ok = q.(filters.Predictor)
		has("Predict", ok, true)
		_, ok = q.(filters.Deleter)
		has("Delete", ok, slices.Contains(deletes, f.Name))
		_, ok = q.(filters.Counter)
		has("Count", ok, slices.Contains(deletes, f.Name))
		_, ok = q.(filters.Merger)
		has("Merge", ok, slices.Contains(merges, f.Name))
	}
}

func ExampleParse() {
	for _, s := range []string{"blocked(512,k=6)", "cuckoo( b=4, f=12 )", "standart"} {
		v, err := catalog.Parse(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(v)
	}
	// Output:
	// blocked(512,k=6)
	// cuckoo(f=12,b=4)
	// filter = "standart": want one of standard, blocked, counting, scalable, cuckoo; did you mean standard?
}

func ExampleWith() {
	v, err := catalog.Parse("standard(layout=partitioned)")
	for _, k := range []string{"6", "7"} {
		if v, err = catalog.With(v, "k", k); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v)
	}
	// Output:
	// standard(layout=partitioned,k=6)
	// standard(layout=partitioned,k=7)
}

// C10: static filters of other libraries fail for no keys, for one or two, for some
// sizes in a range, and for equal keys. Here every variant builds from such sets or
// refuses within its bounds, and holds what it took.
func TestC10_TinyAndAwkwardKeySets(t *testing.T) {
	hash := func(i int) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }
	for _, name := range []string{"standard", "standard(layout=partitioned)", "blocked", "blocked(layout=split)", "counting", "scalable", "cuckoo", "cuckoo(f=4)", "cuckoo(f=12,b=2)"} {
		v, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 2, 3, 11_480, 11_500, 11_521} {
			hs := make([]uint64, n)
			for i := range hs {
				hs[i] = hash(i)
			}
			// A filter is sized for one key at least, and may be given none.
			// One with tables of two buckets at least needs the space for a single key.
			q, err := v.Build(filters.Target{N: uint64(max(n, 1)), BitsPerKey: 48}, hs)
			if err != nil {
				t.Errorf("%s of %d keys: %v", name, n, err)
				continue
			}
			for _, h := range hs {
				if !q.Contains(h) {
					t.Fatalf("%s of %d keys lost one", name, n)
				}
			}
		}
		// Ten equal keys are one key, or, where keys are kept by count, a few of them.
		equal := slices.Repeat([]uint64{hash(7)}, 10)
		q, err := v.Build(filters.Target{N: 10, BitsPerKey: 48}, equal)
		if err != nil && !errors.Is(err, filters.ErrFull) {
			t.Errorf("%s of ten equal keys: %v", name, err)
		}
		if err == nil && !q.Contains(hash(7)) {
			t.Errorf("%s of ten equal keys lost them", name)
		}
	}
}
