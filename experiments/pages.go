package experiments

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Pages asks what large memory pages are worth.
func Pages() Experiment {
	return Experiment{
		Name:     "pages",
		Question: "What do memory pages of 2 MiB instead of 4 KiB save a lookup, and does the system give them?",
		Grid: func(p Profile) Grid {
			ns, tables := []string{"1e6", "1e7", "1e8"}, []string{"blocked(layout=split)", "blocked(layout=split,pages=huge)"}
			if p.Thin {
				ns = []string{"3e6"}
			} else if p.MaxN > 10_000_000 {
				ns, tables = append(ns, "3e8"), append(tables, "blocked", "blocked(pages=huge)")
			}
			return Grid{
				Axes: []Axis{NAxis(ns...), FilterAxis(tables...),
					HashAxis("xxh3"), KeysAxis("random"), PAxis("1%")},
				Same: func(*Point) string { return "" }, // no table on large pages before the last on small ones
			}
		},
		Measures: []Measure{pageTimes()},
		Values:   []Value{{Metric: MetricHugeShare, Median: true}, {Metric: MetricFloor, Median: true}, {Metric: MetricOverFloor, Median: true}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			g := figure.Grid{
				Name: "pages", Title: "Lookups in tables on small and on large memory pages",
				Caption: "Negative lookups, median over interleaved rounds with its 95% interval, net of the loop without a filter. " + about.Text,
				X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power},
				Y:       figure.Axis{Label: "time per lookup (ns)", Log: true},
				Columns: 2,
			}
			for _, api := range []string{"single", "batch"} {
				panel := figure.Panel{Title: api}
				for i, group := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
					s := figure.Series{Name: group[0].Filter, Style: i + 1, Join: true}
					for j := range group {
						if t, ok := group[j].Times[MetricMiss]; ok && group[j].API == api {
							s.Points = append(s.Points, interval(float64(group[j].N), t))
						}
					}
					if len(s.Points) > 0 {
						panel.Series = append(panel.Series, s)
					}
				}
				g.Panels = append(g.Panels, panel)
			}
			return []figure.Figure{g}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, group := range groupBy(cells, func(c *Cell) string { return fmt.Sprint(c.N, c.API) }) {
				at := func(filter string) *Cell {
					return find(group, func(c *Cell) bool { _, ok := c.Times[MetricMiss]; return ok && c.Filter == filter })
				}
				for _, pair := range [][2]string{{"blocked(layout=split)", "blocked(layout=split,pages=huge)"}, {"blocked", "blocked(pages=huge)"}} {
					small, large := at(pair[0]), at(pair[1])
					if small == nil || large == nil {
						continue
					}
					s += fmt.Sprintf("Among %s keys in %s, %s, a lookup takes %.3g ns on small pages and %.3g on large ones (%.0f%% of the table is on them; without asking %.0f%%)",
						units.FormatCount(small.N), pair[0], small.API, small.Times[MetricMiss].Value, large.Times[MetricMiss].Value,
						100*large.Own[MetricHugeShare].Value, 100*small.Own[MetricHugeShare].Value)
					if a, ok := small.Own[MetricOverFloor]; ok {
						s += fmt.Sprintf(", with its loop %.2f and %.2f times what reading one line a key takes", a.Value, large.Own[MetricOverFloor].Value)
					}
					s += ". "
				}
			}
			if s == "" {
				return "Nothing was timed: pages of 2 MiB are asked for and seen on Linux alone."
			}
			return s + "Counted by the system's own figures for this process, before and after."
		},
	}
}

// pageTimes fills the filters of a group, from keys made a part at a time, says on
// which pages their tables are, and lets lookups race.
func pageTimes() Measure {
	return Measure{Name: "pages", Timed: true, Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		if _, err := anonHuge(); err != nil {
			for _, p := range points {
				row := p.row(MetricRefused)
				row.Note = "pages of 2 MiB cannot be seen here: " + err.Error()
				rows = append(rows, row)
			}
			return rows, nil
		}
		// Those on small pages first: what another filter had on large ones and gave
		// back may come again as it is.
		points = slices.Clone(points)
		slices.SortStableFunc(points, func(a, b *Point) int {
			huge := func(p *Point) int { return strings.Count(p.Variant.String(), "huge") }
			return huge(a) - huge(b)
		})
		var racers []*racing
		for _, p := range points {
			if err := ctx.Err(); err != nil {
				return rows, err
			}
			debug.FreeOSMemory() // so that the table is made of fresh memory
			before, err := anonHuge()
			if err != nil {
				return rows, err
			}
			f, err := newFilter(p)
			if err != nil {
				more, err := refusal(p, err)
				rows = append(rows, more...)
				if err != nil {
					return rows, err
				}
				continue
			}
			some := make([]uint64, 1<<18) // what the first part is asked for again
			if err := lab.stream(ctx, p, 0, func(hs []uint64) error {
				copy(some, hs)
				some = some[:min(len(some), len(hs))]
				_, err := filters.AddMany(f, hs)
				return err
			}); err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
			after, err := anonHuge()
			if err != nil {
				return rows, err
			}
			row := p.row(MetricHugeShare)
			row.Value = min(1, max(0, after-before)/(float64(f.SizeBits())/8))
			rows = append(rows, row)

			keys, err := lab.absentKeys(p, 0)
			if err != nil {
				return rows, err
			}
			r := &racing{point: p, filter: f, loops: catalog.Loop(f), members: some, dst: make([]bool, queriesOf(f.SizeBits()))}
			r.absent = make([]uint64, min(uint64(len(r.dst)), keys.absentLimit))
			keys.absent(r.absent)
			if err := measure.Lost(f, some); err != nil {
				return rows, err
			}
			racers = append(racers, r)
		}
		if len(racers) == 0 {
			return rows, nil
		}
		slices.SortStableFunc(racers, func(a, b *racing) int { return cmp.Compare(a.point.Target.N, b.point.Target.N) })
		for i := 0; i < len(racers); { // those of one size race each other
			field := racers[i:]
			if end := slices.IndexFunc(field, func(r *racing) bool { return r.point.Target.N != field[0].point.Target.N }); end > 0 {
				field = field[:end]
			}
			i += len(field)
			for _, batch := range []bool{false, true} {
				more, err := raceLookups(ctx, lab, field, batch, MetricMiss, func(r *racing, dst []uint64, rng *rand.Rand) { draw(dst, r.absent, rng) })
				if err != nil {
					return rows, err
				}
				rows = append(rows, more...)
			}
		}
		runtime.KeepAlive(racers)
		return rows, nil
	}}
}

// anonHuge is the memory of this process on pages of 2 MiB, in bytes, as the system
// counts it: the sum of AnonHugePages over /proc/self/smaps.
func anonHuge() (float64, error) {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0, fmt.Errorf("no /proc/self/smaps on %s", runtime.GOOS)
	}
	return sumHuge(text)
}

// sumHuge adds the lines "AnonHugePages: 2048 kB" up.
func sumHuge(smaps []byte) (bytesHuge float64, err error) {
	lines := bufio.NewScanner(bytes.NewReader(smaps))
	seen := false
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "AnonHugePages:")
		if !ok {
			continue
		}
		seen = true
		var kib float64
		if _, err := fmt.Sscanf(rest, "%g kB", &kib); err != nil {
			return 0, fmt.Errorf("smaps: %q: %w", lines.Text(), err)
		}
		bytesHuge += 1024 * kib
	}
	if !seen {
		return 0, fmt.Errorf("smaps has no AnonHugePages")
	}
	return bytesHuge, lines.Err()
}
