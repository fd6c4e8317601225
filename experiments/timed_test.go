package experiments

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
)

// timedRows runs a measure and counts its rows by filter, API and metric; every one
// is volatile. Values are not judged: clocks differ.
func timedRows(t *testing.T, m Measure, points ...*Point) map[string]int {
	t.Helper()
	lab := &Lab{Profile: tinyProfile, Seed: 1, loop: catalog.Loop}
	lab.Profile.Thin = true
	rows, err := m.Run(t.Context(), lab, points)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, r := range rows {
		if !r.volatile() && r.Metric != MetricRefused {
			t.Errorf("%s is in samples.csv", r.Metric)
		}
		n[strings.TrimSpace(fmt.Sprintln(r.Filter, r.API, r.Metric))]++
	}
	return n
}

// small are filters that take any number of keys, and one that does not.
func small(t *testing.T, n uint64) []*Point {
	t.Helper()
	return []*Point{point(t, "blocked", filters.Target{N: n, P: 0.01}), point(t, "cuckoo", filters.Target{N: n, P: 0.01})}
}

// Batches of absent keys race the bare floor, and nothing else does.
func TestFloorRows(t *testing.T) {
	n := timedRows(t, FilterTime(), small(t, 500)...)
	for _, metric := range []string{MetricFloor, MetricOverFloor} {
		for _, filter := range []string{"blocked", "cuckoo"} {
			if got := n[filter+" batch "+metric]; got != tinyProfile.Rounds {
				t.Errorf("%s, %s: %d rows, want %d", filter, metric, got, tinyProfile.Rounds)
			}
			if got := n[filter+" single "+metric]; got != 0 {
				t.Errorf("%s, %s: %d rows for single lookups", filter, metric, got)
			}
		}
	}
}

func TestLatencyRows(t *testing.T) {
	n := timedRows(t, LatencyTime(), small(t, 500)...)
	for _, metric := range []string{MetricHitChain, MetricMissChain} {
		if got := n["cuckoo single "+metric]; got != tinyProfile.Rounds {
			t.Errorf("%s: %d rows, want %d", metric, got, tinyProfile.Rounds)
		}
	}
}

// Quantiles need samples: a filter of 500 keys has too few adds for the far one.
func TestOneTimeRows(t *testing.T) {
	n := timedRows(t, OneTime(), small(t, 500)...)
	for metric, want := range map[string]int{
		MetricClock: 6, MetricTick: 6, metricOne("miss", "p999"): 6, metricOne("hit", "worst"): 6, metricOne("add", "p50"): 6, metricOne("add", "p999"): 0,
	} {
		if got := n["blocked single "+metric]; got != want {
			t.Errorf("%s: %d rows, want %d", metric, got, want)
		}
	}
}

