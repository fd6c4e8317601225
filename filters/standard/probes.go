package standard

import (
	"math/bits"

	"filterlab/filters/internal/index"
)

// The loops below are the filter: one that looks, one that stores and one that
// does both, for each of the three ways to step from probe to probe. They are
// written out because a scheme chosen inside the loop, by a switch, a function
// value or a type parameter, costs as much as the probe itself.

// walk is the state of a stepping scheme: position x, step y, and the increment
// inc of the step, which itself grows by one each time. The plain schemes have
// inc and one at zero.
type walk struct{ x, y, inc, one uint64 }

// walk is the state at probe 0 of hash h, for probes below span.
func (s Scheme) walk(h, span uint64) walk {
	second := h * index.Multiplier
	switch s {
	case Double:
		return walk{x: index.FastRange(h, span), y: index.FastRange(second, span)}
	case Enhanced:
		one := 1 % span // 0 in a table of one bit
		return walk{x: index.FastRange(h, span), y: index.FastRange(second, span), inc: one, one: one}
	case Double64:
		return walk{x: h, y: second | 1}
	case Enhanced64:
		return walk{x: h, y: second | 1, inc: enhancedScale, one: enhancedScale}
	case Teaching:
		return walk{x: h >> 32 % span, y: h & (1<<32 - 1) % span}
	}
	return walk{x: h} // Independent does not step
}

// enhancedScale is the increment of Enhanced64 in place of 1: the golden ratio of
// 2^64, odd, whose first 64 multiples spread evenly over the range.
const enhancedScale = 0x9e3779b97f4a7c15

func (w walk) nextMod(m uint64) walk {
	return walk{index.StepMod(w.x, w.y, m), index.StepMod(w.y, w.inc, m), index.StepMod(w.inc, w.one, m), w.one}
}

func (w walk) next64() walk { return walk{w.x + w.y, w.y + w.inc, w.inc + w.one, w.one} }

// bit is word shifted so that the probed bit comes last.
func bit(words []uint64, p uint64) uint64 { return words[p>>6] >> (p & 63) }

// The powers of the multiplier mod 2^64: probe i of the Independent scheme is the
// fast range of h times the power i.
const (
	mul1 = index.Multiplier
	mul2 = mul1 * mul1 & (1<<64 - 1)
	mul3 = mul2 * mul1 & (1<<64 - 1)
	mul4 = mul3 * mul1 & (1<<64 - 1)
	mul5 = mul4 * mul1 & (1<<64 - 1)
	mul6 = mul5 * mul1 & (1<<64 - 1)
)

// hasMul tests the probes of the Independent scheme two at a time. Against an
// exit after every probe this saves mispredicted branches on absent keys (8.6
// instead of 12.4 ns at k = 7 in the cache, 10.5 instead of 16.2 at 1.2 MB, even
// with it at 36 MB); against no exit at all (9.5, 14.5) it also saves half the
// memory traffic of absent keys (57 instead of 107 ns at 36 MB).
func hasMul(words []uint64, h, span, stride uint64, k int) bool {
	base := uint64(0)
	for ; k > 1; k -= 2 {
		p := index.FastRange(h, span) + base
		h *= index.Multiplier
		base += stride
		q := index.FastRange(h, span) + base
		h *= index.Multiplier
		base += stride
		if bit(words, p)&bit(words, q)&1 == 0 {
			return false
		}
	}
	return k == 0 || bit(words, index.FastRange(h, span)+base)&1 != 0
}

