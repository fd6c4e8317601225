package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"filterlab/experiments/figure"
	"filterlab/experiments/workload"
	"filterlab/filters"
	"filterlab/filters/theory"
	"filterlab/hashing"
	"filterlab/hashing/hashtest"
)

// HashQuality asks what is wrong with a hash by itself, before any filter reads
// it.
func HashQuality() Experiment {
	return Experiment{
		Name:     "hash-quality",
		Question: "Which hashes change half their bits with one bit of the key, spread keys as chance does, and collide no more than chance?",
		Grid: func(p Profile) Grid {
			var hashes, sets []string
			for _, h := range hashing.All() {
				hashes = append(hashes, h.Name)
			}
			for _, s := range workload.All() {
				if s.New(0).Members() >= qualityKeys {
					sets = append(sets, s.Name)
				}
			}
			if p.Thin {
				sets = []string{"random", "sequential", "urls"}
			}
			return Grid{Axes: []Axis{noFilterAxis(), HashAxis(hashes...), KeysAxis(sets...), NAxis(fmt.Sprint(qualityKeys)), BitsAxis("64")}}
		},
		Measures: []Measure{testHash()},
		Parse: func(s string) (filters.Variant, error) {
			if s == string(noFilter) {
				return noFilter, nil
			}
			return parseScheme(s)
		},
		Values: []Value{
			{Metric: MetricAvalanche, Probability: true},
			{Metric: MetricIndep, Probability: true},
			{Metric: MetricSpreadLow, Probability: true},
			{Metric: MetricSpreadHigh, Probability: true},
			{Metric: MetricSpreadPair, Probability: true},
			{Metric: MetricCollide, Probability: true},
			{Metric: MetricBias},
			{Metric: MetricCorrelated},
			{Metric: MetricCollisions},
		},
		Expected: func(p *Point) string {
			if h, err := hashing.ByName(p.Hash); err == nil && h.Weak {
				return "weak hash, here as a control"
			}
			if p.Hash == "xxh3" && p.Keys == "random" { // where bit independence is tested
				return "the flips of two bits correlate by 0.1: XXH3 fails the bit independence criterion of SMHasher3 too"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			least := func(metrics ...string) func(c *Cell) figure.Cell {
				return func(c *Cell) figure.Cell {
					p := math.NaN()
					for _, m := range metrics {
						if o, ok := c.Own[m]; ok && !(p <= o.P) {
							p = o.P
						}
					}
					return pCell(p)
				}
			}
			caption := "Two-sided, the least of the seeds times their number; a good hash has one below 0.01 in a hundred tests. "
			return []figure.Figure{
				heatMap("hash-buckets", "Do keys spread over buckets as balls thrown at random?",
					"Chi-square over 4096 buckets by the lowest 12 bits, the highest 12, and 6 of either half together: the least of three. "+caption+about.Bare, pScale(), cells,
					least(MetricSpreadLow, MetricSpreadHigh, MetricSpreadPair)),
				heatMap("hash-collisions", "Do keys collide in 32 bits as often as chance has it?",
					"The highest 32 bits of 64, or all of a 32-bit hash; too few collisions count as well. "+caption+about.Bare, pScale(), cells, least(MetricCollide)),
				testsFigure(cells, about),
			}
		},
		Finding: func(cells []Cell) string {
			bad, tested := map[string][]string{}, map[string]bool{}
			for i := range cells {
				c := &cells[i]
				if c.Verdict == Agree || c.Verdict == AgreeWide || c.Verdict == DifferExpected || c.Verdict == Differ {
					tested[c.Hash] = true
				}
				if c.Verdict == DifferExpected || c.Verdict == Differ {
					bad[c.Hash] = append(bad[c.Hash], c.Keys)
				}
			}
			var pass, fail []string
			for _, h := range hashing.All() {
				switch {
				case !tested[h.Name]:
				case len(bad[h.Name]) > 0:
					fail = append(fail, fmt.Sprintf("%s (%d key sets)", h.Name, len(bad[h.Name])))
				default:
					pass = append(pass, h.Name)
				}
			}
			return fmt.Sprintf("No fault was found in: %s. At least one test failed for: %s. Passing does not make a hash fit for keys that an enemy chooses. Verdicts: %s.",
				strings.Join(pass, ", "), strings.Join(fail, ", "), verdicts(cells))
		},
	}
}

// qualityKeys is the number of keys hashed at each point.
const qualityKeys = 200_000

// independenceSamples is the number of keys of the bit independence test, each with
// every bit flipped: a correlation of 0.1 shows, and a hash takes a tenth of a second.
const independenceSamples = 4000

// noFilterName stands in the rows of experiments that build no filter.
type noFilterName string

const noFilter noFilterName = "none"

func noFilterAxis() Axis {
	return Axis{"filters", []string{string(noFilter)}, func(p *Point, s string) error {
		if s != string(noFilter) {
			return filters.Refuse("filters", s, string(noFilter)+": this experiment builds no filter")
		}
		p.Variant = noFilter
		return nil
	}}
}

func (v noFilterName) String() string { return string(v) }

func (v noFilterName) Build(filters.Target, []uint64) (filters.Querier, error) {
	return nil, filters.Refuse("filter", v, "a filter that can be built")
}

func (v noFilterName) Predict(filters.Target, uint64) (theory.Prediction, error) {
	return theory.Prediction{}, filters.ErrNoTheory
}

// testHash is the measure of the four tests of hashtest. Every seed gives another
// function and another set of keys.
func testHash() Measure {
	return Measure{Name: "hash tests", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			e, err := hashing.ByName(p.Hash)
			if err != nil {
				return rows, err
			}
			// Bonferroni asks more of each seed the more there are; a fault of the
			// function shows with any.
			seeds := 4
			if lab.Profile.Thin {
				seeds = 1
			}
			for round := range seeds {
				if ctx.Err() != nil {
					return rows, ctx.Err()
				}
				keys, err := lab.keys(p, round)
				if errors.Is(err, filters.ErrParam) {
					return refusal(p, err)
				}
				if err != nil {
					return rows, fmt.Errorf("%v: %w", p, err)
				}
				emit := lab.emitter(p, &rows, round, keys.seed)
				hs := keys.members
				all := hashtest.High(32)
				if e.Bits == 32 {
					all = hashtest.Part{Name: "all 32", Bits: 32, Of: func(h uint64) uint64 { return uint64(hashing.Narrow32(h)) }}
				}
				emit(MetricSpreadLow, hashtest.MeasureSpread(hs, hashtest.Low(12)).P, 0)
				emit(MetricSpreadHigh, hashtest.MeasureSpread(hs, hashtest.High(12)).P, 0)
				emit(MetricSpreadPair, hashtest.MeasureSpread(hs, hashtest.Pair(6)).P, 0)
				c := hashtest.MeasureCollisions(hs, all)
				emit(MetricCollisions, float64(c.Excess), 0)
				emit(MetricCollide, c.P, 0)
				if p.Keys == "random" { // it makes keys of its own, once for each hash
					a := hashtest.MeasureAvalanche(e.New(keys.seed), 8, 10_000, keys.seed)
					emit(MetricBias, a.MaxBias, 0)
					emit(MetricAvalanche, a.P, 0)
					b := hashtest.MeasureIndependence(e.New(keys.seed), 8, independenceSamples, keys.seed)
					emit(MetricCorrelated, b.MaxCorrelation, 0)
					if b.Pairs > 0 {
						emit(MetricIndep, b.P, 0)
					}
				}
			}
		}
		return rows, nil
	}}
}