// Filling makes one filter, what it consists of and what its sizing needs, some
// hundred objects; none of its 50,000 keys adds to that. Asking makes nothing but what the runtime does meanwhile.
func TestLitterRows(t *testing.T) {
	lab := &Lab{Profile: tinyProfile, Seed: 1, loop: catalog.Loop}
	rows, err := Litter().Run(t.Context(), lab, small(t, 50_000))
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]float64{MetricAddAllocs: 0.02, MetricAskAllocs: 1e-3}
	seen := 0
	for _, r := range rows {
		if limit, ok := limits[r.Metric]; ok {
			seen++
			if r.Value > limit {
				t.Errorf("%s, %s: %g allocations a key", r.Filter, r.Metric, r.Value)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d rows of allocations, want 4", seen)
	}
}

func TestBatchSizeRows(t *testing.T) {
	n := timedRows(t, batchTimes(), small(t, 500)...)
	for _, api := range []string{"single", "batch=1", "batch=4096"} {
		if got := n["blocked "+api+" "+MetricMiss]; got != tinyProfile.Rounds {
			t.Errorf("%s: %d rows, want %d; there are %v", api, got, tinyProfile.Rounds, n)
		}
	}
}

// The cells of one point come in the order of their calls.
func TestCallsAreInOrder(t *testing.T) {
	apis := []string{"single", "batch", "batch=1", "batch=8", "batch=64", "batch=512", "batch=4096"}
	p := point(t, "blocked", filters.Target{N: 500, P: 0.01})
	var rs rows
	for _, api := range apis {
		r := p.row(MetricMiss)
		r.API, r.Value = api, 1
		rs = append(rs, r)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
	var got []string
	for _, c := range cellsOf(t, BatchSize(), rs) {
		got = append(got, c.API)
	}
	if !slices.Equal(got, apis) {
		t.Errorf("%v, want %v", got, apis)
	}
}

func TestThreadRows(t *testing.T) {
	n := timedRows(t, readerTimes(), small(t, 500)...)
	for _, readers := range threadCounts {
		want := 0
		if readers <= runtime.GOMAXPROCS(0) {
			want = tinyProfile.Rounds
		}
		for _, api := range []string{"single", "batch"} {
			if got := n["cuckoo "+api+" "+metricThroughput(readers)]; got != want {
				t.Errorf("%s, %d readers: %d rows, want %d", api, readers, got, want)
			}
		}
	}
}

// Every filter is filled singly, and in every other way that it has.
func TestBuildRows(t *testing.T) {
	points := small(t, 30_000)
	n := timedRows(t, buildTimes(), points...)
	for _, p := range points {
		f, err := newFilter(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range buildWays() {
			want := 0
			if w.fill(&racing{point: p, filter: f, members: []uint64{1}, loops: catalog.Loop(f)}) != nil {
				want = tinyProfile.Rounds
			}
			if got := n[fmt.Sprintf("%v %s %s", p.Variant, w.api, MetricBuild)]; got != want {
				t.Errorf("%v, %s: %d rows, want %d", p.Variant, w.api, got, want)
			}
		}
	}
}

// With or without large pages there are rows: times and a share of the table, or a
// refusal that says why.
func TestPageRows(t *testing.T) {
	n := timedRows(t, pageTimes(), point(t, "blocked", filters.Target{N: 5000, P: 0.01}), point(t, "blocked(pages=huge)", filters.Target{N: 5000, P: 0.01}))
	times, refused := n["blocked(pages=huge) batch "+MetricMiss], n["blocked(pages=huge)  "+MetricRefused]
	if _, err := anonHuge(); err == nil && (times != 6 || n["blocked  "+MetricHugeShare] != 1) || err != nil && refused != 1 {
		t.Errorf("pages seen: %v; rows: %v", err, n)
	}
}

func TestSumHuge(t *testing.T) {
	const smaps = "c000000000-c008000000 rw-p 00000000 00:00 0\nRss:  6148 kB\nAnonHugePages:      4096 kB\nShmemPmdMapped: 0 kB\n" +
		"7f0-7f1 r--p\nAnonHugePages:         0 kB\n7f2-7f3 rw-p\nAnonHugePages:     2048 kB\n"
	if got, err := sumHuge([]byte(smaps)); err != nil || got != 6<<20 {
		t.Errorf("%v bytes, %v; want 6 MiB", got, err)
	}
	for _, bad := range []string{"", "Rss: 4 kB\n", "AnonHugePages: many\n"} {
		if got, err := sumHuge([]byte(bad)); err == nil {
			t.Errorf("%q: %v bytes and no error", bad, got)
		}
	}
}

// Keys of every length are as long as they say and all distinct, members and absent
// ones together.
func TestKeysOfLength(t *testing.T) {
	for _, length := range []int{4, 5, 7, 8, 9, 31, 4096} {
		kind, err := keyKind(fmt.Sprint(lengthPrefix, length))
		if err != nil {
			t.Fatal(err)
		}
		src := kind.New(42)
		seen := map[string]bool{}
		for i := range uint64(500) {
			for _, key := range [][]byte{src.AppendMember(nil, i), src.AppendAbsent(nil, i)} {
				if len(key) != length || seen[string(key)] {
					t.Fatalf("%s: key %d has %d bytes, seen before: %v", src.Name(), i, len(key), seen[string(key)])
				}
				seen[string(key)] = true
			}
		}
		if bytes.Equal(src.AppendMember(nil, 0), kind.New(43).AppendMember(nil, 0)) {
			t.Errorf("%s: the seed does not matter", src.Name())
		}
	}
	for _, name := range []string{"bytes", "bytes3", "bytes-8", "bytes9999999", "bytes8x"} {
		if _, err := keyKind(name); err == nil {
			t.Errorf("%s is a key set", name)
		}
	}
}

func TestKeyLengthRows(t *testing.T) {
	p := point(t, "blocked", filters.Target{N: 5000, P: 0.01})
	p.Keys = "bytes32"
	q := *p
	q.Hash = "murmur3"
	n := timedRows(t, lengthTimes(), p, &q)
	for _, metric := range []string{MetricHash, MetricHashLookup} {
		if got := n["blocked batch "+metric]; got != 2*tinyProfile.Rounds {
			t.Errorf("%s: %d rows, want %d", metric, got, 2*tinyProfile.Rounds)
		}
	}
}

// Windows and repetitions: whatever the numbers, queries are members only, and all
// members where there is room for them.
func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := []uint64{1, 2, 3, 4, 5}
	for size := range 12 {
		dst := make([]uint64, size)
		draw(dst, keys, rng)
		seen := map[uint64]bool{}
		for _, h := range dst {
			seen[h] = true
			if !slices.Contains(keys, h) {
				t.Fatalf("%d keys of 5: %v", size, dst)
			}
		}
		if len(seen) != min(size, 5) {
			t.Errorf("%d keys of 5: %v", size, dst)
		}
	}
	kept := []uint64{7}
	draw(kept, nil, rng)
	if kept[0] != 7 {
		t.Error("no keys changed the queries")
	}
}

// H12 and H03: what is taken off a batch reads every key.
func TestReadKeys(t *testing.T) {
	for n := range 20 {
		keys := make([]uint64, n)
		var want uint64
		for i := range keys {
			keys[i] = 1 << i
			want |= keys[i]
		}
		if got := readKeys(keys); got != want {
			t.Errorf("%d keys: %b, want %b", n, got, want)
		}
	}
}

// Members that are made a part at a time are those that are held otherwise, and what
// is measured of their filters is the same to the last event: rates, lost keys, sizes.
func TestPartsAreTheWhole(t *testing.T) {
	whole, parts := &Lab{Profile: tinyProfile, Seed: 3, loop: catalog.Loop}, &Lab{Profile: tinyProfile, Seed: 3, loop: catalog.Loop, hold: 700}
	for _, filter := range []string{"standard", "blocked", "blocked(layout=split)", "cuckoo"} {
		p := point(t, filter, filters.Target{N: 5000, P: 0.01})
		keys, err := whole.keys(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		if err := parts.stream(t.Context(), p, 0, func(hs []uint64) error { got = append(got, hs...); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, keys.members) {
			t.Errorf("%s: other members in parts", filter)
		}
		want, err := Rate(100_000).Run(t.Context(), whole, []*Point{p})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Rate(100_000).Run(t.Context(), parts, []*Point{p})
		if err != nil || !slices.Equal(rows, want) || len(rows) < 2 {
			t.Errorf("%s, %v: %d rows in parts, %d of the whole, or others", filter, err, len(rows), len(want))
		}
	}
}

// A sample of members has one of every stretch.
func TestSampleOfMembers(t *testing.T) {
	p := point(t, "blocked", filters.Target{N: 1003, P: 0.01})
	lab := &Lab{Profile: tinyProfile, Seed: 3}
	keys, err := lab.keys(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := lab.members(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 10, 1003, 5000} {
		got, err := s.sample(size)
		if err != nil || len(got) != min(size, 1003) {
			t.Fatalf("%d of 1003: %d, %v", size, len(got), err)
		}
		for i, h := range got {
			at := slices.Index(keys.members, h)
			if from, to := i*1003/len(got), (i+1)*1003/len(got); at < from || at >= to {
				t.Errorf("%d of 1003: member %d is number %d, want %d to %d", size, i, at, from, to-1)
			}
		}
	}
}

// Filters whose keys come in parts are timed as others are, but for the floor, and hold
// in the end what they hold otherwise.
func TestPartRows(t *testing.T) {
	points := []*Point{point(t, "blocked", filters.Target{N: 5000, P: 0.01}), point(t, "standard", filters.Target{N: 5000, P: 0.01})}
	lab := &Lab{Profile: tinyProfile, Seed: 1, loop: catalog.Loop, hold: 700}
	rows, err := FilterTime().Run(t.Context(), lab, points)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, r := range rows {
		n[r.Filter+" "+r.API+" "+r.Metric]++
		if strings.HasPrefix(r.Metric, "ns_") && r.Metric != MetricLoop && r.Value == 0 {
			t.Errorf("%s %s: %s is 0", r.Filter, r.API, r.Metric)
		}
	}
	for _, filter := range []string{"blocked", "standard"} {
		for _, api := range []string{"single", "batch"} {
			for metric, want := range map[string]int{
				MetricAdd: tinyProfile.Rounds, MetricHit: tinyProfile.Rounds, MetricMiss: tinyProfile.Rounds,
				NoiseOf(MetricAdd): 1, MetricProcess: 1, MetricFloor: 0,
			} {
				if got := n[filter+" "+api+" "+metric]; metric != NoiseOf(MetricAdd) && got != want || got > want {
					t.Errorf("%s %s %s: %d rows, want %d", filter, api, metric, got, want)
				}
			}
		}
	}

	racers, err := racersOf(lab, points)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		for i, p := range points {
			keys, err := lab.keys(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := build(p, keys.members)
			if err != nil {
				t.Fatal(err)
			}
			queries := slices.Clone(keys.members)
			absent := make([]uint64, 50_000)
			keys.absent(absent)
			queries = append(queries, absent...)
			for _, h := range queries {
				if racers[i].filter.Contains(h) != want.Contains(h) {
					t.Fatalf("%s: %v answers otherwise for %x", what, p, h)
				}
			}
		}
	}
	if err := refill(racers); err != nil {
		t.Fatal(err)
	}
	check("filled")
	for _, batch := range []bool{false, true} {
		if _, err := racePartAdds(t.Context(), racers, batch, 6); err != nil {
			t.Fatal(err)
		}
		check("raced")
	}
}
