package choose

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Choice is a contestant at its best, with what it costs.
type Choice struct {
	Filter     string  `json:"filter"`       // a variant of the catalog, or NoFilter or ExactSet
	Target     Target  `json:"target"`       // what to build it for
	K          int     `json:"k"`            // probes, fingerprint bits for cuckoo; 0 where there is no such thing
	FPR        float64 `json:"fpr_expected"` // at the final number of keys, after rounding
	Bits       uint64  `json:"m_bits"`       // at the final number of keys
	BitsPerKey float64 `json:"bits_per_key"`
	Now        uint64  `json:"m_bits_now"` // at the present number of keys
	Hash       string  `json:"hash"`       // empty where the contestant hashes for itself, or not at all
	Cost       Cost    `json:"cost"`
	Build      float64 `json:"build_seconds"` // adding the present keys in batches by one goroutine, hashing included
	Beyond     bool    `json:"extrapolated"`  // the table is larger than any that was timed
	Reason     string  `json:"reason"`        // why it won, or lost

	config *config
}

// Target is filters.Target with names for JSON.
type Target struct {
	N          uint64  `json:"n"`
	P          float64 `json:"p,omitempty"`
	BitsPerKey float64 `json:"bits_per_key,omitempty"`
}

// Scenario is what becomes of the choice if one thing changes.
type Scenario struct {
	If     string `json:"if"`
	Winner string `json:"winner"`
	Text   string `json:"text"`
}

// Range is where a choice stays the best while one thing changes and everything
// else stays. To is +Inf, From 0, where no end was found; JSON has none of these,
// so that such an end is left out.
type Range struct {
	Of          string  `json:"of"`
	From        float64 `json:"from,omitempty"`
	To          float64 `json:"to,omitempty"`
	Below       string  `json:"below,omitempty"` // what wins below From
	Above       string  `json:"above,omitempty"` // and above To
	Description string  `json:"description"`
}

// Answer is a choice with its reasons.
type Answer struct {
	Question  Question   `json:"question"`
	Ranked    []Choice   `json:"ranked"`  // the winner first
	Refused   []Refusal  `json:"refused"` // what cannot do it
	Scenarios []Scenario `json:"scenarios"`
	Ranges    []Range    `json:"ranges"`
	Noise     float64    `json:"noise"` // relative error of the times of the calibration
}

// ErrNothing says that no contestant can do what was asked. With no filter at all
// among them, that does not happen.
var ErrNothing = errors.New("nothing can do what was asked")

// Choose ranks everything that can do what was asked by what a lookup costs.
func Choose(cal *Calibration, q Question) (*Answer, error) {
	m, err := open(cal, q)
	if err != nil {
		return nil, err
	}
	w := world{float64(q.final()), q.MissCost, q.HitRate}
	a := &Answer{Question: q, Refused: m.refused, Noise: cal.Noise}
	for _, name := range m.names() {
		c, cost := m.best(name, w)
		if c == nil {
			a.Refused = append(a.Refused, Refusal{name, m.tooLarge(name, w)})
			continue
		}
		choice, err := m.choice(c, cost, w)
		if err != nil {
			return nil, err
		}
		a.Ranked = append(a.Ranked, choice)
	}
	if len(a.Ranked) == 0 {
		return nil, ErrNothing
	}
	sort.SliceStable(a.Ranked, func(i, j int) bool { return a.Ranked[i].Cost.Total < a.Ranked[j].Cost.Total })
	sort.SliceStable(a.Refused, func(i, j int) bool { return a.Refused[i].Filter < a.Refused[j].Filter })
	m.explain(a, w)
	a.Ranges = m.ranges(w)
	a.Scenarios = m.scenarios(&a.Ranked[0], w)
	return a, nil
}

// open gathers the offers of all contestants.
func open(cal *Calibration, q Question) (*market, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	m := &market{cal: cal, q: q, offers: map[string][]config{NoFilter: {{name: NoFilter, fpr: 1}}}}
	var err error
	if m.hash, m.ns, err = cal.hash(q); err != nil {
		return nil, err
	}
	if q.Threads > 1 {
		m.refused = append(m.refused, Refusal{ExactSet, "a Go map needs a lock where goroutines add while others ask"})
	} else {
		m.offers[ExactSet] = []config{{name: ExactSet}}
	}
	// Sizing takes a family up to some milliseconds a target.
	offers, reasons := make([][]config, len(cal.Curves)), make([]string, len(cal.Curves))
	failures := make([]error, len(cal.Curves))
	var wg sync.WaitGroup
	for i := range cal.Curves {
		wg.Go(func() { offers[i], reasons[i], failures[i] = q.offers(&cal.Curves[i]) })
	}
	wg.Wait()
	for i, c := range cal.Curves {
		switch {
		case failures[i] != nil:
			return nil, failures[i]
		case reasons[i] != "":
			m.refused = append(m.refused, Refusal{c.Filter, reasons[i]})
		default:
			m.offers[c.Filter] = offers[i]
		}
	}
	return m, nil
}

