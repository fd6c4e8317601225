package filters

import (
	"fmt"
	"io"
)

// Hasher turns byte strings into the 64-bit hashes that filters take. It is
// declared here and satisfied by hashing.Hash, so that filters depend on no hash
// library.
type Hasher interface {
	Name() string                        // the name it is listed under: "xxhash64"
	Seed() uint64                        // the seed it was made with
	Sum64(key []byte) uint64             // hash of one key; nil and empty are the same key
	SumMany(dst []uint64, keys [][]byte) // dst[i] = Sum64(keys[i]); dst at least as long as keys
}

// Keyed ties a filter to the hash its keys go through. It is what is saved,
// opened and merged by callers that have byte strings.
type Keyed struct {
	Filter Querier
	Hash   Hasher
}

// Contains reports whether key may have been added.
func (k Keyed) Contains(key []byte) bool { return k.Filter.Contains(k.Hash.Sum64(key)) }

// Add stores key. A filter that cannot grow is refused with a ParamError.
func (k Keyed) Add(key []byte) error {
	f, ok := k.Filter.(Filter)
	if !ok {
		return Refuse("filter", fmt.Sprintf("%T", k.Filter), "a filter that takes keys one by one (this one is static)")
	}
	return f.Add(k.Hash.Sum64(key))
}

// Merge adds all that other holds, after comparing the hash functions and seeds
// that the filters themselves cannot compare.
func (k Keyed) Merge(other Keyed) error {
	if a, b := k.Hash.Name(), other.Hash.Name(); a != b {
		return Differ("hash", a, b)
	}
	if a, b := k.Hash.Seed(), other.Hash.Seed(); a != b {
		return Differ("seed", a, b)
	}
	m, ok := k.Filter.(Merger)
	if !ok {
		return Differ("type", fmt.Sprintf("%T, which cannot merge,", k.Filter), fmt.Sprintf("%T", other.Filter))
	}
	f, ok := other.Filter.(Filter)
	if !ok {
		return Differ("type", fmt.Sprintf("%T", k.Filter), fmt.Sprintf("%T, which is static,", other.Filter))
	}
	return m.Merge(f)
}

// WriteTo writes the filter as a file that names the hash and holds its seed, in
// the clear: a secret seed is no secret to whoever can read the file. A hash that
// is another function in every process (one whose method Reproducible answers
// false, as that of maphash) is refused: a filter read back would have lost all
// its keys.
func (k Keyed) WriteTo(w io.Writer) (n int64, err error) {
	if r, ok := k.Hash.(interface{ Reproducible() bool }); ok && !r.Reproducible() {
		return 0, Refuse("hash", k.Hash.Name(), "a hash that gives the same digests in every process, so that the saved filter finds its keys")
	}
	if k.Hash.Name() == "" {
		return 0, Refuse("hash", `""`, "a hash with a name")
	}
	s, ok := k.Filter.(Saver)
	if !ok {
		return 0, Refuse("filter", fmt.Sprintf("%T", k.Filter), "a filter that can be saved")
	}
	return s.WriteHashed(w, k.Hash)
}
