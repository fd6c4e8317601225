package experiments

import (
	"fmt"
	"math"

	"filterlab/experiments/measure"
	"filterlab/filters/theory"
)

// Claims lists what is judged, in the order of the ledger: sizes, rates, other
// families, hashes.
func Claims() []Claim {
	var all []Claim
	for _, part := range [][]Claim{sizeClaims(), rateClaims(), blockClaims(), familyClaims(), hashClaims()} {
		all = append(all, part...)
	}
	return all
}

// Sources that several claims share.
const (
	wikipedia  = "Wikipedia, Bloom filter"
	rules      = "Cortesi 2010, 3 rules of thumb for Bloom filters"
	byExample  = "Mill, Bloom Filters by Example"
	crawler    = "texts on system design, web crawler"
	dillinger  = "Dillinger, Manolios 2004, Bloom filters in probabilistic verification"
	summary    = "Fan, Cao, Almeida, Broder 2000, Summary Cache"
	cuckooFan  = "Fan, Andersen, Kaminsky, Mitzenmacher 2014, Cuckoo filter"
	putze      = "Putze, Sanders, Singler 2009, Cache-, hash- and space-efficient Bloom filters"
	sixteen    = "tutorials with 16 bits and three probes"
	everywhere = "textbooks and most calculators"
)

