package counting

import (
	"filterlab/filters/internal/index"
	"filterlab/filters/internal/prefetch"
)

// large is the table size, in words, from which the batch methods have lines
// fetched ahead, so that they are on their way while other keys are worked on:
// 8 MiB. Below, the larger caches answer so soon that the processor itself hides
// the misses.
const large = 1 << 20

// largeBlocked is large for the blocked layout: 256 KiB. It fetches one line a key,
// which costs little.
const largeBlocked = 1 << 15

// Kernel is "go+prefetch" for tables from 8 MiB on (blocked layout: 256 KiB) where
// the build has the instruction, else "go".
func (f *Filter) Kernel() string {
	if f.ahead {
		return "go+prefetch"
	}
	return "go"
}

// AddMany stores one copy of each of hs. It never fails, so n is always len(hs).
//
// Up to 8 MiB it is a plain loop: stores to different counters overlap by
// themselves. Beyond, the lines of the next keys are fetched while the present
// ones are stored: 1.3 times as fast at 48 MB, 1.2 at 144 (k = 7,
// 4 bits, on a busy machine); at 4.8 MB it would lose a fifth. In the blocked
// layout it looks ahead from 256 KiB on.
func (f *Filter) AddMany(hs []uint64) (n int, err error) {
	if f.lines != nil {
		f.addBlocked(hs)
		return len(hs), nil
	}
	if f.ahead {
		f.addAhead(hs)
		return len(hs), nil
	}
	for _, h := range hs {
		_ = f.Add(h) // never fails
	}
	return len(hs), nil
}

// addAhead is AddMany for large tables.
func (f *Filter) addAhead(hs []uint64) {
	some := lines / f.k // keys at a time, at least 2
	f.fetchKeys(hs[:min(some, len(hs))])
	for len(hs) > 0 {
		part := hs[:min(some, len(hs))]
		hs = hs[len(part):]
		f.fetchKeys(hs[:min(some, len(hs))])
		for _, h := range part {
			_ = f.Add(h) // never fails
		}
	}
}

// blockedChunk is how many keys the batches of the blocked layout fetch ahead:
// enough that their misses overlap, few enough that their lines are still in the
// first cache when they are used.
const blockedChunk = 64

// fetchBlocks has the lines of the first keys, up to a chunk, fetched.
func (f *Filter) fetchBlocks(hs []uint64) {
	var at [blockedChunk]uint64 // the first words of the lines
	hs = hs[:min(len(hs), blockedChunk)]
	blocks := uint64(len(f.lines))
	for i, h := range hs {
		at[i] = index.FastRange(h, blocks) * uint64(len(line{}))
	}
	prefetch.Lines(f.counters.Words(), at[:len(hs)])
}

// addBlocked is AddMany for the blocked layout.
func (f *Filter) addBlocked(hs []uint64) {
	if f.ahead {
		f.fetchBlocks(hs)
	}
	k, within, top, saturated := f.k, f.within, f.counters.Max(), uint64(0)
	for len(hs) > 0 {
		part := hs[:min(len(hs), blockedChunk)]
		hs = hs[len(part):]
		if f.ahead {
			f.fetchBlocks(hs)
		}
		for _, h := range part {
			saturated += raise(f.line(h), h, k, within, top)
		}
	}
	f.saturated += saturated
}

// containsBlocked is ContainsMany for the blocked layout.
func (f *Filter) containsBlocked(dst []bool, hs []uint64) (hits int) {
	if f.ahead {
		f.fetchBlocks(hs)
	}
	k, within, top := f.k, f.within, f.counters.Max()
	for len(hs) > 0 {
		n := min(len(hs), blockedChunk)
		part, out := hs[:n], dst[:n]
		hs, dst = hs[n:], dst[n:]
		if f.ahead {
			f.fetchBlocks(hs)
		}
		for i, h := range part {
			in := hit(f.line(h), h, k, within, top)
			out[i] = in
			hits += one(in)
		}
	}
	return hits
}

