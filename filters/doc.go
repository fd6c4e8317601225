// Package filters is the contract that every approximate-membership filter of
// filterlab keeps: a small interface, a few named capabilities found by type
// assertion, and a Variant, which is a filter family with every knob set but
// its size.
//
// # Keys are 64-bit hashes
//
// A filter stores and looks up uint64 hashes, never byte strings. Hashing a key
// and storing its hash are two costs and two choices; keeping them apart lets
// either be measured, and either be replaced. A hash must behave as 64 uniform
// bits: no filter here remixes its input to repair a weak hash, since that
// would hide the weakness from whoever measures it. [Keyed] ties a filter to a
// hash for callers that have byte strings.
//
// # Two answers, one of them certain
//
// Contains never answers false for a hash that was stored (and, in families
// with Delete, not deleted since, provided that only stored hashes were ever
// deleted). It answers true for a hash that was never stored with a probability
// that [Variant.Predict] states beforehand, the false-positive rate (FPR).
//
// # Two constructors, two meanings
//
// Each family's New(Config) builds by geometry: bits, probes, slots. A Variant
// builds by promise: a [Target] states how many keys will come and either the
// rate to keep or the space to spend, and the family picks the geometry.
//
// # Concurrency
//
// Any number of goroutines may call the methods of [Querier] at once. A write
// needs exclusive access unless the filter is [Concurrent].
package filters
