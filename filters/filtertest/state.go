package filtertest

import (
	"bytes"
	"encoding"
	"fmt"

	"filterlab/filters"
)

// state is everything the contract lets one see of a filter, over a fixed set of
// queries. Two filters in the same state are the same to every caller.
type state struct {
	queries []uint64
	answers []bool
	counts  []count // of Count, where there is one
	size    uint64
	fill    float64
	fpr, n  float64
	bytes   []byte // of MarshalBinary, where there is one
}

// count is an answer of filters.Counter.
type count struct {
	n         uint64
	saturated bool
}

// observe reads the state of q over queries through the single-key methods.
func observe(q filters.Querier, queries []uint64) state {
	s := ask(q, queries)
	if f, ok := q.(filters.FillReporter); ok {
		s.fill = f.FillRatio()
	}
	if e, ok := q.(filters.Estimator); ok {
		s.fpr, s.n = e.EstimatedFPR(), e.EstimatedN()
	}
	if m, ok := q.(encoding.BinaryMarshaler); ok {
		b, err := m.MarshalBinary()
		if err != nil {
			b = []byte("MarshalBinary: " + err.Error())
		}
		s.bytes = b
	}
	return s
}

// ask is the part of observe that does not read the whole table.
func ask(q filters.Querier, queries []uint64) state {
	s := state{queries: queries, size: q.SizeBits()}
	s.answers = make([]bool, len(queries))
	for i, h := range queries {
		s.answers[i] = q.Contains(h)
	}
	if c, ok := q.(filters.Counter); ok {
		s.counts = make([]count, len(queries))
		for i, h := range queries {
			s.counts[i].n, s.counts[i].saturated = c.Count(h)
		}
	}
	return s
}

// differ names the first difference of two states, or returns "".
func (s state) differ(o state) string {
	for i := range s.answers {
		if s.answers[i] != o.answers[i] {
			return fmt.Sprintf("Contains(%#x) is %v and %v", s.queries[i], s.answers[i], o.answers[i])
		}
	}
	for i := range s.counts {
		if s.counts[i] != o.counts[i] {
			return fmt.Sprintf("Count(%#x) is %+v and %+v", s.queries[i], s.counts[i], o.counts[i])
		}
	}
	switch {
	case s.size != o.size:
		return fmt.Sprintf("SizeBits is %d and %d", s.size, o.size)
	case s.fill != o.fill:
		return fmt.Sprintf("FillRatio is %v and %v", s.fill, o.fill)
	case s.n != o.n:
		return fmt.Sprintf("EstimatedN is %v and %v", s.n, o.n)
	case s.fpr != o.fpr:
		return fmt.Sprintf("EstimatedFPR is %v and %v", s.fpr, o.fpr)
	case !bytes.Equal(s.bytes, o.bytes):
		return "MarshalBinary gives different bytes"
	}
	return ""
}

// missing counts the hashes of hs that q denies and returns the first.
func missing(q filters.Querier, hs []uint64) (n int, first uint64) {
	for i := len(hs) - 1; i >= 0; i-- {
		if !q.Contains(hs[i]) {
			n, first = n+1, hs[i]
		}
	}
	return n, first
}

// join is a followed by b in fresh memory.
func join(a, b []uint64) []uint64 {
	return append(append(make([]uint64, 0, len(a)+len(b)), a...), b...)
}