// sizeClaims are about bits per key and probes.
func sizeClaims() []Claim {
	bits := func(filter string, p float64) func(*evidence) (Measured, error) {
		return perKey("memory", MetricBits, coords{filter: filter, p: p})
	}
	bestK := func(p float64) func(*evidence) (Measured, error) {
		_, k, _ := theory.SizeStandard(1e6, p, 0)
		return formula(fmt.Sprintf("the k of the smallest table of exact rate %g for 1e6 keys", p), float64(k))
	}
	gigabytes := func(n, bitsPerKey float64) func(*evidence) (Measured, error) {
		return formula(fmt.Sprintf("%g keys × %.4g bits / 8", n, bitsPerKey), n*bitsPerKey/8e9)
	}
	exactBits := func(n uint64, p float64) float64 {
		m, _, _ := theory.SizeStandard(n, p, 0)
		return float64(m) / float64(n)
	}
	fill := func(p float64) func(*evidence) (Measured, error) {
		m, k, _ := theory.SizeStandard(1e6, p, 0)
		return formula(fmt.Sprintf("1-(1-1/m)^(kn), m=%d k=%d n=1e6", m, k), theory.StandardFill(m, 1e6, k))
	}
	blockedFill := func(perKey float64) func(*evidence) (Measured, error) {
		const n = 1_000_000
		blocks := uint64(perKey * n / 512)
		k := theory.BlockedBestK(blocks, 512, n, false)
		return formula(fmt.Sprintf("1-(1-1/m)^(kn), m=%d k=%d n=1e6", blocks*512, k), theory.BlockedFill(blocks, 512, n, k, false))
	}
	textbook := func(p float64) func(*evidence) (Measured, error) {
		const n = 1_000_000
		m, k, _ := theory.SizeTextbook(n, p)
		return formula(fmt.Sprintf("exact rate at m=%d k=%d n=1e6, over p, less 1", m, k), 100*(theory.Standard(m, n, k)/p-1))
	}
	return []Claim{
		{
			ID: "bits-1pct", Source: wikipedia, Text: "A false-positive rate of 1% takes 9.6 bits per key.", Stated: "9.6 bits", Low: 9.55, High: 9.65, Unit: "bits",
			Cases:    []Case{{"", bits("standard", 0.01)}},
			Sentence: fmt.Sprintf("The smallest table that keeps 1%% takes {0} a key; %.4g would do if the number of probes need not be whole.", theory.StandardBitsPerKey(0.01)),
		},
		{
			ID: "k-1pct", Source: wikipedia, Text: "A rate of 1% takes 7 probes.", Stated: "7", Low: 7, High: 7,
			Cases:    []Case{{"", bestK(0.01)}},
			Sentence: "The smallest table for 1% has k = {0}.",
		},
		{
			ID: "bits-01pct", Source: rules, Text: "A rate of 0.1% takes 14.4 bits per key.", Stated: "14.4 bits", Low: 14.35, High: 14.45, Unit: "bits",
			Cases:    []Case{{"", bits("standard", 0.001)}},
			Sentence: "The smallest table that keeps 0.1% takes {0} a key.",
		},
		{
			ID: "k-01pct", Source: rules, Text: "A rate of 0.1% takes 10 probes.", Stated: "10", Low: 10, High: 10,
			Cases:    []Case{{"", bestK(0.001)}},
			Sentence: "The smallest table for 0.1% has k = {0}.",
		},
		{
			ID: "bits-10pct", Source: rules, Text: "A rate of 10% takes about 5 bits per key.", Stated: "about 5 bits", Low: 4.5, High: 5.5, Unit: "bits",
			Cases:    []Case{{"", bits("standard", 0.1)}},
			Sentence: "The smallest table that keeps 10% takes {0} a key.",
		},
		{
			ID: "k-10pct", Source: rules, Text: "A rate of 10% takes 3 probes.", Stated: "3", Low: 3, High: 3,
			Cases:    []Case{{"", bestK(0.1)}},
			Sentence: "The smallest table for 10% has k = {0}.",
		},
		{
			ID: "factor-ten", Source: wikipedia, Text: "Each tenth of the false-positive rate costs 4.8 more bits per key.", Stated: "4.8 bits", Low: 4.75, High: 4.85, Unit: "bits",
			Cases: []Case{
				{"the filter is a standard one", differenceOf(bits("standard", 0.001), bits("standard", 0.01))},
				{"it is blocked", differenceOf(bits("blocked", 0.001), bits("blocked", 0.01))},
				{"it is a cuckoo filter", differenceOf(bits("cuckoo", 0.001), bits("cuckoo", 0.01))},
			},
			Sentence: "From 1% to 0.1% a standard filter grows by {0} a key, a blocked one by {1} and a cuckoo filter by {2}.",
		},
		{
			ID: "half-full", Source: everywhere, Text: "The best number of probes leaves half of the bits set.", Stated: "half", Low: 0.47, High: 0.53, Unit: "%",
			Cases: []Case{
				{"the filter is a standard one for 1%", fill(0.01)},
				{"it is a standard one for 0.1%", fill(0.001)},
				{"it has blocks of 512 bits and 10 bits per key", blockedFill(10)},
				{"it has blocks of 512 bits and 20 bits per key", blockedFill(20)},
			},
			Sentence: "{0} and {1} of the bits are set in a standard filter, since k is whole; blocks want fewer probes and leave {2} at 10 bits per key and {3} at 20.",
		},
		{
			ID: "million", Source: wikipedia, Text: "A million keys at 1% take 1.2 MB.", Stated: "1.2 MB", Low: 1.15, High: 1.25, Unit: "MB",
			Cases: []Case{
				{"the table is meant", formula("m/8 for 1e6 keys at 1%", exactBits(1e6, 0.01)/8)},
				{"the heap of the process is meant", func(ev *evidence) (Measured, error) {
					m, err := measuredMetric("memory", MetricBytes, coords{filter: "standard", p: 0.01, inserted: 1e6})(ev)
					return m.times(1e-6), err
				}},
			},
			Sentence: "The table takes {0} and the heap that it lives in {1}, megabytes of 10^6 bytes.",
		},
		{
			ID: "billion", Source: wikipedia, Text: "A billion keys at 1% take 1.2 GB.", Stated: "1.2 GB", Low: 1.15, High: 1.25, Unit: "GB",
			Cases:    []Case{{"", formula("m/8 for 1e9 keys at 1%", exactBits(1e9, 0.01)/8)}},
			Sentence: "The table takes {0}, gigabytes of 10^9 bytes.",
		},
		{
			ID: "year-of-crawling", Source: crawler, Text: "365 billion addresses × 10 bits make about 440 GB.", Stated: "440 GB", Low: 435, High: 445, Unit: "GB",
			Cases: []Case{
				{"10 bits per key are taken", gigabytes(365e9, 10)},
				{"9.585 bits per key are taken", gigabytes(365e9, theory.StandardBitsPerKey(0.01))},
			},
			Sentence: "10 bits a key make {0}; {1} are what 1% takes with a number of probes that need not be whole.",
		},
		{
			ID: "textbook-sizing", Source: everywhere, Text: "m = ceil(-n ln p/ln² 2) bits and k = round(m/n ln 2) probes keep the rate p.", Stated: "no more than p", Low: math.Inf(-1), High: 0, Unit: "% above p",
			Cases: []Case{
				{"p is 10%", textbook(0.1)},
				{"p is 1%", textbook(0.01)},
				{"p is 0.1%", textbook(0.001)},
			},
			Sentence: "The rate is {0} at 10%, {1} at 1% and {2} at 0.1%: k is rounded after the bits were chosen for the best real k.",
		},
	}
}