// testsFigure shows the worst result of each test of each hash over all key sets.
func testsFigure(cells []Cell, about About) figure.Figure {
	tests := []struct{ name, metric string }{
		{"avalanche", MetricAvalanche}, {"bit independence", MetricIndep}, {"low 12 bits", MetricSpreadLow}, {"high 12 bits", MetricSpreadHigh}, {"6 of each half", MetricSpreadPair}, {"collisions", MetricCollide},
	}
	h := figure.HeatMap{
		Name: "hash-tests", Title: "Six tests of each hash",
		Caption: "The least p-value over the key sets times their number. Avalanche: 10,000 random keys of 8 bytes with every bit flipped; an ideal function " +
			fmt.Sprintf("flips every bit within %.3g of half of the time, but for one in a hundred. ", hashtest.AvalancheLimit(10_000, 64*64, 0.01)) +
			fmt.Sprintf("Bit independence: the same with %d keys, for every pair of hash bits that flip sometimes but not always; grey where none does. ", independenceSamples) + about.Bare,
		X: "test", Y: "hash", Value: pScale(),
	}
	for _, t := range tests {
		h.Columns = append(h.Columns, t.name)
	}
	for _, g := range groupBy(cells, func(c *Cell) string { return c.Hash }) {
		h.Rows = append(h.Rows, g[0].Hash)
		row := make([]figure.Cell, len(tests))
		for j, t := range tests {
			p, n := math.NaN(), 0.0
			for i := range g {
				if o, ok := g[i].Own[t.metric]; ok {
					n++
					if !(p <= o.P) {
						p = o.P
					}
				}
			}
			row[j] = pCell(min(1, p*n))
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}

// pScale is the colour scale of p-values.
func pScale() figure.Axis {
	return figure.Axis{Label: "p-value", Log: true, Min: leastP, Max: 1, Format: figure.Power}
}

// leastP is where p-values end for the eye.
const leastP = 1e-30

func pCell(p float64) figure.Cell {
	if math.IsNaN(p) {
		return figure.Cell{Value: p}
	}
	return figure.Cell{Value: max(p, leastP), Text: pText(p)}
}

// pText writes a p-value short enough for a cell.
func pText(p float64) string {
	switch {
	case p < leastP:
		return "<1e-30"
	case p < 0.001:
		return fmt.Sprintf("%.0e", p)
	}
	return fmt.Sprintf("%.2g", p)
}
