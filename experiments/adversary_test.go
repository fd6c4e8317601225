package experiments

import (
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Crafted keys stay positive where they were crafted, every one of them, and are any
// keys under another seed; chosen insertions leave the fill that counting gives. D13
// has its hash-level test in package hashing.
func TestD13_CraftedKeysAndChosenInsertions(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of tries in one goroutine")
	}
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	p := point(t, "standard", filters.Target{N: 500, P: 0.01})
	p.Load = 1
	rows, err := attack().Run(t.Context(), lab, []*Point{p})
	if err != nil {
		t.Fatal(err)
	}
	cells := cellsOf(t, Adversary(), rows)
	if len(cells) != 1 {
		t.Fatalf("%d cells", len(cells))
	}
	c := cells[0]
	if o := c.Own[MetricCraftedKnown]; o.Events != o.Trials || o.Trials != uint64(craftedKeys*lab.Profile.Seeds) {
		t.Errorf("%d of %d crafted keys stay positive under the known seed", o.Events, o.Trials)
	}
	if c.Bad() {
		t.Errorf("verdict %s: %+v", c.Verdict, c.Own)
	}
	// By arithmetic: 500 keys of 7 bits in 4,797 or so set 0.73 of them: 11%.
	if o := c.Own[MetricPollutedKnown]; !(o.Value > 0.10 && o.Value < 0.12) {
		t.Errorf("chosen insertions raise the rate to %v", o.Value)
	}
	s := Adversary().Finding(cells)
	if !strings.Contains(s, "No filter was attacked") { // siphash is what it speaks of
		t.Errorf("finding without siphash: %q", s)
	}
}

// fresh marks all or nothing.
func TestFreshProbes(t *testing.T) {
	set := make([]bool, 8)
	for _, c := range []struct {
		probes []uint64
		want   bool
	}{{[]uint64{1, 2, 3}, true}, {[]uint64{4, 5, 3}, false}, {[]uint64{4, 4}, false}, {[]uint64{4, 5}, true}} {
		if got := fresh(set, c.probes); got != c.want {
			t.Errorf("fresh(%v) = %v", c.probes, got)
		}
	}
	for i, want := range []bool{false, true, true, true, true, true, false, false} {
		if set[i] != want {
			t.Errorf("position %d is marked: %v", i, set[i])
		}
	}
}

// Filters that only one goroutine may add to get no time for two; the others keep
// every key, which the measure itself checks.
func TestAdderRows(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1, loop: catalog.Loop}
	points := []*Point{
		point(t, "standard", filters.Target{N: 2000, P: 0.01}),
		point(t, "blocked(adds=atomic)", filters.Target{N: 2000, P: 0.01}),
		point(t, "sharded(4,cuckoo(f=12,b=4))", filters.Target{N: 2000, P: 0.01}),
	}
	rows, err := adderTimes().Run(t.Context(), lab, points)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range rows {
		seen[r.Filter+" "+r.Metric]++
		if !(r.Value > 0) {
			t.Errorf("%s of %s is %v", r.Metric, r.Filter, r.Value)
		}
	}
	for _, p := range points {
		if seen[p.Variant.String()+" "+metricAdds(1)] != lab.Profile.Rounds {
			t.Errorf("%v: %d rounds of one adder, want %d", p.Variant, seen[p.Variant.String()+" "+metricAdds(1)], lab.Profile.Rounds)
		}
	}
	if seen["standard "+metricAdds(2)] > 0 {
		t.Error("two goroutines added to a filter for one")
	}
}

func TestGuards(t *testing.T) {
	for _, c := range []struct{ filter, guard, inner string }{
		{"blocked", "one goroutine only", "blocked"},
		{"blocked(adds=atomic)", "atomic OR", "blocked"},
		{"sharded(16,cuckoo(f=12,b=4))", "16 locks", "cuckoo"},
		{"sharded(1,standard(k=7))", "one lock", "standard"},
	} {
		if g, in := guardOf(c.filter), withinShards(c.filter); g != c.guard || in != c.inner {
			t.Errorf("%s: %s, %s; want %s, %s", c.filter, g, in, c.guard, c.inner)
		}
	}
}