// offers lists the ways to build one filter for q, or says why there is none.
func (q Question) offers(curve *Curve) (out []config, reason string, err error) {
	v, err := catalog.Parse(curve.Filter)
	if err != nil {
		return nil, "", fmt.Errorf("the calibration: %w", err)
	}
	if reason, err := q.lacks(v); err != nil || reason != "" {
		return nil, reason, err
	}
	n := q.final()
	if q.N < n && curve.Filter == "scalable" {
		// It need not start with the space for all keys: the first stage holds those
		// that are there.
		if v, err = catalog.With(v, "n0", fmt.Sprint(q.N)); err != nil {
			return nil, "", err
		}
	}
	var targets []filters.Target
	if q.P > 0 {
		targets = append(targets, filters.Target{N: n, P: q.P})
	}
	if q.Memory > 0 {
		for _, c := range spaces(float64(q.Memory) / float64(n)) {
			targets = append(targets, filters.Target{N: n, BitsPerKey: c})
		}
	}
	for _, t := range targets {
		pred, err := v.Predict(t, n)
		if err != nil {
			if !errors.Is(err, filters.ErrParam) {
				return nil, "", fmt.Errorf("%v: %w", v, err)
			}
			reason = err.Error()
			continue
		}
		if q.P > 0 && pred.FPR > q.P*(1+1e-9) {
			reason = fmt.Sprintf("in %s it has a rate of %.3g, not %.3g", units.FormatBytes(q.Memory/8), pred.FPR, q.P)
			continue
		}
		out = append(out, config{
			name: curve.Filter, variant: v, curve: curve, target: t,
			fpr: pred.FPR, perKey: float64(pred.Bits) / float64(n), k: pred.K,
		})
	}
	if len(out) > 0 {
		reason = ""
	}
	return out, reason, nil
}

// spaces are the bits a key that are tried up to a limit: steps of a seventh, and the
// limit itself. More than 48 bits a key lower no rate that 64-bit hashes allow, and
// less than 2 leave every filter with a rate above a third.
func spaces(limit float64) []float64 {
	limit = min(limit, 48)
	var out []float64
	for c := 2.0; c < limit; c *= 1.15 {
		out = append(out, math.Round(c*100)/100)
	}
	return append(out, math.Floor(limit*1000)/1000)
}

// lacks says which capability a variant has not, or nothing.
func (q Question) lacks(v filters.Variant) (string, error) {
	maker, ok := v.(filters.Maker)
	if !ok {
		return "it is built once and takes no more keys", nil
	}
	f, err := maker.New(filters.Target{N: 64, P: 0.1})
	if err != nil {
		return "", fmt.Errorf("%v: %w", v, err)
	}
	if _, ok := f.(filters.Deleter); q.Deletes && !ok {
		return "it cannot delete: its bits belong to many keys", nil
	}
	if _, ok := f.(filters.Merger); q.Merge && !ok {
		return "two of them cannot be merged", nil
	}
	_, ok = f.(filters.Concurrent)
	switch {
	case q.Threads > 1 && !ok:
		return "it needs a lock where goroutines add while others ask", nil
	case q.Threads <= 1 && ok:
		return "its adds are atomic, which goroutines that take turns do not need (--threads)", nil
	}
	return "", nil
}

// tooLarge says what a contestant that does not fit needs.
func (m *market) tooLarge(name string, w world) string {
	least := math.Inf(1)
	for i := range m.offers[name] {
		least = min(least, m.bits(&m.offers[name][i], w))
	}
	return fmt.Sprintf("it takes %s, and %s are allowed", size(least), size(float64(m.q.Memory)))
}

// choice fills in what is to be told of a contestant at its best.
func (m *market) choice(c *config, cost Cost, w world) (Choice, error) {
	out := Choice{Filter: c.name, K: c.k, FPR: c.fpr, Cost: cost, config: c}
	now := world{float64(m.q.N), w.missCost, w.hits}
	bits := m.bits(c, w)
	_, out.Beyond = m.cost(c, w)
	out.Bits = uint64(math.Round(bits))
	out.BitsPerKey = bits / w.n
	switch c.name {
	case NoFilter:
		return out, nil
	case ExactSet:
		ops, _, _ := m.cal.mapAt(float64(m.q.N))
		out.Now = uint64(m.bits(c, now))
		out.Build = ops.Add * float64(m.q.N) / 1e9
		return out, nil
	}
	out.Filter = c.variant.String()
	out.Target = Target{c.target.N, c.target.P, c.target.BitsPerKey}
	out.Hash = m.hash
	pred, err := c.variant.Predict(c.target, m.q.N)
	if err != nil {
		return out, fmt.Errorf("%v: %w", c.variant, err)
	}
	out.Now = pred.Bits
	ops, _ := c.curve.At(float64(pred.Bits), c.k, true)
	out.Build = (ops.Add + m.ns) * float64(m.q.N) / 1e9
	return out, nil
}

