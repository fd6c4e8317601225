package experiments

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/workload"
	"filterlab/filters"
	"filterlab/hashing"
)

// KeyLength asks what long keys cost.
func KeyLength() Experiment {
	return Experiment{
		Name:     "key-length",
		Question: "What does it cost to hash a key of 4 bytes to 4 KiB, and to hash it and look it up?",
		Grid: func(p Profile) Grid {
			lengths, n := []int{4, 8, 16, 32, 64, 256, 1024, 4096}, "1e6"
			if p.Thin {
				lengths, n = []int{8, 32, 1024}, "1e5"
			}
			var sets []string
			for _, l := range lengths {
				sets = append(sets, kindOfLength(l).Name)
			}
			var hashes []string
			for _, h := range hashing.All() {
				if !h.Weak {
					hashes = append(hashes, h.Name)
				}
			}
			return Grid{
				Axes: []Axis{FilterAxis("blocked"), KeysAxis(sets...), HashAxis(hashes...), NAxis(n), PAxis("1%")},
				Same: func(p *Point) string { return p.Keys }, // the hashes race on the same keys
			}
		},
		Measures: []Measure{lengthTimes()},
		Values:   []Value{{Metric: MetricHashLookup, Median: true}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "key-length", Title: "Time to hash a key, and to hash it and look it up",
				Caption: "Keys of random bytes, 256 hashed and then looked up at a time; median over interleaved rounds with its 95% interval, net of the loop over the keys. " + about.Text,
				X:       figure.Axis{Label: "bytes of a key", Log: true, Ticks: []float64{4, 32, 256, 4096}},
				Y:       figure.Axis{Label: "time per key (ns)", Log: true},
				Columns: 2,
			}
			alone, both := figure.Panel{Title: "hash"}, figure.Panel{Title: "hash and batched lookup"}
			for i, group := range groupBy(cells, func(c *Cell) string { return c.Hash }) {
				a := figure.Series{Name: group[0].Hash, Style: i + 1, Join: true}
				b := a
				for j := range group {
					c := &group[j]
					x := float64(keyBytes(c.Keys))
					if x == 0 {
						continue // keys of many lengths, from a file
					}
					if t, ok := c.Times[MetricHash]; ok && t.Value > 0 {
						a.Points = append(a.Points, interval(x, t))
					}
					if o, ok := c.Own[MetricHashLookup]; ok && o.Value > 0 {
						b.Points = append(b.Points, interval(x, o.Estimate))
					}
				}
				if len(a.Points) > 0 {
					alone.Series = append(alone.Series, a)
				}
				if len(b.Points) > 0 {
					both.Series = append(both.Series, b)
				}
			}
			g.Panels = []figure.Panel{alone, both}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Keys }) {
				var best *Cell
				for i := range g {
					o, ok := g[i].Own[MetricHashLookup]
					if ok && (best == nil || o.Value < best.Own[MetricHashLookup].Value) {
						best = &g[i]
					}
				}
				if best != nil {
					what := best.Keys
					if n := keyBytes(best.Keys); n > 0 {
						what = fmt.Sprintf("of %d bytes", n)
					}
					s += fmt.Sprintf("Keys %s: %s is the fastest with %.3g ns to hash and look up; to hash takes %.3g. ",
						what, best.Hash, best.Own[MetricHashLookup].Value, best.Times[MetricHash].Value)
				}
			}
			if s == "" {
				return "Nothing was timed."
			}
			return s + "Compare hashes within a length: they raced there."
		},
	}
}

// lengthPrefix begins the names of the key sets of this experiment; the number of
// bytes follows.
const lengthPrefix = "bytes"