// rateClaims are about the false-positive rate of a standard filter.
func rateClaims() []Claim {
	word := func(n uint64, filter, hash string) func(*evidence) (Measured, error) {
		return measuredRate("teaching", coords{filter: filter, hash: hash, inserted: n})
	}
	tutorial := func(n uint64, stated string, low, high float64) Claim {
		return Claim{
			ID: fmt.Sprintf("tutorial-%d-words", n), Source: sixteen, Text: fmt.Sprintf("%d words in 16 bits with three probes give a rate of %s.", n, stated), Stated: stated, Low: low, High: high, Unit: "%",
			Cases: []Case{
				{"the hash is random", word(n, "standard(k=3)", "xxh3")},
				{"the hash is the tutorial's own", word(n, "tutorial", "poly")},
			},
			Sentence: fmt.Sprintf("Random probes give {0}, the tutorial's hash {1}; (1-e^(-kn/m))^k is too low in tables this small, by %.0f%% of itself.",
				100*(theory.Standard(16, n, 3)/theory.StandardClassic(16, n, 3)-1)),
		}
	}
	// classic is the measured rate over that of the textbook formula.
	classic := func(experiment string, a coords, m, n uint64, k int) func(*evidence) (Measured, error) {
		return ratioOf(measuredRate(experiment, a), formula(fmt.Sprintf("(1-e^(-kn/m))^k, m=%d n=%d k=%d", m, n, k), theory.StandardClassic(m, n, k)))
	}
	m, k, _ := theory.SizeTextbook(1e4, 0.01)
	table := func(name string, bits uint64) func(*evidence) (Measured, error) {
		return ratioOf(measuredRate("index-schemes", coords{filter: "standard(scheme=" + name + ",k=7)", bits: bits}), measuredRate("index-schemes", coords{filter: "standard(k=7)", bits: bits}))
	}
	hashing := func(hash string, bytes int) func(*evidence) (Measured, error) {
		return measuredMetric("key-length", MetricHash, coords{filter: "blocked", hash: hash, keys: lengthPrefix + fmt.Sprint(bytes)})
	}
	inBlock := func(s scheme) func(*evidence) (Measured, error) {
		return ratioOf(measuredRate("in-block", coords{filter: string(s), bitsPerKey: 10}), measuredRate("in-block", coords{filter: "blocked(k=6)", bitsPerKey: 10}))
	}
	return []Claim{
		tutorial(3, "8.0%", 0.0795, 0.0805),
		tutorial(8, "46.9%", 0.4685, 0.4695),
		{
			ID: "classic-formula", Source: everywhere, Text: "The false-positive rate is (1-e^(-kn/m))^k.", Stated: "equal", Low: 0.99, High: 1.01, Unit: "times the formula",
			Cases: []Case{
				{"the table has 16 bits", classic("teaching", coords{filter: "standard(k=3)", hash: "xxh3", inserted: 3}, 16, 3, 3)},
				{fmt.Sprintf("it has %d bits", m), classic("fpr-vs-load", coords{filter: "standard(sizing=textbook)", p: 0.01, load: 1}, m, 1e4, k)},
			},
			Sentence: "The measured rate is {0} in a table of 16 bits and {1} in one for ten thousand keys: too low in small tables, and always a little.",
		},
		{
			ID: "twice-the-keys", Source: everywhere, Text: "Twice the keys take a filter for 1% to 15.7%.", Stated: "15.7%", Low: 0.1565, High: 0.1575, Unit: "%",
			Cases:    []Case{{"", measuredRate("fpr-vs-load", coords{filter: "standard(sizing=textbook)", p: 0.01, load: 2})}},
			Sentence: "A textbook filter for 1% that holds twice its keys errs at {0}.",
		},
		{
			ID: "two-hashes", Source: "Kirsch, Mitzenmacher 2008, Less hashing, same performance", Text: "Two hash values, combined as a + i b, are as good as k of them.", Stated: "no loss", Low: 0.97, High: 1.03, Unit: "times the rate",
			Cases: []Case{
				{"the table has 512 bits", table("double", 512)},
				{"it has 65536 bits", table("double", 65536)},
				{"the probes of a large filter stay inside a block of 512 bits", inBlock(inBlockDouble)},
			},
			Sentence: "At k = 7 they have {0} of independent probes in 512 bits and {1} in 65536: what is added shrinks as n/m², and never quite goes. Blocks are small tables, and however large the filter is, they have {2} there with 10 bits per key.",
		},
		{
			ID: "enhanced-double", Source: dillinger, Text: "Enhanced double hashing is as good as independent probes.", Stated: "no loss", Low: 0.97, High: 1.03, Unit: "times the rate",
			Cases: []Case{
				{"the table has 512 bits", table("enhanced", 512)},
				{"it has 4096 bits", table("enhanced", 4096)},
				{"the probes of a large filter stay inside a block of 512 bits", inBlock(inBlockEnhanced)},
			},
			Sentence: "At k = 7 it has {0} of independent probes in 512 bits and {1} in 4096; inside the blocks of a large filter with 10 bits per key it has {2}.",
		},
		{
			ID: "or-is-union", Source: "Broder, Mitzenmacher 2004, Network applications of Bloom filters", Text: "The OR of two filters is the filter of the union.", Stated: "the same filter", Low: 0, High: 0, Unit: "answers that differ",
			Cases: []Case{
				{"the filter is a standard one", total("merge", MetricAnswersDiffer, "standard")},
				{"it is blocked", total("merge", MetricAnswersDiffer, "blocked")},
				{"it is a counting one, and counters are added", total("merge", MetricAnswersDiffer, "counting")},
			},
			Sentence: "Up to 16 shards merged and one filter that was given all keys give {0}, {1} where they are blocked, and {2} where counters are added.",
		},
		{
			ID: "item-size", Source: wikipedia, Text: "What a filter costs does not depend on the size of its items.", Stated: "no difference", Low: 0.95, High: 1.05, Unit: "times as much",
			Cases: []Case{
				{"space is meant", ratioOf(measuredMetric("hash-choice", MetricBits, coords{filter: "standard", hash: "xxh3", keys: "urls"}), measuredMetric("hash-choice", MetricBits, coords{filter: "standard", hash: "xxh3", keys: "random"}))},
				{"the false-positive rate is meant", ratioOf(measuredRate("hash-choice", coords{filter: "standard", hash: "xxh3", keys: "urls"}), measuredRate("hash-choice", coords{filter: "standard", hash: "xxh3", keys: "random"}))},
				{"time is meant", ratioOf(hashing("xxh3", 1024), hashing("xxh3", 8))},
			},
			Sentence: "URLs of 62 bytes against keys of 8 cost {0} in space and give {1} for the rate; but a key is hashed as a whole, and one of 1024 bytes takes xxh3 {2} in time.",
		},
		{
			ID: "32-bit-hash", Source: "libraries that derive every probe from a hash of 32 bits", Text: "32 bits of hash are enough.", Stated: "no loss", Low: math.Inf(-1), High: 1.05, Unit: "p",
			Cases: []Case{
				{"a million keys are to have 1%", floorOver(1e6, 0.01)},
				{"a million keys are to have 0.01%", floorOver(1e6, 1e-4)},
				{"ten million keys are to have 1%", floorOver(1e7, 0.01)},
			},
			Sentence: "Keys whose hashes collide are told apart by nothing: the rate becomes {0} for a million keys at 1%, {1} for as many at 0.01%, {2} for ten million at 1%.",
		},
	}
}

