package contest

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filterlab/experiments/measure"
	"filterlab/experiments/peers/adapter"
	"filterlab/experiments/units"
	"filterlab/filters"
)

// promise is the rate that both sides are sized for, unless they share their bits.
const promise = 0.01

// side is one half of a result.
type side struct {
	filter string
	api    string
	kernel string
	bits   float64       // per key
	rate   measure.Count // of absent keys
	ns     float64       // median, gross
	rounds []float64     // gross, by round
}

// Result is the outcome of a duel.
//
// Ratios are of gross times. The loop without a filter, which other figures take
// off, costs as much as a whole vector lookup; without it the ratios of batches
// would be twice as large, and nobody can call without writing the answers.
type Result struct {
	Duel
	Note         string // why it was not fought; then nothing else is set
	Ratio        measure.Ratio
	Net          measure.Ratio // the same with the loop taken off both sides, where anything is left
	Noise        float64       // how far ours seemed to differ from itself in the same race, gross; 0.02 is 2%
	Separated    bool          // the interval leaves out 1, and the ratio is further from 1 than the noise
	ours, theirs side
	loop         []float64
}

// Fought reports whether there is a ratio.
func (r *Result) Fought() bool { return r.Note == "" }

// notReached is what Reached says where reports give the reason.
const notReached = "no"

// Reached tells whether the ratio that was wanted was reached: "yes" with the
// whole interval at or above it, "about" when the interval holds it, "no" below. A
// filter that errs more often than promised, by more than a twentieth, reaches nothing.
func (r *Result) Reached() string {
	switch {
	case r.Want == 0 || !r.Fought():
		return ""
	case !r.Bits && r.ours.rate.Rate() > 1.05*promise:
		return "misses its rate"
	case r.Ratio.Interval.Lo >= r.Want:
		return "yes"
	case r.Ratio.Interval.Hi >= r.Want:
		return "about"
	case !r.Ratio.Interval.Valid():
		return "too few rounds"
	default:
		return notReached
	}
}

// DuelOptions say how the duels are fought.
type DuelOptions struct {
	Rounds int
	MaxN   uint64 // duels of more keys are listed and not fought
	MinN   uint64 // duels of fewer keys are left out
	Trials uint64 // lookups of absent keys that show the rate of each side
	Seed   uint64
	Only   string // fights only duels whose name, filters or n hold this text
	Log    io.Writer
}

// match is what one pair of filters is built for.
type match struct {
	ours, theirs string
	n            uint64
	bits, keys   bool
}

func (d *Duel) match() match {
	return match{d.Ours, d.Theirs, d.N, d.Bits, d.Op == HitKey || d.Op == MissKey}
}

// chosen reports whether the options ask for the duel.
func (o *DuelOptions) chosen(d *Duel) bool {
	return d.N >= o.MinN && (o.Only == "" || strings.Contains(fmt.Sprintf("%s|%s|%s|%d|%s", d.Name, d.Ours, d.Theirs, d.N, d.Op), o.Only))
}

// Fight runs the duels, those of the same filters on the same tables, adds last.
// The results come in the order of duels. After each pair done is called with
// all results so far.
func Fight(ctx context.Context, duels []Duel, o DuelOptions, done func([]Result) error) ([]Result, error) {
	var results []Result
	byMatch := map[match][]int{}
	var order []match
	for _, d := range duels {
		if !o.chosen(&d) {
			continue
		}
		r := Result{Duel: d, Note: "not fought yet"}
		if d.N > o.MaxN {
			r.Note = fmt.Sprintf("more than the %s keys of this profile", units.FormatCount(o.MaxN))
		} else {
			if byMatch[d.match()] == nil {
				order = append(order, d.match())
			}
			byMatch[d.match()] = append(byMatch[d.match()], len(results))
		}
		results = append(results, r)
	}
	for i, m := range order {
		fmt.Fprintf(o.Log, "duel %d of %d: %s against %s, %s keys\n", i+1, len(order), m.ours, label(m.theirs), units.FormatCount(m.n))
		if err := fight(ctx, m, o, byMatch[m], results); err != nil {
			return results, err
		}
		if err := done(results); err != nil {
			return results, err
		}
	}
	return results, nil
}

