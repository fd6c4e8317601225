package experiments

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"filterlab/experiments/units"
	"filterlab/experiments/workload"
	"filterlab/filters"
	"filterlab/hashing"
)

// Zipf is the name of the key set whose absent keys are asked for by a Zipf law,
// as popular URLs are, instead of once each. The keys themselves are random.
const Zipf = "zipf"

// filePrefix begins the names of key sets that come from a file.
const filePrefix = "file:"

const (
	zipfExponent = 0.8     // web requests have 0.6 to 1 (Breslau et al., INFOCOM 1999)
	zipfKeys     = 100_000 // distinct absent keys
	zipfBlock    = 1 << 14 // queries drawn at a time
)

// FileKeys are keys from a file in place of the key sets of a grid.
type FileKeys struct {
	kind    workload.Kind
	reports []workload.FileReport
	sum     string // of the bytes of both files
	members uint64
}

// OpenKeys reads the members from one file and the absent keys from another, one
// a line. Without queries half of the keys are held out, another half for each
// seed.
func OpenKeys(keys, queries string, seed uint64) (*FileKeys, error) {
	kind, reports, err := workload.Files(keys, queries)
	if err != nil {
		return nil, err
	}
	f := &FileKeys{kind: kind, reports: reports, members: kind.New(seed).Members()}
	h := sha256.New()
	for _, path := range []string{keys, queries} {
		if path == "" {
			continue
		}
		r, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(h, r)
		r.Close()
		if err != nil {
			return nil, err
		}
	}
	f.sum = fmt.Sprintf("%x", h.Sum(nil)[:8])
	return f, nil
}

// Report tells what became of the lines of the files, one a line.
func (f *FileKeys) Report() string {
	var lines []string
	for _, r := range f.reports {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, "\n")
}

// identity distinguishes the content of the files from any other.
func (f *FileKeys) identity() string {
	if f == nil {
		return ""
	}
	return f.kind.Name + " " + f.sum
}

// overrides puts the file in the place of the key sets, and as many of its
// members as the largest load of the grid allows, but with ownN no more than the
// grid has, in the place of n where the caller has not said how many.
func (f *FileKeys) overrides(g *Grid, ownN bool, given []Override) []Override {
	axes := map[string][]string{}
	for _, a := range g.Axes {
		axes[a.Name] = a.Values
	}
	// What a mark asks to be done with the keys is done with those of the file.
	var names []string
	for _, s := range axes["keysets"] {
		if _, mark := unmark(s); !slices.Contains(names, f.kind.Name+mark) {
			names = append(names, f.kind.Name+mark)
		}
	}
	out := []Override{{"keysets", names}}
	for _, o := range given {
		if o.Axis == "n" {
			return out
		}
		axes[o.Axis] = o.Values
	}
	if axes["n"] == nil {
		return out
	}
	load := 1.0
	for _, s := range axes["load"] {
		if x, err := parsePositive("load", s); err == nil {
			load = max(load, x)
		}
	}
	n := max(uint64(float64(f.members)/load), 1)
	if ownN {
		most := uint64(0)
		for _, s := range axes["n"] {
			if x, err := units.ParseCount(s); err == nil {
				most = max(most, x)
			}
		}
		n = min(n, most)
	}
	return append(out, Override{"n", []string{strconv.FormatUint(n, 10)}})
}

// pointKeys are the hashed keys of one round at one point.
type pointKeys struct {
	seed        uint64
	members     []uint64
	absent      func(dst []uint64) // fills dst with the following absent hashes
	absentLimit uint64             // how many there are
	repeat      float64            // sum of the squared shares of the distinct absent keys; 0 where none comes twice
}

// source opens the key set of a point.
func (l *Lab) source(p *Point, seed uint64) (workload.Source, error) {
	name := p.Keys
	if name == Zipf {
		name = "random"
	}
	if l.Files != nil {
		if set, _ := unmark(name); name == l.Files.kind.Name || set == l.Files.kind.Name {
			return l.Files.kind.New(seed), nil
		}
	}
	kind, err := keyKind(name)
	if err != nil {
		return nil, err
	}
	return kind.New(seed), nil
}

// keys makes and hashes the members of a point, and opens its absent keys. Hash
// and key set take the same seed, which is the round's own.
func (l *Lab) keys(p *Point, round int) (*pointKeys, error) {
	return l.someKeys(p, round, p.Inserted())
}

// absentKeys is keys without the members.
func (l *Lab) absentKeys(p *Point, round int) (*pointKeys, error) { return l.someKeys(p, round, 0) }

// someKeys is keys with another number of members.
func (l *Lab) someKeys(p *Point, round int, n uint64) (*pointKeys, error) {
	k := &pointKeys{seed: l.seed(p, round)}
	e, err := hashing.ByName(p.Hash)
	if err != nil {
		return nil, err
	}
	h := newHash(e, k.seed)
	src, err := l.source(p, k.seed)
	if err != nil {
		return nil, err
	}
	if n > src.Members() {
		return nil, filters.Refuse("keys: inserted", n, fmt.Sprintf("at most the %d members that %s has", src.Members(), src.Name()))
	}
	k.members = make([]uint64, n)
	if err := workload.HashMembers(k.members, h, src, 0); err != nil {
		return nil, err
	}
	var done uint64
	k.absentLimit = src.Absent()
	k.absent = func(dst []uint64) {
		// The caller stays below absentLimit. One that does not would take what is in
		// dst for hashes of absent keys: a bug, which must not become a rate.
		if err := workload.HashAbsent(dst, h, src, done); err != nil {
			panic(err)
		}
		done += uint64(len(dst))
	}
	if p.Keys == Zipf {
		k.zipf(h, src)
	}
	return k, nil
}