// counted adds up a count of an experiment's own over all cells of a filter.
func counted(ev *evidence, experiment, metric, filter string) (events, trials uint64, from rowRef, err error) {
	cells, err := ev.cells(experiment)
	if err != nil {
		return 0, 0, rowRef{}, err
	}
	for i := range cells {
		if c := &cells[i]; c.Role == "" && c.Filter == filter && c.Verdict != Failed {
			events += c.Own[metric].Events
			trials += c.Own[metric].Trials
		}
	}
	if trials == 0 {
		return 0, 0, rowRef{}, fmt.Errorf("%w: no %s in %s with filter=%s", errNoRows, metric, experiment, filter)
	}
	return events, trials, rowRef{experiment, 0, "filter=" + filter}, nil
}

// total is a count of an experiment's own over all cells of a filter.
func total(experiment, metric, filter string) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		events, _, from, err := counted(ev, experiment, metric, filter)
		return Measured{Estimate: exactly(float64(events)), Rows: []rowRef{from}}, err
	}
}

// share is such a count over what it was counted among, with its exact interval.
func share(experiment, metric, filter string) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		events, trials, from, err := counted(ev, experiment, metric, filter)
		iv := measure.ClopperPearson(events, trials, 0.95)
		return measured(Estimate{float64(events) / float64(trials), iv.Lo, iv.Hi}, from), err
	}
}

