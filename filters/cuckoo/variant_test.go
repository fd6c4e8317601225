package cuckoo

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/theory"
)

func TestParseIsInverseOfString(t *testing.T) {
	for _, v := range []Variant{{}, {F: 12}, {B: 2}, {F: 4, B: 1}, {F: 32, B: 8}} {
		got, err := Parse(v.String())
		if err != nil || got != v {
			t.Errorf("Parse(%q) = %v, %v", v.String(), got, err)
		}
	}
	if got := (Variant{F: 12, B: 4}).String(); got != "cuckoo(f=12,b=4)" {
		t.Errorf("String = %q, want the form the design gives", got)
	}
	if got, err := Parse(" cuckoo( b=4 , f=12 )"); err != nil || got != (Variant{F: 12, B: 4}) {
		t.Errorf("another order: %v, %v", got, err)
	}
	for text, field := range map[string]string{
		"cuckoo(f=3)": "cuckoo: f", "cuckoo(f=33)": "cuckoo: f", "cuckoo(f=x)": "cuckoo: f", "cuckoo(b=3)": "cuckoo: b", "cuckoo(b=16)": "cuckoo: b",
		"cuckoo(k=3)": "filter", "cuckoo(12)": "cuckoo", "standard": "filter", "cuckoo(": "filter",
	} {
		_, err := Parse(text)
		var pe *filters.ParamError
		if !errors.As(err, &pe) || pe.Field != field {
			t.Errorf("Parse(%q): %v, want a refusal of %q", text, err, field)
		}
	}
}

// What is predicted is what is built, over targets and knobs, and either both
// refuse or neither.
func TestPredictionIsOfTheFilterBuilt(t *testing.T) {
	built := 0
	for _, v := range []Variant{{}, {B: 1}, {B: 2}, {B: 8}, {F: 4}, {F: 9}, {F: 16, B: 4}, {F: 32}} {
		for _, n := range []uint64{1, 2, 3, 9, 100, 5000} {
			for _, target := range []filters.Target{{N: n, P: 0.3}, {N: n, P: 0.01}, {N: n, P: 1e-5}, {N: n, BitsPerKey: 9}, {N: n, BitsPerKey: 30}} {
				p, err := v.Predict(target, n)
				f, err2 := v.New(target)
				if (err == nil) != (err2 == nil) {
					t.Fatalf("%v for %v: Predict says %v, New %v", v, target, err, err2)
				}
				if err != nil {
					continue
				}
				built++
				c := f.(*Filter).Config()
				q, err := f.(*Filter).Predict(n)
				if err != nil || p != q {
					t.Errorf("%v for %v: Predict = %+v of the variant, %+v of the filter (%v)", v, target, p, q, err)
				}
				if p.Bits != f.SizeBits() || p.Capacity < n || p.K != c.FingerprintBits || p.Fill != float64(n)/float64(c.Slots()) {
					t.Errorf("%v for %v: %+v for %+v of %d bits", v, target, p, c, f.SizeBits())
				}
				if v.F != 0 && c.FingerprintBits != v.F || v.B != 0 && c.SlotsPerBucket != v.B {
					t.Errorf("%v for %v: built %+v", v, target, c)
				}
				if target.P != 0 && !(p.FPR <= target.P) {
					t.Errorf("%v for %v: rate %v", v, target, p.FPR)
				}
				if target.P == 0 && float64(p.Bits) > target.BitsPerKey*float64(n)+0.5 {
					t.Errorf("%v for %v: %d bits", v, target, p.Bits)
				}
			}
		}
	}
	if built < 100 {
		t.Errorf("only %d filters were built", built)
	}
}

// No other geometry does better: for a rate, none that takes n keys and keeps p
// has fewer bits; for a size, none has a lower rate. The oracle tries every
// number of buckets up to the one found.
func TestSizingIsTheBest(t *testing.T) {
	for _, n := range []uint64{1, 3, 7, 50, 300} {
		for _, p := range []float64{0.5, 0.1, 0.03, 0.01, 1e-3, 1e-6} {
			best, err := Variant{}.Geometry(filters.Target{N: n, P: p})
			if err != nil {
				t.Fatal(err)
			}
			if !best.takes(n) || theory.Cuckoo(best.Buckets, best.SlotsPerBucket, best.FingerprintBits, n) > p {
				t.Errorf("n=%d p=%v: %+v does not keep the promise", n, p, best)
			}
			shapes(func(c Config) {
				for c.Buckets = 2; c.Bits() < best.Bits(); c.Buckets += 2 {
					if c.takes(n) && theory.Cuckoo(c.Buckets, c.SlotsPerBucket, c.FingerprintBits, n) <= p {
						t.Fatalf("n=%d p=%v: %+v has %d bits, the choice %+v has %d", n, p, c, c.Bits(), best, best.Bits())
					}
				}
			})
		}
		for _, bpk := range []float64{8, 10, 12, 16, 31.5} {
			best, err := Variant{}.Geometry(filters.Target{N: n, BitsPerKey: bpk})
			if err != nil {
				t.Fatal(err)
			}
			rate := theory.Cuckoo(best.Buckets, best.SlotsPerBucket, best.FingerprintBits, n)
			shapes(func(c Config) {
				for c.Buckets = 2; float64(c.Bits()) <= bpk*float64(n); c.Buckets += 2 {
					if r := theory.Cuckoo(c.Buckets, c.SlotsPerBucket, c.FingerprintBits, n); c.takes(n) && r < rate*(1-1e-9) {
						t.Fatalf("n=%d at %v bits/key: %+v has a rate of %v, the choice %+v of %v", n, bpk, c, r, best, rate)
					}
				}
			})
		}
	}
}

