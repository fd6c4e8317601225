package experiments

import (
	"encoding"
	"errors"
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
)

// sloppy is a standard filter whose Merge brings in keys that the other does not
// hold.
type sloppy struct{ filters.Maker }

type sloppyFilter struct{ filters.Filter }

func (v sloppy) New(t filters.Target) (filters.Filter, error) {
	f, err := v.Maker.New(t)
	return &sloppyFilter{f}, err
}

func (v sloppy) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

func (f *sloppyFilter) MarshalBinary() ([]byte, error) {
	return f.Filter.(encoding.BinaryMarshaler).MarshalBinary()
}

func (f *sloppyFilter) Merge(other filters.Filter) error {
	err := f.Filter.(filters.Merger).Merge(other.(*sloppyFilter).Filter)
	for i := range uint64(20) {
		err = errors.Join(err, f.Add(mix(i)))
	}
	return err
}

// One pair for each seed is compared, table and answers, and both are the same;
// the rate is that of the union by exact theory.
func TestMergeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts for seconds")
	}
	lab := &Lab{Profile: tinyProfile, Seed: 1}
	for _, filter := range []string{"standard", "blocked", "counting"} {
		p := point(t, filter, filters.Target{N: 3000, P: 0.01})
		p.Load = 1
		rows, err := mergeShards().Run(t.Context(), lab, []*Point{p})
		if err != nil {
			t.Fatal(err)
		}
		got := byMetric(rows)
		if n := len(got[MetricFPR]); n < tinyProfile.Seeds || n != len(got[MetricTablesDiffer]) || n != len(got[MetricAnswersDiffer]) || n != len(got[MetricLost]) {
			t.Errorf("%s: %d rates, %d tables, %d answers, %d members", filter, n, len(got[MetricTablesDiffer]), len(got[MetricAnswersDiffer]), len(got[MetricLost]))
		}
		for _, r := range got[MetricAnswersDiffer] {
			if r.Value != 0 || r.Trials != mergeLookups {
				t.Errorf("%s: %v of %d answers differ", filter, r.Value, r.Trials)
			}
		}
		cells := cellsOf(t, Merge(), rows)
		if c := cells[0]; c.Verdict != Agree && c.Verdict != AgreeWide || c.Own[MetricTablesDiffer].P != 1 || c.Trials == 0 {
			t.Errorf("%s: %s, %+v", filter, c.Verdict, c.Own)
		}
	}
}

// A merge that adds a few keys too many shows in tables and answers, and not only
// in the rate.
func TestMergeShowsASloppyMerge(t *testing.T) {
	v, err := catalog.Parse("standard")
	if err != nil {
		t.Fatal(err)
	}
	p := point(t, "standard", filters.Target{N: 800, P: 0.01})
	p.Variant, p.Load = sloppy{v.(filters.Maker)}, 0.25
	rows, err := mergeShards().Run(t.Context(), &Lab{Profile: tinyProfile, Seed: 1}, []*Point{p})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range byMetric(rows)[MetricTablesDiffer] {
		if r.Value != 1 {
			t.Errorf("seed %d: tables do not differ", r.Round)
		}
	}
	c := cellsOf(t, Merge(), rows)[0]
	if c.Verdict != Differ || c.Own[MetricAnswersDiffer].Events == 0 {
		t.Errorf("%s, %d answers differ", c.Verdict, c.Own[MetricAnswersDiffer].Events)
	}
}

// Families that cannot be merged are rows that say so.
func TestMergeRefuses(t *testing.T) {
	p := point(t, "cuckoo", filters.Target{N: 800, P: 0.01})
	rows, err := mergeShards().Run(t.Context(), &Lab{Profile: tinyProfile, Seed: 1}, []*Point{p})
	if err != nil || len(rows) != 1 || rows[0].Metric != MetricRefused {
		t.Errorf("%v, %v", rows, err)
	}
	axis := shardsAxis()
	for _, s := range []string{"0", "-1", "two", "65536"} {
		if err := axis.Set(&Point{Target: filters.Target{N: 100}}, s); !errors.Is(err, filters.ErrParam) {
			t.Errorf("shards = %s: %v", s, err)
		}
	}
	if err := axis.Set(&Point{Target: filters.Target{N: 7}}, "2"); !errors.Is(err, filters.ErrParam) {
		t.Errorf("seven keys among eight shards: %v", err)
	}
}
