package cuckoo

import (
	"fmt"
	"math"
	"math/bits"

	"filterlab/filters"
	"filterlab/filters/internal/packed"
	"filterlab/filters/internal/prefetch"
)

// Limits of the geometry.
const (
	MinFingerprintBits = 4
	MaxFingerprintBits = 32
)

// padding is what follows the table, in bits, so that eight bytes can be loaded at
// any slot. SizeBits does not count it.
const padding = 64

// Config is a geometry: Buckets x SlotsPerBucket slots of FingerprintBits bits.
type Config struct {
	Buckets         uint64 // even, at least 2
	SlotsPerBucket  int    // 1, 2, 4 or 8
	FingerprintBits int    // 4 to 32
}

// Slots is the number of fingerprints the geometry has room for.
func (c Config) Slots() uint64 { return c.Buckets * uint64(c.SlotsPerBucket) }

// Bits is the size of the table in bits: Slots x FingerprintBits. It is the
// SizeBits of the filter New makes.
func (c Config) Bits() uint64 { return c.Slots() * uint64(c.FingerprintBits) }

// Validate returns a ParamError that names the field which New would refuse.
func (c Config) Validate() error {
	if err := validSlots(c.SlotsPerBucket); err != nil {
		return err
	}
	if err := validBits(c.FingerprintBits); err != nil {
		return err
	}
	if c.Buckets < 2 || c.Buckets%2 != 0 {
		return filters.Refuse("cuckoo: buckets", c.Buckets, "an even number, at least 2")
	}
	// Divide before multiplying: the product of absurd values would wrap.
	if limit := (filters.MaxBits - padding) / uint64(c.SlotsPerBucket*c.FingerprintBits); c.Buckets > limit {
		return filters.Refuse("cuckoo: buckets", c.Buckets, fmt.Sprintf("at most %d, so that the table has at most 2^48 bits; this needs %.4g bytes",
			limit, float64(c.Buckets)*float64(c.SlotsPerBucket*c.FingerprintBits)/8))
	}
	return nil
}

func validSlots(b int) error {
	switch b {
	case 1, 2, 4, 8:
		return nil
	}
	return filters.Refuse("cuckoo: b", b, "1, 2, 4 or 8 slots a bucket")
}

func validBits(f int) error {
	if f < MinFingerprintBits || f > MaxFingerprintBits {
		return filters.Refuse("cuckoo: f", f, "4 to 32 fingerprint bits")
	}
	return nil
}

// Filter is a cuckoo filter. Make one with [New] or [Variant.New]; the zero
// value is not usable.
type Filter struct {
	cfg   Config
	count uint64 // fingerprints stored

	// table holds the slots back to back, slot s of bucket i at bit
	// (i*SlotsPerBucket + s)*FingerprintBits counted from the lowest bit of byte
	// 0, whatever the byte order of the machine. An empty slot holds 0. The padding
	// follows.
	table []byte

	buckets uint64
	width   uint64 // bits of a bucket
	tags    uint64 // 2^f - 1, the number of fingerprints and the mask of a slot
	step    uint64 // f
	stratum uint64 // 2^(64-f)
	span    uint64 // bits of one load: a whole bucket where that fits into 64
	ones    uint64 // lowest bit of every slot of a load
	highs   uint64 // highest bit of every slot of a load
	ahead   bool   // the table is large: batches prefetch

	// odds[tag] is what draw makes of tag; nil where partner is to draw each time.
	odds []uint32
	// stride is the bytes of a bucket if odds is there and every bucket is one load
	// that starts at a byte: the case Contains has a path for. Otherwise 0.
	stride uint64
	// pairOnes and pairHighs are ones and highs of two buckets in one word, where a
	// bucket has half a word.
	pairOnes, pairHighs uint64
}

// half is the stride of buckets that lookups take two at a time, each by a load of
// its own size: of the loads of eight bytes one in sixteen crosses into another
// cache line, which costs as much as a bucket more.
const half = 4

const (
	// listed is the longest fingerprint, in bits, whose partners are listed: 16 KiB,
	// a third of the first cache.
	listed = 12
	// listShare is the least number of times that the table is larger than the list.
	listShare = 16
)

