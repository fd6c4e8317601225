// Package standard is the standard Bloom filter (Bloom, CACM 13(7), 1970): a
// table of m bits, of which every key sets k. A lookup answers true when all k
// bits of its key are set.
//
// # What it costs
//
// A rate of 1% takes 9.593 bits and k = 7 probes per key when n is large, 9.595
// bits at n = 1000 and 9.80 bits with k = 6 at n = 10; each further factor of ten
// takes 4.8 bits and 3.3 probes more. The least any filter can do is log2(1/p),
// 6.64 bits for 1%: a Bloom filter spends 44% more. In exchange any number of
// keys may come (the rate rises, [Filter.EstimatedFPR] says how far: 15.7% at
// twice the keys of a textbook 1% filter, 67.9% at four times), and filters of
// equal geometry merge by OR.
//
// Keys cannot be deleted, because several may share a bit; see package counting.
// A lookup touches up to k cache lines; package blocked touches one, for 4% more
// bits at 1%.
//
// # Two constructors
//
// [New] takes the geometry, bits and probes. [Variant.New] takes a promise, n
// keys and a rate or a space per key, and picks the geometry by the exact formula
// of the scheme used; it refuses what 64-bit hashes cannot keep.
//
// # Several filters for one set of hashes
//
// A filter derives all positions from h alone. Two filters of equal geometry
// asked with the same hash give the same false positives, and two of different
// geometry related ones: asking both does not multiply their rates. Hash the key
// with another seed for each, or multiply its hash by an odd constant, as package
// scalable does for its stages.
package standard
