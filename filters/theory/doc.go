// Package theory holds the published formulas for approximate-membership
// filters, with their sources, so that measurements have something to be held
// against. It is stateless and imports math and math/big only.
//
// Two habits run through the package. A rate is the mean over hash seeds for
// distinct keys under an ideal hash, and it is exact unless the comment says by
// how much it errs: the well-known approximations stand beside the exact
// functions under names of their own. And a function outside its domain answers
// NaN (a sizing: ok = false) rather than something plausible.
//
// Notation: n keys, m bits, k probes a key, p the share of bits set, lambda =
// k n/m throws per bit.
//
// # Sources
//
//   - Bloom 1970: Space/time trade-offs in hash coding with allowable errors, CACM 13(7).
//   - Carter, Floyd, Gill, Markowsky, Wegman 1978: Exact and approximate membership testers, STOC.
//   - Whang, Vander-Zanden, Taylor 1990: A linear-time probabilistic counting algorithm for database applications, ACM Trans. Database Syst. 15(2).
//   - Fan, Cao, Almeida, Broder 2000: Summary Cache, IEEE/ACM Trans. Netw. 8(3).
//   - Broder, Mitzenmacher 2004: Network applications of Bloom filters, Internet Math. 1(4).
//   - Dillinger, Manolios 2004: Bloom filters in probabilistic verification, FMCAD.
//   - Swamidass, Baldi 2007: Mathematical correction for fingerprint similarity measures, J. Chem. Inf. Model. 47(3).
//   - Almeida, Baquero, Preguica, Hutchison 2007: Scalable Bloom filters, Inf. Process. Lett. 101(6).
//   - Cain, Sanders, Wormald 2007: The random graph threshold for k-orientability and a fast algorithm for optimal multiple-choice allocation, SODA.
//   - Fernholz, Ramachandran 2007: The k-orientability thresholds for G(n,p), SODA.
//   - Bose et al. 2008: On the false-positive rate of Bloom filters, Inf. Process. Lett. 108(4).
//   - Kirsch, Mitzenmacher 2008: Less hashing, same performance, Random Struct. Algorithms 33(2).
//   - Putze, Sanders, Singler 2009: Cache-, hash- and space-efficient Bloom filters, ACM J. Exp. Algorithmics 14.
//   - Christensen, Roginsky, Jimeno 2010: A new analysis of the false positive rate of a Bloom filter, Inf. Process. Lett. 110(21).
//   - Papapetrou, Siberski, Nejdl 2010: Cardinality estimation and dynamic length adaptation for Bloom filters, Distrib. Parallel Databases 28.
//   - Fan, Andersen, Kaminsky, Mitzenmacher 2014: Cuckoo filter: practically better than Bloom, CoNEXT.
//   - Lang, Neumann, Kemper, Boncz 2019: Performance-optimal filtering: Bloom overtakes cuckoo at high throughput, PVLDB 12(5).
package theory