// filledOver is the load at the first refusal with b slots a bucket, over the one
// stated.
func filledOver(b int, stated float64) func(*evidence) (Measured, error) {
	return func(ev *evidence) (Measured, error) {
		at := coords{filter: fmt.Sprintf("cuckoo(f=16,b=%d)", b), inserted: 1 << 20}
		c, ref, err := ev.cell("cuckoo-load", at)
		if err != nil {
			return Measured{}, err
		}
		o, ok := c.Own[MetricFilled]
		if !ok || c.Verdict == Failed {
			return Measured{}, fmt.Errorf("%w: no %s in cuckoo-load at %v", errNoRows, MetricFilled, at)
		}
		return measured(o.Estimate, ref).times(1 / stated), nil
	}
}

// floorOver is the rate of a filter of rate p for n keys behind a hash of 32
// bits, over p.
func floorOver(n uint64, p float64) func(*evidence) (Measured, error) {
	return formula(fmt.Sprintf("1-(1-p)(1-2^-32)^n over p, n=%g p=%g", float64(n), p), theory.Combine(p, theory.HashFloor(n, 32))/p)
}

// blockClaims are about filters that keep a key in one cache line.
func blockClaims() []Claim {
	line := func(bits float64) func(*evidence) (Measured, error) {
		return ratioOf(measuredRate("fpr-vs-bits", coords{filter: "blocked", bitsPerKey: bits}), measuredRate("fpr-vs-bits", coords{filter: "standard", bitsPerKey: bits}))
	}
	const n, b = 1 << 24, 512
	const blocks = n * 10 / b
	naive := func(p float64) func(*evidence) (Measured, error) {
		c := -8 / math.Log1p(-math.Pow(p, 1.0/8))
		return formula(fmt.Sprintf("rate of a split-block filter at %.4g bits per key, over p", c), theory.SplitBlock(c)/p)
	}
	return []Claim{
		{
			ID: "cache-line-10", Source: putze + ", eq. 3, evaluated exactly", Text: "A cache line a key costs 18% more false positives at 10 bits per key.", Stated: "18%", Low: 1.175, High: 1.185, Unit: "times the rate",
			Cases:    []Case{{"", line(10)}},
			Sentence: "A blocked filter of 512-bit blocks and independent probes errs {0} of a standard one at 10 bits per key.",
		},
		{
			ID: "cache-line-20", Source: putze + ", eq. 3, evaluated exactly", Text: "A cache line a key costs three times the false positives at 20 bits per key.", Stated: "about 3×", Low: 2.5, High: 3.5, Unit: "times the rate",
			Cases:    []Case{{"", line(20)}},
			Sentence: "A blocked filter of 512-bit blocks errs {0} of a standard one at 20 bits per key.",
		},
		{
			ID: "cache-line-free", Source: "RocksDB wiki, an older page", Text: "Sharding a filter into cache lines does not affect the false-positive rate.", Stated: "no effect", Low: 0.95, High: 1.05, Unit: "times the rate",
			Cases: []Case{
				{"there are 10 bits per key", line(10)},
				{"there are 20 bits per key", line(20)},
			},
			Sentence: "Blocks fill unevenly, and the full ones err more than the empty ones save: {0} at 10 bits per key, {1} at 20.",
		},
		{
			ID: "best-in-a-line", Source: "RocksDB, comment on its filter", Text: "The best possible rate of 512-bit blocks with 10 bits per key and 6 probes is 0.9535%.", Stated: "0.9535%", Low: 0.0095345, High: 0.0095355, Unit: "%",
			Cases: []Case{
				{"probes may coincide", formula("binomial mixture of the exact in-block rate", theory.Blocked(blocks, b, n, 6, false))},
				{"the six bits are distinct", formula("the same with distinct bits", theory.Blocked(blocks, b, n, 6, true))},
			},
			Sentence: "{0} with independent probes and {1} with distinct bits; the number stated is the mixture of (1-e^(-kj/512))^k, which is too low in a block.",
		},
		{
			ID: "parquet-sizing", Source: "arrow-rs and earlier texts of Parquet", Text: "A split-block filter of -8/ln(1-p^(1/8)) bits per key has the rate p.", Stated: "p", Low: 0.95, High: 1.05, Unit: "p",
			Cases: []Case{
				{"p is 10%", naive(0.1)},
				{"p is 1%", naive(0.01)},
				{"p is 0.01%", naive(1e-4)},
			},
			Sentence: "Asked for 10%, 1% and 0.01%, such a filter has {0}, {1} and {2}: the formula is that of one large table.",
		},
	}
}