// Figures of the package documentation and of the issue: the load is at least 95%
// from n = 10,000 for b=4 and f >= 8.
func TestKnownSizes(t *testing.T) {
	for _, n := range []uint64{10_000, 12_345, 100_000, 1e6, 1e9} {
		for _, bits := range []int{8, 12, 16, 32} {
			p, err := Variant{F: bits, B: 4}.Predict(filters.Target{N: n, P: 0.03}, n)
			if err != nil || p.Fill < 0.95 || p.Fill > 0.961 {
				t.Errorf("f=%d, b=4, n=%d: load %.4f (%v), want 0.95 to 0.96", bits, n, p.Fill, err)
			}
		}
	}
	for _, want := range []struct {
		p, bitsPerKey float64
		f, b          int
	}{{0.01, 10.417, 10, 4}, {0.001, 13.542, 13, 4}, {0.03, 8.333, 8, 4}, {1e-6, 23.958, 23, 4}} {
		c, err := Variant{}.Geometry(filters.Target{N: 1e6, P: want.p})
		got := float64(c.Bits()) / 1e6
		if err != nil || c.FingerprintBits != want.f || c.SlotsPerBucket != want.b || math.Abs(got-want.bitsPerKey) > 0.001 {
			t.Errorf("p=%v: %+v, %.3f bits/key (%v), want %+v", want.p, c, got, err, want)
		}
	}
}

// A fingerprint too short for n or p is refused with the least that will do, and
// that one is taken.
func TestShortFingerprintIsRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct {
		v Variant
		t filters.Target
		f int // least width, from the rule for crowds or the rate
	}{
		{Variant{F: 8, B: 4}, filters.Target{N: 1e6, P: 0.001}, 12},
		{Variant{F: 4, B: 2}, filters.Target{N: 1e6, P: 0.5}, 8},
		{Variant{F: 4, B: 4}, filters.Target{N: 1e7, P: 0.5}, 5},
		{Variant{F: 12, B: 1}, filters.Target{N: 1e6, P: 0.5}, 17},
	} {
		_, err := c.v.Geometry(c.t)
		var pe *filters.ParamError
		if !errors.As(err, &pe) || pe.Field != "cuckoo: f" || !strings.Contains(pe.Accepted, "at least ") {
			t.Errorf("%v for %v: %v, want a refusal of f", c.v, c.t, err)
			continue
		}
		for f := c.v.F + 1; ; f++ {
			if _, err := (Variant{F: f, B: c.v.B}).Geometry(c.t); err == nil {
				if f != c.f || !strings.Contains(pe.Accepted, "at least "+strconv.Itoa(f)+" bits") {
					t.Errorf("%v for %v: %d bits are enough, want %d; the error says %q", c.v, c.t, f, c.f, pe.Accepted)
				}
				break
			}
		}
	}
	for _, c := range []struct {
		v     Variant
		t     filters.Target
		field string
	}{
		{Variant{F: 33}, filters.Target{N: 10, P: 0.1}, "cuckoo: f"},
		{Variant{F: -1}, filters.Target{N: 10, P: 0.1}, "cuckoo: f"},
		{Variant{B: 5}, filters.Target{N: 10, P: 0.1}, "cuckoo: b"},
		{Variant{}, filters.Target{N: 1000, P: 1e-12}, "cuckoo: p"},
		{Variant{}, filters.Target{N: 1e9, P: 1e-11}, "cuckoo: p"}, // below the floor of a 64-bit hash
		{Variant{}, filters.Target{N: 1000, BitsPerKey: 3}, "cuckoo: bits per key"},
		{Variant{F: 16}, filters.Target{N: 1000, BitsPerKey: 16}, "cuckoo: bits per key"},
		{Variant{}, filters.Target{N: 1000, BitsPerKey: 1e12}, "cuckoo: bits per key"},
		{Variant{F: 4, B: 2}, filters.Target{N: 1e6, BitsPerKey: 20}, "cuckoo: f"},
		{Variant{}, filters.Target{N: 1 << 60, P: 0.1}, "cuckoo: n"},
	} {
		_, err := c.v.Geometry(c.t)
		var pe *filters.ParamError
		if !errors.As(err, &pe) || pe.Field != c.field {
			t.Errorf("%v for %v: %v, want a refusal of %s", c.v, c.t, err, c.field)
		}
	}
	if _, err := (Config{100, 4, 8}).Predict(401); !errors.Is(err, filters.ErrParam) {
		t.Errorf("Predict of more keys than slots: %v", err)
	}
}

