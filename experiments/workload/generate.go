package workload

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strconv"
)

// generator is a one-to-one function from the counters below its limit to keys.
type generator struct {
	name, doc string
	counters  uint64 // how many counters have keys; even
	open      func(seed uint64) func(dst []byte, c uint64) []byte
}

// all is the number of counters of generators that take nearly any: 2^63, so that
// a caller's sums of a few counts do not overflow.
const all = 1 << 63

// coinSalt keeps the coins of a seed apart from its keys.
const coinSalt = 0x636f696e73616c74

// strideBytes is the distance of strided keys: a page.
const strideBytes = 4096

// generators lists the kinds. Adding one is one entry here.
func generators() []generator {
	unseeded := func(f func(dst []byte, c uint64) []byte) func(uint64) func([]byte, uint64) []byte {
		return func(uint64) func([]byte, uint64) []byte { return f }
	}
	return []generator{
		{"random", "8 random bytes: what a good hash would make of any key", all, openRandom},
		{"random32", "32 random bytes, like digests", all, openRandom32},
		{"sequential", "integers that count up, as 8 little-endian bytes: row numbers", all, unseeded(appendSequential)},
		{"sequentialbe", "integers that count up, as 8 big-endian bytes: sorted row numbers", all, unseeded(appendSequentialBE)},
		{"decimal", "integers that count up, in decimal digits", all, unseeded(appendDecimal)},
		{"strided", "multiples of 4096, as 8 little-endian bytes: addresses of pages", all / strideBytes, unseeded(appendStrided)},
		{"bitreversed", "integers that count up with their bits reversed, as 8 little-endian bytes: only the top bits vary", all, unseeded(appendBitReversed)},
		{"onebit", "a Gray code, as 8 little-endian bytes: every non-member is one bit away from a member", all, unseeded(appendOneBit)},
		{"lastbytes", "40 equal bytes, then an integer that counts up in 8 big-endian bytes: long keys that differ at the end", all, unseeded(appendLastBytes)},
		{"zeroheavy", "an integer that counts up, each of its bytes the low one of a field of 8 little-endian bytes: 64 bytes, nearly all zero", all, unseeded(appendZeroHeavy)},
		{"ipv4", "IPv4 addresses in random order, mapped to 16 bytes of IPv6: 32 bits vary, 96 do not", 1 << 32, openIPv4},
		{"uuid", "UUIDs of version 4, random but for 6 bits, as 16 bytes", all, openUUID},
		{"uuidtext", "the same written out, 36 characters", all, openUUIDText},
		{"urls", "addresses of pages: few hosts, words in the path, an article number that counts up; 62 bytes on average", all, openURLs},
		{"threeletter", "the 17,576 words of three lower-case letters, in random order: the teaching experiment", threeLetterWords, openThreeLetter},
	}
}

// generated is a Source made by a generator.
type generated struct {
	name  string
	pairs uint64
	coin  uint64
	write func(dst []byte, c uint64) []byte
}

func (s *generated) Name() string    { return s.name }
func (s *generated) Members() uint64 { return s.pairs }
func (s *generated) Absent() uint64  { return s.pairs }

func (s *generated) AppendMember(dst []byte, i uint64) []byte {
	return s.write(dst, 2*i+s.toss(i))
}

func (s *generated) AppendAbsent(dst []byte, i uint64) []byte {
	return s.write(dst, 2*i+(1-s.toss(i)))
}

// toss is the coin of pair i: 0 or 1.
func (s *generated) toss(i uint64) uint64 { return mix(i*gamma+s.coin) >> 63 }

func openRandom(seed uint64) func([]byte, uint64) []byte {
	start := mix(seed)
	// One-to-one: adding, an odd factor and mix are bijections.
	return func(dst []byte, c uint64) []byte {
		return binary.LittleEndian.AppendUint64(dst, mix((c+start)*gamma))
	}
}

func openRandom32(seed uint64) func([]byte, uint64) []byte {
	first := openRandom(seed)
	return func(dst []byte, c uint64) []byte {
		at := len(dst)
		dst = first(dst, c) // these 8 bytes tell the counters apart
		r := rng(binary.LittleEndian.Uint64(dst[at:]))
		for range 3 {
			dst = binary.LittleEndian.AppendUint64(dst, r.next())
		}
		return dst
	}
}

func appendSequential(dst []byte, c uint64) []byte {
	return binary.LittleEndian.AppendUint64(dst, c)
}

func appendSequentialBE(dst []byte, c uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, c)
}

func appendDecimal(dst []byte, c uint64) []byte { return strconv.AppendUint(dst, c, 10) }

func appendStrided(dst []byte, c uint64) []byte {
	return binary.LittleEndian.AppendUint64(dst, c*strideBytes)
}

func appendBitReversed(dst []byte, c uint64) []byte {
	return binary.LittleEndian.AppendUint64(dst, bits.Reverse64(c))
}

