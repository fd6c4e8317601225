package choose

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"sync"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// skylineBits is the most space of a filter of the skyline: Lang et al. allow each
// about as much, and more lowers no rate that matters below a second.
const skylineBits = 24

// Place is one cell of a map: what is best there.
type Place struct {
	Map        string  // skyline or dominance
	API        string  // single or batch
	By         string  // cost, time or space: what is least
	N          uint64  // keys
	MissCost   float64 // ns; 0 in the dominance map
	P          float64 // promised rate; 0 in the skyline
	Filter     string
	BitsPerKey float64
	FPR        float64
	Ns         float64 // of a lookup that misses, hash left out
	Cost       float64 // ns: the lookup and its false positives
}

// Atlas is the maps and the trade-offs that follow from a calibration.
type Atlas struct {
	Places []Place
	Pareto []Place // what each filter gives for a rate
	Cal    *Calibration
}

// Draw computes the maps. It takes a second or two.
func Draw(cal *Calibration) (*Atlas, error) {
	a := &Atlas{Cal: cal}
	if err := a.skyline(); err != nil {
		return nil, err
	}
	return a, a.dominance()
}

// The grids of the maps: four keys counts a decade, three miss costs a decade.
func keyCounts() []uint64 { return decades(1e3, 1e9, 4) }

func decades(lo, hi float64, each int) []uint64 {
	var out []uint64
	for i := 0; ; i++ {
		x := lo * math.Pow(10, float64(i)/float64(each))
		if x > hi*1.001 {
			return out
		}
		out = append(out, uint64(math.Round(x)))
	}
}

// skyline finds for each number of keys and each cost of a false positive the
// filter that costs least, over all spaces up to skylineBits: the skyline of Lang
// et al. (PVLDB 12(5), 2019). All lookups miss, and the hash, which all need, is
// left out.
func (a *Atlas) skyline() error {
	const n = 1_000_000 // rates at a space hardly depend on the number of keys
	for _, batch := range []bool{false, true} {
		m, err := open(a.Cal, Question{N: n, Memory: skylineBits * n, MissCost: 1, Batch: batch})
		if err != nil {
			return err
		}
		m.ns = 0
		delete(m.offers, ExactSet) // it is no filter: its space is not that of one
		m.q.Memory = 0             // the limit is a space for each key
		for _, keys := range keyCounts() {
			for _, w := range decades(1, 1e9, 3) {
				name, c, cost := m.winner(world{float64(keys), float64(w), 0})
				a.Places = append(a.Places, Place{
					Map: "skyline", API: api(batch), By: "cost", N: keys, MissCost: float64(w), Filter: name,
					BitsPerKey: c.perKey, FPR: c.fpr, Ns: cost.Lookup, Cost: cost.Total,
				})
			}
		}
	}
	return nil
}

func api(batch bool) string {
	if batch {
		return "batch"
	}
	return "single"
}

