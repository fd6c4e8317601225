package contest

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"filterlab/experiments"
	"filterlab/experiments/figure"
	"filterlab/experiments/peers/adapter"
	"filterlab/experiments/units"
)

// kinds are the panels of time over n: filters of one kind side by side.
func kinds() []struct {
	stem, title string
	filters     []string
} {
	return []struct {
		stem, title string
		filters     []string
	}{
		{"standard", "filters with bits anywhere", []string{"standard", "peer:bits-and-blooms", "peer:holiman", "peer:boom", "peer:bbloom", "peer:ristretto"}},
		{"blocked", "filters with bits in one block", []string{"blocked", "blocked(layout=split)", "blocked(layout=pattern)", "peer:parquet-go", "peer:arrow-go", "peer:pebble"}},
		{"counting", "counting and scalable filters", []string{"counting", "counting(layout=blocked)", "scalable", "peer:boom-counting", "peer:boom-scalable"}},
		{"fingerprints", "filters of fingerprints", []string{"cuckoo", "peer:seiflotfy", "peer:boom-cuckoo", "peer:xor8", "peer:fuse8", "peer:fuse16"}},
	}
}

// label is the name of a filter in figures and texts.
func label(filter string) string { return strings.TrimPrefix(filter, adapter.Prefix) }

// place is what is known of one filter at one n, over its APIs.
type place struct {
	filter      string
	n           uint64
	bits        float64 // per key
	fpr         experiments.Estimate
	trials      uint64
	hit, miss   map[string]experiments.Estimate // by API
	add         map[string]experiments.Estimate
	verdict     string
	reason      string
	bytes, heap float64 // bytes and allocations a key
}

// places folds the cells of the grid by filter and n, in their order.
func places(cells []experiments.Cell) []*place {
	var out []*place
	at := map[string]*place{}
	for i := range cells {
		c := &cells[i]
		if c.Role != "" {
			continue
		}
		key := fmt.Sprint(c.Filter, c.N)
		p := at[key]
		if p == nil {
			p = &place{
				filter: c.Filter, n: c.N, verdict: c.Verdict, reason: c.Reason, fpr: c.FPR, trials: c.Trials,
				hit: map[string]experiments.Estimate{}, miss: map[string]experiments.Estimate{}, add: map[string]experiments.Estimate{},
				bytes: c.Times[experiments.MetricBytes].Value / float64(c.N),
				heap:  c.Times[experiments.MetricAllocs].Value / float64(c.N),
			}
			if c.Predicted.Bits > 0 {
				p.bits = c.BitsPerInserted()
			}
			at[key] = p
			out = append(out, p)
		}
		for metric, into := range map[string]map[string]experiments.Estimate{
			experiments.MetricHit: p.hit, experiments.MetricMiss: p.miss, experiments.MetricAdd: p.add,
		} {
			if t, ok := c.Times[metric]; ok && t.Value > 0 {
				into[c.API] = t
			}
		}
	}
	return out
}

// best is the least time over the APIs, and which it is.
func best(times map[string]experiments.Estimate) (api string, t experiments.Estimate) {
	for _, a := range []string{Single, Loop, Batch} {
		if e, ok := times[a]; ok && (api == "" || e.Value < t.Value) {
			api, t = a, e
		}
	}
	return api, t
}

// equalBits is the space, in bits per key, that the filter would need for 1% if
// it had its overhead over log2(1/rate) there: what puts filters that missed the
// rate, or overfulfilled it, side by side.
func (p *place) equalBits() float64 {
	return p.bits * math.Log2(1/0.01) / math.Log2(1/p.fpr.Value)
}

func figures(cells []experiments.Cell, about experiments.About) []figure.Figure {
	all := places(cells)
	return append(timeVsN(all, about), pareto(all, about)...)
}

