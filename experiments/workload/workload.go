// Package workload makes the keys that experiments run on: sets of members and
// of non-members that cannot overlap, and the order in which they are asked for.
//
// # Disjoint by construction
//
// A generated set is a one-to-one function from counters to keys. The counters
// 2i and 2i+1 are a pair; a coin thrown for the pair makes one of them member i,
// the other non-member i. Since every counter has one owner and every counter its
// own key, all members and non-members are distinct, however many are drawn, and
// nothing need be stored or checked to know it. The coin keeps the last bit of
// the counter from telling members and non-members apart, which a weak hash would
// turn into a rate that is too good.
//
// A member that is not stored in a filter is as absent as any non-member.
//
// Keys read from files have no such construction; there duplicates and overlaps
// are found by comparing, removed and reported.
//
// # Deterministic
//
// Every key is a function of the kind, the seed and its index alone, every query
// order one of its parameters and its seed.
package workload

import (
	"fmt"
	"strconv"
	"strings"

	"filterlab/filters"
)

// Source is one set of keys: distinct members, and distinct non-members none of
// which is a member. Its methods are safe for concurrent use and allocate nothing
// while dst has room.
type Source interface {
	// Name is what the set is called in tables: "sequential", "file:words.txt".
	Name() string

	// Members and Absent are how many members and non-members there are.
	Members() uint64
	Absent() uint64

	// AppendMember appends member i to dst, 0 <= i < Members(), and AppendAbsent
	// non-member i, 0 <= i < Absent(). A larger i is misuse: what it appends is not
	// defined, and file sets panic.
	AppendMember(dst []byte, i uint64) []byte
	AppendAbsent(dst []byte, i uint64) []byte
}

// Kind is a family of sets, one for each seed.
type Kind struct {
	Name string
	Doc  string // one line: what the keys look like, and what they test
	New  func(seed uint64) Source
}

// All lists the kinds of generated keys. The slice belongs to the caller. Keys
// from files are a kind too: see [Files].
func All() []Kind {
	kinds := make([]Kind, 0, 16)
	for _, g := range generators() {
		kinds = append(kinds, Kind{g.name, g.doc, func(seed uint64) Source {
			return &generated{name: g.name, pairs: g.counters / 2, coin: mix(seed ^ coinSalt), write: g.open(seed)}
		}})
	}
	return kinds
}

// ByName returns the kind with the given name, in whatever case. The error for an
// unknown name lists the known ones.
func ByName(name string) (Kind, error) {
	kinds := All()
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if strings.EqualFold(k.Name, name) {
			return k, nil
		}
		names[i] = k.Name
	}
	return Kind{}, filters.Refuse("keys", strconv.Quote(name), filters.OneOf(name, names))
}

// HashMembers sets dst[j] to the hash of member first+j, for all of dst. Keys are
// made and hashed a few hundred at a time, so that memory does not grow with the
// number of keys; a call allocates a constant amount. It refuses to give more
// members than there are.
func HashMembers(dst []uint64, h filters.Hasher, s Source, first uint64) error {
	if err := enough("members", s, first, uint64(len(dst)), s.Members()); err != nil {
		return err
	}
	hashAll(dst, h, first, s.AppendMember)
	return nil
}

// HashAbsent is HashMembers for the non-members.
func HashAbsent(dst []uint64, h filters.Hasher, s Source, first uint64) error {
	if err := enough("non-members", s, first, uint64(len(dst)), s.Absent()); err != nil {
		return err
	}
	hashAll(dst, h, first, s.AppendAbsent)
	return nil
}

// enough refuses a range of keys that a set does not have.
func enough(what string, s Source, first, n, have uint64) error {
	if first > have || n > have-first {
		return filters.Refuse(fmt.Sprintf("%s of %s", what, s.Name()), fmt.Sprintf("%d from number %d", n, first),
			fmt.Sprintf("at most %d distinct keys", have))
	}
	return nil
}

func hashAll(dst []uint64, h filters.Hasher, first uint64, key func([]byte, uint64) []byte) {
	const chunk = 256
	keys := newKeys(0, min(chunk, len(dst)))
	slices := make([][]byte, 0, chunk)
	for len(dst) > 0 {
		n := min(chunk, len(dst))
		keys.fill(first, n, key)
		h.SumMany(dst, keys.slices(slices[:0], 0, n))
		dst, first = dst[n:], first+uint64(n)
	}
}
