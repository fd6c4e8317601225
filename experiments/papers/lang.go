package papers

import (
	"context"
	"fmt"
	"math"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

func lang() Paper {
	return Paper{
		Name:   "lang",
		Source: "Lang, Neumann, Kemper, Boncz 2019, Performance-optimal filtering: Bloom overtakes cuckoo at high throughput, PVLDB 12(5)",
		About:  "Which filter costs least, by the time t_w that a true negative saves: a lookup costs t_l + f t_w.",
		Make: func(ctx context.Context, e Effort) (*Table, error) {
			n := uint64([...]int{1e5, 1e6, 1e7}[e.Scale])
			racers, err := timeLookups(ctx, n, e)
			if err != nil {
				return nil, err
			}
			t := &Table{Columns: []string{"filter", "bits per key", "f", "t_l (ns)", "least cost for t_w from (ns)", "to (ns)"}}
			sections := skyline(racers)
			for i, r := range racers {
				from, to := "", ""
				for _, s := range sections {
					if s.filter == i {
						from, to = fmt.Sprintf("%.4g", s.from), fmt.Sprintf("%.4g", s.to)
					}
				}
				t.row(r.name, r.bits, r.fpr, fmt.Sprintf("%.3g", r.time), from, to)
			}
			example := crossover(2, theory.SplitBlock(10), 6, theory.CuckooSkewed(4, 12, 0.95))
			t.check("t_w at which a filter of 2 ns and 1.2648% and one of 6 ns and 0.18549% cost the same", "370.6 ns by the paper's model", example, 370.5, 370.7)
			t.check("t_w below which a filter of 1% and 10 ns does not pay, half of the lookups being hits", "t_l < (1-σ)(1-f) t_w", breakEven(10, 0.01, 0.5), 20.19, 20.21)
			t.note("%s keys, one lookup at a time, median of %d rounds, on this machine. The paper finds blocked Bloom filters best at high throughput (small t_w) and cuckoo filters best where a false "+
				"positive is dear, the border between 10³ and 10⁵ cycles by second-hand summaries. Its figures are of SIMD code, 16 to 32 lookups at once; what holds here is the order of the filters "+
				"from top to bottom of the last columns. No check rests on the times.", units.FormatCount(n), langRounds)
			return t, nil
		},
	}
}

// langRounds is how often each filter is timed.
const langRounds = 10

// timed is a filter with its cost.
type timed struct {
	name            string
	bits, fpr, time float64 // bits per key; expected rate; ns of a negative lookup
}

// timeLookups times negative lookups in filters of up to 20 bits per key.
func timeLookups(ctx context.Context, n uint64, e Effort) ([]timed, error) {
	var out []timed
	var cs []measure.Contender
	members := make([]uint64, n)
	stream(e.Seed, 1)(members)
	queries := make([]uint64, min(n, 1<<20))
	stream(e.Seed, 2)(queries)
	for _, x := range []struct {
		filter string
		bits   float64
	}{
		{"blocked(64)", 8}, {"blocked(64)", 12}, {"blocked", 8}, {"blocked", 12}, {"blocked", 16}, {"blocked", 20},
		{"standard", 12}, {"standard", 20}, {"cuckoo(f=8)", 9}, {"cuckoo(f=12,b=4)", 13}, {"cuckoo(f=16,b=4)", 17},
	} {
		v, err := catalog.Parse(x.filter)
		if err != nil {
			return nil, err
		}
		target := filters.Target{N: n, BitsPerKey: x.bits}
		pred, err := v.Predict(target, n)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", v, err)
		}
		q, err := v.Build(target, members)
		if err != nil {
			return nil, err
		}
		loops := catalog.Loop(q)
		dst := make([]bool, len(queries))
		out = append(out, timed{name: fmt.Sprintf("%s at %g", x.filter, x.bits), bits: pred.BitsPerKey(), fpr: pred.FPR})
		cs = append(cs, measure.Contender{
			Name: x.filter, Ops: len(queries),
			Run: func() uint64 { return uint64(loops.Contains(dst, queries)) },
		})
	}
	dst := make([]bool, len(queries))
	r, err := measure.Race{Contenders: cs, Rounds: langRounds, Loop: measure.Contender{
		Name: "loop", Ops: len(queries),
		Run: func() uint64 {
			odd := 0
			for i, h := range queries {
				in := h&1 != 0
				dst[i] = in
				if in {
					odd++
				}
			}
			return uint64(odd)
		},
	}}.Run(ctx)
	if err != nil {
		return nil, err
	}
	for i, s := range r.Series {
		out[i].time = measure.Median(s.Net)
	}
	return out, nil
}

// section is a range of t_w in which a filter costs least.
type section struct {
	filter   int
	from, to float64
}

// skyline is the lower envelope of the costs t_l + f t_w, which are straight
// lines in t_w: which filter costs least, from t_w = 0 to infinity.
func skyline(fs []timed) []section {
	var out []section
	best := 0
	for i, f := range fs {
		if f.time < fs[best].time || f.time == fs[best].time && f.fpr < fs[best].fpr {
			best = i
		}
	}
	for from := 0.0; ; {
		// Only a line that rises more slowly can cross the lowest one.
		next, to := -1, math.Inf(1)
		for i, f := range fs {
			if !(f.fpr < fs[best].fpr) {
				continue
			}
			t := crossover(fs[best].time, fs[best].fpr, f.time, f.fpr)
			if t < to || t == to && f.fpr < fs[next].fpr {
				next, to = i, t
			}
		}
		out = append(out, section{best, from, to})
		if next < 0 {
			return out
		}
		best, from = next, to
	}
}

// crossover is the t_w at which filters a and b cost the same, (t_b-t_a)/(f_a-f_b):
// below it the faster a costs less, above it the more precise b.
func crossover(ta, fa, tb, fb float64) float64 { return (tb - ta) / (fa - fb) }

// breakEven is the t_w above which a filter pays at all when the share hits of the
// lookups are members: t_l/((1-hits)(1-f)).
func breakEven(tl, f, hits float64) float64 { return tl / ((1 - hits) * (1 - f)) }
