package standard

import (
	"fmt"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/index"
)

// MaxK is the most probes a key may have. One 64-bit hash stands for all of
// them, so beyond 64 they would say nothing new.
const MaxK = 64

// Scheme is how the k positions of a key come out of its one hash h. Below, a is
// the fast range of h, b that of h·c mod 2^64 (c = index.Multiplier), and all
// probes are numbered from 0.
type Scheme uint8

const (
	// Independent, the default: probe i is the fast range of h·c^i mod 2^64.
	// Measured rates cannot be told from those of independent random probes
	// (TestRate, TestB02_ConditionalHitRate), which no other scheme here reaches
	// in small tables, at one multiplication a probe. In the cache, at k = 7 on a
	// 2.8 GHz Xeon, a present and an absent key took 12 and 10 ns, with Double64
	// and Enhanced64 11 and 16, with Double 20 and 17, with Enhanced 23 and 17. The
	// alternative, a full remix of h for every probe (the finalizer of splitmix64
	// over h + i·odd), has the same rate and took 22 ns for an absent key where the
	// same loop with a multiplication took 12, 27 against 17 at 1.2 MB and 84
	// against 54 at 36 MB (BenchmarkRemix).
	Independent Scheme = iota

	// Double is double hashing as published, a + i·b mod m (Kirsch, Mitzenmacher
	// 2006). Two keys may share their step and differ by a few steps in their
	// start, so the rate has an additive term of order n/m²: 13% too high at
	// m = 1024. A step that is zero mod m leaves a key one bit, and one that
	// shares a factor with m fewer than k: theory.DoubleHashing knows both.
	Double

	// Enhanced is enhanced double hashing as published (Dillinger, Manolios 2004,
	// algorithm 2): x += y, y += i mod m, so probe i is a + i·b + (i³-i)/6.
	Enhanced

	// Double64 steps in 64 bits before the range reduction: probe i is the fast
	// range of h + i·b mod 2^64, with b = h·c made odd. The step is never zero,
	// but one near a simple fraction of 2^64 still meets itself, and keys of nearly
	// equal step each other: +3.7% at m = 1024 (theory.Double64).
	Double64

	// Enhanced64 is Enhanced in 64 bits. The published increment i would vanish
	// in the range reduction, so it is scaled by an odd 64-bit constant. +0.1% at
	// m = 1024 (theory.Enhanced64).
	Enhanced64

	// Teaching is the form of most tutorials: (h1 + i·h2) % m with the two 32-bit
	// halves of h. h2 may be zero mod m, which leaves the key one bit, and 32 bits
	// reach 2^32 positions at most and not evenly: position j < 2^32 mod m is
	// hit more often than the others. Tables above [MaxTeachingBits] are refused,
	// where the unevenness passes 1 in 64.
	Teaching
)

// MaxTeachingBits is the largest table of the Teaching scheme, in bits.
const MaxTeachingBits = 1 << 26

var schemeNames = [...]string{"independent", "double", "enhanced", "double64", "enhanced64", "teaching"}

// Schemes lists the index schemes, the default first.
func Schemes() []Scheme {
	return []Scheme{Independent, Double, Enhanced, Double64, Enhanced64, Teaching}
}

// String is the name a Variant prints.
func (s Scheme) String() string { return nameOf(schemeNames[:], uint8(s)) }

// ParseScheme is the inverse of Scheme.String.
func ParseScheme(name string) (Scheme, error) {
	i, err := valueOf("scheme", schemeNames[:], name)
	return Scheme(i), err
}

// Layout is where the k probes of a key may fall.
type Layout uint8

const (
	// Shared, the default: every probe may fall on every bit.
	Shared Layout = iota

	// Partitioned gives each probe its own slice of m/k bits (Mullin 1983;
	// Almeida et al. 2007). The rate formula becomes exact in closed form, and a
	// key always sets k different bits; the fill is a little higher for the same
	// m, and so is the rate. It takes the Independent scheme only: with the
	// others the slices are not independent and the formula does not hold.
	Partitioned
)

var layoutNames = [...]string{"shared", "partitioned"}

// String is the name a Variant prints.
func (l Layout) String() string { return nameOf(layoutNames[:], uint8(l)) }

