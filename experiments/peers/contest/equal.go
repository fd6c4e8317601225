package contest

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"filterlab/experiments"
	"filterlab/experiments/measure"
	"filterlab/experiments/peers/adapter"
	"filterlab/filters"
)

// What the race at equal measured rate is run with.
const (
	equalKeys   = 1_000_000
	equalTrials = 1_000_000 // lookups of absent keys of each try: 1% is known to 1% of itself
	equalTries  = 4
)

// equalFile holds the outcome, beside the results of the survey.
const equalFile = "equal-rate.csv"

// Even is a filter that was sized until its measured rate was the promised one.
type Even struct {
	Filter string
	N      uint64
	Asked  float64 // rate that it had to be asked for
	Bits   float64 // per key
	Rate   measure.Count
	Note   string // why it did not take part

	// Median time in ns per key by api, gross for batches and net of the loop without
	// a filter for single calls, as in the survey; NaN where it has no such call.
	Hit, Miss map[string]float64
	Noise     float64 // the worst over the races, gross or net
}

// Equal sizes every filter so that it errs at the same rate as measured, and lets all
// race. A filter whose sizes are far apart, such as powers of two, gets the size that
// comes nearest, which its measured rate shows.
func Equal(ctx context.Context, p experiments.Profile, seed uint64, log io.Writer) ([]Even, error) {
	n := min(equalKeys, p.MaxN)
	var out []Even
	var in []entrant
	var at []int // index in out of each entrant
	for i, name := range allNames() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := Even{Filter: name, N: n, Hit: map[string]float64{}, Miss: map[string]float64{}}
		r, asked, rate, err := evenRacer(name, n, seed+uint64(i)<<32)
		var lost *measure.LostError
		switch {
		case errors.Is(err, filters.ErrParam), errors.Is(err, filters.ErrFull), errors.As(err, &lost):
			e.Note = err.Error()
		case err != nil:
			return nil, err
		default:
			e.Asked, e.Rate, e.Bits = asked, rate, float64(r.q.SizeBits())/float64(n)
			in, at = append(in, entrant{racer: r}), append(at, len(out))
			fmt.Fprintf(log, "equal rate: %s asked for %.3g errs at %.3g\n", label(name), asked, rate.Rate())
		}
		out = append(out, e)
	}
	for _, batch := range []bool{false, true} {
		for _, hit := range []bool{true, false} {
			var cs []measure.Contender
			for _, e := range in {
				cs = append(cs, e.lookups(hit, batch))
			}
			t, err := measure.Race{Loop: emptyLookups(in[0].racer), Contenders: cs, Rounds: surveyRounds(p, n)}.Run(ctx)
			if err != nil {
				return nil, err
			}
			for i, s := range t.Series {
				e := &out[at[i]]
				api, times := in[i].api(batch), s.Net
				if api == Batch {
					times = s.Gross
				}
				into := e.Miss
				if hit {
					into = e.Hit
				}
				if _, done := into[api]; !done {
					into[api] = measure.Median(times)
				}
				e.Noise = max(e.Noise, t.Noise())
			}
		}
	}
	return out, nil
}

// allNames are our filters and those of others.
func allNames() []string {
	names := ours()
	for _, v := range adapter.All() {
		names = append(names, v.String())
	}
	return names
}

// evenRacer builds the filter for the rate that makes it err at the promised one: what
// is asked for is changed by the factor by which the measured rate was off, a few
// times, and the nearest is taken.
func evenRacer(name string, n, seed uint64) (best *racer, asked float64, rate measure.Count, err error) {
	v, err := adapter.Parse(name)
	if err != nil {
		return nil, 0, rate, err
	}
	off := func(c measure.Count) float64 { return math.Abs(math.Log(c.Rate() / promise)) }
	for p, try := promise, 0; try < equalTries; try++ {
		r, err := newRacer(v, filters.Target{N: n, P: p}, seed)
		if err != nil {
			if best != nil {
				break // what was asked for first can be had
			}
			return nil, 0, rate, err
		}
		c := r.rate(equalTrials)
		if best == nil || off(c) < off(rate) {
			best, asked, rate = r, p, c
		}
		if off(rate) < 0.01 || c.Events == 0 {
			break
		}
		next := min(p*promise/c.Rate(), 0.5)
		if next == p {
			break
		}
		p = next
	}
	return best, asked, rate, nil
}

// WriteEqual writes the table.
func WriteEqual(dir string, all []Even) error {
	apis := []string{Single, Batch}
	head := []string{"filter", "n", "p_asked", "fpr", "fpr_lo", "fpr_hi", "bits_per_key"}
	for _, api := range apis {
		head = append(head, "ns_hit_"+api, "ns_miss_"+api)
	}
	rows := [][]string{append(head, "noise", "note")}
	for _, e := range all {
		rec := []string{e.Filter, strconv.FormatUint(e.N, 10)}
		if e.Note != "" {
			rec = append(rec, slices.Repeat([]string{""}, len(head)-2+1)...)
			rows = append(rows, append(rec, e.Note))
			continue
		}
		exact := measure.ClopperPearson(e.Rate.Events, e.Rate.Trials, 0.95)
		rec = append(rec, number(e.Asked), number(e.Rate.Rate()), number(exact.Lo), number(exact.Hi), number(e.Bits))
		for _, api := range apis {
			for _, times := range []map[string]float64{e.Hit, e.Miss} {
				ns, ok := times[api]
				if !ok {
					ns = math.NaN()
				}
				rec = append(rec, number(ns))
			}
		}
		rows = append(rows, append(rec, number(e.Noise), ""))
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, equalFile), b.Bytes())
}
