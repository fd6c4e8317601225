package filtertest

import (
	"math"
	"slices"
	"strings"
	"testing"
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
		{"panics-on-zero", "bad-targets"},
		{"empty-says-yes", "empty"},
		{"loses-a-key", "lost-keys"},
		{"full-too-early", "lost-keys"},
		{"loses-zero", "degenerate-hashes"},
		{"build-sorts-argument", "build"},
		{"batch-add-counts-wrong", "batch-add"},
		{"batch-add-drops-tail", "batch-add"},
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
