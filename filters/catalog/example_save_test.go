package catalog_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"filterlab/filters"
	"filterlab/filters/catalog"
)

// fnv1a is a hash with a name and a seed. Package hashing has better ones.
type fnv1a struct{}

func (fnv1a) Name() string { return "fnv1a" }
func (fnv1a) Seed() uint64 { return 0 }
func (fnv1a) Sum64(key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key) // never fails
	return h.Sum64()
}
func (f fnv1a) SumMany(dst []uint64, keys [][]byte) {
	for i, key := range keys {
		dst[i] = f.Sum64(key)
	}
}

// A filter is filled, saved together with the name of its hash, and asked where it
// lies on disk. The file is written beside its place and renamed, so that nobody
// ever opens half of one.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "filters")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // only the example's own files
	path := filepath.Join(dir, "animals.filter")
	if err := saveAnimals(path); err != nil {
		fmt.Println(err)
		return
	}

	f, err := catalog.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }() // nothing was written
	info := f.Info()
	fmt.Println(info.Variant, info.Geometry[0].Name, info.Geometry[0], "hash", info.Hash)
	if err := info.CheckHash(fnv1a{}); err != nil {
		fmt.Println(err)
		return
	}
	k := filters.Keyed{Filter: f, Hash: fnv1a{}}
	fmt.Println(k.Contains([]byte("bee")), k.Contains([]byte("dog")))
	fmt.Println(f.Verify())
	// Output:
	// blocked(512,k=5) blocks 20 hash fnv1a
	// true false
	// <nil>
}

func saveAnimals(path string) error {
	v, err := catalog.Parse("blocked")
	if err != nil {
		return err
	}
	q, err := v.Build(filters.Target{N: 1000, P: 0.01}, nil)
	if err != nil {
		return err
	}
	k := filters.Keyed{Filter: q, Hash: fnv1a{}}
	for _, key := range []string{"ant", "bee", "cat"} {
		if err := k.Add([]byte(key)); err != nil {
			return err
		}
	}
	file, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	if _, err = k.WriteTo(file); err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