// keyBytes is the length of the keys of such a set; 0 for other key sets.
func keyBytes(keys string) int {
	digits, ok := strings.CutPrefix(keys, lengthPrefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 4 || n > maxLength {
		return 0
	}
	return n
}

const maxLength = 1 << 20

// ofLength is a key set of keys of one length: the beginning is a one-to-one function
// of a counter, of which members are the even values and absent keys the odd ones,
// and the rest is random bytes.
type ofLength struct {
	length int // at least 4
	seed   uint64
}

// kindOfLength is the key set of keys of so many bytes.
func kindOfLength(length int) workload.Kind {
	s := ofLength{length: length}
	return workload.Kind{Name: s.Name(), Doc: fmt.Sprintf("%d random bytes", length), New: func(seed uint64) workload.Source {
		return ofLength{length, seed}
	}}
}

func (s ofLength) Name() string { return lengthPrefix + strconv.Itoa(s.length) }

// Members is half of what four bytes can tell apart, or more than anybody needs.
func (s ofLength) Members() uint64 {
	if s.length < 8 {
		return 1 << 31
	}
	return 1 << 40
}

func (s ofLength) Absent() uint64 { return s.Members() }

func (s ofLength) AppendMember(dst []byte, i uint64) []byte { return s.write(dst, 2*i) }
func (s ofLength) AppendAbsent(dst []byte, i uint64) []byte { return s.write(dst, 2*i+1) }

func (s ofLength) write(dst []byte, c uint64) []byte {
	left := s.length
	if left < 8 {
		x := uint32(c) + uint32(s.seed)
		x = (x ^ x>>16) * 0x85ebca6b // odd factors and shifts: one to one in 32 bits
		x = (x ^ x>>13) * 0xc2b2ae35
		dst = binary.LittleEndian.AppendUint32(dst, x^x>>16)
		left -= 4
	}
	for word := uint64(0); left > 0; word++ {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], mix(c+s.seed+word<<42))
		n := min(left, len(b))
		dst = append(dst, b[:n]...)
		left -= n
	}
	return dst
}

// lengthTimes races the hashes of a group, each alone and each with a filter of its
// own behind it. Half of the keys are members.
func lengthTimes() Measure {
	return Measure{Name: "key length", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		const block = 256
		// 4 MiB of keys, within what is hashed from the second-level cache or the
		// third, whatever their length; not so few that a branch predictor learns
		// them, nor so many that short ones take long.
		count := 1 << 15
		if length := keyBytes(points[0].Keys); length > 0 {
			count = min(max(4<<20/length, 1<<10), count)
		}
		src, err := lab.source(points[0], lab.seed(points[0], 0))
		if err != nil {
			return nil, err
		}
		count = int(min(uint64(count), src.Members()))
		set, err := workload.Members(src, 0, uint64(count))
		if err != nil {
			return nil, err
		}
		keys := set.Slices()
		dst := make([]uint64, count)
		in := make([]bool, count)
		var of []*Point
		var cs []measure.Contender
		var kernels []string
		for _, p := range points {
			e, err := hashing.ByName(p.Hash)
			if err != nil {
				return nil, err
			}
			h := e.New(lab.Seed)
			f, err := newFilter(p)
			if err != nil {
				more, err := refusal(p, err)
				return more, err
			}
			// The table is as full as it should be, of hashes that cost nothing to make,
			// and holds every other key.
			full := make([]uint64, p.Target.N-min(p.Target.N, uint64(count)/2))
			for i := range full {
				full[i] = mix(lab.Seed ^ uint64(i)<<1)
			}
			h.SumMany(dst, keys)
			for i := 0; i < count && uint64(len(full)) < p.Target.N; i += 2 {
				full = append(full, dst[i])
			}
			if n, err := filters.AddMany(f, full); err != nil {
				return nil, fmt.Errorf("%v: key %d: %w", p, n, err)
			}
			hits := uint64(filters.ContainsMany(f, in, dst))
			of = append(of, p)
			kernels = append(kernels, kernelOf(f, MetricMiss, true))
			cs = append(cs, measure.Contender{
				Name: p.Hash, Ops: count, Batch: true,
				Run: func() uint64 { h.SumMany(dst, keys); return uint64(count) },
			}, measure.Contender{
				Name: p.Hash + " and lookup", Ops: count, Batch: true,
				Run: func() uint64 {
					var hs [block]uint64
					n := 0
					for i := 0; i < count; i += block {
						end := min(i+block, count)
						h.SumMany(hs[:end-i], keys[i:end])
						n += filters.ContainsMany(f, in[i:end], hs[:end-i])
					}
					return uint64(n)
				},
				Want: func() uint64 { return hits },
			})
		}
		t, err := measure.Race{Contenders: cs, Rounds: min(lab.Profile.Rounds, 6), Loop: measure.Contender{
			Name: "loop", Ops: count,
			Run: func() uint64 {
				n := 0
				for _, k := range keys {
					n += len(k)
				}
				return uint64(n)
			},
		}}.Run(ctx)
		if err != nil {
			return nil, err
		}
		var rows []Row
		for i, p := range of {
			for j, metric := range []string{MetricHash, MetricHashLookup} {
				for round, ns := range t.Series[2*i+j].Net {
					r := p.row(metric)
					r.API, r.Kernel, r.Round, r.Value, r.Note = apiName(true), kernels[i], round, ns, t.Series[2*i+j].Invalid
					rows = append(rows, r)
				}
			}
		}
		return rows, nil
	}}
}