// ParseLayout is the inverse of Layout.String.
func ParseLayout(name string) (Layout, error) {
	i, err := valueOf("layout", layoutNames[:], name)
	return Layout(i), err
}

// Sizing is how a promised rate becomes bits and probes.
type Sizing uint8

const (
	// Exact, the default, takes the least bits, with a whole k, whose exact rate
	// meets the promise: 9.593 bits per key for 1% of many keys.
	Exact Sizing = iota

	// Textbook is m = ceil(-n ln p / ln²2) and k = round(m/n · ln 2): 9.585 bits
	// per key for a promise of 1%, and a rate of 1.0039%, because k is rounded
	// after m was computed for a fractional one.
	Textbook
)

var sizingNames = [...]string{"exact", "textbook"}

// String is the name a Variant prints.
func (s Sizing) String() string { return nameOf(sizingNames[:], uint8(s)) }

// ParseSizing is the inverse of Sizing.String.
func ParseSizing(name string) (Sizing, error) {
	i, err := valueOf("sizing", sizingNames[:], name)
	return Sizing(i), err
}

func nameOf(names []string, i uint8) string {
	if int(i) >= len(names) {
		return strconv.Itoa(int(i))
	}
	return names[i]
}

func valueOf(field string, names []string, name string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, filters.Refuse("standard: "+field, strconv.Quote(name), fmt.Sprintf("one of %q", names))
}

// Config is the geometry of a filter.
type Config struct {
	Bits   uint64 // m, 1 to filters.MaxBits; a multiple of K when partitioned
	K      int    // probes a key, 1 to MaxK
	Scheme Scheme
	Layout Layout
}

func (c Config) validate() error {
	switch {
	case c.Bits < 1:
		return filters.Refuse("standard: bits", c.Bits, "at least 1")
	case c.Bits > filters.MaxBits:
		return filters.Refuse("standard: bits", c.Bits, fmt.Sprintf("at most 2^48 bits; this needs %.4g bytes", float64(c.Bits)/8))
	case c.K < 1 || c.K > MaxK:
		return filters.Refuse("standard: k", c.K, "1 to 64 probes a key")
	case int(c.Scheme) >= len(schemeNames):
		return filters.Refuse("standard: scheme", c.Scheme, fmt.Sprintf("one of %q", schemeNames))
	case int(c.Layout) >= len(layoutNames):
		return filters.Refuse("standard: layout", c.Layout, fmt.Sprintf("one of %q", layoutNames))
	case c.Layout == Partitioned && c.Scheme != Independent:
		return filters.Refuse("standard: scheme", c.Scheme, "independent when the layout is partitioned")
	case c.Layout == Partitioned && c.Bits%uint64(c.K) != 0:
		return filters.Refuse("standard: bits", c.Bits, fmt.Sprintf("a multiple of k = %d when the layout is partitioned", c.K))
	case c.Scheme == Teaching && c.Bits > MaxTeachingBits:
		return filters.Refuse("standard: bits", c.Bits, "at most 2^26 bits with scheme teaching, whose 32-bit hash halves reach no further evenly")
	}
	return nil
}

// span is the number of positions each probe chooses from, and stride the
// distance between the first positions of consecutive probes.
func (c Config) span() (span, stride uint64) {
	if c.Layout == Partitioned {
		slice := c.Bits / uint64(c.K)
		return slice, slice
	}
	return c.Bits, 0
}

// AppendProbes appends the K positions of hash h to dst, in probe order. It is
// the definition that the filter's own loops are tested against, for examples
// and for experiments that look at single probes; no table is needed. c must be
// a Config that New would accept.
func (c Config) AppendProbes(dst []uint64, h uint64) []uint64 {
	span, stride := c.span()
	base := uint64(0)
	w := c.Scheme.walk(h, span)
	for i := 0; i < c.K; i++ {
		switch c.Scheme {
		case Independent:
			dst = append(dst, base+index.FastRange(h, span))
			h *= index.Multiplier
			base += stride
		case Double64, Enhanced64:
			dst = append(dst, index.FastRange(w.x, span))
			w = w.next64()
		default:
			dst = append(dst, w.x)
			w = w.nextMod(span)
		}
	}
	return dst
}
