package experiments

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"filterlab/experiments/units"
	"filterlab/filters"
)

// order flattens the groups of a grid into the indexes of its points.
func order(t *testing.T, g Grid, seed uint64) []int {
	t.Helper()
	groups, err := g.Points(seed)
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, group := range groups {
		for _, p := range group {
			out = append(out, p.Index)
		}
	}
	return out
}

func loadGrid() Grid {
	return Grid{Axes: []Axis{
		FilterAxis("standard", "blocked", "cuckoo"), HashAxis("xxh3"), KeysAxis("random"),
		NAxis("1e3", "1e4"), PAxis("1%", "10%"), LoadAxis("0.5", "1", "2"),
	}}
}

// H14: the order in which points are measured is random, so that a drift of the
// machine is not the trend of an axis, and fixed, so that a run can be resumed.
func TestH14_OrderDependsOnTheSeedAlone(t *testing.T) {
	const points = 3 * 2 * 2 * 3
	first := order(t, loadGrid(), 7)
	if len(first) != points {
		t.Fatalf("%d points, want %d", len(first), points)
	}
	if again := order(t, loadGrid(), 7); !slices.Equal(first, again) {
		t.Errorf("seed 7 gives %v and then %v", first, again)
	}
	if other := order(t, loadGrid(), 8); slices.Equal(first, other) {
		t.Error("seeds 7 and 8 give one order")
	}
	if slices.IsSorted(first) {
		t.Error("the points come in the order of the axes")
	}
	sorted := slices.Sorted(slices.Values(first))
	for i, index := range sorted {
		if i != index {
			t.Fatalf("indexes %v are not 0 to %d", sorted, points-1)
		}
	}
}

// An index names the same point whatever the seed: rows of two runs can be put
// side by side.
func TestIndexIsThePlaceInTheGrid(t *testing.T) {
	at := func(seed uint64) map[int]string {
		groups, err := loadGrid().Points(seed)
		if err != nil {
			t.Fatal(err)
		}
		out := map[int]string{}
		for _, group := range groups {
			for _, p := range group {
				out[p.Index] = p.String()
			}
		}
		return out
	}
	a, b := at(1), at(2)
	for i, name := range a {
		if b[i] != name {
			t.Errorf("point %d is %s with one seed and %s with another", i, name, b[i])
		}
	}
	// The first axis is the slowest.
	if want := "standard n=1000 p=0.01 inserted=500 hash=xxh3 keys=random"; a[0] != want {
		t.Errorf("point 0 is %s, want %s", a[0], want)
	}
	if want := "standard n=1000 p=0.01 inserted=1000 hash=xxh3 keys=random"; a[1] != want {
		t.Errorf("point 1 is %s, want %s", a[1], want)
	}
}

func TestOverride(t *testing.T) {
	g := loadGrid()
	if err := g.Override("p", []string{"0.1%"}); err != nil {
		t.Fatal(err)
	}
	if got := len(order(t, g, 1)); got != 3*2*1*3 {
		t.Errorf("%d points, want 18", got)
	}
	err := g.Override("k", []string{"7"})
	if !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "--k") || !strings.Contains(err.Error(), "--filters, --hashes, --keysets, --n, --p, --load") {
		t.Errorf("an axis that is not there: %v; want it and those that are", err)
	}
	if err := g.Override("n", nil); !errors.Is(err, filters.ErrParam) {
		t.Errorf("an empty list: %v", err)
	}
}

func TestSkipAndSame(t *testing.T) {
	g := loadGrid()
	g.Skip = func(p *Point) bool { return p.Load == 2 && p.Target.P == 0.1 }
	g.Same = func(p *Point) string { return units.FormatCount(p.Target.N) }
	groups, err := g.Points(3)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2 || len(groups[0]) != 15 || len(groups[1]) != 15 {
		t.Fatalf("%d groups, want 2 of 15", len(groups))
	}
	for _, group := range groups {
		for _, p := range group {
			if p.Target.N != group[0].Target.N {
				t.Errorf("%v and %v are in one group", p, group[0])
			}
			if g.Skip(p) {
				t.Errorf("%v is not skipped", p)
			}
		}
	}
	g.Skip = func(*Point) bool { return true }
	if _, err := g.Points(3); !errors.Is(err, filters.ErrParam) {
		t.Errorf("a grid without a point: %v", err)
	}
}

