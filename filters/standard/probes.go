package standard

import "filterlab/filters/internal/index"

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

// chunk is how many keys the batch loop keeps in flight. Its two arrays take
// 1,152 bytes of stack, well within the first-level cache.
const chunk = 128

// hasManyMul asks chunks of keys in rounds of two probes and carries on with
// the keys that are still in question, so that no branch depends on a bit and
// the loads of different keys overlap. At k = 7 absent keys took 4.4 ns in the
// cache, 5.8 at 1.2 MB and 43 at 36 MB, against 8.6, 10.5 and 57 one by one. One
// probe a round costs more rounds (5.3, 7.7, 48); loading all lines of a chunk
// before testing any was slower than one by one (20, 26, 110), since a key that
// leaves early then still pays for all its lines. Present keys gain nothing in
// the cache (11.9 against 8.1) and little beyond it: they touch k lines in
// whatever order.
func hasManyMul(dst []bool, words []uint64, hs []uint64, span, stride uint64, k int) (hits int) {
	// The masks tell the compiler what the counts already ensure.
	const mask = chunk - 1
	var left [chunk]uint64 // hashes still in question, at their next probe
	var from [chunk]uint8  // which keys they are
	for len(hs) > 0 {
		n := min(chunk, len(hs))
		for i, h := range hs[:n] {
			left[i&mask] = h
			from[i&mask] = uint8(i)
		}
		alive, base, probes := n, uint64(0), k
		for ; probes > 1 && alive > 0; probes -= 2 {
			kept := 0
			for i := range alive {
				h, key := left[i&mask], from[i&mask]
				p := index.FastRange(h, span) + base
				h *= index.Multiplier
				q := index.FastRange(h, span) + base + stride
				left[kept&mask] = h * index.Multiplier
				from[kept&mask] = key
				kept += int(bit(words, p) & bit(words, q) & 1)
			}
			alive = kept
			base += 2 * stride
		}
		if probes == 1 {
			kept := 0
			for i := range alive {
				p := index.FastRange(left[i&mask], span) + base
				from[kept&mask] = from[i&mask]
				kept += int(bit(words, p) & 1)
			}
			alive = kept
		}
		out := dst[:n]
		clear(out)
		for i := range alive {
			out[from[i&mask]] = true
		}
		hits += alive
		hs, dst = hs[n:], dst[n:]
	}
	return hits
}
