// Package sharded lets several goroutines add to filters of any family at once: a
// hash chooses one of S shards, each a filter of its own behind a lock of its own,
// so that two goroutines meet only when their keys fall into one shard. It is for
// families whose writes move things about (cuckoo, counting, scalable). Standard
// and blocked filters have adds without a lock as well (adds=atomic), next to which
// lookups write nothing; an atomic OR for each bit costs about what a lock does, and
// which of the two adds faster is measured by the experiment concurrent-adds.
//
// # How a hash is used
//
// shard, rest = the two halves of the 128-bit product h·S (bits.Mul64): the shard
// is the fast range of h, the rest what the fast range leaves over, which is the
// hash that the inner filter gets. The fast range of the same h twice would leave
// each shard an S-th of its blocks.
//
// For even S the product, and with it the rest, ends in zeros: t of them, where 2^t
// is the largest power of two in S. Families
// take fingerprints and bits within a block from there, so these t bits are filled
// with bits 32 and up of the rest. That makes no new randomness: a rest has 64 -
// log2 S random bits, whatever is done. It does not hide a bad hash either.
//
// # Size
//
// N keys do not spread evenly: a shard gets a binomial number, N/S on average with
// a standard deviation of about √(N/S). Two things follow, and sizing does both:
// the promised rate is met by the mean over that spread, for which shards are sized
// for a rate a little lower (rates rise faster than loads: 0.7% lower for 16 shards
// of 1,000 keys at 1%); and where a family can be full, each shard has room for as many
// keys as the fullest of S shards gets in all but 1 of 10,000 sets of keys (by
// Chernoff's bound): for 16 cuckoo shards of 1,000 keys 15% more than the mean, of
// 62,500 keys 1.9%. Shards ought to hold thousands of keys.
//
// # What is offered
//
// Contains, Add, their batches, TestAndAdd, estimates; Delete and Count where the inner
// family has both ([DeletingFilter]). It is saved as one file, which catalog.Read and
// catalog.Open take. Everything else (Reset, Merge) goes through [Filter.Each], a
// shard at a time.
package sharded