// The sizing rule is monotone, as the searches over it assume: more keys never
// fit better, more buckets or longer fingerprints never worse.
func TestTakesIsMonotone(t *testing.T) {
	for _, b := range []int{1, 2, 4, 8} {
		for _, bits := range []int{4, 5, 7, 12, 32} {
			before := uint64(0)
			for buckets := uint64(2); buckets < 1<<36; buckets += max(2, buckets/9) &^ 1 {
				c := Config{buckets, b, bits}
				most := c.Capacity()
				if most < before {
					t.Errorf("%+v takes %d keys, a smaller table %d", c, most, before)
				}
				if longer := (Config{buckets, b, min(bits+1, 32)}).Capacity(); longer < most {
					t.Errorf("%+v takes %d keys, with one bit more %d", c, most, longer)
				}
				for _, n := range []uint64{1, 2, most / 2, most - 1, most} {
					if n > 0 && !c.takes(n) {
						t.Errorf("%+v takes %d keys but not %d", c, most, n)
					}
				}
				for _, n := range []uint64{most + 1, most + 2, 2*most + 2} {
					if c.takes(n) {
						t.Errorf("%+v takes %d keys, yet its capacity is %d", c, n, most)
					}
				}
				before = most
			}
		}
	}
}

// The rules against theory: the thresholds are those of the literature, and for
// short fingerprints in a large table the crowds are those of
// theory.CuckooMinimumTag.
func TestRulesAgreeWithTheory(t *testing.T) {
	for _, b := range []int{2, 4, 8} {
		if r, want := loadRuleFor(b), theory.CuckooThreshold(b); math.Abs(r.threshold-want) > 0.0005 || r.most >= r.threshold {
			t.Errorf("b=%d: %+v, threshold %v", b, r, want)
		}
		for _, bits := range []int{4, 6, 8} {
			c := Config{1 << 22, b, bits}
			n := c.Slots() / 2
			if r := c.crowded(n) / theory.CuckooMinimumTag(n, c.Buckets, b, bits); math.Abs(r-1) > 0.01 {
				t.Errorf("%+v: crowds are %.4f times theory's", c, r)
			}
		}
	}
	if mostSingle >= theory.CuckooThreshold(1) {
		t.Errorf("b=1: load %v", mostSingle)
	}
	// Drmota and Kutzelnigg 2012, theorem 1, at e = 0.2: (0.08-1+5) 0.512/(12 x
	// 3.24 x 0.008) = 6.7160 over the buckets of a side.
	if got := (Config{2000, 1, 32}).crowded(800) * 1000; math.Abs(got/6.7160-1) > 1e-4 {
		t.Errorf("b=1 at load 0.4: %v failures x side, want 6.7160", got)
	}
}

// Builds at the capacity of small and of crowded geometries succeed: at most 1 in
// 10,000 may fail, and far fewer do (TestVerifyCapacity: 1 in 100,000).
func TestCapacityIsTaken(t *testing.T) {
	builds, failures := 0, 0
	for _, b := range []int{1, 2, 4, 8} {
		for _, bits := range []int{4, 6, 8, 16} {
			for buckets := uint64(2); buckets < 600; buckets += max(2, buckets/4) &^ 1 {
				f := mustNew(t, Config{buckets, b, bits})
				n, keys := f.cfg.Capacity(), stream(buckets)
				for range 20_000 / max(n, 100) {
					f.Reset()
					builds++
					for range n {
						if f.Add(keys.next()) != nil {
							failures++
							break
						}
					}
				}
			}
		}
	}
	// 5,000 builds or so at 1e-4: 3 failures or more have a chance of 1.4%.
	if builds < 5000 || builds > 60_000 || failures > 2+builds/10_000 {
		t.Errorf("%d of %d builds at capacity were refused a key", failures, builds)
	}
}