// one counts a true answer without a branch.
func one(in bool) int {
	n := 0
	if in {
		n = 1
	}
	return n
}

// lines is how many lines addAhead has on their way: what the first cache and the
// queue of misses take with ease.
const lines = 2 * MaxK

// fetchKeys has all lines of hs fetched, up to lines of them.
func (f *Filter) fetchKeys(hs []uint64) {
	var at [lines]uint64
	n, m, log := 0, f.m, f.logPerWord()
	for _, h := range hs {
		for end := n + f.k; n < end; n++ {
			at[n%lines] = index.FastRange(h, m) >> log
			h *= index.Multiplier
		}
	}
	prefetch.Lines(f.counters.Words(), at[:n])
}

// fetchPairs has the lines of the next two probes of hs, up to a chunk of them,
// fetched.
func (f *Filter) fetchPairs(hs []uint64) {
	var at [2 * chunk]uint64
	hs = hs[:min(chunk, len(hs))]
	m, log := f.m, f.logPerWord()
	for i, h := range hs {
		at[2*i%len(at)] = index.FastRange(h, m) >> log
		at[(2*i+1)%len(at)] = index.FastRange(h*index.Multiplier, m) >> log
	}
	prefetch.Lines(f.counters.Words(), at[:2*len(hs)])
}

// logPerWord is the base-2 logarithm of the counters in a word.
func (f *Filter) logPerWord() uint { return 6 - f.counters.LogWidth() }

// chunk is how many keys ContainsMany keeps in flight; its two arrays take 1,152
// bytes of stack.
const chunk = 128

// ContainsMany sets dst[i] to Contains(hs[i]) and returns how many are true.
//
// It asks a chunk of keys in rounds of two probes and carries on with the keys
// still in question, so that no branch depends on a counter and the loads of
// different keys overlap. With 4 bits and k = 7 absent keys took 7.1 ns in cache
// and 50 at 38 MB, against 9.9 and 61 one by one; present keys, which must be
// followed through all their probes, gain nothing (17.5 and 130 against 12.1 and
// 106).
//
// In large tables the first pairs of the next chunk are fetched while this one is
// tested, and the next pairs of the survivors of a round before the next round:
// 1.0 to 1.1 times as fast for absent keys at 48 and 144 MB, and 1.1 to
// 1.2 for present ones, on a busy machine; at 1.9 MB it would lose a fifth.
//
// In the blocked layout a key is one line, asked without a branch, and the lines
// of the next chunk are fetched from 256 KiB on.
func (f *Filter) ContainsMany(dst []bool, hs []uint64) (hits int) {
	dst = dst[:len(hs)]
	if f.lines != nil {
		return f.containsBlocked(dst, hs)
	}
	const mask = chunk - 1 // tells the compiler what the counts ensure
	var left [chunk]uint64 // hashes still in question, at their next probe
	var from [chunk]uint8  // which keys they are
	if f.ahead {
		f.fetchPairs(hs)
	}
	for len(hs) > 0 {
		n := min(chunk, len(hs))
		if f.ahead {
			f.fetchPairs(hs[n:])
		}
		for i, h := range hs[:n] {
			left[i&mask] = h
			from[i&mask] = uint8(i)
		}
		alive, probes := n, f.k
		for ; probes > 1 && alive > 0; probes -= 2 {
			kept := 0
			for i := range alive {
				h, key := left[i&mask], from[i&mask]
				p := index.FastRange(h, f.m)
				h *= index.Multiplier
				q := index.FastRange(h, f.m)
				left[kept&mask] = h * index.Multiplier
				from[kept&mask] = key
				kept += int(min(f.counters.Get(p), f.counters.Get(q), 1))
			}
			alive = kept
			if f.ahead && probes > 3 { // another pair follows
				f.fetchPairs(left[:alive])
			}
		}
		if probes == 1 {
			kept := 0
			for i := range alive {
				p := index.FastRange(left[i&mask], f.m)
				from[kept&mask] = from[i&mask]
				kept += int(min(f.counters.Get(p), 1))
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