// familyClaims are about counting, scalable and cuckoo filters.
func familyClaims() []Claim {
	smaller := func(overhead, load float64) func(*evidence) (Measured, error) {
		return formula(fmt.Sprintf("(log2(1/p) + %g)/%g = 1.44 log2(1/p)", overhead, load), theory.CuckooCrossover(overhead, load))
	}
	space := func(filter string) func(*evidence) (Measured, error) {
		return ratioOf(measuredMetric("memory", MetricBits, coords{filter: filter, p: 0.01}), measuredMetric("memory", MetricBits, coords{filter: "standard", p: 0.01}))
	}
	tail := func(load uint64) func(*evidence) (Measured, error) {
		const m, n, k = 9_585_059, 1_000_000, 7
		return formula(fmt.Sprintf("P(X ≥ 16), X binomial(%d, 1/%d)", load*n*k, m), theory.CountingTail(m, load*n, k, 16))
	}
	// lost is what one bogus delete costs a filter for p.
	lost := func(p float64) func(*evidence) (Measured, error) {
		return measuredOwn("bogus-delete", MetricVictims, coords{filter: "counting", p: p})
	}
	return []Claim{
		{
			ID: "counting-4x", Source: summary, Text: "Counters cost four times the space of bits.", Stated: "4×", Low: 3.95, High: 4.05, Unit: "times the space",
			Cases:    []Case{{"", space("counting")}},
			Sentence: "With counters of 4 bits a filter for 1% takes {0}.",
		},
		{
			ID: "counting-overflow", Source: summary, Text: "A counter of 4 bits overflows with a probability of at most 1.37e-15.", Stated: "1.37e-15", Low: math.Inf(-1), High: 1.37e-15,
			Cases: []Case{
				{"the filter holds the keys it was sized for", tail(1)},
				{"it holds eight times as many", tail(8)},
			},
			Sentence: "A filter for 1% overflows a given counter with probability {0} at the planned number of keys, and with {1} at eight times as many.",
		},
		{
			ID: "bogus-delete", Source: "common belief about counting filters", Text: "Deleting a key that was never added loses one member at most.", Stated: "1", Low: math.Inf(-1), High: 1, Unit: "members",
			Cases: []Case{
				{"k is 3", lost(0.1)},
				{"k is 7", lost(0.01)},
				{"k is 10", lost(0.001)},
			},
			Sentence: "When the key passes the test, each of its counters that stands at 1 belongs to a member of its own: {0} are lost at k = 3, {1} at k = 7 and {2} at k = 10.",
		},
		{
			ID: "cuckoo-smaller", Source: cuckooFan, Text: "A cuckoo filter is smaller than a Bloom filter for rates below 3%.", Stated: "3%", Low: 0.0225, High: 0.0375, Unit: "%",
			Cases: []Case{
				{"buckets of 4 are semi-sorted", smaller(2, 0.955)},
				{"buckets of 4 are plain", smaller(3, 0.955)},
				{"buckets of 2 are plain", smaller(2, 0.84)},
			},
			Sentence: "It becomes smaller below {0} with semi-sorted buckets, below {1} with plain ones of 4 and below {2} with plain ones of 2.",
		},
		{
			ID: "scalable-bound", Source: "Almeida, Baquero, Preguiça, Hutchison 2007, Scalable Bloom Filters", Text: "A scalable filter keeps its rate however far it grows.", Stated: "at most 1%", Low: math.Inf(-1), High: 0.01, Unit: "%",
			Cases: []Case{
				{"it holds the keys it was meant for", measuredRate("fpr-vs-load", coords{filter: "scalable", p: 0.01, load: 1})},
				{"it holds four times as many", measuredRate("fpr-vs-load", coords{filter: "scalable", p: 0.01, load: 4})},
				{"it has grown from a thousand keys to a million", measuredRate("growth", coords{filter: grownFrom, inserted: 1e6})},
			},
			Sentence: "Promised 1%, it errs at {0} with the keys it was meant for, at {1} with four times as many, and at {2} when it has grown from a thousand keys to a million.",
		},
		{
			ID: "cuckoo-load", Source: cuckooFan + ", section 5.1", Text: "A cuckoo filter can be filled to 50%, 84%, 95% and 98% with 1, 2, 4 and 8 slots a bucket.", Stated: "so far, to the percent", Low: 0.99, High: math.Inf(1), Unit: "times the load stated",
			Cases: []Case{
				{"there is one slot a bucket", filledOver(1, 0.5)},
				{"there are two", filledOver(2, 0.84)},
				{"there are four", filledOver(4, 0.95)},
				{"there are eight", filledOver(8, 0.98)},
			},
			Sentence: "In tables of 2^20 slots with fingerprints of 16 bits the first key is refused at {0}, {1}, {2} and {3}.",
		},
		{
			ID: "cuckoo-sized", Source: "this suite, package cuckoo", Text: "A cuckoo filter sized for n keys takes them, but for fewer than 1 in 10,000 sets of keys.", Stated: "0.01%", Low: math.Inf(-1), High: buildPromise, Unit: "%",
			Cases: []Case{
				{"there is one slot a bucket", share("cuckoo-build", MetricBuildFailed, "cuckoo(f=16,b=1)")},
				{"there are two", share("cuckoo-build", MetricBuildFailed, "cuckoo(f=12,b=2)")},
				{"there are four", share("cuckoo-build", MetricBuildFailed, "cuckoo(f=12,b=4)")},
				{"there are four, and fingerprints are short", share("cuckoo-build", MetricBuildFailed, "cuckoo(f=5,b=4)")},
				{"there are eight", share("cuckoo-build", MetricBuildFailed, "cuckoo(f=12,b=8)")},
			},
			Sentence: "Of all builds for 3 to 100,000 keys, {0} fail with one slot a bucket, {1} with two, {2} with four, {3} with four and fingerprints of 5 bits, {4} with eight.",
		},
	}
}