// fight builds the two filters and runs their duels.
func fight(ctx context.Context, m match, o DuelOptions, at []int, results []Result) error {
	ours, theirs, err := m.racers(o.Seed)
	if errors.Is(err, filters.ErrParam) || errors.Is(err, filters.ErrFull) {
		for _, i := range at {
			results[i].Note = err.Error()
		}
		return nil
	}
	if err != nil {
		return err
	}
	rates := [2]measure.Count{ours.rate(o.Trials), theirs.rate(o.Trials)}
	for pass := range 2 { // adds come last, since they empty the filters
		for _, i := range at {
			if (results[i].Op == Add) != (pass == 1) {
				continue
			}
			r, err := duel(ctx, results[i].Duel, ours, theirs, o)
			if wrong := (*measure.AnswerError)(nil); errors.As(err, &wrong) && Foreign(wrong.Name) {
				results[i].Note = err.Error() // what another library does wrong ends its duel alone
				continue
			}
			if err != nil {
				return err
			}
			r.ours.rate, r.theirs.rate = rates[0], rates[1]
			results[i] = r
		}
	}
	return nil
}

// racers builds both filters, each with keys of its own; of a hundred million
// keys both hold the same, which are too many for any cache.
func (m match) racers(seed uint64) (ours, theirs *racer, err error) {
	a, err := adapter.Parse(m.ours)
	if err != nil {
		return nil, nil, err
	}
	b, err := adapter.Parse(m.theirs)
	if err != nil {
		return nil, nil, err
	}
	target := filters.Target{N: m.n, P: promise}
	theirSeed := seed + 1
	if m.n > shared {
		theirSeed = seed
	}
	set, ourHash, theirHash := keySet, hashName, hashName
	ourHashSeed, theirHashSeed := seed, theirSeed
	if m.keys {
		// parquet-go's users hash by XXH64 with seed 0.
		set, theirHash, theirHashSeed = "random32", "xxhash64", 0
	}
	keys, err := openKeys(set, theirHash, theirSeed, theirHashSeed)
	if err != nil {
		return nil, nil, err
	}
	if theirs, err = newRacerOf(b, target, theirSeed, keys); err != nil {
		return nil, nil, err
	}
	if m.bits {
		target = filters.Target{N: m.n, BitsPerKey: float64(theirs.q.SizeBits()) / float64(m.n)}
	}
	if keys, err = openKeys(set, ourHash, seed, ourHashSeed); err != nil {
		return nil, nil, err
	}
	ours, err = newRacerOf(a, target, seed, keys)
	return ours, theirs, err
}

// rate asks for absent keys far from those that are timed.
func (r *racer) rate(trials uint64) measure.Count {
	first := uint64(1) << 40
	return measure.Absent(r.q, trials, func(dst []uint64) {
		_ = r.keys.absent(dst, first) // 2^60 keys cannot run out
		first += uint64(len(dst))
	})
}

func duel(ctx context.Context, d Duel, ours, theirs *racer, o DuelOptions) (Result, error) {
	r := Result{Duel: d}
	var cs []measure.Contender
	var loop measure.Contender
	rounds := o.Rounds
	switch d.Op {
	case Hit, Miss:
		for _, x := range []*racer{ours, theirs} {
			cs = append(cs, x.lookups(d.Op == Hit, d.Batch))
		}
		loop = emptyLookups(ours)
	case HitKey, MissKey:
		for _, x := range []*racer{ours, theirs} {
			c, err := x.keyLookups(d.Op == HitKey)
			if err != nil {
				return r, err
			}
			cs = append(cs, c)
		}
		loop = emptyKeyLookups(ours)
	case Add:
		members := make([]uint64, d.N)
		if err := ours.keys.members(members, 0); err != nil {
			return r, err
		}
		own := members
		if theirs.seed != ours.seed {
			own = make([]uint64, d.N)
			if err := theirs.keys.members(own, 0); err != nil {
				return r, err
			}
		}
		cs = []measure.Contender{ours.adds(members, d.Batch), theirs.adds(own, d.Batch)}
		loop = emptyAdds(members)
		if d.N > largePass {
			rounds = min(rounds, 6)
		}
	}
	t, err := measure.Race{Loop: loop, Contenders: cs, Rounds: rounds}.Run(ctx)
	if err != nil {
		return r, fmt.Errorf("%s, %s keys, %s: %w", d.Name, units.FormatCount(d.N), d.Op, err)
	}
	// Theirs over ours: more is faster.
	r.Net, _ = t.Compare(1, 0)
	r.loop = t.Loop.Gross
	gross := t
	gross.Series = slices.Clone(t.Series)
	for i := range gross.Series {
		gross.Series[i].Net = gross.Series[i].Gross
	}
	gross.Again.Net = gross.Again.Gross
	r.Ratio, r.Separated = gross.Compare(1, 0)
	r.Noise = gross.Noise()
	sideOf := func(x *racer, i int) side {
		api := x.api(d.Batch)
		switch _, many := x.q.(filters.BatchAdder); {
		case d.Op == Add && d.Batch && many:
			api = Batch
		case d.Op == Add && d.Batch:
			api = Loop
		case (d.Op == HitKey || d.Op == MissKey) && i == 1:
			api = Loop
		}
		return side{
			filter: x.name, api: api, kernel: kernel(x, api),
			bits: float64(x.q.SizeBits()) / float64(d.N),
			ns:   measure.Median(t.Series[i].Gross), rounds: t.Series[i].Gross,
		}
	}
	r.ours, r.theirs = sideOf(ours, 0), sideOf(theirs, 1)
	r.Want = d.want(r.ours.kernel)
	return r, nil
}

