package experiments

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filterlab/hashing"
)

// Schema is the version of the row format. It stands in every row, so that a
// file says by itself which program can read it.
const Schema = 1

// Metrics that rows carry; metrics says what each is.
const (
	MetricFPR     = "fpr"
	MetricLost    = "lost"
	MetricBits    = "bits"
	MetricStored  = "stored"
	MetricRefused = "refused"
	MetricFailed  = "failed"
	MetricRepeat  = "repeat"
	MetricBytes   = "bytes"
	MetricAllocs  = "allocs"
	MetricAdd     = "ns_add"
	MetricHit     = "ns_hit"
	MetricMiss    = "ns_miss"
	MetricMixed   = "ns_mixed"
	MetricLoop    = "ns_loop"
	MetricHash    = "ns_hash"

	MetricFloor      = "ns_floor"
	MetricOverFloor  = "over_floor"
	MetricHitChain   = "ns_hit_latency"
	MetricMissChain  = "ns_miss_latency"
	MetricClock      = "ns_clock"
	MetricTick       = "ns_tick"
	MetricAddAllocs  = "allocs_per_add"
	MetricAskAllocs  = "allocs_per_lookup"
	MetricGC         = "ns_gc"
	MetricHashLookup = "ns_hash_lookup"
	MetricBuild      = "ns_build"
	MetricHugeShare  = "huge_share"
	MetricProcess    = "process_bytes"

	MetricSameHash = "same_hash"

	MetricTaken          = "taken"
	MetricSaturated      = "saturated"
	MetricSaturatedShare = "saturated_share"
	MetricUndeleted      = "undeleted"
	MetricRefusedAdds    = "refused_adds"
	MetricVictims        = "victims"

	MetricAvalanche  = "p_avalanche"
	MetricBias       = "max_bias"
	MetricIndep      = "p_independence"
	MetricCorrelated = "max_correlation"
	MetricSpreadLow  = "p_low"
	MetricSpreadHigh = "p_high"
	MetricSpreadPair = "p_pair"
	MetricCollide    = "p_collisions"
	MetricCollisions = "collisions"
)

// metric describes what the value of a row is. Exact values depend on the seed
// alone.
type metric struct {
	name  string
	exact bool
	doc   string
}