// explain gives every contestant its reason.
func (m *market) explain(a *Answer, w world) {
	winner := &a.Ranked[0]
	for i := range a.Ranked {
		c := &a.Ranked[i]
		if i == 0 {
			c.Reason = "the only one that can do it"
			if len(a.Ranked) > 1 {
				next := &a.Ranked[1]
				c.Reason = fmt.Sprintf("%s less a lookup than %s: %s", nanos(next.Cost.Total-c.Cost.Total), next.config.name, difference(c.Cost, next.Cost))
				c.Reason += a.ties()
			}
			continue
		}
		c.Reason = fmt.Sprintf("%s more a lookup: %s; %s", nanos(c.Cost.Total-winner.Cost.Total), difference(c.Cost, winner.Cost), m.flip(c.config.name, winner.config.name, w))
	}
}

// ties names the contestants that the times do not separate from the winner, the
// smallest first: what is not slower but smaller is the better choice.
func (a *Answer) ties() string {
	winner := &a.Ranked[0]
	smallest, others := winner, 0
	for i := 1; i < len(a.Ranked) && tie(winner.Cost, a.Ranked[i].Cost, a.Noise); i++ {
		others++
		if c := &a.Ranked[i]; c.Bits < smallest.Bits {
			smallest = c
		}
	}
	if others == 0 {
		return ""
	}
	s := fmt.Sprintf("; the times are good to %.0f%% and do not separate it from the next %d", 100*a.Noise, others)
	if others == 1 {
		s = fmt.Sprintf("; the times are good to %.0f%% and do not separate the two", 100*a.Noise)
	}
	if smallest != winner {
		s += fmt.Sprintf(", of which %s is the smallest at %s", smallest.config.name, size(float64(smallest.Bits)))
	}
	return s
}

// tie reports whether the difference of two costs is within the error of the times
// in them.
func tie(a, b Cost, noise float64) bool {
	return math.Abs(a.Total-b.Total) <= noise*max(a.Hash+a.Lookup, b.Hash+b.Lookup)
}

// difference says where a cost differs from another: "the lookup takes 20.1 ns
// rather than 7.8, false positives cost 72 ns as well".
func difference(a, b Cost) string {
	return fmt.Sprintf("hash and lookup %s against %s, false positives %s against %s",
		nanos(a.Hash+a.Lookup), nanos(b.Hash+b.Lookup), nanos(a.False), nanos(b.False))
}

// axis is one thing that may change, with the values to look at.
type axis struct {
	name   string
	log    bool
	lo, hi float64
	get    func(w world) float64
	set    func(w *world, x float64)
	show   func(x float64) string
	phrase string // around a value
}

func axes() []axis {
	return []axis{
		{"miss cost", true, 0.1, 1e10, func(w world) float64 { return w.missCost }, func(w *world, x float64) { w.missCost = x }, nanos, "a miss cost of %s"},
		{"hit rate", false, 0, 1, func(w world) float64 { return w.hits }, func(w *world, x float64) { w.hits = x }, func(x float64) string { return fmt.Sprintf("%.4g%%", 100*x) }, "a hit rate of %s"},
		{"keys", true, 100, 1e12, func(w world) float64 { return w.n }, func(w *world, x float64) { w.n = x }, count, "%s keys"},
	}
}

