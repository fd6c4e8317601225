package cuckoo

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/spec"
	"filterlab/filters/theory"
)

// Variant is the family with its knobs. The zero Variant picks both for the
// target: for a rate the pair that needs the fewest bits, for a size the pair
// with the lowest rate.
type Variant struct {
	F int // fingerprint bits, 4 to 32; 0 means the best for the target
	B int // slots a bucket: 1, 2, 4 or 8; 0 means the best for the target
}

var (
	_ filters.Maker     = Variant{}
	_ filters.Predictor = (*Filter)(nil)
	_ filters.Estimator = (*Filter)(nil)
)

// String prints the knobs that are set: "cuckoo", "cuckoo(f=12,b=4)".
func (v Variant) String() string {
	s := spec.Spec{Family: "cuckoo"}
	s.Set("f", v.F)
	s.Set("b", v.B)
	return s.String()
}

// Parse reads what String prints, the knobs in any order.
func Parse(text string) (Variant, error) {
	s, err := spec.Parse(text)
	if err != nil {
		return Variant{}, err
	}
	if s.Family != "cuckoo" {
		return Variant{}, filters.Refuse("filter", strconv.Quote(s.Family), "cuckoo")
	}
	if len(s.Args) > 0 {
		return Variant{}, filters.Refuse("cuckoo", strconv.Quote(text), "knobs only: f=, b=")
	}
	var v Variant
	for _, knob := range s.Knobs {
		switch knob.Key {
		case "f":
			v.F, err = spec.Int("cuckoo", "f", knob.Value, MinFingerprintBits, MaxFingerprintBits)
		case "b":
			if v.B, err = spec.Int("cuckoo", "b", knob.Value, 1, 8); err == nil {
				err = validSlots(v.B)
			}
		default:
			err = spec.Unknown("cuckoo", knob.Key, "f", "b")
		}
		if err != nil {
			return Variant{}, err
		}
	}
	return v, nil
}

// New makes an empty filter for t. It takes t.N distinct hashes without refusing
// one, but for fewer than 1 in 10,000 sets of keys; most take some more.
func (v Variant) New(t filters.Target) (filters.Filter, error) {
	c, err := v.Geometry(t)
	if err != nil {
		return nil, err
	}
	f, err := New(c)
	if err != nil {
		return nil, err // not f: a nil *Filter in an interface is not nil
	}
	return f, nil
}

// Build makes a filter for t that holds hs.
func (v Variant) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the expectation of the filter that New(t) makes, after inserted
// distinct hashes. Capacity is the number of keys it takes without refusing one,
// at least t.N, and more inserted than there are slots are an error.
func (v Variant) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	c, err := v.Geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return c.Predict(inserted)
}

// Predict is what theory expects of the built filter after inserted distinct
// hashes.
func (f *Filter) Predict(inserted uint64) (theory.Prediction, error) {
	return f.cfg.Predict(inserted)
}

// EstimatedFPR is the rate for the present load, if the stored copies are of
// distinct hashes (equal ones make it lower).
func (f *Filter) EstimatedFPR() float64 { return f.cfg.rate(f.count) }

// Predict is what theory expects of a filter of this geometry after inserted
// distinct hashes.
func (c Config) Predict(inserted uint64) (theory.Prediction, error) {
	if err := c.Validate(); err != nil {
		return theory.Prediction{}, err
	}
	if inserted > c.Slots() {
		return theory.Prediction{}, filters.Refuse("cuckoo: inserted", inserted, fmt.Sprintf("at most %d, the number of slots", c.Slots()))
	}
	return theory.Prediction{
		Inserted: inserted,
		FPR:      c.rate(inserted),
		BuildSD:  theory.CuckooBuildSD(c.Buckets, c.SlotsPerBucket, c.FingerprintBits, inserted),
		Fill:     float64(inserted) / float64(c.Slots()),
		Bits:     c.Bits(),
		K:        c.FingerprintBits,
		Capacity: c.Capacity(),
	}, nil
}

// rate is the expected rate after n distinct hashes, hash floor included.
func (c Config) rate(n uint64) float64 {
	return theory.Combine(theory.Cuckoo(c.Buckets, c.SlotsPerBucket, c.FingerprintBits, n), theory.HashFloor(n, 64))
}

// Geometry is the filter that New makes for t, without making it.
//
// Sizing looks at every (f, b) that the knobs leave open. For a promised rate, a
// pair needs as many buckets as take N keys (see [Config.Capacity]) and as keep
// the rate; of the pairs the one with the fewest bits is taken. For a given size,
// buckets are as many as it holds, and the pair with the lowest rate among those
// that take N keys is taken.
func (v Variant) Geometry(t filters.Target) (Config, error) {
	if err := t.Validate(); err != nil {
		return Config{}, err
	}
	if v.F != 0 {
		if err := validBits(v.F); err != nil {
			return Config{}, err
		}
	}
	if v.B != 0 {
		if err := validSlots(v.B); err != nil {
			return Config{}, err
		}
	}
	if most := uint64(filters.MaxBits / MinFingerprintBits); t.N > most {
		return Config{}, filters.Refuse("cuckoo: n", t.N, fmt.Sprintf("at most %d keys, the slots of a table of 2^48 bits; this needs at least %.4g bytes",
			most, float64(t.N)*MinFingerprintBits/8))
	}
	if t.P != 0 {
		return v.forRate(t.N, t.P)
	}
	return v.forSize(t.N, t.BitsPerKey)
}

