package cuckoo

// The search for room is breadth first: from the two full buckets of the new key
// to the partner buckets of the fingerprints in them, to the partners of those,
// until a bucket with an empty slot turns up; only then are the fingerprints
// along the way moved, the last one first (as in MemC3, Fan, Andersen, Kaminsky
// 2013, and libcuckoo, Li et al. 2014). So a refused key has changed nothing,
// and there is no random state: the same adds make the same bytes.
//
// The alternative of Fan et al. 2014, a random walk of 500 relocations, here with
// an undo log, was measured and rejected: filling b=4, f=12 to 95% took 1.5 times
// as long at 2^16 slots, 1.2 at 2^22 and 2.1 at 2^25 (its misses come one after
// another, those of a breadth-first search together), and the first refusal came
// earlier: at a load of 0.960 against 0.973 at 2^20 slots (b=2: 0.870 and 0.876,
// b=8: 0.989 and 0.996).

const (
	// nearNodes bounds the first search, farNodes the second, which starts afresh
	// when the first overflows. Two, because Go clears the arrays: 512 bytes for
	// nearly all searches, 10 KiB for one in ten at 95% load.
	nearNodes = 32
	// farNodes full buckets have farNodes x b partners. At the loads that sizing
	// allows, the chance that none of them has an empty slot is below 1e-15 (see
	// loadRuleFor). A refusal costs some microseconds.
	farNodes = 512
)

// node is a full bucket that the search has met.
type node struct {
	bucket uint64
	parent uint16 // index of the node it was reached from
	offset uint16 // bit, within the parent, of the fingerprint that can move here
}

// visited is a hash set of the buckets in the queue, as indices into it plus 1.
// It makes the search exhaustive when few buckets can be reached: in a table of
// up to farNodes buckets, ErrFull means that no arrangement of the fingerprints
// has room for the key.
type visited [2 * farNodes]uint16

// add records that bucket is about to become node n and reports whether it was
// new.
func (v *visited) add(queue []node, bucket uint64, n int) bool {
	x := bucket * golden >> (64 - 10)
	for v[x] != 0 {
		if queue[v[x]-1].bucket == bucket {
			return false
		}
		x = (x + 1) % uint64(len(v))
	}
	v[x] = uint16(n + 1)
	return true
}

// makeRoom frees a slot in bucket i or j, both full, by moving fingerprints to
// their partner buckets. It returns the position of that slot, where the
// fingerprint that moved is yet to be overwritten, or none, having changed
// nothing.
func (f *Filter) makeRoom(i, j uint64) (pos uint64) {
	var queue [nearNodes]node
	pos, overflow := f.search(queue[:], nil, i, j)
	if overflow {
		return f.makeRoomFar(i, j)
	}
	return pos
}

// makeRoomFar is apart so that only the adds that need the large arrays have
// them cleared.
//
//go:noinline
func (f *Filter) makeRoomFar(i, j uint64) (pos uint64) {
	var queue [farNodes]node
	var seen visited
	pos, _ = f.search(queue[:], &seen, i, j)
	return pos
}

// search does the work of makeRoom with the given queue; overflow says that it
// found nothing but had to leave buckets out.
func (f *Filter) search(queue []node, seen *visited, i, j uint64) (pos uint64, overflow bool) {
	// Each root is the other's parent: a fingerprint of i whose partner is j need
	// not be followed, since j is a root too. Copy 2b+1 of a key is refused at
	// once for this reason.
	queue[0] = node{bucket: i, parent: 1}
	queue[1] = node{bucket: j, parent: 0}
	n := 2
	if seen != nil {
		seen.add(queue, i, 0)
		seen.add(queue, j, 1)
	}
	for k := 0; k < n; k++ {
		at, back := queue[k].bucket, queue[queue[k].parent].bucket
		start := at * f.width
		for group := start; group < start+f.width; group += f.span {
			w := f.load(group)
			for pos := group; pos < group+f.span; pos += f.step {
				to := f.partner(at, w&f.tags)
				w >>= f.step & 63
				if to == back {
					continue
				}
				if hole := f.find(to, 0); hole != none {
					return f.shift(queue, k, pos, hole), false
				}
				if n == len(queue) {
					overflow = true
				} else if seen == nil || seen.add(queue, to, n) {
					queue[n] = node{bucket: to, parent: uint16(k), offset: uint16(pos - start)}
					n++
				}
			}
		}
	}
	return none, overflow
}

// shift moves the fingerprint at pos, a slot of node k, into hole, then the one
// that leads to node k into pos, and so on up to a root. It returns the slot of
// the root. A shortest path meets no bucket twice, so no slot moves twice.
func (f *Filter) shift(queue []node, k int, pos, hole uint64) uint64 {
	for {
		f.set(hole, f.get(pos))
		if k < 2 {
			return pos
		}
		hole = pos
		p := queue[k].parent
		pos = queue[p].bucket*f.width + uint64(queue[k].offset)
		k = int(p)
	}
}