// search goes from w along an axis, down or up, to the nearest value for which ok
// holds.
func (x axis) search(w world, down bool, ok func(world) bool) (at float64, found bool) {
	const steps = 60
	from, end := x.get(w), x.hi
	if down {
		end = x.lo
	}
	if down && from <= end || !down && from >= end {
		return 0, false
	}
	value := func(share float64) float64 {
		if x.log {
			return from * math.Pow(end/from, share)
		}
		return from + share*(end-from)
	}
	holds := func(share float64) bool {
		v := w
		x.set(&v, value(share))
		return ok(v)
	}
	for i := 1; i <= steps; i++ {
		if !holds(float64(i) / steps) {
			continue
		}
		lo, hi := float64(i-1)/steps, float64(i)/steps
		for range 20 {
			if mid := (lo + hi) / 2; holds(mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		return value(hi), true
	}
	return 0, false
}

// flip says where a contestant would cost less than the winner: along the first
// axis on which it ever does.
func (m *market) flip(name, winner string, w world) string {
	cheaper := func(v world) bool {
		c, cost := m.best(name, v)
		o, other := m.best(winner, v)
		return c != nil && (o == nil || cost.Total < other.Total)
	}
	for _, x := range axes() {
		for _, down := range []bool{true, false} {
			if at, ok := x.search(w, down, cheaper); ok {
				side := "above"
				if down {
					side = "below"
				}
				return "cheaper " + side + " " + fmt.Sprintf(x.phrase, x.show(at))
			}
		}
	}
	return "cheaper at no miss cost, hit rate or number of keys"
}

// ranges says where the winner stays the best.
func (m *market) ranges(w world) []Range {
	name, _, _ := m.winner(w)
	var out []Range
	for _, x := range axes() {
		r := Range{Of: x.name}
		other := func(v world) bool { n, _, _ := m.winner(v); return n != name }
		who := func(at float64) string {
			v := w
			x.set(&v, at)
			n, _, _ := m.winner(v)
			return n
		}
		from, lower := x.search(w, true, other)
		to, upper := x.search(w, false, other)
		if lower {
			r.From, r.Below = from, who(from)
		}
		if upper {
			r.To, r.Above = to, who(to)
		}
		switch {
		case lower && upper:
			r.Description = fmt.Sprintf("from %s (below it %s) to %s (above it %s)", x.show(from), r.Below, x.show(to), r.Above)
		case lower:
			r.Description = fmt.Sprintf("from %s up (below it %s)", x.show(from), r.Below)
		case upper:
			r.Description = fmt.Sprintf("up to %s (above it %s)", x.show(to), r.Above)
		default:
			r.Description = "any"
		}
		out = append(out, r)
	}
	return out
}

// scenarios asks again with one thing changed.
func (m *market) scenarios(choice *Choice, w world) []Scenario {
	out := []Scenario{m.doubled(choice, w)}
	for _, s := range []struct {
		name string
		w    world
	}{
		{"the hit rate is 50%", world{w.n, w.missCost, 0.5}},
		{"a miss costs 10 times less, " + nanos(w.missCost/10), world{w.n, w.missCost / 10, w.hits}},
	} {
		winner, _, least := m.winner(s.w)
		ours, _ := m.cost(choice.config, s.w)
		text := fmt.Sprintf("still the best, at %s a lookup", nanos(least.Total))
		if winner != choice.config.name {
			text = fmt.Sprintf("%s would cost %s, this one %s a lookup", winner, nanos(least.Total), nanos(ours.Total))
		}
		out = append(out, Scenario{s.name, winner, text})
	}
	return out
}

// doubled is what becomes of the filter as built when twice the keys come.
func (m *market) doubled(choice *Choice, w world) Scenario {
	more := world{2 * w.n, w.missCost, w.hits}
	winner, _, _ := m.winner(more)
	s := Scenario{If: "twice the keys come, " + count(more.n), Winner: winner}
	c := choice.config
	if c.variant == nil {
		cost, _ := m.cost(c, more)
		s.Text = fmt.Sprintf("it costs %s a lookup and takes %s", nanos(cost.Total), size(m.bits(c, more)))
		return s
	}
	pred, err := c.variant.Predict(c.target, uint64(more.n))
	if err != nil { // more keys than slots
		s.Text = fmt.Sprintf("it is full before: keys are refused from about %s on; size it for all that may come", count(float64(m.capacity(c))))
		return s
	}
	ops, _ := c.curve.At(float64(pred.Bits), c.k, m.q.Batch)
	over := total(m.ns, ops.Lookup(w.hits), (1-w.hits)*pred.FPR*w.missCost)
	s.Text = fmt.Sprintf("built for %s its rate rises from %.3g%% to %.3g%% and a lookup costs %s instead of %s", count(w.n), 100*c.fpr, 100*pred.FPR, nanos(over.Total), nanos(choice.Cost.Total))
	if pred.Bits > choice.Bits+choice.Bits/100 {
		s.Text = fmt.Sprintf("it grows to %s; its rate goes from %.3g%% to %.3g%%", size(float64(pred.Bits)), 100*c.fpr, 100*pred.FPR)
	}
	return s
}

// capacity is how many keys the built filter takes.
func (m *market) capacity(c *config) uint64 {
	pred, err := c.variant.Predict(c.target, c.target.N)
	if err != nil {
		return c.target.N
	}
	return pred.Capacity
}
