package filtertest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"filterlab/filters"
)

// The control that must pass.
func TestIdealFilterPasses(t *testing.T) {
	Run(t, ideal{})
}

// The controls that must not: every fault is found by the clause that is about
// it. A fault that nothing finds would mean that the suite looks away there.
func TestSuiteFindsFaults(t *testing.T) {
	for _, c := range []struct {
		fault  fault
		clause string
	}{
		{"takes-nan", "bad-targets"},
		{"untyped-error", "bad-targets"},
		{"wrong-field", "bad-targets"},
		{"allocates-first", "bad-targets"},
		{"typed-nil", "bad-targets"},
		{"panics-on-zero", "bad-targets"},
		{"empty-says-yes", "empty"},
		{"loses-a-key", "lost-keys"},
		{"full-too-early", "lost-keys"},
		{"loses-zero", "degenerate-hashes"},
		{"build-sorts-argument", "build"},
		{"batch-add-counts-wrong", "batch-add"},
		{"batch-add-drops-tail", "batch-add"},
		{"bulk-add-loses-one", "bulk-add"},
		{"batch-differs", "batch-contains"},
		{"batch-miscounts", "batch-contains"},
		{"batch-writes-past-end", "batch-contains"},
		{"batch-sorts", "batch-contains"},
		{"short-dst-tolerated", "batch-contains"},
		{"test-and-add-says-after", "test-and-add"},
		{"test-and-add-stores-nothing", "test-and-add"},
		{"refused-add-evicts", "refused-add"},
		{"refused-add-stores", "refused-add"},
		{"refused-add-frees", "refused-add"},
		{"full-is-untyped", "refused-add"},
		{"reset-keeps-a-key", "reset"},
		{"reset-keeps-count", "reset"},
		{"deletes-absent", "delete"},
		{"delete-denies", "delete"},
		{"delete-takes-all-copies", "delete"},
		{"count-too-low", "delete"},
		{"count-too-high", "delete"},
		{"merge-forgets", "merge"},
		{"merge-takes-anything", "merge"},
		{"merge-untyped-error", "merge"},
		{"merge-panics", "merge"},
		{"merge-drains-argument", "merge"},
		{"refused-merge-changes", "merge"},
		{"size-rounded-up", "size"},
		{"variant-predicts-other-size", "size"},
		{"breaks-promise", "promise"},
		{"wasteful", "promise"},
		{"rate-too-high", "rate"},
		{"rate-too-low", "rate"},
		{"overfill-too-high", "rate"},
		{"fill-too-high", "rate"},
		{"estimates-low-rate", "rate"},
		{"estimates-high-rate", "rate"},
		{"estimates-few", "rate"},
		{"estimates-many", "rate"},
		{"contains-allocates", "allocations"},
		{"add-allocates", "allocations"},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			i := slices.IndexFunc(clauses(), func(k clause) bool { return k.name == c.clause })
			if i < 0 {
				t.Fatalf("no clause %q", c.clause)
			}
			r := clauses()[i].examine(ideal{c.fault}, true)
			if len(r.failures) == 0 {
				t.Fatalf("the clause %q (skipped: %q) finds nothing wrong", c.clause, r.skipped)
			}
			for _, msg := range r.failures {
				if strings.Contains(msg, "unreachable") || strings.Contains(msg, "nil pointer") {
					t.Errorf("found by accident: %s", msg)
				}
			}
		})
	}
}

// The oracle's own fuzz target: the control that must pass, on the seed corpus and
// on whatever the fuzzer finds.
func FuzzIdeal(f *testing.F) { Fuzz(f, ideal{}) }

// Faults of state are found by the seed corpus alone.
func TestFuzzFindsFaults(t *testing.T) {
	for _, fault := range []fault{
		"loses-a-key", "batch-miscounts", "test-and-add-says-after", "test-and-add-stores-nothing", "full-is-untyped",
		"refused-add-stores", "reset-keeps-a-key", "deletes-absent", "delete-denies", "delete-takes-all-copies",
		"count-too-low", "merge-forgets", "batch-add-counts-wrong",
	} {
		found := 0
		for _, program := range programs() {
			c := clause{name: "fuzz", run: func(r *report, v filters.Variant) { interpret(r, v, filters.Target{N: fuzzKeys / 4, P: 0.01}, program) }}
			found += len(c.examine(ideal{fault}, true).failures)
		}
		if found == 0 {
			t.Errorf("no seed program finds %q", fault)
		}
	}
}

func BenchmarkIdeal(b *testing.B) { Bench(b, nil, ideal{}) }

// Queries hold exactly the stated share of members, whole batches, and both in
// no pattern that a branch predictor could learn.
func TestBenchQueries(t *testing.T) {
	for _, n := range []int{1e4, 1e5} {
		hs, others := Members(1, n), NonMembers(1, max(n, 1<<16))
		in := make(map[uint64]bool, n)
		for _, h := range hs {
			in[h] = true
		}
		for _, hit := range []int{0, 5, 50, 95, 100} {
			queries := mixed(hs, others, hit)
			members, changes := 0, 0
			for i, h := range queries {
				if in[h] {
					members++
				}
				if i > 0 && in[h] != in[queries[i-1]] {
					changes++
				}
			}
			share := float64(hit) / 100
			if want := len(queries) * hit / 100; members != want || len(queries)%batch != 0 || len(queries) < 1<<16-batch {
				t.Errorf("n=%d hit=%d: %d members in %d queries, want %d", n, hit, members, len(queries), want)
			}
			// Neighbours differ with probability 2s(1-s).
			s := binomial(changes, len(queries)-1, 2*share*(1-share), 0)
			if hit%100 != 0 && !(math.Abs(s.z()) < 8) {
				t.Errorf("n=%d hit=%d: neighbours differ in %v of all places, want %v", n, hit, s.got, s.want)
			}
		}
	}
}

// Members and non-members are one bijection of different counters: no overlap,
// no repetition, whatever the seed.
func TestHashesAreDisjoint(t *testing.T) {
	const n = 50_000
	for _, seed := range []uint64{0, 1, math.MaxUint64} {
		seen := make(map[uint64]bool, 2*n)
		for _, h := range join(Members(seed, n), NonMembers(seed, n)) {
			if seen[h] {
				t.Fatalf("seed %d: %#x comes twice", seed, h)
			}
			seen[h] = true
		}
	}
	if slices.Equal(Members(1, 10), Members(2, 10)) {
		t.Error("two seeds give the same hashes")
	}
	if !slices.Equal(Members(1, 10), Members(1, 1000)[:10]) {
		t.Error("a longer set does not begin with the shorter one")
	}
	// The first outputs of splitmix64 from state 0 (Vigna's reference code).
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		state += golden
		if got := mix(state); got != want {
			t.Errorf("output %d is %#x, want %#x", i, got, want)
		}
	}
}