// keyBlock is how many byte strings are hashed before they are looked up.
const keyBlock = 256

// manyKeys is what a Keyed with batches of byte strings offers.
type manyKeys interface {
	ContainsMany(dst []bool, keys [][]byte) (hits int)
}

// keyLookups hashes byte strings and looks them up: ours a block at a time,
// parquet-go's as its users write it.
func (r *racer) keyLookups(hit bool) (measure.Contender, error) {
	ask, ok := adapter.KeyLoop(r.q)
	if !ok {
		if Foreign(r.name) {
			return measure.Contender{}, fmt.Errorf("%s: no loop over byte strings", r.name)
		}
		var hs [keyBlock]uint64
		ask = func(dst []bool, keys [][]byte) (hits int) {
			for i := 0; i < len(keys); i += keyBlock {
				block := keys[i:min(i+keyBlock, len(keys))]
				r.keys.hash.SumMany(hs[:], block)
				hits += filters.ContainsMany(r.q, dst[i:], hs[:len(block)])
			}
			return hits
		}
		if k, ok := any(filters.Keyed{Filter: r.q, Hash: r.keys.hash}).(manyKeys); ok {
			ask = k.ContainsMany
		}
	}
	var keys [][]byte
	dst := make([]bool, max(minQueries, min(r.n, maxQueries)))
	var want uint64
	return measure.Contender{
		Name: r.name, Ops: len(dst), Batch: true,
		Prepare: func(round int) {
			keys = r.drawKeys(len(dst), hit, round)
			want = 0
			for _, k := range keys {
				if r.q.Contains(r.keys.hash.Sum64(k)) {
					want++
				}
			}
			if hit {
				want = uint64(len(keys))
			}
		},
		Want: func() uint64 { return want },
		Run:  func() uint64 { return uint64(ask(dst, keys)) },
	}, nil
}

// drawKeys draws byte strings that lie behind one another in the order in which
// they are asked for.
func (r *racer) drawKeys(n int, hit bool, round int) [][]byte {
	rng := rand.New(rand.NewPCG(r.seed, uint64(round)))
	arena := make([]byte, 0, 32*n)
	keys := make([][]byte, n)
	for i := range keys {
		from := len(arena)
		if hit {
			arena = r.keys.src.AppendMember(arena, rng.Uint64N(r.n))
		} else {
			arena = r.keys.src.AppendAbsent(arena, uint64(round+1)*uint64(n)+uint64(i))
		}
		keys[i] = arena[from:len(arena):len(arena)]
	}
	return keys
}

// emptyKeyLookups is the loop without hash and filter.
func emptyKeyLookups(r *racer) measure.Contender {
	n := int(max(minQueries, min(r.n, maxQueries)))
	keys, dst := r.drawKeys(n, false, 0), make([]bool, n)
	return measure.Contender{
		Name: "loop", Ops: n,
		Run: func() uint64 {
			hits := uint64(0)
			for i, k := range keys {
				in := len(k)&1 != 0
				dst[i] = in
				if in {
					hits++
				}
			}
			return hits
		},
	}
}

// ratioColumn is one column of ratios.csv.
type ratioColumn struct {
	name, doc string
	get       func(r *Result) string
	always    bool // of the duel, not of its outcome
}

