package packed

import (
	"fmt"
	"math/bits"

	"filterlab/filters"
)

// Counters is a table of small saturating counters of 2, 4, 8 or 16 bits, packed
// into 64-bit words without a gap. Since the width divides 64, no counter ever
// straddles two words, and an increment cannot carry into its neighbour: it is
// not made when the counter stands at its ceiling.
//
// A counter that reached its ceiling sticks there, because nobody knows any more
// how much it ought to hold: neither Inc nor Dec moves it again.
type Counters struct {
	words []uint64
	n     uint64 // counters
	top   uint64 // the ceiling, 2^width - 1
	log   uint   // log2 of the width
}

// NewCounters makes n counters of the given width, all zero. field names the
// family in an error.
func NewCounters(field string, n uint64, width int) (Counters, error) {
	return CountersIn(field, n, width, Words)
}

// CountersIn is NewCounters over a table that the given function makes, with the
// parameters of Words.
func CountersIn(field string, n uint64, width int, table func(field string, nbits uint64) ([]uint64, error)) (Counters, error) {
	var log uint
	switch width {
	case 2, 4, 8, 16:
		log = uint(bits.TrailingZeros(uint(width)))
	default:
		return Counters{}, filters.Refuse(field+": w", width, "2, 4, 8 or 16 bits a counter")
	}
	if n < 1 || n > filters.MaxBits>>log {
		return Counters{}, filters.Refuse(field+": m", n, fmt.Sprintf("1 to %d counters of %d bits (2^48 bits)", uint64(filters.MaxBits)>>log, width))
	}
	words, err := table(field+": bits", n<<log)
	return Counters{words: words, n: n, top: 1<<width - 1, log: log}, err
}

// Len is the number of counters.
func (c *Counters) Len() uint64 { return c.n }

// Width is the width of a counter in bits.
func (c *Counters) Width() int { return 1 << c.log }

// LogWidth is the base-2 logarithm of Width.
func (c *Counters) LogWidth() uint { return c.log }

// Max is the ceiling of a counter, 2^width - 1.
func (c *Counters) Max() uint64 { return c.top }

// Words is the table itself, counter 0 in the lowest bits of word 0.
func (c *Counters) Words() []uint64 { return c.words }

// place returns the word of counter i and the counter's shift within it.
func (c *Counters) place(i uint64) (word uint64, shift uint) {
	b := i << (c.log & 7)
	return b >> 6, uint(b & 63)
}

// Get returns counter i.
func (c *Counters) Get(i uint64) uint64 {
	w, s := c.place(i)
	return c.words[w] >> s & c.top
}

// Inc adds one to counter i unless it stands at its ceiling, and reports whether
// this very step brought it there.
func (c *Counters) Inc(i uint64) (saturated bool) {
	w, s := c.place(i)
	v := c.words[w]
	x := v >> s & c.top
	if x == c.top {
		return false
	}
	c.words[w] = v + 1<<s
	return x+1 == c.top
}

// Dec takes one from counter i. It reports false, and changes nothing, when the
// counter is zero; a counter at its ceiling stays there and reports true.
func (c *Counters) Dec(i uint64) bool {
	w, s := c.place(i)
	v := c.words[w]
	switch v >> s & c.top {
	case 0:
		return false
	case c.top:
		return true
	}
	c.words[w] = v - 1<<s
	return true
}

// low returns a word with the lowest bit of every counter set.
func (c *Counters) low() uint64 { return ^uint64(0) / c.top }

// NonZero counts the counters above zero. It costs one pass over the table.
func (c *Counters) NonZero() uint64 { return c.NonZeroOf(c.words) }

// NonZeroOf is NonZero for some words of the table.
func (c *Counters) NonZeroOf(words []uint64) uint64 {
	low, n := c.low(), 0
	for _, v := range words {
		for s := 1 << c.log >> 1; s > 0; s >>= 1 {
			v |= v >> s // the lowest bit of each counter gathers the others
		}
		n += bits.OnesCount64(v & low)
	}
	return uint64(n)
}

// Saturated counts the counters at their ceiling. It costs one pass over the
// table.
func (c *Counters) Saturated() uint64 {
	low, n := c.low(), 0
	for _, v := range c.words {
		for s := 1 << c.log >> 1; s > 0; s >>= 1 {
			v &= v >> s
		}
		n += bits.OnesCount64(v & low)
	}
	return uint64(n)
}

// Add adds the counters of o, which must be as many and as wide, one by one and
// saturating.
func (c *Counters) Add(o *Counters) {
	// Every second counter of a word is added in a field of twice its width, so
	// that the carry has a place to land. Where it did, carry - carry>>width is
	// a counter full of ones.
	w, top := uint(1)<<c.log, c.top
	even := ^uint64(0) / (top<<w | top) * top
	carries := even + even&^(even<<1) // bit `width` of every double field
	add := func(a, b uint64) uint64 {
		sum := a + b
		over := sum & carries
		return (sum | (over - over>>w)) & even
	}
	for i, b := range o.words {
		a := c.words[i]
		c.words[i] = add(a&even, b&even) | add(a>>w&even, b>>w&even)<<w
	}
}
