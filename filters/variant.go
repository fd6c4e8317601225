package filters

import (
	"fmt"
	"math"

	"filterlab/filters/theory"
)

// MaxBits is the largest table, in bits, that any family builds: 2^48 bits are
// 32 TiB. Sizing refuses more with an error that states the need; it never
// clamps.
const MaxBits = 1 << 48

// Target says what a filter is for: how many keys will come, and either the
// false-positive rate to keep at that count or the space to spend on each key.
type Target struct {
	N          uint64  // keys expected, at least 1
	P          float64 // promised FPR at N keys, 0 < P < 1; zero when BitsPerKey is given
	BitsPerKey float64 // space in bits per key, above 0; zero when P is given
}

// Validate returns a ParamError unless N >= 1 and exactly one of P and
// BitsPerKey is given and in its range.
func (t Target) Validate() error {
	if t.N < 1 {
		return Refuse("n", t.N, "at least 1 key")
	}
	// Comparisons are written so that NaN fails them.
	hasP, hasC := t.P != 0, t.BitsPerKey != 0
	switch {
	case hasP && hasC:
		return Refuse("target", t, "either p or bits per key, not both")
	case !hasP && !hasC:
		return Refuse("target", t, "either p or bits per key; both are zero (0 < p < 1, 0 < bits per key)")
	case hasP && !(t.P > 0 && t.P < 1):
		return Refuse("p", t.P, "0 < p < 1 (a false-positive rate; were n and p swapped?)")
	case hasC && !(t.BitsPerKey > 0 && !math.IsInf(t.BitsPerKey, 1)):
		return Refuse("bits per key", t.BitsPerKey, "a finite number above 0")
	}
	return nil
}

// String prints "n=1000 p=0.01" or "n=1000 bits/key=10".
func (t Target) String() string {
	s := fmt.Sprintf("n=%d", t.N)
	if t.P != 0 {
		s += fmt.Sprintf(" p=%v", t.P)
	}
	if t.BitsPerKey != 0 {
		s += fmt.Sprintf(" bits/key=%v", t.BitsPerKey)
	}
	return s
}

// Variant is a filter family with every knob set but the target. A variant is a
// comparable struct; a knob left at its zero value means "best for the target".
type Variant interface {
	// String prints the family and the knobs that are set: "standard",
	// "blocked(512,k=6)", "cuckoo(f=12,b=4)". catalog.Parse is its inverse.
	String() string

	// Build makes a filter for t that holds hs. It serves static and dynamic
	// families alike: duplicates are allowed, and len(hs) may differ from t.N. hs
	// is neither kept nor changed.
	Build(t Target, hs []uint64) (Querier, error)

	// Predict states what theory expects of the filter that New(t) or Build(t,
	// hs) really makes, after all rounding, once inserted distinct hashes are in
	// it. It allocates no table, so it answers for any size. Schemes without a
	// formula return ErrNoTheory.
	Predict(t Target, inserted uint64) (theory.Prediction, error)
}

// Maker is a Variant of a dynamic family.
type Maker interface {
	Variant

	// New makes an empty filter for t.
	New(t Target) (Filter, error)
}

// BuildByAdding is Build for the dynamic families: an empty filter, then every
// hash added.
func BuildByAdding(v Maker, t Target, hs []uint64) (Querier, error) {
	f, err := v.New(t)
	if err != nil {
		return nil, err
	}
	if n, err := AddMany(f, hs); err != nil {
		return nil, fmt.Errorf("%v: key %d of %d: %w", v, n, len(hs), err)
	}
	return f, nil
}