// hasSeven is hasMul in a shared table for k = 7, what 1% takes.
//
// It is bound by the number of operations that are no loads: some 80 a key, where the
// 7 products for the positions and the 6 hashes before them are 20 at least. So all
// hashes come from the first, without a loop; bits are tested by the instruction for
// it, which the compiler finds for a mask or a shift followed by a comparison, while
// a shift by a variable alone takes three operations; two answers are joined without
// a branch; and nothing is called, not even a function that is inlined, which leaves
// instructions that do nothing. In cache, on a 2.8 GHz Ice Lake, a present and an
// absent key take 6.3 and 7.4 ns; with shifts, functions that are inlined and the
// questions that Contains no longer asks it was 8.6 and 8.8.
func hasSeven(f *Filter, h uint64) bool {
	words, m := f.words, f.span
	var a, b uint8
	p, _ := bits.Mul64(h, m)
	q, _ := bits.Mul64(h*mul1, m)
	if words[p>>6]&(1<<(p&63)) != 0 {
		a = 1
	}
	if words[q>>6]&(1<<(q&63)) != 0 {
		b = 1
	}
	if a&b == 0 {
		return false
	}
	a, b = 0, 0
	p, _ = bits.Mul64(h*mul2, m)
	q, _ = bits.Mul64(h*mul3, m)
	if words[p>>6]&(1<<(p&63)) != 0 {
		a = 1
	}
	if words[q>>6]&(1<<(q&63)) != 0 {
		b = 1
	}
	if a&b == 0 {
		return false
	}
	// Hardly any absent key comes so far: to stop at each costs no mispredicted
	// branches.
	p, _ = bits.Mul64(h*mul4, m)
	if words[p>>6]>>(p&63)&1 == 0 {
		return false
	}
	p, _ = bits.Mul64(h*mul5, m)
	if words[p>>6]>>(p&63)&1 == 0 {
		return false
	}
	p, _ = bits.Mul64(h*mul6, m)
	return words[p>>6]>>(p&63)&1 != 0
}

// hasShared is hasMul in a shared table, written like hasSeven.
func hasShared(f *Filter, h uint64) bool {
	words, m := f.words, f.span
	k := f.k
	for ; k > 1; k -= 2 {
		var a, b uint8
		p, _ := bits.Mul64(h, m)
		q, _ := bits.Mul64(h*mul1, m)
		h *= mul2
		if words[p>>6]&(1<<(p&63)) != 0 {
			a = 1
		}
		if words[q>>6]&(1<<(q&63)) != 0 {
			b = 1
		}
		if a&b == 0 {
			return false
		}
	}
	if k == 0 {
		return true
	}
	p, _ := bits.Mul64(h, m)
	return words[p>>6]>>(p&63)&1 != 0
}

func addMul(words []uint64, h, span, stride uint64, k int) {
	base := uint64(0)
	for ; k > 0; k-- {
		p := index.FastRange(h, span) + base
		words[p>>6] |= 1 << (p & 63)
		h *= index.Multiplier
		base += stride
	}
}

// testAddMul is kept apart from addMul, which is a third faster for not looking.
func testAddMul(words []uint64, h, span, stride uint64, k int) (present bool) {
	base, all := uint64(0), uint64(1)
	for ; k > 0; k-- {
		p := index.FastRange(h, span) + base
		old := words[p>>6]
		all &= old >> (p & 63)
		words[p>>6] = old | 1<<(p&63)
		h *= index.Multiplier
		base += stride
	}
	return all&1 != 0
}

// The stepping loops keep their state in local variables: a struct passed from
// step to step ends up in memory and costs a fifth more.

func hasMod(words []uint64, w walk, m uint64, k int) bool {
	x, y, inc := w.x, w.y, w.inc
	for ; k > 0; k-- {
		if bit(words, x)&1 == 0 {
			return false
		}
		x, y, inc = index.StepMod(x, y, m), index.StepMod(y, inc, m), index.StepMod(inc, w.one, m)
	}
	return true
}

func testAddMod(words []uint64, w walk, m uint64, k int) (present bool) {
	x, y, inc, all := w.x, w.y, w.inc, uint64(1)
	for ; k > 0; k-- {
		old := words[x>>6]
		all &= old >> (x & 63)
		words[x>>6] = old | 1<<(x&63)
		x, y, inc = index.StepMod(x, y, m), index.StepMod(y, inc, m), index.StepMod(inc, w.one, m)
	}
	return all&1 != 0
}

func has64(words []uint64, w walk, m uint64, k int) bool {
	x, y, inc := w.x, w.y, w.inc
	for ; k > 0; k-- {
		if bit(words, index.FastRange(x, m))&1 == 0 {
			return false
		}
		x, y, inc = x+y, y+inc, inc+w.one
	}
	return true
}

func testAdd64(words []uint64, w walk, m uint64, k int) (present bool) {
	x, y, inc, all := w.x, w.y, w.inc, uint64(1)
	for ; k > 0; k-- {
		p := index.FastRange(x, m)
		old := words[p>>6]
		all &= old >> (p & 63)
		words[p>>6] = old | 1<<(p&63)
		x, y, inc = x+y, y+inc, inc+w.one
	}
	return all&1 != 0
}