func timeVsN(all []*place, about experiments.About) []figure.Figure {
	var out []figure.Figure
	for _, k := range kinds() {
		g := figure.Grid{
			Name:  "time-vs-n-" + k.stem,
			Title: "Time per key of " + k.title + ", promised rate 1%",
			Caption: "Medians over interleaved rounds; those of single calls net of the loop without a filter, those of batches whole. " +
				"Static filters are built, not added to. " + about.Text,
			X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power},
			Y:       figure.Axis{Label: "time per key (ns)", Log: true},
			Columns: 3,
		}
		for _, m := range []struct {
			what  string
			times func(*place) map[string]experiments.Estimate
		}{
			{"add", func(p *place) map[string]experiments.Estimate { return p.add }},
			{"positive lookup", func(p *place) map[string]experiments.Estimate { return p.hit }},
			{"negative lookup", func(p *place) map[string]experiments.Estimate { return p.miss }},
		} {
			panel := figure.Panel{Title: m.what}
			for _, f := range k.filters {
				for _, api := range []string{Single, Batch} {
					s := figure.Series{Name: label(f), Join: true}
					if api == Batch {
						s.Name += ", batch"
					}
					for _, p := range all {
						if t, ok := m.times(p)[api]; ok && p.filter == f {
							s.Points = append(s.Points, interval(float64(p.n), t))
						}
					}
					sort.Slice(s.Points, func(i, j int) bool { return s.Points[i].X < s.Points[j].X })
					if len(s.Points) > 0 {
						panel.Series = append(panel.Series, s)
					}
				}
			}
			if len(panel.Series) > 0 {
				g.Panels = append(g.Panels, panel)
			}
		}
		if len(g.Panels) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// interval is a point with its interval, or without one where there were too few
// samples.
func interval(x float64, e experiments.Estimate) figure.Point {
	if math.IsNaN(e.Lo) || math.IsNaN(e.Hi) {
		return figure.Point{X: x, Y: e.Value}
	}
	return figure.Point{X: x, Y: e.Value, Lo: e.Lo, Hi: e.Hi}
}

// widest is where figures of space end: counting filters take four times the bits for
// something that others cannot do, and a filter of slices in slices lies far out.
const widest = 30

func pareto(all []*place, about experiments.About) []figure.Figure {
	var out []figure.Figure
	for _, f := range []struct {
		name, title string
		x           figure.Axis
		at          func(*place) float64
	}{
		{"pareto", "Space and time at the same promised rate of 1%",
			figure.Axis{Label: "space (bits per key)", Log: true, Ticks: []float64{8, 10, 12, 15, 20, 30}},
			func(p *place) float64 { return p.bits }},
		{"pareto-rate", "Measured rate and time where 1% was promised",
			figure.Axis{Label: "measured false-positive rate", Log: true, Reversed: true},
			func(p *place) float64 { return p.fpr.Value }},
		{"pareto-equal", "Space and time at the same measured rate of 1%",
			figure.Axis{Label: "space (bits per key), scaled to 1% by log2(1/measured rate)", Log: true, Ticks: []float64{8, 10, 12, 15, 20, 30}},
			(*place).equalBits},
	} {
		g := figure.Grid{
			Name: f.name, Title: f.title, X: f.x, Columns: 2,
			Y: figure.Axis{Label: "time per negative lookup (ns)", Log: true},
			Caption: fmt.Sprintf("Below and to the left is better; the faster of single and batch calls. The line joins those that no other beats in both, with their measured rates. "+
				"Filters above %d bits per key are left out, such as those that count. ", widest) + about.Text,
		}
		for _, n := range sizes(all) {
			panel := figure.Panel{Title: units.FormatCount(n) + " keys"}
			var placed []*place
			for _, p := range all {
				_, t := best(p.miss)
				if x := f.at(p); p.n == n && t.Value > 0 && x > 0 && !math.IsInf(x, 0) && p.bits <= widest {
					panel.Series = append(panel.Series, figure.Series{Name: label(p.filter), Points: []figure.Point{interval(x, t)}})
					placed = append(placed, p)
				}
			}
			front := figure.Series{Name: "beaten by none", Style: figure.Reference, Theory: true}
			for _, p := range frontOf(placed, f.at) {
				_, t := best(p.miss)
				front.Points = append(front.Points, figure.Point{X: f.at(p), Y: t.Value})
				panel.Marks = append(panel.Marks, figure.Mark{X: f.at(p), Y: t.Value, Text: fmt.Sprintf("%.2g%%", 100*p.fpr.Value), Bare: true})
			}
			if len(panel.Series) > 0 && n >= 10_000 {
				panel.Series = append(panel.Series, front)
				g.Panels = append(g.Panels, panel)
			}
		}
		if len(g.Panels) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// frontOf are the places that no other beats or equals both in x, of which less is
// better, and in the time of a negative lookup; ascending in x.
func frontOf(all []*place, x func(*place) float64) []*place {
	all = slices.Clone(all)
	sort.SliceStable(all, func(i, j int) bool { return x(all[i]) < x(all[j]) })
	var front []*place
	least := math.Inf(1)
	for _, p := range all {
		if _, t := best(p.miss); t.Value < least {
			front, least = append(front, p), t.Value
		}
	}
	return front
}

// sizes are the numbers of keys, ascending.
func sizes(all []*place) []uint64 {
	var out []uint64
	for _, p := range all {
		if !slices.Contains(out, p.n) {
			out = append(out, p.n)
		}
	}
	slices.Sort(out)
	return out
}

// finding tells who is fastest, who misses the rate and who fails.
func finding(cells []experiments.Cell) string {
	all := places(cells)
	var s []string
	for _, n := range sizes(all) {
		var us, them *place
		for _, p := range all {
			if _, t := best(p.miss); p.n == n && t.Value > 0 {
				to := &us
				if Foreign(p.filter) {
					to = &them
				}
				if *to == nil {
					*to = p
				} else if _, least := best((*to).miss); t.Value < least.Value {
					*to = p
				}
			}
		}
		if us != nil && them != nil && n >= 10_000 {
			a, ta := best(us.miss)
			b, tb := best(them.miss)
			s = append(s, fmt.Sprintf("Among %s keys the fastest negative lookup is that of %s (%s, %.2g ns, %.3g bits per key, rate %.2f%%); of other libraries it is that of %s (%s, %.2g ns, %.3g bits per key, rate %.2f%%).",
				units.FormatCount(n), us.filter, a, ta.Value, us.bits, 100*us.fpr.Value, label(them.filter), b, tb.Value, them.bits, 100*them.fpr.Value))
		}
	}
	var missed, failed []string
	for _, p := range all {
		// The whole interval lies above the limit that counts as kept.
		if p.trials > 0 && p.fpr.Lo > 0.0105 {
			missed = append(missed, fmt.Sprintf("%s %.2f%% (n = %s)", label(p.filter), 100*p.fpr.Value, units.FormatCount(p.n)))
		}
		switch p.verdict {
		case experiments.Failed, experiments.Full:
			failed = append(failed, fmt.Sprintf("%s at n = %s (%s)", label(p.filter), units.FormatCount(p.n), p.verdict))
		}
	}
	if len(missed) > 0 {
		s = append(s, "More than 1.05% where 1% was promised: "+strings.Join(missed, ", ")+".")
	}
	if len(failed) > 0 {
		s = append(s, "Not all keys taken or kept: "+strings.Join(failed, ", ")+".")
	}
	return strings.Join(s, " ")
}
