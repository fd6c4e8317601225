package adapter

import (
	"errors"
	"testing"

	"filterlab/filters"
	"filterlab/filters/filtertest"
)

// Parse is the inverse of String, knows our own variants too, and says what there
// is otherwise.
func TestParse(t *testing.T) {
	for _, v := range All() {
		if got, err := Parse(v.String()); err != nil || got != v {
			t.Errorf("Parse(%q) = %v, %v", v, got, err)
		}
	}
	if v, err := Parse("blocked(512,k=6)"); err != nil || v.String() != "blocked(512,k=6)" {
		t.Errorf("a variant of ours: %v, %v", v, err)
	}
	if _, err := Parse("peer:nobody"); !errors.Is(err, filters.ErrParam) {
		t.Errorf("an unknown peer: %v", err)
	}
}

// The loops store and find what the methods do, for each adapter with its own
// loops: a loop that was copied and not adapted would time another call.
func TestLoops(t *testing.T) {
	hs, others := filtertest.Members(3, 2000), filtertest.NonMembers(3, 20_000)
	for _, v := range All() {
		q, err := v.Build(filters.Target{N: 3000, P: 0.05}, hs)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := q.(looper); !ok {
			t.Errorf("%v has no loops of its own", v)
		}
		dst := make([]bool, len(others))
		hits, want := Loop(q).Contains(dst, others), 0
		for i, h := range others {
			if q.Contains(h) != dst[i] {
				t.Fatalf("%v: Contains and the loop differ on %#x", v, h)
			}
			want += one(dst[i])
		}
		if hits != want {
			t.Errorf("%v: the loop counts %d hits, there are %d", v, hits, want)
		}
		if hits := Loop(q).Contains(dst, hs); hits != len(hs) {
			t.Errorf("%v: the loop finds %d of %d members", v, hits, len(hs))
		}
		m, ok := v.(filters.Maker)
		if !ok {
			if _, err := Loop(q).Add(hs); err == nil {
				t.Errorf("%v is static and takes a key", v)
			}
			continue
		}
		f, err := m.New(filters.Target{N: 3000, P: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a reset filter must be reached by loops made before
			loops := Loop(f)
			f.(filters.Resetter).Reset()
			if n, err := loops.Add(hs); n != len(hs) || err != nil {
				t.Fatalf("%v: loop of adds: %d, %v", v, n, err)
			}
			if hits := loops.Contains(dst, hs); hits != len(hs) {
				t.Errorf("%v: %d of %d keys added in the loop are found", v, hits, len(hs))
			}
			if hits := filters.ContainsMany(f, dst, others); hits > len(others)/5 {
				t.Errorf("%v: %d of %d absent keys are positive after a reset", v, hits, len(others))
			}
		}
	}
}