func metrics() []metric {
	list := []metric{
		{MetricFPR, true, "false positives among `trials` lookups of absent keys"},
		{MetricLost, true, "members answered false among `trials` lookups of members"},
		{MetricBits, true, "size of all tables, in bits"},
		{MetricStored, true, "keys taken before the filter refused one, of `trials` keys offered"},
		{MetricRefused, true, "the variant does not accept the point; note says why"},
		{MetricFailed, true, "a measure ended with an error; note says which"},
		{MetricRepeat, true, "sum of the squared shares of the lookups that each distinct absent key takes"},
		{MetricSameHash, true, "absent keys whose whole hash is that of a member, among `trials`"},
		{metricAfterHit(2), true, "lookups of absent keys whose second probe finds its bit set, among the `trials` whose first did"},
		{metricAfterHit(3), true, "the same for probe 3 after probe 2"},
		{metricAfterHit(4), true, "the same for probe 4 after probe 3"},
		{metricAfterHit(5), true, "the same for probe 5 after probe 4"},
		{metricAfterHit(6), true, "the same for probe 6 after probe 5"},
		{MetricStages, true, "stages that the filter has opened"},
		{MetricTablesDiffer, true, "merged filters that are not, bit for bit, the one that was given all keys, of `trials`"},
		{MetricAnswersDiffer, true, "lookups of absent keys that the merged filter and the one that was given all keys answer differently, of `trials`"},
		{MetricFilled, true, "slots taken when the first key was refused, of `trials` slots"},
		{MetricBuildFailed, true, "filters that were refused a key before they held as many as they were sized for, of `trials` built"},
		{MetricTaken, true, "adds that the filter took before it refused one, of `trials`, copies of keys among them"},
		{MetricSaturated, true, "counters at their ceiling"},
		{MetricSaturatedShare, true, "counters at their ceiling, of all `trials`"},
		{MetricUndeleted, true, "keys that were in the filter and could not be deleted, of `trials` deletes"},
		{MetricRefusedAdds, true, "new keys refused while keys come and go, of `trials` adds"},
		{MetricVictims, true, "members lost by deleting one false positive, averaged over many in one filter"},
		{MetricCraftTries, true, "numbers tried for each key crafted to be a false positive under the known seed"},
		{MetricCraftedKnown, true, "crafted keys that the filter with the known seed answers true for, of `trials`"},
		{MetricCraftedSecret, true, "the same keys that a filter with another seed and the same members answers true for, of `trials`"},
		{MetricPolluteTries, true, "numbers tried for each key chosen to set k clear bits"},
		{MetricPollutedKnown, true, "false positives after only such keys were added, of `trials` lookups of absent keys"},
		{MetricPollutedSecret, true, "the same after the same keys were added under another seed"},
		{MetricAvalanche, true, "p-value of the avalanche test: 8-byte keys, every bit flipped"},
		{MetricBias, true, "largest |flip frequency - 1/2| over all pairs of a key bit and a hash bit"},
		{MetricIndep, true, "p-value of the bit independence test: the flips of two hash bits under one key bit, 8-byte keys"},
		{MetricCorrelated, true, "largest |correlation| of the flips of two hash bits under one key bit"},
		{MetricSpreadLow, true, "p-value of the chi-square test over buckets by the lowest 12 bits"},
		{MetricSpreadHigh, true, "the same by the highest 12 bits"},
		{MetricSpreadPair, true, "the same by the highest 6 bits of either half together"},
		{MetricCollide, true, "p-value of the number of collisions, in the highest 32 bits or all of a 32-bit hash"},
		{MetricCollisions, true, "keys whose 32 bits an earlier key has"},
		{MetricBytes, false, "live heap that the built filter holds, in bytes, after two collections"},
		{MetricAllocs, false, "heap allocations while building"},
		{MetricAdd, false, "nanoseconds per added key in one round, net of the loop without a filter"},
		{MetricHit, false, "nanoseconds per positive lookup in one round, net"},
		{MetricMiss, false, "nanoseconds per negative lookup in one round, net"},
		{MetricMixed, false, "nanoseconds per lookup in one round where the share `hit_ratio` of them is positive, in random order, net"},
		{MetricLoop, false, "nanoseconds per key of the loop without a filter, in one round"},
		{NoiseOf(MetricAdd), false, "relative difference below which the race that ns_add is from tells nothing: how far its first contender, timed twice, differs from itself"},
		{NoiseOf(MetricHit), false, "the same for ns_hit"},
		{NoiseOf(MetricMiss), false, "the same for ns_miss"},
		{NoiseOf(MetricMixed), false, "the same for ns_mixed"},
		{NoiseOf(MetricHitChain), false, "the same for ns_hit_latency"},
		{NoiseOf(MetricMissChain), false, "the same for ns_miss_latency"},
		{NoiseOf(MetricBuild), false, "the same for ns_build"},
		{MetricFloor, false, "nanoseconds in one round, gross, to read one line of a table as large as the filter's for each key and nothing else, lines fetched ahead; in the race of ns_miss"},
		{MetricOverFloor, false, "gross time of a negative lookup in a batch over that of reading one line, in the same round"},
		{MetricHitChain, false, "nanoseconds per positive lookup in one round, net, where each key depends on the answer before"},
		{MetricMissChain, false, "the same for negative lookups"},
		{MetricClock, false, "nanoseconds between two readings of the clock with nothing between, the median: what is in every time of a single operation"},
		{MetricTick, false, "nanoseconds by which two such times differ at least: times of single operations that are closer are the same"},
		{MetricAddAllocs, false, "heap allocations per added key, those of making the filter among them"},
		{MetricAskAllocs, false, "heap allocations per lookup, singly or in batches"},
		{MetricGC, false, "nanoseconds of processor time per added key that the collector takes while filters are made and filled"},
		{MetricHashLookup, false, "nanoseconds to hash a key and look it up, 256 of them at a time, in one round, net"},
		{MetricBuild, false, "nanoseconds per key to fill an empty filter in one round, net"},
		{MetricHugeShare, false, "share of the table on pages of 2 MiB"},
		{MetricProcess, false, "memory that the whole process has from the system, in bytes, when the filters of a race are full whose keys are made a part at a time"},
		{MetricHash, false, "nanoseconds to hash one key in one round, net"},
		{metricAddAt(50), false, "nanoseconds per added key in one round, gross, while the last hundredth of the slots before 50% load are filled"},
		{metricAddAt(80), false, "the same before 80%"},
		{metricAddAt(90), false, "the same before 90%"},
		{metricAddAt(95), false, "the same before 95%"},
		{metricAddAt(97), false, "the same before 97%"},
		{MetricAddP999, false, "nanoseconds that one single add in a thousand exceeds, in one fill up to the planned keys, clock included"},
		{MetricAddWorst, false, "nanoseconds of the longest single add in the same fill; pauses of the system among them"},
	}
	for _, op := range oneOps {
		for _, q := range oneQuantiles {
			list = append(list, metric{metricOne(op.name, q), false, q + " of the nanoseconds of one single " + op.what + ", in one round of some ten thousand, clock included"})
		}
	}
	for _, t := range adderCounts {
		list = append(list, metric{metricAdds(t), false, fmt.Sprintf("keys added per microsecond by %d goroutines together, in one round", t)})
	}
	for _, t := range threadCounts {
		list = append(list,
			metric{metricThroughput(t), false, fmt.Sprintf("lookups per microsecond of %d readers together, in one round", t)},
			metric{metricSpeedup(t), false, fmt.Sprintf("the same over that of one reader, in the same round, for %d readers", t)})
	}
	return list
}

