package experiments

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/hashing"
)

func point(t *testing.T, filter string, target filters.Target) *Point {
	t.Helper()
	p := &Point{Hash: "xxh3", Keys: "random", Target: target}
	if err := FilterAxis().Set(p, filter); err != nil {
		t.Fatal(err)
	}
	return p
}

func textFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The constant is what the law gives: shares r^-s over their sum.
func TestZipfRepeat(t *testing.T) {
	var sum, squares float64
	for r := zipfKeys; r >= 1; r-- { // the small ones first
		share := math.Pow(float64(r), -zipfExponent)
		sum += share
		squares += share * share
	}
	if want := squares / (sum * sum); math.Abs(zipfRepeat/want-1) > 1e-8 {
		t.Errorf("zipfRepeat = %.12g, the law gives %.12g", zipfRepeat, want)
	}
}

// The constant stands in one row of a point, and the scatter that it adds is that
// of every seed: with lookups that repeat keys, rates scatter by
// sqrt(p(1-p) zipfRepeat) beyond independent lookups.
func TestZipfRepeatIsOneRow(t *testing.T) {
	p := point(t, "standard", filters.Target{N: 1000, P: 0.01})
	p.Keys, p.Seeds = Zipf, 12
	rows, err := Rate(0).Run(context.Background(), &Lab{Seed: 1, Profile: Profile{Precision: 0.5, MaxTrials: 1e6, Seeds: 10}}, []*Point{p})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range rows {
		if r.Metric == MetricRepeat {
			n++
		}
	}
	cells, err := Cells(Experiment{Name: "x"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	c := &cells[0]
	pr := c.Predicted
	want := math.Sqrt(pr.BuildSD*pr.BuildSD + pr.FPR*(1-pr.FPR)*zipfRepeat)
	if got := c.buildSD(); n != 1 || c.Seeds < 12 || math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%d rows, %d seeds, scatter %g, want one, 12 or more and %g", n, c.Seeds, got, want)
	}
}

// The queries follow the law: the share of the first key and the sum of squared
// shares are those of the constant.
func TestZipfQueries(t *testing.T) {
	p := point(t, "standard", filters.Target{N: 1000, P: 0.01})
	p.Keys = Zipf
	k, err := (&Lab{Seed: 1}).keys(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if k.repeat != zipfRepeat {
		t.Errorf("repeat = %g", k.repeat)
	}
	const queries = 400_000
	asked := make([]uint64, queries)
	for i := 0; i < queries; i += 1000 { // in pieces, as the measure asks
		k.absent(asked[i : i+1000])
	}
	times := map[uint64]int{}
	for _, h := range asked {
		times[h]++
	}
	for _, h := range k.members {
		if times[h] > 0 {
			t.Fatal("an absent key is a member")
		}
	}
	var most int
	var pairs float64 // pairs of queries for one key: sum of x(x-1), free of bias
	for _, x := range times {
		most = max(most, x)
		pairs += float64(x) * float64(x-1)
	}
	harmonic := 0.0
	for r := range zipfKeys {
		harmonic += math.Pow(float64(r+1), -zipfExponent)
	}
	// Six standard deviations of the count of the most popular key. Of the pairs, the
	// variance is near 4 queries^3 sum(share^3) + 2 queries^2 sum(share^2), 1.05% at
	// one standard deviation; the seed is fixed.
	if want := queries / harmonic; math.Abs(float64(most)-want) > 6*math.Sqrt(want) {
		t.Errorf("the most popular key is asked for %d times, want about %.0f", most, want)
	}
	if got := pairs / queries / (queries - 1); math.Abs(got/zipfRepeat-1) > 0.05 {
		t.Errorf("sum of squared shares %g, want %g", got, zipfRepeat)
	}
}

// Members and absent keys of a round are functions of seed, point and round; no
// absent key is a member; and the hash is the one that the point names.
func TestKeysOfARound(t *testing.T) {
	lab := &Lab{Seed: 5}
	p := point(t, "standard", filters.Target{N: 2000, P: 0.01})
	draw := func(lab *Lab, p *Point, round int) (members, absent []uint64) {
		k, err := lab.keys(p, round)
		if err != nil {
			t.Fatal(err)
		}
		absent = make([]uint64, 3000)
		k.absent(absent[:1000])
		k.absent(absent[1000:]) // goes on where it stopped
		return k.members, absent
	}
	members, absent := draw(lab, p, 0)
	again, absentAgain := draw(lab, p, 0)
	if len(members) != 2000 || !slices.Equal(members, again) || !slices.Equal(absent, absentAgain) {
		t.Error("the same round twice gives other keys")
	}
	all := map[uint64]bool{}
	for _, h := range slices.Concat(members, absent) {
		all[h] = true
	}
	if len(all) != 5000 {
		t.Errorf("%d distinct hashes of 5000 distinct keys", len(all))
	}
	next, _ := draw(lab, p, 1)
	for _, h := range next {
		if all[h] {
			t.Fatal("two rounds share a hash")
		}
	}
	// 4 of 2^64 hashes or none are equal by chance: under another hash all differ.
	p.Hash = "murmur3"
	for _, h := range first(draw(lab, p, 0)) {
		if all[h] {
			t.Fatal("two hash functions share a hash")
		}
	}
}

func first(a, _ []uint64) []uint64 { return a }

// The tutorial's hash has no seed: its filters differ in their keys alone.
func TestPolyHashKeepsItsPublishedSeed(t *testing.T) {
	p := point(t, "standard(scheme=teaching,k=3)", filters.Target{N: 8, BitsPerKey: 2})
	p.Hash, p.Keys = "poly", "threeletter"
	lab := &Lab{Seed: 1}
	k, err := lab.keys(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := hashing.ByName("poly")
	if err != nil {
		t.Fatal(err)
	}
	src, err := lab.source(p, k.seed)
	if err != nil {
		t.Fatal(err)
	}
	if want := e.New(0).Sum64(src.AppendMember(nil, 0)); k.members[0] != want {
		t.Errorf("hash %x, want %x", k.members[0], want)
	}
}

// B04 and H10: a point that wants more keys than there are is refused, never
// filled up with repeated ones.
func TestH10_TooFewKeysAreRefused(t *testing.T) {
	p := point(t, "standard", filters.Target{N: 8788, P: 0.01})
	p.Keys = "threeletter" // 17,576 words, half of them members
	lab := &Lab{Seed: 1, Profile: tinyProfile}
	if _, err := lab.keys(p, 0); err != nil {
		t.Errorf("all 8788 members: %v", err)
	}
	p.Target.N++
	if _, err := lab.keys(p, 0); !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "at most the 8788 members") {
		t.Errorf("one more: %v", err)
	}
	// The point becomes a row that says so.
	rows, err := lab.rate(t.Context(), p, 1, 0)
	if err != nil || len(rows) != 1 || rows[0].Metric != MetricRefused || !strings.Contains(rows[0].Note, "8788") {
		t.Errorf("rows %v, %v", rows, err)
	}
	// Lookups stop where the absent keys end: 8788 for each seed, none twice.
	p.Target.N = 1000
	p.Target.P = 1e-4
	rows, err = lab.rate(t.Context(), p, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Metric == MetricFPR && r.Trials != 8788 {
			t.Errorf("%d lookups of 8788 absent keys", r.Trials)
		}
	}
}

// H10: queries that are keys are left out and told of, so that none is counted as
// a false positive; duplicates are one key.
func TestH10_OverlapsAndDuplicatesInFiles(t *testing.T) {
	keys := textFile(t, "keys.txt", "a\nb\nc\nb\nd\n")
	queries := textFile(t, "queries.txt", "a\nx\ny\nx\nz")
	f, err := OpenKeys(keys, queries, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"keys.txt: 5 lines, 4 distinct keys, 1 duplicates left out", "queries.txt: 5 lines, 3 distinct keys, 1 duplicates left out, 1 that are members left out"} {
		if !strings.Contains(f.Report(), want) {
			t.Errorf("report %q, want %q in it", f.Report(), want)
		}
	}
	p := point(t, "standard", filters.Target{N: 4, P: 0.01})
	p.Keys = "file:keys.txt"
	k, err := (&Lab{Seed: 1, Files: f}).keys(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.members) != 4 || k.absentLimit != 3 {
		t.Errorf("%d members and %d absent keys, want 4 and 3", len(k.members), k.absentLimit)
	}
}

// A file takes the place of the key sets, and of n where nobody says otherwise:
// all members, or as many as the largest load of the grid leaves.
func TestFileTakesThePlaceOfKeySets(t *testing.T) {
	text := ""
	for i := range 2001 {
		text += strconv.Itoa(i) + "\n"
	}
	f, err := OpenKeys(textFile(t, "keys.txt", text), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		over     []Override
		n        []uint64
		inserted uint64 // the most
	}{
		{nil, []uint64{500}, 1000}, // 1001 members, load up to 2
		{[]Override{{"load", []string{"1"}}}, []uint64{1001}, 1001},
		{[]Override{{"load", []string{"0.5"}}}, []uint64{1001}, 501},
		{[]Override{{"n", []string{"10", "20"}}}, []uint64{10, 20}, 40},
	} {
		e := tiny()
		e.Grid = func(Profile) Grid { return loadGrid() }
		o := Options{Files: f, Overrides: tc.over}
		g, err := o.grid(e)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := g.Points(1)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[uint64]bool{}
		most := uint64(0)
		for _, group := range groups {
			for _, p := range group {
				if p.Keys != "file:keys.txt" {
					t.Errorf("%v has other keys", p)
				}
				seen[p.Target.N] = true
				most = max(most, p.Inserted())
			}
		}
		for _, n := range tc.n {
			if !seen[n] {
				t.Errorf("%v: n = %v, want %v", tc.over, seen, tc.n)
			}
		}
		if len(seen) != len(tc.n) || most != tc.inserted {
			t.Errorf("%v: n = %v with up to %d keys, want %v and %d", tc.over, seen, most, tc.n, tc.inserted)
		}
	}
}

// Two runs are one only if their files have the same content.
func TestIdentityOfKeyFiles(t *testing.T) {
	open := func(keys, queries string) string {
		f, err := OpenKeys(textFile(t, "k.txt", keys), textFile(t, "q.txt", queries), 1)
		if err != nil {
			t.Fatal(err)
		}
		return f.identity()
	}
	a := open("a\nb\n", "x\n")
	if b := open("a\nb\n", "x\n"); b != a {
		t.Errorf("%q and %q", a, b)
	}
	for _, other := range []string{open("a\nc\n", "x\n"), open("a\nb\n", "y\n")} {
		if other == a {
			t.Errorf("other content has the same identity %q", a)
		}
	}
	if none := (*FileKeys)(nil).identity(); none != "" {
		t.Errorf("no files have identity %q", none)
	}
}

// Who makes his keys himself takes none from a file, nor its number of keys for
// his own: that number says how long he searches.
func TestOwnKeysAreNotOfAFile(t *testing.T) {
	f, err := OpenKeys(textFile(t, "k.txt", "a\nb\nc\nd\n"), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	profile := Profiles()[0]
	for _, e := range All() {
		alone, err := (&Options{Profile: profile}).grid(e)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Profile: profile, Files: f}
		with, err := o.grid(e)
		if err != nil {
			t.Fatal(err)
		}
		if same := reflect.DeepEqual(alone.values(), with.values()); same != e.OwnKeys {
			t.Errorf("%s: has its own keys: %v; with a file the grid is the same: %v", e.Name, e.OwnKeys, same)
		}
	}
	warnings, err := (&Options{Profile: profile, Files: f}).Check(Adversary())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "not used") {
		t.Errorf("%q, %v", warnings, err)
	}
}

// Where every key costs many steps, a file with more keys than the grid has gives as
// many as that, and one with fewer gives what it has: half of them are members.
func TestOwnNOfAFile(t *testing.T) {
	text := ""
	for i := range 8000 {
		text += strconv.Itoa(i) + "\n"
		if i != 99 && i != 7999 {
			continue
		}
		f, err := OpenKeys(textFile(t, "k.txt", text), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Profile: Profiles()[0], Files: f}
		g, err := o.grid(BogusDelete()) // of 2000 keys in this profile
		if err != nil {
			t.Fatal(err)
		}
		want := strconv.Itoa(min(2000, (i+1)/2))
		for _, a := range g.Axes {
			if a.Name == "n" && !slices.Equal(a.Values, []string{want}) {
				t.Errorf("%d lines: n is %v, want %s", i+1, a.Values, want)
			}
		}
	}
}

// Where the names of key sets say what is done with the keys, the file takes the
// place of the set and leaves the rest.
func TestFileKeepsTheMarks(t *testing.T) {
	text := ""
	for i := range 100 {
		text += strconv.Itoa(i) + "\n"
	}
	f, err := OpenKeys(textFile(t, "a~b.txt", text), "", 1) // a mark's sign without a number is none
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Files: f, Profile: Profiles()[0]}
	for name, want := range map[string][]string{
		"duplicates": {"file:a~b.txt*1", "file:a~b.txt*4", "file:a~b.txt*16"},
		"churn":      {"file:a~b.txt~1", "file:a~b.txt~10"},
		"fpr-vs-k":   {"file:a~b.txt"},
	} {
		e, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		g, err := o.grid(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range g.Axes {
			if a.Name == "keysets" && !slices.Equal(a.Values, want) {
				t.Errorf("%s: key sets %v, want %v", name, a.Values, want)
			}
		}
		for _, s := range want {
			src, err := (&Lab{Files: f}).source(&Point{Keys: s}, 1)
			if err != nil || src.Members() != 50 {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
	for name, want := range map[string][2]int{"random": {0, 0}, "random*4": {4, 0}, "random~10": {0, 10}, "random*": {0, 0}, "random*x": {0, 0}, "a*2~3": {0, 3}, "random*0": {0, 0}} {
		if got := [2]int{times(name, repeated), times(name, turned)}; got != want {
			t.Errorf("%s: %v times, want %v", name, got, want)
		}
	}
}