// hashClaims are about hash functions.
func hashClaims() []Claim {
	// misses counts the key sets and filters at which a hash misses the rate.
	misses := func(hash string) func(*evidence) (Measured, error) {
		return func(ev *evidence) (Measured, error) {
			cells, err := ev.cells("hash-choice")
			if err != nil {
				return Measured{}, err
			}
			tried, missed := 0, 0
			for i := range cells {
				c := &cells[i]
				if c.Role != "" || c.Hash != hash || c.Trials == 0 {
					continue
				}
				tried++
				if c.Verdict == Differ || c.Verdict == DifferExpected {
					missed++
				}
			}
			if tried == 0 {
				return Measured{}, fmt.Errorf("%w: hash-choice has none with hash=%s", errNoRows, hash)
			}
			return Measured{Estimate: exactly(float64(missed)), Rows: []rowRef{{"hash-choice", 0, "hash=" + hash}}}, nil
		}
	}
	urls := func(hash string) func(*evidence) (Measured, error) {
		return measuredMetric("hash-choice", MetricHash, coords{filter: "standard", hash: hash, keys: "urls"})
	}
	beside := func(hash string) func(*evidence) (Measured, error) { return ratioOf(urls(hash), urls("sha256")) }
	cost := func(hash string) func(*evidence) (Measured, error) {
		return ratioOf(urls(hash),
			measuredMetric("time-vs-n", MetricMiss, coords{filter: "standard", api: "single", inserted: 1e5}))
	}
	return []Claim{
		{
			ID: "good-hashes", Source: byExample, Text: "Murmur, xxHash and FNV are independent enough.", Stated: "the rate is kept", Low: 0, High: 0, Unit: "points missed",
			Cases: []Case{
				{"the hash is Murmur3", misses("murmur3")},
				{"it is xxHash64", misses("xxhash64")},
				{"it is XXH3", misses("xxh3")},
				{"it is FNV-1a of 64 bits", misses("fnv1a64")},
			},
			Sentence: "Of all key sets and filters, Murmur3 leaves {0}, xxHash64 {1}, XXH3 {2} and FNV-1a {3}.",
		},
		{
			ID: "sha256-slow", Source: byExample, Text: "A cryptographic hash such as SHA-256 is too slow.", Stated: "more than the lookup", Low: 1, High: math.Inf(1), Unit: "times the lookup",
			Cases:    []Case{{"", cost("sha256")}},
			Sentence: "To hash a URL with SHA-256 takes {0} in a standard filter of 100,000 keys.",
		},
		{
			ID: "fast-hashes", Source: byExample, Text: "Murmur and xxHash are fast where SHA-256 is not.", Stated: "several times as fast", Low: 0, High: 0.5, Unit: "of its time",
			Cases: []Case{
				{"the hash is Murmur3", beside("murmur3")},
				{"it is xxHash64", beside("xxhash64")},
				{"it is XXH3", beside("xxh3")},
			},
			Sentence: "To hash a URL takes Murmur3 {0}, xxHash64 {1} and XXH3 {2}; both sides were timed in one race.",
		},
	}
}
