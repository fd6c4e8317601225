package choose

import (
	"fmt"
	"math"
	"sort"

	"filterlab/filters"
)

// Question is what an engineer knows.
type Question struct {
	N         uint64  `json:"n"`         // keys now
	Growth    float64 `json:"growth"`    // how many times as many the filter must be good for; 0 means 1
	P         float64 `json:"p"`         // the highest false-positive rate allowed; 0 where any will do
	Memory    uint64  `json:"memory"`    // the most bits allowed; 0 where any number will do
	MissCost  float64 `json:"miss_cost"` // what a false positive costs, in ns
	HitRate   float64 `json:"hit_rate"`  // share of the lookups whose key is there
	Deletes   bool    `json:"deletes"`   // keys are taken out again
	Merge     bool    `json:"merge"`     // filters of parts are united
	Threads   int     `json:"threads"`   // goroutines that add while others ask; 0 and 1 mean one at a time
	Batch     bool    `json:"batch"`     // lookups come many at a time
	Untrusted bool    `json:"untrusted"` // keys come from strangers

	// Lengths counts the keys by their length in bytes; nil means that all have
	// DefaultKeyBytes.
	Lengths map[int]uint64 `json:"-"`
}

// DefaultKeyBytes is the length of keys of which nothing is known.
const DefaultKeyBytes = 16

// Validate refuses what cannot be answered, naming what is accepted.
func (q Question) Validate() error {
	switch {
	case q.N < 1 || q.N > filters.MaxBits:
		return filters.Refuse("n", q.N, "1 to 2^48 keys")
	case q.Growth != 0 && !(q.Growth >= 1 && q.Growth <= 1e6):
		return filters.Refuse("growth", q.Growth, "1 to 1e6 times as many keys")
	case q.P == 0 && q.Memory == 0:
		return filters.Refuse("p", q.P, "a rate (0 < p < 1), or a limit on memory, or both")
	case q.P < 0 || q.P >= 1 || math.IsNaN(q.P):
		return filters.Refuse("p", q.P, "0 < p < 1")
	case !(q.MissCost > 0) || q.MissCost > 1e15:
		return filters.Refuse("miss cost", q.MissCost, "above 0 to 1e15 ns")
	case !(q.HitRate >= 0 && q.HitRate <= 1):
		return filters.Refuse("hit rate", q.HitRate, "0 to 1")
	case q.Threads < 0 || q.Threads > 1<<20:
		return filters.Refuse("threads", q.Threads, "1 to 2^20")
	}
	return nil
}

// final is the number of keys that the filter must be good for.
func (q Question) final() uint64 {
	return uint64(math.Round(float64(q.N) * max(q.Growth, 1)))
}

// keyBytes is the mean length of a key.
func (q Question) keyBytes() float64 {
	if len(q.Lengths) == 0 {
		return DefaultKeyBytes
	}
	sum, n := 0.0, 0.0
	for bytes, count := range q.Lengths {
		sum += float64(bytes) * float64(count)
		n += float64(count)
	}
	return sum / n
}

// hash picks the fastest of the safe hashes for the lengths of the keys, or the
// one for keys of strangers, and returns its mean cost.
func (c *Calibration) hash(q Question) (name string, ns float64, err error) {
	ns = math.Inf(1)
	for i := range c.Hashes {
		h := &c.Hashes[i]
		if (h.Hash == secretHash) != q.Untrusted {
			continue
		}
		cost := h.At(DefaultKeyBytes)
		if len(q.Lengths) > 0 {
			var lengths []int // in order: sums of floats depend on it
			for bytes := range q.Lengths {
				lengths = append(lengths, bytes)
			}
			sort.Ints(lengths)
			sum, n := 0.0, 0.0
			for _, bytes := range lengths {
				sum += h.At(bytes) * float64(q.Lengths[bytes])
				n += float64(q.Lengths[bytes])
			}
			cost = sum / n
		}
		if cost < ns {
			name, ns = h.Hash, cost
		}
	}
	if name == "" {
		return "", 0, fmt.Errorf("the calibration has no hash for this: make it anew by filterlab calibrate")
	}
	return name, ns, nil
}

// world is what the cost of a filter depends on besides itself.
type world struct {
	n        float64 // keys in the end
	missCost float64 // ns
	hits     float64
}

// Cost is what a lookup costs on average, in ns.
type Cost struct {
	Hash   float64 `json:"ns_hash"`   // hashing the key
	Lookup float64 `json:"ns_lookup"` // the filter itself
	False  float64 `json:"ns_false"`  // visits for nothing: (1-h) FPR W
	Total  float64 `json:"ns_total"`
}

func total(hash, lookup, wrong float64) Cost { return Cost{hash, lookup, wrong, hash + lookup + wrong} }

// The contestants that are no filter.
const (
	NoFilter = "no filter"
	ExactSet = "exact set (Go map)"
)

// config is one way to build a contestant.
type config struct {
	name    string          // of the contestant
	variant filters.Variant // nil for those that are no filter
	curve   *Curve
	target  filters.Target
	fpr     float64
	perKey  float64 // bits
	k       int
}

// market is everything on offer for a question, with its prices.
type market struct {
	cal     *Calibration
	q       Question
	hash    string
	ns      float64 // of the hash
	offers  map[string][]config
	refused []Refusal
}

// Refusal is a contestant that cannot do what was asked.
type Refusal struct {
	Filter string `json:"filter"`
	Reason string `json:"reason"`
}

// bits is the size of c in another world. Rates and bits a key hardly depend on
// the number of keys, so that they are not computed anew: a table of twice the
// keys is twice as large.
func (m *market) bits(c *config, w world) float64 {
	switch c.name {
	case NoFilter:
		return 0
	case ExactSet:
		_, bytes, _ := m.cal.mapAt(w.n)
		return 8 * (bytes + m.q.keyBytes()) * w.n
	}
	return max(c.perKey*w.n, 1)
}

// cost prices c in a world; beyond says that its table is larger than any that was
// timed.
func (m *market) cost(c *config, w world) (cost Cost, beyond bool) {
	switch c.name {
	case NoFilter:
		return total(0, 0, (1-w.hits)*w.missCost), false
	case ExactSet:
		ops, _, beyond := m.cal.mapAt(w.n)
		return total(0, ops.Lookup(w.hits), 0), beyond
	}
	ops, beyond := c.curve.At(m.bits(c, w), c.k, m.q.Batch)
	return total(m.ns, ops.Lookup(w.hits), (1-w.hits)*c.fpr*w.missCost), beyond
}

// best is the cheapest way to build a contestant in a world, nil where none fits
// into the memory.
func (m *market) best(name string, w world) (*config, Cost) {
	var out *config
	least := Cost{Total: math.Inf(1)}
	for i := range m.offers[name] {
		c := &m.offers[name][i]
		if m.q.Memory > 0 && m.bits(c, w) > float64(m.q.Memory) {
			continue
		}
		if cost, _ := m.cost(c, w); cost.Total < least.Total {
			out, least = c, cost
		}
	}
	return out, least
}

// names are the contestants with offers, in a fixed order.
func (m *market) names() []string {
	var out []string
	for name := range m.offers {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// winner is the contestant that costs least in a world.
func (m *market) winner(w world) (name string, c *config, cost Cost) {
	cost.Total = math.Inf(1)
	for _, n := range m.names() {
		if found, price := m.best(n, w); found != nil && price.Total < cost.Total {
			name, c, cost = n, found, price
		}
	}
	return name, c, cost
}
