package experiments

import (
	"math"
	"math/bits"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// reference is a filter written to be read rather than to be fast: a table of
// booleans, and a function that lists the positions of a key. It stands for
// schemes that the families do not offer because they are worse.
type reference struct {
	set    []bool
	k      int
	place  func(h uint64, at []uint64) // sets at[i] to the position of probe i
	probes [64]uint64
}

// at lists the positions of a key. The slice is good until the next call.
func (f *reference) at(h uint64) []uint64 {
	f.place(h, f.probes[:f.k])
	return f.probes[:f.k]
}

func (f *reference) Add(h uint64) error {
	for _, i := range f.at(h) {
		f.set[i] = true
	}
	return nil
}

func (f *reference) Contains(h uint64) bool {
	for _, i := range f.at(h) {
		if !f.set[i] {
			return false
		}
	}
	return true
}

func (f *reference) SizeBits() uint64 { return uint64(len(f.set)) }

// scheme is the name of a reference filter, and its variant.
type scheme string

// The reference filters.
const (
	// Blocks of 512 bits as in the blocked family, with probes a + i b mod 512; odd
	// makes b odd; enhanced adds (i^3-i)/6 (Dillinger, Manolios 2004).
	inBlockDouble   scheme = "inblock(double)"
	inBlockOdd      scheme = "inblock(odd)"
	inBlockEnhanced scheme = "inblock(enhanced)"

	// The filters of LevelDB (util/bloom.cc; goleveldb and Badger build the same)
	// and of RocksDB before version 6.6, which Pebble builds: positions h, h + d,
	// h + 2d, ... of 32 bits with d = h rotated right by 17 bits, reduced modulo the
	// table, or modulo a cache line which h itself modulo their odd number chooses.
	levelDBFlat  scheme = "leveldb(flat)"
	levelDBLines scheme = "leveldb(lines)"

	// The flat one with a step of its own: the upper half of a 64-bit hash.
	levelDBTwo scheme = "leveldb(flat,two)"
)

const lineBits = 512

// parseScheme reads the name of a reference filter and leaves others to the
// catalog.
func parseScheme(s string) (filters.Variant, error) {
	switch v := scheme(s); v {
	case inBlockDouble, inBlockOdd, inBlockEnhanced, levelDBFlat, levelDBLines, levelDBTwo:
		return v, nil
	}
	return catalog.Parse(s)
}

func (v scheme) String() string { return string(v) }

// geometry is the table for t, in bits, and the probes of a key. These filters are
// sized by space.
func (v scheme) geometry(t filters.Target) (m uint64, k int, err error) {
	if err := t.Validate(); err != nil {
		return 0, 0, err
	}
	if t.P != 0 {
		return 0, 0, filters.Refuse(string(v)+": p", t.P, "bits per key instead of a promised rate")
	}
	space := float64(t.N) * t.BitsPerKey
	if space > 1<<30 {
		return 0, 0, filters.Refuse(string(v)+": n", t.N, "a table of at most 2^30 bits, kept as bytes")
	}
	// All of them round k down, "to reduce probing cost a little bit".
	k = min(max(int(t.BitsPerKey*0.69), 1), 30)
	switch v {
	case levelDBFlat, levelDBTwo:
		m = max(uint64(math.Ceil(space/8))*8, 64)
	case levelDBLines:
		// An odd number of lines, so that h modulo it depends on all of h.
		m = (uint64(math.Ceil(space/lineBits)) | 1) * lineBits
	default:
		m = max(uint64(math.Round(space/lineBits)), 1) * lineBits
	}
	return m, k, nil
}

func (v scheme) New(t filters.Target) (filters.Filter, error) {
	m, k, err := v.geometry(t)
	if err != nil {
		return nil, err
	}
	f := &reference{set: make([]bool, m), k: k}
	switch v {
	case levelDBFlat, levelDBTwo:
		f.place = func(h64 uint64, at []uint64) {
			h := uint32(h64)
			d := bits.RotateLeft32(h, -17)
			if v == levelDBTwo {
				d = uint32(h64 >> 32)
			}
			for i := range at {
				at[i] = uint64(h) % m
				h += d
			}
		}
	case levelDBLines:
		f.place = func(h64 uint64, at []uint64) {
			h := uint32(h64)
			d := bits.RotateLeft32(h, -17)
			line := uint64(h) % (m / lineBits) * lineBits
			for i := range at {
				at[i] = line + uint64(h)%lineBits
				h += d
			}
		}
	default:
		f.place = func(h uint64, at []uint64) {
			hi, _ := bits.Mul64(h, m/lineBits)
			x := mix(h) // the block is chosen by the high bits of h itself
			a, b := x, x>>32
			if v == inBlockOdd {
				b |= 1
			}
			for i := range at {
				at[i] = hi*lineBits + a%lineBits
				a += b
				if v == inBlockEnhanced {
					b += uint64(i) + 1
				}
			}
		}
	}
	return f, nil
}

func (v scheme) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the rate for hashes without structure. LevelDB's own scheme has no
// formula in a flat table. Write h as A<<16 + B: twice the step is h rotated by 16
// bits but for one lost bit, so that the third position is (A+B)<<16 + A+B or one
// less. It takes some 2^18 of 2^32 values, and is no probe any more when there are
// as many keys.
//
// For what happens inside a block it is the mean, over the binomial load of a
// block, of the rate of a small table of the same scheme; the scatter between
// seeds is that of independent probes, in proportion to the rate.
func (v scheme) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	m, k, err := v.geometry(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	p := theory.Prediction{Inserted: inserted, Bits: m, K: k, Capacity: t.N}
	if v == levelDBFlat {
		return theory.Prediction{}, filters.ErrNoTheory
	}
	if v == levelDBTwo {
		p.FPR = theory.DoubleHashing(m, inserted, k)
		p.BuildSD = theory.DoubleBuildSD(m, inserted, k)
		p.Fill = theory.StandardFill(m, inserted, k)
		return p, nil
	}
	rate := theory.DoubleHashing
	switch v {
	case inBlockOdd:
		rate = theory.DoubleHashingOdd
	case inBlockEnhanced:
		rate = theory.EnhancedDouble
	}
	blocks := m / lineBits
	p.FPR = overLoads(blocks, inserted, func(j uint64) float64 { return rate(lineBits, j, k) })
	p.BuildSD = theory.BlockedBuildSD(blocks, lineBits, inserted, k, false) *
		p.FPR / theory.Blocked(blocks, lineBits, inserted, k, false)
	p.Fill = theory.BlockedFill(blocks, lineBits, inserted, k, false)
	return p, nil
}

// overLoads is the mean of f over the load of one of the blocks when n keys
// choose theirs independently. Loads rarer than 1e-12 are left out.
func overLoads(blocks, n uint64, f func(j uint64) float64) float64 {
	if blocks == 1 {
		return f(n)
	}
	odds := math.Log(float64(blocks) - 1)
	none := float64(n) * math.Log1p(-1/float64(blocks))
	choose, sum, peaked := 0.0, 0.0, false // log C(n, j)
	for j := uint64(0); j <= n; j++ {
		w := math.Exp(none + choose - float64(j)*odds)
		if w > 1e-12 {
			peaked = true
			if j > 0 {
				sum += w * f(j)
			}
		} else if peaked {
			break
		}
		choose += math.Log(float64(n-j)) - math.Log(float64(j+1))
	}
	return sum
}
