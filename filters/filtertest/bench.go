package filtertest

import (
	"fmt"
	"testing"

	"filterlab/filters"
)

// Loops are loops over single-key calls, made for one filter: Contains and Add
// are called on its concrete type, so that a timed key pays for no interface
// call. It is an alias of a plain struct type, so that catalog.Loop, whose package
// this one must not import, can be passed to [Bench] as it is.
type Loops = struct {
	Contains func(dst []bool, hs []uint64) (hits int)
	Add      func(hs []uint64) (n int, err error)
}

// Bench times the variants and prints comparable lines, one each for
//
//	op=contains/n=1e6/hit=50/api=batch
//	op=add/n=1e6/api=single
//
// with ns/key, keys/s, bits/key and, for queries, the measured share of true answers.
// n is 1e4 (about 12 KB at 1%, inside L1) and 1e6 (about 1.2 MB); hit is
// the share of queries that were added. api=batch calls AddMany and ContainsMany,
// api=single the loops that loop returns for the filter (catalog.Loop; nil leaves
// these lines out). Filters are sized for a rate of 1%, or for the first target
// of a ladder that the variant takes.
//
// Hashes are drawn beforehand, at least 65,536 queries in an order that no branch
// predictor learns; answers are written to dst and counted, and the count is
// checked against what is stored before anything is timed. An add pass begins
// with Reset, whose cost (one pass over the table in storage order) is in the
// figure; the filters are never the zero page, since they are filled first.
func Bench(b *testing.B, loop func(q filters.Querier) Loops, vs ...filters.Variant) {
	for _, v := range vs {
		b.Run(v.String(), func(b *testing.B) {
			for _, n := range []int{1e4, 1e6} {
				benchSize(b, loop, v, n)
			}
		})
	}
}

// batch is the number of hashes in a call: long enough to overlap misses, short
// enough for dst to stay in L1.
const batch = 1024

// benchSize times all operations of one variant at one size.
func benchSize(b *testing.B, loop func(q filters.Querier) Loops, v filters.Variant, n int) {
	t, err := target(v, n)
	if err != nil {
		b.Fatal(err)
	}
	hs := Members(61, n)
	q, err := v.Build(t, hs)
	if err != nil {
		b.Fatalf("%v: Build(%v): %v", v, t, err)
	}
	others := NonMembers(61, max(n, 1<<16))
	apis := []struct {
		name string
		Loops
	}{{"batch", Loops{
		Contains: func(dst []bool, hs []uint64) int { return filters.ContainsMany(q, dst, hs) },
		Add:      func(hs []uint64) (int, error) { return filters.AddMany(q.(filters.Filter), hs) },
	}}}
	if loop != nil {
		apis = append(apis, struct {
			name string
			Loops
		}{"single", loop(q)})
	}
	size := fmt.Sprintf("n=1e%d", len(fmt.Sprint(n))-1)
	for _, hit := range []int{0, 50, 100} {
		queries := mixed(hs, others, hit)
		for _, api := range apis {
			b.Run(fmt.Sprintf("op=contains/%s/hit=%d/api=%s", size, hit, api.name), func(b *testing.B) {
				benchContains(b, api.Contains, queries, hit)
				b.ReportMetric(float64(q.SizeBits())/float64(n), "bits/key")
			})
		}
	}
	f, dynamic := q.(filters.Filter)
	reset, canReset := q.(filters.Resetter)
	if !dynamic || !canReset {
		return
	}
	for _, api := range apis {
		b.Run(fmt.Sprintf("op=add/%s/api=%s", size, api.name), func(b *testing.B) {
			for b.Loop() {
				reset.Reset()
				for i := 0; i < len(hs); i += batch {
					if _, err := api.Add(hs[i:min(i+batch, len(hs))]); err != nil {
						b.Fatal(err)
					}
				}
			}
			perKey(b, len(hs))
			if lost, first := missing(f, hs); lost > 0 {
				b.Fatalf("%d of %d keys are lost; the first is %#x", lost, n, first)
			}
			b.ReportMetric(float64(q.SizeBits())/float64(n), "bits/key")
		})
	}
}

// benchContains times one way to ask.
func benchContains(b *testing.B, contains func([]bool, []uint64) int, queries []uint64, hit int) {
	dst := make([]bool, batch)
	pass := func() (hits int) {
		for i := 0; i < len(queries); i += batch {
			hits += contains(dst, queries[i:i+batch])
		}
		return hits
	}
	hits := pass()
	if want := len(queries) * hit / 100; hits < want {
		b.Fatalf("%d true answers to %d queries of which %d are members", hits, len(queries), want)
	}
	for b.Loop() {
		if pass() != hits {
			b.Fatal("answers change from pass to pass")
		}
	}
	perKey(b, len(queries))
	b.ReportMetric(float64(hits)/float64(len(queries)), "true/key")
}

// perKey turns the time of passes into the time of a key, and into keys a second.
func perKey(b *testing.B, keys int) {
	ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(keys)
	b.ReportMetric(ns, "ns/key")
	b.ReportMetric(1e9/ns, "keys/s")
	b.ReportMetric(0, "ns/op") // a pass is no operation anyone asks about
}

// mixed returns queries of which hit percent are among hs, exactly, in random
// order; their number is a multiple of batch.
func mixed(hs, others []uint64, hit int) []uint64 {
	n := max(len(hs), 1<<16) / batch * batch
	members := n * hit / 100
	queries := make([]uint64, n)
	for i := range queries {
		if i < members {
			queries[i] = hs[i%len(hs)]
		} else {
			queries[i] = others[i]
		}
	}
	for i := n - 1; i > 0; i-- { // Fisher and Yates
		j := mix(uint64(i)) % uint64(i+1)
		queries[i], queries[j] = queries[j], queries[i]
	}
	return queries
}