// appendOneBit writes the reflected binary Gray code: the codes of 2i and 2i+1
// differ in the lowest bit alone.
func appendOneBit(dst []byte, c uint64) []byte {
	return binary.LittleEndian.AppendUint64(dst, c^c>>1)
}

func appendLastBytes(dst []byte, c uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, "tenant/00000000/bucket/00000000/object/0"...), c)
}

// appendZeroHeavy is a record of eight numeric fields, all small.
func appendZeroHeavy(dst []byte, c uint64) []byte {
	for i := range 8 {
		dst = binary.LittleEndian.AppendUint64(dst, c>>(8*i)&0xff)
	}
	return dst
}

// openIPv4 writes ::ffff:a.b.c.d (RFC 4291, section 2.5.5.2).
func openIPv4(seed uint64) func([]byte, uint64) []byte {
	order := newPermutation(1<<32, seed)
	return func(dst []byte, c uint64) []byte {
		dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
		return binary.BigEndian.AppendUint32(dst, uint32(order.at(c)))
	}
}

// uuid sets the version and the variant between 122 random bits (RFC 9562, section
// 5.4), 64 of which tell the counters apart.
func uuid(start, c uint64) (hi, lo uint64) {
	x := mix((c + start) * gamma)
	r := rng(x)
	hi = x>>16<<16 | 4<<12 | x&0xfff
	lo = 0b10<<62 | x>>12&0xf<<58 | r.next()>>6
	return hi, lo
}

func openUUID(seed uint64) func([]byte, uint64) []byte {
	start := mix(seed)
	return func(dst []byte, c uint64) []byte {
		hi, lo := uuid(start, c)
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, hi), lo)
	}
}

func openUUIDText(seed uint64) func([]byte, uint64) []byte {
	start := mix(seed)
	return func(dst []byte, c uint64) []byte {
		var raw [16]byte
		hi, lo := uuid(start, c)
		binary.BigEndian.PutUint64(raw[:], hi)
		binary.BigEndian.PutUint64(raw[8:], lo)
		from := 0
		for _, to := range [5]int{4, 6, 8, 10, 16} {
			if from > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, raw[from:to])
			from = to
		}
		return dst
	}
}

func openURLs(seed uint64) func([]byte, uint64) []byte {
	hosts := [16]string{"shop", "news", "blog", "data", "media", "city", "green", "north", "open", "daily", "world", "home", "cloud", "sport", "book", "tech"}
	words := [64]string{
		"about", "account", "album", "archive", "article", "best", "blue", "camera", "cheap", "children", "city", "coffee", "compare", "cookbook", "design", "easy",
		"family", "fast", "garden", "guide", "help", "history", "holiday", "house", "how", "image", "island", "kitchen", "large", "latest", "learn", "light",
		"list", "market", "mobile", "modern", "mountain", "music", "new", "notes", "online", "paper", "people", "photo", "plan", "price", "project", "recipe",
		"report", "review", "river", "school", "science", "season", "small", "story", "summer", "table", "test", "travel", "video", "water", "winter", "year",
	}
	tlds := [8]string{".com", ".com", ".com", ".org", ".net", ".de", ".co.uk", ".info"}
	sections := [8]string{"/", "/en/", "/articles/", "/products/", "/blog/2019/", "/blog/2023/", "/wiki/", "/category/"}
	start := mix(seed)
	return func(dst []byte, c uint64) []byte {
		r := rng(mix(c*gamma + start))
		x := r.next()
		take := func(bits uint) uint64 { v := x & (1<<bits - 1); x >>= bits; return v }

		if take(2) == 0 {
			dst = append(dst, "http://"...)
		} else {
			dst = append(dst, "https://www."...)
		}
		// The square of a uniform number favours small ones: a quarter of the pages are
		// on a sixteenth of the 4,096 hosts.
		u := take(16)
		host := u * u >> 20
		dst = append(dst, hosts[host&15]...)
		dst = append(dst, hosts[host>>4&15]...)
		dst = strconv.AppendUint(dst, host>>8, 10)
		dst = append(dst, tlds[host%8]...)
		dst = append(dst, sections[take(3)]...)
		for range 2 + take(2) {
			dst = append(dst, words[take(6)]...)
			dst = append(dst, '-')
		}
		// The digits behind the last '-' are the counter: no two addresses are equal.
		dst = strconv.AppendUint(dst, c, 10)
		if take(2) == 0 {
			dst = append(dst, "?page="...)
			dst = strconv.AppendUint(dst, 1+take(4), 10)
		}
		return dst
	}
}

// threeLetterWords is 26^3.
const threeLetterWords = 26 * 26 * 26

func openThreeLetter(seed uint64) func([]byte, uint64) []byte {
	order := newPermutation(threeLetterWords, seed)
	return func(dst []byte, c uint64) []byte {
		w := order.at(c)
		return append(dst, byte('a'+w/(26*26)), byte('a'+w/26%26), byte('a'+w%26))
	}
}
