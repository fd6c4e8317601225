// Package cuckoo is the cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher,
// CoNEXT 2014): a hash table that holds a short fingerprint of each key, in one
// of the two buckets that belong to the key. It can forget keys again, and count
// them.
//
//	f, err := cuckoo.Variant{}.New(filters.Target{N: 1e6, P: 0.001})
//
// makes one of 13.5 bits a key. A standard Bloom filter needs 14.4 for that
// rate; at 1% it is the other way round, 10.4 against 9.6. The two are level
// near 0.4%.
//
// # What the knobs do
//
// A lookup compares the key's fingerprint of f bits with the 2b slots of its two
// buckets, so it answers true for an absent key at a rate of about 2b load/2^f:
//
//	f   b   load   rate     bits/key
//	8   4   0.96   2.97%     8.33
//	12  4   0.96   0.187%   12.50
//	16  4   0.96   0.0117%  16.67
//	8   2   0.85   1.32%     9.41   up to 75,000 keys
//	12  8   0.985  0.384%   12.18
//
// One more bit halves the rate. More slots a bucket fill up further and are wrong
// more often; four are the best for most rates. The exact rate is
// [theory.Cuckoo]; tags are uniform on 1..2^f-1 (0 is an empty slot).
//
// # It can be full
//
// Unlike a Bloom filter, a cuckoo filter refuses keys: [Filter.Add] returns
// ErrFull when no room can be made by moving others to their second bucket, and
// then nothing has changed. A filter built for n keys takes n distinct ones
// without refusing any, but for fewer than 1 in 10,000 sets of keys; small tables
// need more slack for that than large ones (see [Config.Capacity]). Sizing
// refuses a fingerprint too short for n: some 2b+1 keys would share fingerprint
// and buckets and never fit.
//
// A key can be stored up to 2b times; copy 2b+1 is refused at once. Keys that
// come more often belong into a counting filter, or are asked for first.
//
// # Deleting
//
// [Filter.Delete] removes one copy of a stored key and cannot harm others, since
// keys with equal fingerprint and buckets are interchangeable. Deleting a key that
// was never stored but passes the test removes the copy of another key, which is
// lost then: a few percent of such calls at f=8. Delete only what was added.
//
// # Concurrency
//
// Any number of goroutines may look up at once. An add moves other keys between
// buckets, so it needs the filter to itself: a lookup meanwhile could miss a key
// that is there.
//
// # Degenerate hashes
//
// The bucket comes from the high bits of the hash and the fingerprint from the
// low 32. A hash that varies in too few bits fills a few buckets and is refused
// early; keys that were taken are never lost.
package cuckoo