// dominance finds for each number of keys and each rate which filter takes the
// fewest bits, and which answers fastest, and keeps what all of them give.
func (a *Atlas) dominance() error {
	type offer struct {
		curve  *Curve
		p      float64
		perKey float64
		fpr    float64
		k      int
	}
	const n = 1_000_000
	rates := []float64{}
	for e := 0.5; e <= 6; e += 0.25 {
		rates = append(rates, math.Pow(10, -e))
	}
	offers := make([][]offer, len(a.Cal.Curves))
	failures := make([]error, len(offers))
	var wg sync.WaitGroup
	for i := range a.Cal.Curves {
		wg.Go(func() {
			c := &a.Cal.Curves[i]
			v, err := catalog.Parse(c.Filter)
			if err != nil {
				failures[i] = err
				return
			}
			if reason, err := (Question{}).lacks(v); err != nil || reason != "" {
				failures[i] = err // nil for one that plain use leaves out
				return
			}
			for _, p := range rates {
				pred, err := v.Predict(filters.Target{N: n, P: p}, n)
				if err != nil {
					continue // a rate that this filter does not reach
				}
				offers[i] = append(offers[i], offer{c, p, float64(pred.Bits) / n, pred.FPR, pred.K})
			}
		})
	}
	wg.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	for _, keys := range keyCounts() {
		for _, p := range rates {
			least := map[string]*Place{}
			for _, of := range offers {
				for _, o := range of {
					if o.p != p {
						continue
					}
					for _, batch := range []bool{false, true} {
						ops, _ := o.curve.At(o.perKey*float64(keys), o.k, batch)
						place := Place{Map: "dominance", API: api(batch), N: keys, P: p, Filter: o.curve.Filter, BitsPerKey: o.perKey, FPR: o.fpr, Ns: ops.Lookup(0)}
						place.Cost = place.Ns
						if paretoRate(p) && (keys == 1e5 || keys == 1e7) {
							a.Pareto = append(a.Pareto, place)
						}
						keep := func(by string, better func(a, b *Place) bool) {
							here := place
							here.By = by
							if best := least[by]; best == nil || better(&here, best) {
								least[by] = &here
							}
						}
						if batch {
							keep("time, batch", func(a, b *Place) bool { return a.Ns < b.Ns })
						} else {
							keep("time, single", func(a, b *Place) bool { return a.Ns < b.Ns })
							keep("space", func(a, b *Place) bool { return a.BitsPerKey < b.BitsPerKey })
						}
					}
				}
			}
			for _, by := range []string{"space", "time, single", "time, batch"} {
				if least[by] != nil {
					a.Places = append(a.Places, *least[by])
				}
			}
		}
	}
	return nil
}

// paretoRate picks the rates of the Pareto panels.
func paretoRate(p float64) bool {
	e := -math.Log10(p)
	return e > 0.9 && math.Abs(e-math.Round(e)) < 1e-9 && e < 4.5
}

// Figures are the maps as charts.
func (a *Atlas) Figures(source string) []figure.Figure {
	about := fmt.Sprintf("Times: %s, %s, %s.", source, a.Cal.Env.CPU, a.Cal.Env.Start.Format("2006-01-02"))
	return []figure.Figure{a.skylineMap(about), a.dominanceMap(about), a.paretoPlot(about)}
}

// styleOf keeps the colour of a family the same in all figures; filters of one
// family take the free styles behind.
func (a *Atlas) styleOf(filter string) int {
	switch filter {
	case "standard":
		return 1
	case "blocked":
		return 2
	case "counting":
		return 3
	case "scalable":
		return 4
	case "cuckoo(b=4)":
		return 5
	case NoFilter:
		return figure.Reference
	}
	style := 6
	for _, c := range a.Cal.Curves {
		switch c.Filter {
		case filter:
			return style
		case "standard", "blocked", "counting", "scalable", "cuckoo(b=4)":
		default:
			style++
		}
	}
	return style
}

// marks draws one mark for each place, a series for each filter.
func (a *Atlas) marks(places []Place, y func(Place) float64) []figure.Series {
	by := map[string][]figure.Point{}
	for _, p := range places {
		by[p.Filter] = append(by[p.Filter], figure.Point{X: float64(p.N), Y: y(p)})
	}
	var names []string
	for name := range by {
		names = append(names, name)
	}
	sort.Strings(names)
	var out []figure.Series
	for _, name := range names {
		out = append(out, figure.Series{Name: name, Style: a.styleOf(name), Points: by[name]})
	}
	return out
}

// of picks the places of a map.
func (a *Atlas) of(ok func(Place) bool) []Place {
	var out []Place
	for _, p := range a.Places {
		if ok(p) {
			out = append(out, p)
		}
	}
	return out
}

func (a *Atlas) skylineMap(about string) figure.Figure {
	g := figure.Grid{
		Name: "skyline", Title: "The filter that costs least, by keys and by what a false positive costs",
		Caption: fmt.Sprintf("Cost: time of a lookup that misses, and its share of false positives (Lang et al., PVLDB 12(5), 2019), over spaces up to %d bits a key. The hash is left out. %s", skylineBits, about),
		X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power}, Y: figure.Axis{Label: "cost of a false positive (ns)", Log: true, Format: figure.Power}, Columns: 2,
	}
	for _, api := range []string{"single", "batch"} {
		places := a.of(func(p Place) bool { return p.Map == "skyline" && p.API == api })
		g.Panels = append(g.Panels, figure.Panel{Title: "lookups " + apiWords(api), Series: a.marks(places, func(p Place) float64 { return p.MissCost })})
	}
	return g
}

