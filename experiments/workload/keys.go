package workload

import (
	"fmt"
	"hash/maphash"
	"math/bits"

	"filterlab/filters"
)

// Keys holds many keys in two allocations: their bytes one after the other, and
// where each ends. It costs 8 bytes a key beyond its own.
type Keys struct {
	data []byte
	ends []uint64
}

func newKeys(bytes, keys int) *Keys {
	return &Keys{make([]byte, 0, bytes), make([]uint64, 0, keys)}
}

// NewKeys makes a list of the given keys, copying their bytes.
func NewKeys(keys ...[]byte) *Keys {
	k := newKeys(0, len(keys))
	for _, key := range keys {
		k.data = append(k.data, key...)
		k.end()
	}
	return k
}

// Members makes n members of s in memory, from member first on. It refuses to
// give more than there are.
func Members(s Source, first, n uint64) (*Keys, error) {
	return collect("members", s, first, n, s.Members(), s.AppendMember)
}

// Absent is Members for the non-members.
func Absent(s Source, first, n uint64) (*Keys, error) {
	return collect("non-members", s, first, n, s.Absent(), s.AppendAbsent)
}

func collect(what string, s Source, first, n, have uint64, key func([]byte, uint64) []byte) (*Keys, error) {
	if err := enough(what, s, first, n, have); err != nil {
		return nil, err
	}
	// A slice of more entries cannot be addressed, so that make would panic.
	if n > maxKeys {
		return nil, filters.Refuse("keys in memory", n, fmt.Sprintf("at most %d on this machine", uint64(maxKeys)))
	}
	k := newKeys(0, int(n))
	k.fill(first, int(n), key)
	return k, nil
}

// maxKeys keeps the list of ends below 2^31 bytes on 32-bit machines and below
// 2^43 bytes, more than there is, on others.
const maxKeys = 1<<(27+13*(bits.UintSize/64)) - 1

// fill replaces the content by n keys.
func (k *Keys) fill(first uint64, n int, key func([]byte, uint64) []byte) {
	k.data, k.ends = k.data[:0], k.ends[:0]
	for i := range uint64(n) {
		k.data = key(k.data, first+i)
		k.end()
	}
}

// end closes the key whose bytes were appended last.
func (k *Keys) end() { k.ends = append(k.ends, uint64(len(k.data))) }

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.ends) }

// At returns key i, a view into the list: it must not be written to. Appending to
// it copies.
func (k *Keys) At(i int) []byte {
	var from uint64
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.data[from:k.ends[i]:k.ends[i]]
}

// Slices returns all keys as views, for batch functions. It costs a slice header
// (24 bytes) a key.
func (k *Keys) Slices() [][]byte { return k.slices(make([][]byte, 0, k.Len()), 0, k.Len()) }

// slices appends n keys from key first on to dst.
func (k *Keys) slices(dst [][]byte, first, n int) [][]byte {
	for i := first; i < first+n; i++ {
		dst = append(dst, k.At(i))
	}
	return dst
}

// Report is what Verify found.
type Report struct {
	Members, Absent  uint64 // keys compared
	DuplicateMembers uint64 // members equal to an earlier member
	DuplicateAbsent  uint64 // non-members equal to an earlier non-member
	Overlap          uint64 // non-members equal to a member
}

// Err is nil when all keys are distinct and no non-member is a member. A rate
// measured on other keys means nothing.
func (r Report) Err() error {
	if r.DuplicateMembers+r.DuplicateAbsent+r.Overlap == 0 {
		return nil
	}
	return fmt.Errorf("keys are not distinct: %d of %d members and %d of %d non-members are repeated, %d non-members are members",
		r.DuplicateMembers, r.Members, r.DuplicateAbsent, r.Absent, r.Overlap)
}

// Verify compares all keys, byte by byte, and counts those that spoil a
// measurement. It costs about 16 bytes a key for the time it runs.
func Verify(members, absent *Keys) Report {
	r := Report{Members: uint64(members.Len()), Absent: uint64(absent.Len())}
	in := newIndex(members)
	for i := range members.Len() {
		if !in.add(i) {
			r.DuplicateMembers++
		}
	}
	out := newIndex(absent)
	for i := range absent.Len() {
		if !out.add(i) {
			r.DuplicateAbsent++
		}
		if in.has(absent.At(i)) {
			r.Overlap++
		}
	}
	return r
}

// index finds keys of a list by content: an open-addressing table of key numbers.
// A map of strings would copy every key.
type index struct {
	keys  *Keys
	table []uint64 // number of the key + 1, or 0
	used  int
	seed  maphash.Seed // decides where a key is looked for, never what is found
}

func newIndex(keys *Keys) *index {
	x := &index{keys: keys, seed: maphash.MakeSeed()}
	x.table = make([]uint64, tableSize(keys.Len()))
	return x
}

// tableSize is the power of two that holds n keys at a load of a half or less.
func tableSize(n int) int { return 1 << bits.Len(uint(max(8, 2*n))) }

// slot returns the place of key: where it stands, or the free one it would take.
func (x *index) slot(key []byte) int {
	mask := len(x.table) - 1
	i := int(maphash.Bytes(x.seed, key)) & mask
	for x.table[i] != 0 && string(x.keys.At(int(x.table[i]-1))) != string(key) {
		i = (i + 1) & mask
	}
	return i
}

func (x *index) has(key []byte) bool { return x.table[x.slot(key)] != 0 }

// add enters key i of the list and reports whether it is the first of its kind.
func (x *index) add(i int) bool {
	if 2*(x.used+1) > len(x.table) {
		old := x.table
		x.table = make([]uint64, 2*len(old))
		for _, n := range old {
			if n != 0 {
				x.table[x.slot(x.keys.At(int(n-1)))] = n
			}
		}
	}
	s := x.slot(x.keys.At(i))
	if x.table[s] != 0 {
		return false
	}
	x.table[s] = uint64(i) + 1
	x.used++
	return true
}