func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func ratioColumns() []ratioColumn {
	return []ratioColumn{
		{"duel", "what is compared", func(r *Result) string { return r.Name }, true},
		{"n", "keys in the filters", func(r *Result) string { return strconv.FormatUint(r.N, 10) }, true},
		{"op", "hit, miss: lookups of present and absent keys; add; -key32: with hashing of 32-byte keys", func(r *Result) string { return string(r.Op) }, true},
		{"ours", "variant of ours", func(r *Result) string { return r.Ours }, true},
		{"theirs", "variant of the other library", func(r *Result) string { return r.Theirs }, true},
		{"ratio", "median over rounds of their time over ours, gross: how many times as fast ours is", func(r *Result) string { return number(r.Ratio.Median) }, false},
		{"ratio_lo", "lower end of its exact 95% sign interval", func(r *Result) string { return number(r.Ratio.Interval.Lo) }, false},
		{"ratio_hi", "upper end of its exact 95% sign interval", func(r *Result) string { return number(r.Ratio.Interval.Hi) }, false},
		{"wanted", "ratio to reach; empty where none is claimed", func(r *Result) string {
			if r.Want == 0 {
				return ""
			}
			return number(r.Want)
		}, true},
		{"reached", "yes: the interval lies at or above the wanted ratio; about: it holds it; no: below; misses its rate: ours errs at more than 1.05%", (*Result).Reached, false},
		{"noise", "relative difference that ours, timed twice in the same race, shows to itself", func(r *Result) string { return number(r.Noise) }, false},
		{"separated", "the interval leaves out 1 and the ratio is further from 1 than the noise", func(r *Result) string { return strconv.FormatBool(r.Separated) }, false},
		{"ours_ns", "median ns per key of ours, gross: the loop and the writing of answers included", func(r *Result) string { return number(r.ours.ns) }, false},
		{"theirs_ns", "the same of theirs", func(r *Result) string { return number(r.theirs.ns) }, false},
		{"loop_ns", "median ns per key of the loop without a filter", func(r *Result) string { return number(measure.Median(r.loop)) }, false},
		{"ratio_net", "the ratio with the loop without a filter taken off both sides; empty where that leaves nothing", func(r *Result) string { return number(r.Net.Median) }, false},
		{"ours_api", "single, batch, or loop (single calls where the other side has batches)", func(r *Result) string { return r.ours.api }, false},
		{"theirs_api", "the same of theirs", func(r *Result) string { return r.theirs.api }, false},
		{"ours_kernel", "code path of ours", func(r *Result) string { return r.ours.kernel }, false},
		{"ours_bits_per_key", "table size over n", func(r *Result) string { return number(r.ours.bits) }, false},
		{"theirs_bits_per_key", "the same of theirs", func(r *Result) string { return number(r.theirs.bits) }, false},
		{"ours_fpr", "measured rate among absent keys", func(r *Result) string { return number(r.ours.rate.Rate()) }, false},
		{"theirs_fpr", "the same of theirs", func(r *Result) string { return number(r.theirs.rate.Rate()) }, false},
		{"rounds", "rounds of the race", func(r *Result) string { return strconv.Itoa(r.Ratio.Rounds) }, false},
		{"note", "why it was not fought", func(r *Result) string { return r.Note }, true},
	}
}

// WriteRatios writes the results as CSV, and every round beside them as
// stem_times.csv.
func WriteRatios(dir, stem string, results []Result) error {
	cols := ratioColumns()
	var table, times [][]string
	var head []string
	for _, c := range cols {
		head = append(head, c.name)
	}
	table = append(table, head)
	times = append(times, []string{"duel", "n", "op", "ours", "theirs", "round", "ours_ns", "theirs_ns", "loop_ns"})
	for i := range results {
		r := &results[i]
		var rec []string
		for _, c := range cols {
			if r.Fought() || c.always {
				rec = append(rec, c.get(r))
			} else {
				rec = append(rec, "")
			}
		}
		table = append(table, rec)
		for round := range r.ours.rounds {
			times = append(times, []string{
				r.Name, strconv.FormatUint(r.N, 10), string(r.Op), r.Ours, r.Theirs, strconv.Itoa(round),
				strconv.FormatFloat(r.ours.rounds[round], 'g', -1, 64),
				strconv.FormatFloat(r.theirs.rounds[round], 'g', -1, 64),
				strconv.FormatFloat(r.loop[round], 'g', -1, 64),
			})
		}
	}
	for name, rows := range map[string][][]string{stem + ".csv": table, stem + "_times.csv": times} {
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, name), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes under another name and renames, so that a reader never sees a
// part.
func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, b, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
