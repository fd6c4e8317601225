//go:debug randautoseed=0

package contest

import (
	"testing"

	"filterlab/experiments/peers/adapter"
)

// Every library breaks the clauses that KnownFailures lists and no other, so that
// a new version that mends or breaks something shows here. math/rand, which two
// libraries draw from, is seeded (randautoseed=0).
func TestConformance(t *testing.T) {
	for _, v := range adapter.All() {
		t.Run(v.String(), func(t *testing.T) {
			known := map[string]bool{}
			for _, k := range KnownFailures() {
				if k.Peer == v.String() {
					known[k.Clause] = true
				}
			}
			fs, err := Conformance(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fs {
				switch {
				case !f.Holds && !known[f.Clause]:
					t.Errorf("breaks %s, which is not on the list: %s", f.Clause, f.Trigger)
				case f.Holds && known[f.Clause]:
					t.Errorf("keeps %s, which is on the list", f.Clause)
				}
				delete(known, f.Clause)
			}
			for c := range known {
				t.Errorf("%s is on the list and is no clause", c)
			}
		})
	}
}
