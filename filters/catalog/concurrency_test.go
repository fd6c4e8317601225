package catalog_test

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/filtertest"
)

// holding makes a filter of every kind that holds hs, at 1% or the nearest rate
// that the kind can keep.
func holding(t *testing.T, v filters.Variant, hs []uint64) filters.Querier {
	t.Helper()
	for _, p := range []float64{0.01, 0.1, 0.5} {
		if q, err := v.Build(filters.Target{N: uint64(len(hs)), P: p}, hs); err == nil {
			return q
		}
	}
	q, err := v.Build(filters.Target{N: uint64(len(hs)), BitsPerKey: 40}, hs)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return q
}

// F01: a lookup writes nothing. Eight goroutines ask every kind of filter for 1,000
// keys at once, one by one and in batches: under -race shared scratch memory would
// show, and without it a wrong answer.
func TestF01_ReadersAtOnce(t *testing.T) {
	const n = 500
	hs := filtertest.Members(107, n)
	queries := slices.Concat(hs, filtertest.NonMembers(107, n))
	for _, v := range catalog.Variants() {
		q := holding(t, v, hs)
		want := make([]bool, len(queries))
		for i, h := range queries {
			want[i] = q.Contains(h)
		}
		var wg sync.WaitGroup
		wrong := make([]int, 8)
		for g := range wrong {
			wg.Go(func() {
				dst := make([]bool, len(queries))
				filters.ContainsMany(q, dst, queries)
				for i, h := range queries {
					if q.Contains(h) != want[i] || dst[i] != want[i] {
						wrong[g]++
					}
				}
				q.SizeBits()
				if c, ok := q.(filters.Counter); ok {
					c.Count(hs[g])
				}
				if e, ok := q.(filters.Estimator); ok {
					e.EstimatedFPR()
					e.EstimatedN()
				}
				if f, ok := q.(filters.FillReporter); ok {
					f.FillRatio()
				}
			})
		}
		wg.Wait()
		for g, n := range wrong {
			if n > 0 {
				t.Errorf("%v: reader %d of 8 at once got %d of %d answers wrong", v, g, n, len(queries))
			}
		}
	}
}

// F06: lookups of filters without concurrent writers take no lock and touch no
// atomic counter, whose cache line all readers would fight for: there is nothing of
// the kind in the types. Only shards have locks, and say so.
func TestF06_LookupsTakeNoLock(t *testing.T) {
	var locks func(reflect.Type, map[reflect.Type]bool) bool
	locks = func(t reflect.Type, seen map[reflect.Type]bool) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		if p := t.PkgPath(); p == "sync" || p == "sync/atomic" {
			return true
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			return locks(t.Elem(), seen)
		case reflect.Struct:
			for i := range t.NumField() {
				if locks(t.Field(i).Type, seen) {
					return true
				}
			}
		}
		return false
	}
	hs := filtertest.Members(109, 100)
	for _, v := range catalog.Variants() {
		want := strings.HasPrefix(v.String(), "sharded")
		if got := locks(reflect.TypeOf(holding(t, v, hs)), map[reflect.Type]bool{}); got != want {
			t.Errorf("%v: a lock or an atomic counter in its type: %v; want %v", v, got, want)
		}
	}
}

// E13: rows are not keys. 1,000 rows of 10 distinct keys leave filters as 10 rows
// do, which estimate what they hold by their content, and a filter for 10 keys is
// filled rightly by them.
func TestE13_RowsAreNotKeys(t *testing.T) {
	distinct := filtertest.Members(113, 10)
	var rows []uint64
	for range 100 {
		rows = append(rows, distinct...)
	}
	// A scalable filter is left out: it stores keys of its older stages again.
	for _, name := range []string{"standard", "blocked", "standard(layout=partitioned)"} {
		v, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		target := filters.Target{N: 10, P: 0.001}
		once, err := v.Build(target, distinct)
		if err != nil {
			t.Fatal(err)
		}
		often, err := v.Build(target, rows)
		if err != nil {
			t.Fatal(err)
		}
		a, b := once.(filters.Estimator), often.(filters.Estimator)
		if a.EstimatedN() != b.EstimatedN() || a.EstimatedFPR() != b.EstimatedFPR() || once.SizeBits() != often.SizeBits() {
			t.Errorf("%s: n = %v, rate %v, %d bits after 10 rows; %v, %v, %d after 1,000 rows of the same keys", name,
				a.EstimatedN(), a.EstimatedFPR(), once.SizeBits(), b.EstimatedN(), b.EstimatedFPR(), often.SizeBits())
		}
		// 10 keys leave the standard deviation of linear counting far below 2.
		if n := b.EstimatedN(); n < 8 || n > 12 {
			t.Errorf("%s: 1,000 rows of 10 keys are estimated as %v keys", name, n)
		}
	}
}

// H13: the loops that are timed make nothing, neither keys nor hashes: they get
// hashes made beforehand and do not allocate, which a formatted key would.
func TestH13_TimedLoopsMakeNoKeys(t *testing.T) {
	hs := filtertest.Members(127, 1000)
	dst := make([]bool, len(hs))
	for _, v := range catalog.Variants() {
		loops := catalog.Loop(holding(t, v, hs))
		if n := testing.AllocsPerRun(3, func() { loops.Contains(dst, hs) }); n > 0 {
			t.Errorf("%v: the timed loop of lookups allocates %v times", v, n)
		}
	}
}