// Capabilities.
var (
	_ filters.Filter       = (*Filter)(nil)
	_ filters.BatchAdder   = (*Filter)(nil)
	_ filters.Kerneler     = (*Filter)(nil)
	_ filters.AddKerneler  = (*Filter)(nil)
	_ filters.BatchQuerier = (*Filter)(nil)
	_ filters.TestAdder    = (*Filter)(nil)
	_ filters.Deleter      = (*Filter)(nil)
	_ filters.Counter      = (*Filter)(nil)
	_ filters.Resetter     = (*Filter)(nil)
	_ filters.FillReporter = (*Filter)(nil)
)

// New makes an empty filter of the given geometry. How many keys it takes is
// told by [Filter.Predict]; to build for a number of keys, use [Variant.New].
func New(c Config) (*Filter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	words, err := packed.Words("cuckoo: bits", c.Bits()+padding)
	if err != nil {
		return nil, err
	}
	return over(c, packed.Bytes(words)), nil
}

// over is a filter of the geometry c over a table of its size and the padding.
func over(c Config, table []byte) *Filter {
	f := newGeometry(c)
	f.table = table
	f.ahead = prefetch.Enabled && c.Bits() >= 8*large
	if c.FingerprintBits <= listed && c.Buckets <= 1<<32 && c.Bits() >= listShare*32<<c.FingerprintBits {
		f.odds = make([]uint32, f.tags+1)
		for tag := uint64(1); tag <= f.tags; tag++ {
			f.odds[tag] = uint32(draw(tag, f.stratum, f.buckets))
		}
		if f.span == f.width && f.width%8 == 0 {
			f.stride = f.width / 8
			f.pairOnes, f.pairHighs = f.ones<<32|f.ones, f.highs<<32|f.highs
		}
	}
	return &f
}

// newGeometry is a filter without its table.
func newGeometry(c Config) Filter {
	slots := slotsPerLoad(c.SlotsPerBucket, c.FingerprintBits)
	f := Filter{
		cfg:     c,
		buckets: c.Buckets,
		width:   uint64(c.SlotsPerBucket * c.FingerprintBits),
		tags:    1<<c.FingerprintBits - 1,
		step:    uint64(c.FingerprintBits),
		stratum: 1 << (64 - c.FingerprintBits),
		span:    uint64(slots * c.FingerprintBits),
	}
	for s := range slots {
		f.ones |= 1 << (s * c.FingerprintBits)
	}
	f.highs = f.ones << (c.FingerprintBits - 1)
	return f
}

// slotsPerLoad is the largest power of two of slots, up to b, that one load of
// eight bytes holds wherever in its first byte the first of them starts.
func slotsPerLoad(b, f int) int {
	for s := b; s > 1; s /= 2 {
		// Groups of s slots start at multiples of s*f bits: their offset within a
		// byte is a multiple of the largest power of two in s*f.
		shift := 8 - min(8, s*f&-(s*f))
		if s*f+shift <= 64 {
			return s
		}
	}
	return 1
}

// golden is 2^64 divided by the golden ratio, made odd. Its multiples spread
// consecutive numbers evenly (Knuth, The Art of Computer Programming 3, 6.4).
const golden = 0x9E3779B97F4A7C15

// place derives the first bucket and the fingerprint of a hash.
//
// The bucket is the fast range of h: its high bits. The fingerprint comes from
// the low 32 bits, so up to 2^32 buckets the two share no bit. Fingerprints are
// the numbers 1 to 2^f-1, each equally likely (the 2^32 low halves divide among
// them with a remainder of 2^(32 mod f), so some get one more than the others);
// 0 marks an empty slot.
// Beyond 2^32 buckets the bucket depends on the top of the low half as well. The
// multiplication lets the rest of it decide the fingerprint, which stays uniform
// given the bucket while buckets x 2^f is below 2^64; past that, the 64 bits of
// h are used up.
func (f *Filter) place(h uint64) (bucket, tag uint64) {
	bucket, _ = bits.Mul64(h, f.buckets)
	low := uint32(h) * (golden >> 32)
	return bucket, uint64(low)*f.tags>>32 + 1
}