// NoiseOf is the metric of how noisy the race was that a metric is from:
// "noise_add" for "ns_add".
func NoiseOf(metric string) string { return "noise" + strings.TrimPrefix(metric, "ns") }

// Row is one exact value measured at one point: the long form in which results
// are kept.
type Row struct {
	Experiment string
	Point      int    // index of the point in the grid, before shuffling
	Role       string // what the verdict of a control must be; empty for the points of the grid
	Filter     string // Variant.String
	Hash       string // name in hashing.All
	Keys       string // name of the key set, or file:NAME
	API        string // single or batch, empty for values that do not depend on it
	Kernel     string // the code path that ran: "go", "avx2"
	N          uint64 // keys the filter was sized for
	P          float64
	BitsPerKey float64 // target space, zero when sized by P
	Inserted   uint64  // distinct keys offered
	Hit        string  // share of lookups that ask for a member; empty where positive and negative ones are apart
	Round      int     // seed number, or round of a timing
	Seed       uint64  // seed of hash and key set
	Metric     string
	Value      float64
	Trials     uint64 // what Value is counted among; zero where it is no count
	Note       string
}

// rowColumn is one column of samples.csv and times.csv.
type rowColumn struct {
	name, doc string
	put       func(*Row) string
	get       func(*Row, string) error
}

// textColumn holds any text. A carriage return becomes a line feed: readers of CSV take
// CRLF for LF within a field as well, and so a text with it would not come back.
func textColumn(name, doc string, f func(*Row) *string) rowColumn {
	return rowColumn{name, doc,
		func(r *Row) string { return lineFeeds(*f(r)) },
		func(r *Row, s string) error { *f(r) = s; return nil }}
}

