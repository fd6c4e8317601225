package contest

import (
	"filterlab/experiments/workload"
	"filterlab/filters"
	"filterlab/hashing"
)

// Where keys are hashed beforehand, contenders are asked for 64 random bits a key,
// hashed by xxh3, as in the other experiments.
const (
	keySet   = "random"
	hashName = "xxh3"
)

// chunk is how many hashes are made at a time where they are not kept.
const chunk = 1 << 18

// keySource makes the hashes of members and of absent keys.
type keySource struct {
	src  workload.Source
	hash hashing.Hash
}

func openKeys(set, hash string, seed, hashSeed uint64) (keySource, error) {
	kind, err := workload.ByName(set)
	if err != nil {
		return keySource{}, err
	}
	e, err := hashing.ByName(hash)
	if err != nil {
		return keySource{}, err
	}
	return keySource{kind.New(seed), e.New(hashSeed)}, nil
}

// members fills dst with the hashes of members from number first on.
func (k keySource) members(dst []uint64, first uint64) error {
	return workload.HashMembers(dst, k.hash, k.src, first)
}

func (k keySource) absent(dst []uint64, first uint64) error {
	return workload.HashAbsent(dst, k.hash, k.src, first)
}

// each calls f with the first n members, a chunk at a time.
func (k keySource) each(n uint64, f func(hs []uint64) error) error {
	buf := make([]uint64, min(n, chunk))
	for first := uint64(0); first < n; first += uint64(len(buf)) {
		hs := buf[:min(uint64(len(buf)), n-first)]
		if err := k.members(hs, first); err != nil {
			return err
		}
		if err := f(hs); err != nil {
			return err
		}
	}
	return nil
}

// fill builds the filter of v for t with the t.N first members. A dynamic filter
// gets them a chunk at a time, so that no more than a chunk is kept.
func (k keySource) fill(v filters.Variant, t filters.Target) (filters.Querier, error) {
	maker, ok := v.(filters.Maker)
	if !ok {
		hs := make([]uint64, t.N)
		if err := k.members(hs, 0); err != nil {
			return nil, err
		}
		return v.Build(t, hs)
	}
	f, err := maker.New(t)
	if err != nil {
		return nil, err
	}
	return f, k.each(t.N, func(hs []uint64) error {
		_, err := filters.AddMany(f, hs)
		return err
	})
}