// shapes lists every geometry the knobs leave open, without buckets. Of equal
// candidates the first will be kept, so four slots a bucket come first.
func (v Variant) shapes() []Config {
	slots, lo, hi := []int{4, 2, 8, 1}, MinFingerprintBits, MaxFingerprintBits
	if v.B != 0 {
		slots = []int{v.B}
	}
	if v.F != 0 {
		lo, hi = v.F, v.F
	}
	var all []Config
	for _, b := range slots {
		for f := lo; f <= hi; f++ {
			all = append(all, Config{SlotsPerBucket: b, FingerprintBits: f})
		}
	}
	return all
}

// mostSlack bounds what a promised rate may cost: a geometry of more than
// mostSlack times the buckets that the longest fingerprint needs is refused,
// since one more bit does as much as twice the buckets.
const mostSlack = 2

// roomiest is the largest number of buckets that a promised rate may take for n
// keys with the slots of c.
func (c Config) roomiest(n uint64) uint64 {
	c.FingerprintBits = MaxFingerprintBits
	least, _ := c.bucketsFor(n, filters.MaxBits)
	return mostSlack * least
}

// forRate is Geometry for a promised rate.
func (v Variant) forRate(n uint64, p float64) (Config, error) {
	floor := theory.HashFloor(n, 64)
	if p <= floor {
		return Config{}, filters.Refuse("cuckoo: p", p, fmt.Sprintf("above %.3g, the share of absent keys that have the very 64-bit hash of one of %d keys", floor, n))
	}
	if c, ok := v.cheapest(n, p); ok {
		return c, c.Validate()
	}
	if v.F == 0 {
		return Config{}, filters.Refuse("cuckoo: p", p, fmt.Sprintf("a rate that fingerprints of %d bits can keep for %d keys", MaxFingerprintBits, n))
	}
	if err := v.crowded(n); err != nil {
		return Config{}, err
	}
	for f := v.F + 1; f <= MaxFingerprintBits; f++ {
		if _, ok := (Variant{F: f, B: v.B}).cheapest(n, p); ok {
			return Config{}, filters.Refuse("cuckoo: f", v.F, fmt.Sprintf("at least %d bits, to keep p = %v for %d keys in at most %d times the slots they need", f, p, n, mostSlack))
		}
	}
	return Config{}, filters.Refuse("cuckoo: p", p, fmt.Sprintf("a rate that fingerprints of %d bits can keep for %d keys", MaxFingerprintBits, n))
}

// crowded refuses a fingerprint that is too short for n keys whatever the rate.
func (v Variant) crowded(n uint64) error {
	for f := v.F; f <= MaxFingerprintBits; f++ {
		for _, c := range (Variant{F: f, B: v.B}).shapes() {
			if _, ok := c.bucketsFor(n, c.roomiest(n)); !ok {
				continue
			}
			if f == v.F {
				return nil
			}
			return filters.Refuse("cuckoo: f", v.F, fmt.Sprintf("at least %d bits for %d keys: with shorter ones, more keys than two buckets hold may share their pair of buckets, even in %d times the slots they need", f, n, mostSlack))
		}
	}
	return nil
}

// cheapest is the geometry of the fewest bits that keeps p for n keys, if any
// does.
func (v Variant) cheapest(n uint64, p float64) (best Config, ok bool) {
	floor := theory.HashFloor(n, 64)
	own := (p - floor) / (1 - floor)
	// own = 1-(1-1/classes)^n, solved for classes = (2^f-1) buckets/2.
	classes := -1 / math.Expm1(math.Log1p(-own)/float64(n))
	for _, c := range v.shapes() {
		limit := c.roomiest(n)
		rate := 2 * math.Ceil(classes/(math.Ldexp(1, c.FingerprintBits)-1))
		least, fits := c.bucketsFor(n, limit)
		if !fits || !(rate <= float64(limit)) {
			continue
		}
		c.Buckets = max(least, uint64(rate))
		for c.rate(n) > p { // rounding may cost a bucket or two
			c.Buckets += 2
		}
		if !ok || c.Bits() < best.Bits() {
			best, ok = c, true
		}
	}
	return best, ok
}

// forSize is Geometry for a given space.
func (v Variant) forSize(n uint64, bitsPerKey float64) (Config, error) {
	budget := math.Round(bitsPerKey * float64(n))
	if budget > filters.MaxBits {
		return Config{}, filters.Refuse("cuckoo: bits per key", bitsPerKey, fmt.Sprintf("at most 2^48 bits; for %d keys this needs %.4g bytes", n, budget/8))
	}
	best, least := Config{}, math.Inf(1)
	need := uint64(math.MaxUint64) // bits of the smallest table that would do
	for _, c := range v.shapes() {
		c.Buckets = uint64(budget) / uint64(c.SlotsPerBucket*c.FingerprintBits) &^ 1
		if c.Buckets >= 2 && c.takes(n) {
			if rate := c.rate(n); rate < least {
				best, least = c, rate
			}
		} else if most, ok := c.bucketsFor(n, filters.MaxBits); ok {
			c.Buckets = most
			need = min(need, c.Bits())
		}
	}
	if best.Buckets == 0 {
		if err := v.crowded(n); err != nil {
			return Config{}, err
		}
		return Config{}, filters.Refuse("cuckoo: bits per key", bitsPerKey, fmt.Sprintf("at least %.4g, so that %v takes %d keys", float64(need)/float64(n), v, n))
	}
	return best, nil
}