// Every axis takes what people type and refuses the rest, by value.
func TestAxesRefuse(t *testing.T) {
	for _, tc := range []struct {
		axis  Axis
		value string
	}{
		{FilterAxis(), "cukoo"}, {FilterAxis(), ""},
		{HashAxis(), "xxh"}, {HashAxis(), ""},
		{KeysAxis(), "rnd"}, {KeysAxis(), ""},
		{NAxis(), "0"}, {NAxis(), "0.5"}, {NAxis(), "-1"}, {NAxis(), "1,000"}, {NAxis(), "x"},
		{PAxis(), "0"}, {PAxis(), "1"}, {PAxis(), "100%"}, {PAxis(), "1.5"}, {PAxis(), "nan"}, {PAxis(), "-1%"},
		{BitsAxis(), "0"}, {BitsAxis(), "-1"}, {BitsAxis(), "nan"}, {BitsAxis(), "inf"}, {BitsAxis(), "x"},
		{KAxis(), "0"}, {KAxis(), "65"}, {KAxis(), "x"}, {KAxis(), "7,scheme=double"},
		{LoadAxis(), "0"}, {LoadAxis(), "-1"}, {LoadAxis(), "NaN"}, {LoadAxis(), "+Inf"},
	} {
		p := Point{}
		if err := FilterAxis().Set(&p, "standard"); err != nil {
			t.Fatal(err)
		}
		err := tc.axis.Set(&p, tc.value)
		if err == nil || !strings.Contains(err.Error(), tc.value) {
			t.Errorf("--%s %q: %v, want an error that quotes it", tc.axis.Name, tc.value, err)
		}
	}
	// A family without the knob.
	p := Point{}
	if err := FilterAxis().Set(&p, "cuckoo"); err != nil {
		t.Fatal(err)
	}
	if err := KAxis().Set(&p, "7"); err != nil {
		t.Errorf("one filter without the knob stops the whole sweep: %v", err)
	}
	if _, err := p.Variant.Predict(filters.Target{N: 100, P: 0.01}, 100); !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "k") {
		t.Errorf("cuckoo takes k: %v", err)
	}
}

// A rate drops the space asked for, and the other way round: whichever comes last.
func TestRateAndSpaceReplaceEachOther(t *testing.T) {
	var p Point
	for _, set := range []struct {
		axis  Axis
		value string
		want  filters.Target
	}{
		{NAxis(), "1_000", filters.Target{N: 1000}},
		{PAxis(), "1%", filters.Target{N: 1000, P: 0.01}},
		{BitsAxis(), "12.5", filters.Target{N: 1000, BitsPerKey: 12.5}},
		{PAxis(), "2^-10", filters.Target{N: 1000, P: 1.0 / 1024}},
	} {
		if err := set.axis.Set(&p, set.value); err != nil || p.Target != set.want {
			t.Errorf("--%s %s: %v, %v; want %v", set.axis.Name, set.value, p.Target, err, set.want)
		}
	}
}

// Names are those of the lists, however they were typed: rows of one key set or
// hash have one name, and the same seeds.
func TestNamesAreThoseOfTheLists(t *testing.T) {
	var p Point
	if err := KeysAxis().Set(&p, "Sequential"); err != nil || p.Keys != "sequential" {
		t.Errorf("Sequential: %q, %v", p.Keys, err)
	}
	if err := HashAxis().Set(&p, "XXHash"); err != nil || p.Hash != "xxhash64" {
		t.Errorf("XXHash: %q, %v", p.Hash, err)
	}
	for _, name := range []string{Zipf, "file:words.txt"} {
		if err := KeysAxis().Set(&p, name); err != nil || p.Keys != name {
			t.Errorf("%s: %q, %v", name, p.Keys, err)
		}
	}
}

func TestInserted(t *testing.T) {
	for _, tc := range []struct {
		n    uint64
		load float64
		want uint64
	}{{1000, 0, 1000}, {1000, 1, 1000}, {1000, 0.35, 350}, {3, 0.5, 2}, {1, 0.1, 0}, {1e12, 4, 4e12}} {
		p := Point{Target: filters.Target{N: tc.n}, Load: tc.load}
		if got := p.Inserted(); got != tc.want {
			t.Errorf("n=%d load %g: %d keys, want %d", tc.n, tc.load, got, tc.want)
		}
	}
}

// D14: seeds of rounds and points are all different, and a point keeps its seeds
// when the grid around it changes.
func TestD14_SeedsOfRoundsAndPoints(t *testing.T) {
	lab := Lab{Seed: 1}
	seen := map[uint64]string{}
	groups, err := loadGrid().Points(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		for _, p := range group {
			for round := range 100 {
				s := lab.seed(p, round)
				if before, ok := seen[s]; ok {
					t.Fatalf("%v has a seed of %s", p, before)
				}
				seen[s] = p.String()
			}
		}
	}
	p := *groups[0][0]
	want := lab.seed(&p, 3)
	p.Index, p.Group = 999, "another grid"
	if got := lab.seed(&p, 3); got != want {
		t.Error("the seed depends on where in the grid the point stands")
	}
	lab.Seed = 2
	if got := lab.seed(&p, 3); got == want {
		t.Error("the seed of the run makes no difference")
	}
}

// Every experiment asks a question, and its grid can be laid out with values that
// nothing refuses. The quick profile does: the others differ in the values alone,
// and some size their filters on the way.
func TestGridsOfAllExperiments(t *testing.T) {
	for _, e := range All() {
		if !strings.HasSuffix(e.Question, "?") {
			t.Errorf("%s: the question is none: %s", e.Name, e.Question)
		}
		groups, err := e.Grid(Profiles()[0]).Points(1)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		for _, group := range groups {
			for _, p := range group {
				if err := p.Target.Validate(); err != nil {
					t.Errorf("%s: %v: %v", e.Name, p, err)
				}
			}
		}
	}
}