// newHash makes the hash of a round. The tutorial's function has no seed, and its
// three values stand side by side only without one. That of LevelDB has one seed in
// all products. With these the key set alone varies.
func newHash(e hashing.Entry, seed uint64) hashing.Hash {
	if e.Name == "poly" || e.Name == "leveldb" {
		seed = 0
	}
	return e.New(seed)
}

// zipf lets the absent keys be asked for by popularity.
func (k *pointKeys) zipf(h hashing.Hash, src workload.Source) {
	k.repeat = zipfRepeat
	k.absentLimit = unlimited
	var key []byte
	var refs []workload.Ref
	block := k.seed
	k.absent = func(dst []uint64) {
		for i := range dst {
			if len(refs) == 0 {
				block++
				// All parameters are in range, so there is nothing to refuse.
				refs, _ = workload.Mix{Queries: zipfBlock, Zipf: zipfExponent}.Draw(1, zipfKeys, block)
			}
			key = src.AppendAbsent(key[:0], refs[0].Index())
			dst[i] = h.Sum64(key)
			refs = refs[1:]
		}
	}
}

// zipfRepeat is the sum of the squared shares under the law above: the sum over
// ranks of r^(-2 zipfExponent) over the square of the sum of r^(-zipfExponent).
// TestZipfRepeat computes it.
const zipfRepeat = 0.00110027086

// byteKeys are up to 4096 members of a point, before hashing: enough to be past
// what a branch predictor remembers, and few enough to stay in the cache, so that
// the hash is timed and not the memory.
func (l *Lab) byteKeys(p *Point) ([][]byte, error) {
	src, err := l.source(p, l.seed(p, 0))
	if err != nil {
		return nil, err
	}
	keys, err := workload.Members(src, 0, min(4096, src.Members()))
	if err != nil {
		return nil, err
	}
	return keys.Slices(), nil
}

// holdKeys is the number of members above which they are made a part at a time, each
// time that they are needed, and not held: 1.6 GB of hashes.
const holdKeys = 200_000_000

// held reports whether the members of a point are kept in memory.
func (l *Lab) held(p *Point) bool { return p.Inserted() <= l.holdLimit() }

func (l *Lab) holdLimit() uint64 {
	if l.hold > 0 {
		return l.hold
	}
	return holdKeys
}

// partKeys is how many members are made at a time where they are not held: 8 MiB.
const partKeys = 1 << 20

// memberStream makes and hashes the members of a round of a point, those that keys
// would hold, in parts and in order.
type memberStream struct {
	hash hashing.Hash
	src  workload.Source
	n    uint64
	seed uint64
	part []uint64 // as long as every part but the last
}

// members opens the members of a round.
func (l *Lab) members(p *Point, round int) (*memberStream, error) {
	seed := l.seed(p, round)
	e, err := hashing.ByName(p.Hash)
	if err != nil {
		return nil, err
	}
	src, err := l.source(p, seed)
	if err != nil {
		return nil, err
	}
	n := p.Inserted()
	if n > src.Members() {
		return nil, filters.Refuse("keys: inserted", n, fmt.Sprintf("at most the %d members that %s has", src.Members(), src.Name()))
	}
	return &memberStream{newHash(e, seed), src, n, seed, make([]uint64, min(n, partKeys, l.holdLimit()))}, nil
}

// parts is the number of parts.
func (s *memberStream) parts() int {
	size := uint64(len(s.part))
	return int((s.n + size - 1) / size)
}

// at is part i, valid until the next call.
func (s *memberStream) at(i int) ([]uint64, error) {
	first := uint64(i) * uint64(len(s.part))
	part := s.part[:min(uint64(len(s.part)), s.n-first)]
	return part, workload.HashMembers(part, s.hash, s.src, first)
}

// sample is size members spread evenly over all of them, one at random from each of
// size stretches, in order.
func (s *memberStream) sample(size int) ([]uint64, error) {
	size = int(min(uint64(size), s.n))
	rng := rand.New(rand.NewPCG(s.seed, 1))
	out := make([]uint64, size)
	for i := range out {
		from, to := uint64(i)*s.n/uint64(size), uint64(i+1)*s.n/uint64(size) // 2^22 * 2^40 at most
		if err := workload.HashMembers(out[i:i+1], s.hash, s.src, from+rng.Uint64N(to-from)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stream hands the members of a round of a point to use, a part at a time. It must
// not keep them.
func (l *Lab) stream(ctx context.Context, p *Point, round int, use func(hs []uint64) error) error {
	s, err := l.members(p, round)
	if err != nil {
		return err
	}
	for i := range s.parts() {
		if err := ctx.Err(); err != nil {
			return err
		}
		part, err := s.at(i)
		if err != nil {
			return err
		}
		if err := use(part); err != nil {
			return err
		}
	}
	return nil
}