func apiWords(api string) string {
	if api == "batch" {
		return "in batches"
	}
	return "one at a time"
}

func (a *Atlas) dominanceMap(about string) figure.Figure {
	g := figure.Grid{
		Name: "dominance", Title: "The smallest and the fastest filter, by keys and promised rate",
		Caption: "Space and time of the filter that keeps the rate in the fewest bits; time of lookups that miss, the hash left out. " + about,
		X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power}, Y: figure.Axis{Label: "promised false-positive rate", Log: true, Format: figure.Power}, Columns: 3,
	}
	for _, by := range []struct{ by, title string }{{"space", "fewest bits"}, {"time, single", "fastest, one at a time"}, {"time, batch", "fastest, in batches"}} {
		places := a.of(func(p Place) bool { return p.Map == "dominance" && p.By == by.by })
		g.Panels = append(g.Panels, figure.Panel{Title: by.title, Series: a.marks(places, func(p Place) float64 { return p.P })})
	}
	return g
}

func (a *Atlas) paretoPlot(about string) figure.Figure {
	g := figure.Grid{
		Name: "pareto", Title: "Space against time at the same rate",
		Caption: "Each mark is a filter sized for the rate; ringed ones are beaten in both by none. Time of lookups that miss, in batches, the hash left out. " + about,
		X:       figure.Axis{Label: "bits per key", Log: true}, Y: figure.Axis{Label: "time per lookup (ns)", Log: true}, Columns: 4,
	}
	for _, n := range []uint64{1e5, 1e7} {
		for _, e := range []int{1, 2, 3, 4} {
			panel := figure.Panel{Title: fmt.Sprintf("rate %s, %s keys", fmt.Sprintf("%.4g%%", 100*math.Pow(10, -float64(e))), count(float64(n)))}
			var here []Place
			for _, p := range a.Pareto {
				if p.N == n && p.API == "batch" && int(math.Round(-math.Log10(p.P))) == e {
					here = append(here, p)
				}
			}
			for _, p := range here {
				panel.Series = append(panel.Series, figure.Series{Name: p.Filter, Style: a.styleOf(p.Filter), Points: []figure.Point{{X: p.BitsPerKey, Y: p.Ns}}})
				if frontier(p, here) {
					panel.Marks = append(panel.Marks, figure.Mark{X: p.BitsPerKey, Y: p.Ns, Name: "not beaten"})
				}
			}
			g.Panels = append(g.Panels, panel)
		}
	}
	return g
}

// frontier reports whether no other place is as good in one thing and better in the
// other.
func frontier(p Place, all []Place) bool {
	for _, o := range all {
		if o.BitsPerKey <= p.BitsPerKey && o.Ns <= p.Ns && (o.BitsPerKey < p.BitsPerKey || o.Ns < p.Ns) {
			return false
		}
	}
	return true
}

// Write puts the maps into dir: skyline.csv and the figures. It returns the paths.
func (a *Atlas) Write(dir, source string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	rows := [][]string{{"map", "api", "least", "n", "miss_cost_ns", "p", "filter", "bits_per_key", "fpr_expected", "ns_miss", "cost_ns"}}
	for _, p := range append(a.Places[:len(a.Places):len(a.Places)], a.Pareto...) {
		kind := p.Map
		if p.By == "" {
			kind = "pareto"
		}
		rows = append(rows, []string{kind, p.API, p.By, strconv.FormatUint(p.N, 10), number(p.MissCost), number(p.P), p.Filter, number(p.BitsPerKey), number(p.FPR), number(p.Ns), number(p.Cost)})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	table := filepath.Join(dir, "skyline.csv")
	if err := os.WriteFile(table, b.Bytes(), 0o666); err != nil {
		return nil, err
	}
	paths := []string{table}
	for _, f := range a.Figures(source) {
		written, err := figure.Write(dir, f)
		if err != nil {
			return nil, err
		}
		paths = append(paths, written...)
	}
	return paths, nil
}
