// Package choose picks a filter from measurements: what a lookup costs on a
// machine, what a false positive costs the program, and what the keys ask for.
//
// # The cost
//
// A filter in front of something slow costs, for each lookup,
//
//	t_hash + t_lookup + (1-h) FPR W
//
// where h is the share of lookups that are hits and W what a needless visit to
// the slow thing costs. It is the overhead of Lang, Neumann, Kemper and Boncz,
// Performance-optimal filtering: Bloom overtakes cuckoo at high throughput, PVLDB
// 12(5), 2019, t_l + f t_w for lookups that miss, averaged over hits and misses,
// with the hash counted. Hits visit the slow thing under every filter and are
// left out. No filter at all costs (1-h) W, an exact set its own lookup.
//
// Rates and sizes are those of the filter that would be built, after rounding:
// Variant.Predict. Times are those of a [Calibration].
package choose
