package experiments

import (
	"fmt"
	"math"
	"strconv"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
)

// Teaching asks whether the worked example of tutorials, 16 bits and three
// probes, has the rates that tutorials state.
func Teaching() Experiment {
	const m = 16
	words := Axis{"words", []string{"1", "2", "3", "4", "5", "6", "7", "8", "10", "12"}, func(p *Point, s string) error {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n < 1 || n > 1000 {
			return filters.Refuse("words", strconv.Quote(s), "a whole number from 1 to 1000")
		}
		p.Target = filters.Target{N: n, BitsPerKey: m / float64(n)}
		return nil
	}}
	return Experiment{
		Name:     "teaching",
		Question: "Are the rates that tutorials state for their 16-bit example, 8.0% with three words and 46.9% with eight, right?",
		Grid: func(p Profile) Grid {
			if p.Thin {
				words.Values = []string{"3", "8"}
			}
			return Grid{
				Axes: []Axis{
					{"filters", []string{"standard(k=3)", "tutorial"}, func(p *Point, s string) (err error) {
						p.Variant, err = parseTeaching(s)
						return err
					}},
					HashAxis("xxh3", "poly"), KeysAxis("threeletter"), words,
				},
				// The tutorial's hash gives three positions, which only the
				// tutorial's filter reads as such.
				Skip: func(p *Point) bool { return p.Hash == "poly" && p.Variant != filters.Variant(tutorial{}) },
			}
		},
		Parse:    parseTeaching,
		Measures: []Measure{FineRate(0.75, 0)}, // 16 bits differ much between seeds: thousands of them are enough
		Expected: func(p *Point) string {
			if p.Hash == "poly" {
				return "odd bases give the three positions of a word one parity"
			}
			return ""
		},
		Figures: func(cells []Cell, about About) []figure.Figure {
			name := func(c *Cell) string {
				switch {
				case c.Hash == "poly":
					return "tutorial's hash"
				case c.Filter == "standard(k=3)":
					return "random hash"
				default:
					return "random hash, three values mod m"
				}
			}
			series := rateSeries(cells, name, func(c *Cell) float64 { return float64(c.N) },
				func(c *Cell, _ []float64) []figure.Point { return nil })
			exact := figure.Series{Name: "exact formula", Theory: true}
			classic := figure.Series{Name: "tutorial's formula", Theory: true, Style: figure.Reference}
			least, most := uint64(math.MaxUint64), uint64(0)
			for i := range cells {
				least, most = min(least, cells[i].N), max(most, cells[i].N)
			}
			for n := least; n <= most; n++ { // numbers of words that the grid leaves out too
				exact.Points = append(exact.Points, figure.Point{X: float64(n), Y: theory.Standard(m, n, 3)})
				classic.Points = append(classic.Points, figure.Point{X: float64(n), Y: theory.StandardClassic(m, n, 3)})
			}
			return []figure.Figure{figure.Chart{
				Name:    "teaching",
				Title:   "The 16-bit example of tutorials",
				Caption: "16 bits, three probes, random sets of three-letter words. The tutorial's formula is (1-exp(-3n/16))^3. " + about.Text,
				X:       figure.Axis{Label: "words in the filter"},
				Y:       figure.Axis{Label: "false-positive rate", Format: figure.Percent},
				Series:  append(series, exact, classic),
			}}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, n := range []uint64{3, 8} {
				r := find(cells, func(c *Cell) bool { return c.N == n && c.Filter == "standard(k=3)" && c.Trials > 0 })
				t := find(cells, func(c *Cell) bool { return c.N == n && c.Hash == "poly" && c.Trials > 0 })
				if r == nil || t == nil {
					continue
				}
				if s == "" {
					s = "The tutorial's formula understates small filters"
				}
				s += fmt.Sprintf("; with %d words random hashing gives %s (exact %.2f%%, formula %.1f%%) and the tutorial's own hash %s",
					n, percent(r.FPR), 100*r.Predicted.FPR, 100*theory.StandardClassic(m, n, 3), percent(t.FPR))
			}
			if s != "" {
				s += ". "
			}
			return s + "Verdicts: " + verdicts(cells) + "."
		},
	}
}

func parseTeaching(s string) (filters.Variant, error) {
	if s == (tutorial{}).String() {
		return tutorial{}, nil
	}
	return catalog.Parse(s)
}

// tutorial is the filter of the tutorials: three hash values of a word, each
// taken modulo the number of bits. It reads them from the three fields of 21 bits
// that the poly hash lays side by side, and so can be given any other hash too.
type tutorial struct{}

const (
	tutorialField = 21      // bits of each hash value; taking 2^21 modulo 16 is even
	tutorialMax   = 1 << 10 // bits of a table: far below 2^21, so that the modulus hardly shows
)

func (tutorial) String() string { return "tutorial" }

func (tutorial) bits(t filters.Target) (uint64, error) {
	if err := t.Validate(); err != nil {
		return 0, err
	}
	m := math.Round(t.BitsPerKey * float64(t.N))
	if !(m >= 1 && m <= tutorialMax) {
		return 0, filters.Refuse("tutorial: bits", m, fmt.Sprintf("1 to %d, given by bits per key", tutorialMax))
	}
	return uint64(m), nil
}

func (v tutorial) New(t filters.Target) (filters.Filter, error) {
	m, err := v.bits(t)
	if err != nil {
		return nil, err
	}
	return &tutorialFilter{table: make([]bool, m)}, nil
}

func (v tutorial) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the exact rate for three independent values, which random hashes
// have and the tutorial's hash has not.
func (v tutorial) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	m, err := v.bits(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return theory.Prediction{
		Inserted: inserted, FPR: theory.Standard(m, inserted, 3), BuildSD: theory.StandardBuildSD(m, inserted, 3),
		Fill: theory.StandardFill(m, inserted, 3), Bits: m, K: 3, Capacity: t.N,
	}, nil
}

type tutorialFilter struct{ table []bool }

func (f *tutorialFilter) position(h uint64, i int) uint64 {
	return (h >> (tutorialField * i) & (1<<tutorialField - 1)) % uint64(len(f.table))
}

func (f *tutorialFilter) Add(h uint64) error {
	for i := range 3 {
		f.table[f.position(h, i)] = true
	}
	return nil
}

func (f *tutorialFilter) Contains(h uint64) bool {
	return f.table[f.position(h, 0)] && f.table[f.position(h, 1)] && f.table[f.position(h, 2)]
}

func (f *tutorialFilter) SizeBits() uint64 { return uint64(len(f.table)) }