// partner is the other bucket of a fingerprint: (r - i) mod buckets, where r is
// an odd number drawn from the fingerprint. It undoes itself, and because
// buckets is even and r odd, a bucket is never its own partner. The two buckets
// of a key are one even and one odd, so the table is the bipartite cuckoo graph
// of the literature with buckets/2 on each side.
//
// Fingerprints of up to 12 bits have r listed where the table is at least 16 times
// the list. That is a load from the first cache in place of four multiplications,
// of which a processor starts one at a time: a lookup in cache takes 0.6 of the
// time.
func (f *Filter) partner(bucket, tag uint64) uint64 {
	d := -bucket
	if f.odds != nil {
		d += load4(f.odds, tag)
	} else {
		d += draw(tag, f.stratum, f.buckets)
	}
	return d + f.buckets&uint64(int64(d)>>63) // wrap, which would cost the inlining
}

// wrap adds buckets to a difference of two buckets if it is negative.
func wrap(d, buckets uint64) uint64 { return d + buckets&uint64(int64(d)>>63) }

// draw is the odd number below buckets of a fingerprint.
//
// It is the fast range of a number that lies in the stratum of the fingerprint, at
// a place drawn from its square. The strata keep r apart for different
// fingerprints, or evenly shared when there are more fingerprints than buckets;
// both halve the early refusals of short fingerprints against an r at random.
// The square breaks what is linear: with r a multiple of the fingerprint, paths
// of relocations close into short cycles (t1 - t2 + t3 - t4 = 0 has many
// solutions), and b=4, f=5 refused a key in 100 of 100 builds at 95% load (f=4 in
// 228 of 300 at 90%) where this r did in none (1).
func draw(tag, stratum, buckets uint64) uint64 {
	r, _ := bits.Mul64(tag*stratum|tag*tag*golden&(stratum-1), buckets>>1)
	return 2*r + 1
}

// load returns the eight bytes that hold the slots from bit pos on, shifted so
// that the first slot starts at bit 0. Bits above the slots are arbitrary.
func (f *Filter) load(pos uint64) uint64 { return load8(f.table, pos>>3) >> (pos & 7) }

// get returns the fingerprint in the slot at bit pos.
func (f *Filter) get(pos uint64) uint64 { return f.load(pos) & f.tags }

// set writes a fingerprint, or 0, to the slot at bit pos.
func (f *Filter) set(pos, tag uint64) {
	w := load8(f.table, pos>>3)
	store8(f.table, pos>>3, w&^(f.tags<<(pos&7))|tag<<(pos&7))
}

// zeros marks the slots of a loaded word that hold 0, with their highest bit.
// The lowest mark is always right, and so is the answer "none"; marks above it
// may be spurious, because the subtraction borrows out of a slot that is 0
// (Mycroft's test).
func (f *Filter) zeros(w uint64) uint64 { return (w - f.ones) &^ w & f.highs }

// fulls is zeros of ^n before the highest bits are taken: it marks the slots of n
// that are all ones, and other bits. The complement saves lookups two moves, since
// what is added to can be kept where what is subtracted from is overwritten.
func fulls(n, ones uint64) uint64 { return n &^ (n + ones) }

// none is the position that is not in any table.
const none = math.MaxUint64

// find returns the bit position of the first slot of a bucket that holds tag
// (0: an empty slot), or none.
func (f *Filter) find(bucket, tag uint64) uint64 {
	pos := bucket * f.width
	for end := pos + f.width; pos < end; pos += f.span {
		if z := f.zeros(f.load(pos) ^ tag*f.ones); z != 0 {
			return pos + uint64(bits.TrailingZeros64(z)) + 1 - f.step
		}
	}
	return none
}