func lineFeeds(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func intColumn(name, doc string, f func(*Row) *int) rowColumn {
	return rowColumn{name, doc,
		func(r *Row) string { return strconv.Itoa(*f(r)) },
		func(r *Row, s string) (err error) { *f(r), err = strconv.Atoi(s); return err }}
}

func uintColumn(name, doc string, f func(*Row) *uint64) rowColumn {
	return rowColumn{name, doc,
		func(r *Row) string { return strconv.FormatUint(*f(r), 10) },
		func(r *Row, s string) (err error) { *f(r), err = strconv.ParseUint(s, 10, 64); return err }}
}

func floatColumn(name, doc string, f func(*Row) *float64) rowColumn {
	return rowColumn{name, doc,
		func(r *Row) string { return strconv.FormatFloat(*f(r), 'g', -1, 64) },
		func(r *Row, s string) (err error) { *f(r), err = strconv.ParseFloat(s, 64); return err }}
}

// rowColumns is the one place that knows what samples.csv and times.csv look
// like.
func rowColumns() []rowColumn {
	return []rowColumn{
		{"schema", "version of this format",
			func(*Row) string { return strconv.Itoa(Schema) },
			func(_ *Row, s string) error {
				if s != strconv.Itoa(Schema) {
					return fmt.Errorf("schema %s, this program reads %d", s, Schema)
				}
				return nil
			}},
		textColumn("experiment", "name of the experiment", func(r *Row) *string { return &r.Experiment }),
		intColumn("point", "number of the point in the grid", func(r *Row) *int { return &r.Point }),
		textColumn("role", "must-agree or must-differ for a control; empty for the points of the grid", func(r *Row) *string { return &r.Role }),
		textColumn("filter", "variant: family and the knobs that were set", func(r *Row) *string { return &r.Filter }),
		textColumn("hash", "hash function", func(r *Row) *string { return &r.Hash }),
		textColumn("keys", "key set", func(r *Row) *string { return &r.Keys }),
		textColumn("api", "single, batch, batch=N for N keys a call, or another way to build; empty where it does not matter", func(r *Row) *string { return &r.API }),
		textColumn("kernel", "code path that ran for this value; empty where it does not matter", func(r *Row) *string { return &r.Kernel }),
		uintColumn("n", "keys the filter was sized for", func(r *Row) *uint64 { return &r.N }),
		floatColumn("p", "promised false-positive rate at n keys; 0 when sized by space", func(r *Row) *float64 { return &r.P }),
		floatColumn("bits_per_key", "space asked for, in bits per key at n keys; 0 when sized by rate", func(r *Row) *float64 { return &r.BitsPerKey }),
		uintColumn("inserted", "distinct keys offered", func(r *Row) *uint64 { return &r.Inserted }),
		textColumn("hit_ratio", "share of lookups that ask for a member; empty where positive and negative ones are apart", func(r *Row) *string { return &r.Hit }),
		intColumn("round", "number of the seed, or of the timing round", func(r *Row) *int { return &r.Round }),
		uintColumn("seed", "seed of the hash and of the key set", func(r *Row) *uint64 { return &r.Seed }),
		textColumn("metric", "what value is", func(r *Row) *string { return &r.Metric }),
		floatColumn("value", "the measured value", func(r *Row) *float64 { return &r.Value }),
		uintColumn("trials", "what value is counted among; 0 where it is no count", func(r *Row) *uint64 { return &r.Trials }),
		textColumn("note", "why a point was refused", func(r *Row) *string { return &r.Note }),
	}
}

// writeRows writes rows as CSV, with the header line when head is set.
func writeRows(w io.Writer, rows []Row, head bool) error {
	cols := rowColumns()
	c := csv.NewWriter(w)
	rec := make([]string, len(cols))
	if head {
		for i, col := range cols {
			rec[i] = col.name
		}
		if err := c.Write(rec); err != nil {
			return err
		}
	}
	for i := range rows {
		for j, col := range cols {
			rec[j] = col.put(&rows[i])
		}
		if err := c.Write(rec); err != nil {
			return err
		}
	}
	// Flush, then ask: an unchecked error here is how files lose their last rows.
	c.Flush()
	return c.Error()
}

// ReadRows reads a samples.csv or times.csv. Errors name the line, the column
// and the value.
func ReadRows(r io.Reader) ([]Row, error) {
	cols := rowColumns()
	c := csv.NewReader(r)
	c.FieldsPerRecord = len(cols)
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("no header line: %w", err)
	}
	for i, col := range cols {
		if head[i] != col.name {
			return nil, fmt.Errorf("column %d is %q, want %q", i+1, head[i], col.name)
		}
	}
	var rows []Row
	for {
		rec, err := c.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		var row Row
		for i, col := range cols {
			if err := col.get(&row, rec[i]); err != nil {
				line, _ := c.FieldPos(i)
				return nil, fmt.Errorf("line %d, column %s, value %q: %w", line, col.name, rec[i], err)
			}
		}
		rows = append(rows, row)
	}
}

// volatile reports whether the row depends on more than the seed, and so belongs
// in times.csv.
func (r *Row) volatile() bool {
	for _, m := range metrics() {
		if m.name == r.Metric && m.exact {
			h, err := hashing.ByName(r.Hash)
			return err == nil && !h.Reproducible
		}
	}
	return true
}