// Contains reports whether h may have been stored.
//
// It looks at both buckets whatever the first holds: a branch that depends on the
// key costs more than the bucket it may save. It calls nothing, so that it needs no
// frame.
func (f *Filter) Contains(h uint64) bool {
	i, tag := f.place(h)
	if f.stride == half {
		j := wrap(load4(f.odds, tag)-i, f.buckets)
		w := loadHalf(f.table, i*half) | loadHalf(f.table, j*half)<<32
		return fulls(w^^(tag*f.pairOnes), f.pairOnes)&f.pairHighs != 0
	}
	others := ^(tag * f.ones)
	if f.stride != 0 {
		j := wrap(load4(f.odds, tag)-i, f.buckets)
		x := load8(f.table, i*f.stride) ^ others
		y := load8(f.table, j*f.stride) ^ others
		return (fulls(x, f.ones)|fulls(y, f.ones))&f.highs != 0
	}
	j := f.partner(i, tag)
	i *= f.width
	j *= f.width
	if f.span == f.width {
		return (fulls(f.load(i)^others, f.ones)|fulls(f.load(j)^others, f.ones))&f.highs != 0
	}
	found := uint64(0)
	for end := i + f.width; i < end; i += f.span {
		found |= fulls(f.load(i)^others, f.ones)
	}
	for end := j + f.width; j < end; j += f.span {
		found |= fulls(f.load(j)^others, f.ones)
	}
	return found&f.highs != 0
}

// Add stores h. It returns ErrFull, and has changed nothing, when no room was
// found for it.
func (f *Filter) Add(h uint64) error {
	i, tag := f.place(h)
	pos := f.find(i, 0)
	if pos == none {
		j := f.partner(i, tag)
		if pos = f.find(j, 0); pos == none {
			if pos = f.makeRoom(i, j); pos == none {
				return filters.ErrFull
			}
		}
	}
	f.set(pos, tag)
	f.count++
	return nil
}

// Delete removes one stored copy of h and reports whether there was one.
func (f *Filter) Delete(h uint64) bool {
	i, tag := f.place(h)
	pos := f.find(i, tag)
	if pos == none {
		if pos = f.find(f.partner(i, tag), tag); pos == none {
			return false
		}
	}
	f.set(pos, 0)
	f.count--
	return true
}

// Len is the number of fingerprints stored: adds minus deletes, exactly.
func (f *Filter) Len() uint64 { return f.count }

// Config is the geometry the filter was made with.
func (f *Filter) Config() Config { return f.cfg }

// SizeBits is the size of the table: buckets x slots x fingerprint bits. The list of
// partners that short fingerprints have besides, of 4 x 2^f bytes and at most a
// sixteenth of the table, is not counted: it saves time and holds nothing of the
// keys.
func (f *Filter) SizeBits() uint64 { return f.cfg.Bits() }

// TestAndAdd stores another copy of h and reports whether Contains(h) was true
// before. On ErrFull nothing has changed.
func (f *Filter) TestAndAdd(h uint64) (present bool, err error) {
	present = f.Contains(h)
	return present, f.Add(h)
}

// Count returns the number of stored fingerprints that answer for h: at most so
// many copies of h were stored. The ceiling is 2 x SlotsPerBucket copies, and it
// is exact there too (Add refuses the next), so saturated is always false.
func (f *Filter) Count(h uint64) (n uint64, saturated bool) {
	i, tag := f.place(h)
	return f.matches(i, tag) + f.matches(f.partner(i, tag), tag), false
}

// matches counts the slots of a bucket that hold tag.
func (f *Filter) matches(bucket, tag uint64) (n uint64) {
	lows := f.ones * (f.tags >> 1) // all bits of a slot but the highest
	pos := bucket * f.width
	for end := pos + f.width; pos < end; pos += f.span {
		x := f.load(pos) ^ tag*f.ones
		// No carry leaves a slot here, so every mark is right, unlike in zeros.
		n += uint64(bits.OnesCount64(^((x&lows + lows) | x) & f.highs))
	}
	return n
}

// Reset empties the filter and keeps its memory.
func (f *Filter) Reset() {
	clear(f.table)
	f.count = 0
}

// FillRatio is the load: the share of slots taken.
func (f *Filter) FillRatio() float64 { return float64(f.count) / float64(f.cfg.Slots()) }

// EstimatedN is the number of copies stored, which is kept exactly.
func (f *Filter) EstimatedN() float64 { return float64(f.count) }
