package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/filters/theory"
	"filterlab/hashing"
)

// Point is one cell of a grid: what is built, from which keys, and how full.
type Point struct {
	Index   int // position in the grid, before shuffling
	Variant filters.Variant
	Hash    string // name in hashing.All
	Keys    string // name of a key set, or file:NAME
	Target  filters.Target
	Load    float64 // keys offered, as a multiple of Target.N; zero means 1
	Hit     string  // share of lookups that ask for a member, as typed; empty where positive and negative ones are apart
	Seeds   int     // independently seeded filters, at least; 0 leaves it to the profile
	Role    string  // what a control must do, MustAgree or MustDiffer; empty for others
	Group   string  // points of one group are visited together, so that timings interleave
}

// Inserted is the number of distinct keys offered to the filter.
func (p *Point) Inserted() uint64 {
	if p.Load == 0 {
		return p.Target.N
	}
	return uint64(math.Round(p.Load * float64(p.Target.N)))
}

// String names the point in progress lines and errors.
func (p *Point) String() string {
	return fmt.Sprintf("%v %v inserted=%d hash=%s keys=%s", p.Variant, p.Target, p.Inserted(), p.Hash, p.Keys)
}

// row returns a Row that carries the coordinates of the point.
func (p *Point) row(metric string) Row {
	return Row{
		Point: p.Index, Role: p.Role, Hit: p.Hit, Filter: p.Variant.String(), Hash: p.Hash, Keys: p.Keys,
		N: p.Target.N, P: p.Target.P, BitsPerKey: p.Target.BitsPerKey, Inserted: p.Inserted(),
		Metric: metric,
	}
}

// Axis is one dimension of a grid: a name, values as a person types them, and
// what a value does to a point.
type Axis struct {
	Name   string
	Values []string
	Set    func(p *Point, value string) error
}

// Grid is the product of its axes, the first one slowest.
type Grid struct {
	Axes []Axis
	Skip func(p *Point) bool   // drops points that make no sense; may be nil
	Same func(p *Point) string // the group of a point; nil puts each in its own
}

// FilterAxis varies the filter.
func FilterAxis(values ...string) Axis {
	return Axis{"filters", values, func(p *Point, s string) (err error) {
		p.Variant, err = catalog.Parse(s)
		return err
	}}
}

// HashAxis varies the hash function.
func HashAxis(values ...string) Axis {
	return Axis{"hashes", values, func(p *Point, s string) error {
		e, err := HashByName(s)
		p.Hash = e.Name
		return err
	}}
}

// HashByName is hashing.ByName with an error that asks whether the nearest name was
// meant; package hashing knows nothing of filters and their errors.
func HashByName(name string) (hashing.Entry, error) {
	e, err := hashing.ByName(name)
	if err == nil {
		return e, nil
	}
	var names []string
	for _, h := range hashing.All() {
		names = append(names, h.Name)
	}
	return e, filters.Refuse("hash", strconv.Quote(name), filters.OneOf(name, names))
}

// KeysAxis varies the key set.
func KeysAxis(values ...string) Axis {
	return Axis{"keysets", values, func(p *Point, s string) error {
		p.Keys = s
		if s == Zipf || strings.HasPrefix(s, filePrefix) {
			return nil
		}
		kind, err := keyKind(s)
		p.Keys = kind.Name
		return err
	}}
}

// NAxis varies the number of keys that a filter is sized for.
func NAxis(values ...string) Axis {
	return Axis{"n", values, func(p *Point, s string) (err error) {
		p.Target.N, err = units.ParseCount(s)
		if err == nil && p.Target.N == 0 {
			err = filters.Refuse("n", s, "at least 1 key")
		}
		return err
	}}
}

// PAxis varies the promised false-positive rate.
func PAxis(values ...string) Axis {
	return Axis{"p", values, func(p *Point, s string) (err error) {
		p.Target.P, err = units.ParseRate(s)
		p.Target.BitsPerKey = 0
		if err == nil && !(p.Target.P > 0 && p.Target.P < 1) {
			err = filters.Refuse("p", s, "0 < p < 1")
		}
		return err
	}}
}

// BitsAxis varies the space, in bits per key; the promise is dropped.
func BitsAxis(values ...string) Axis {
	return Axis{"bits-per-key", values, func(p *Point, s string) (err error) {
		p.Target.BitsPerKey, err = parsePositive("bits-per-key", s)
		p.Target.P = 0
		return err
	}}
}

// KAxis varies the number of probes of a variant that has the knob. A point of a
// variant without it is refused, and does not keep the others from being measured.
func KAxis(values ...string) Axis {
	return Axis{"k", values, func(p *Point, s string) (err error) {
		if _, missing := catalog.With(p.Variant, "k", ""); missing != nil {
			p.Variant = unfit{p.Variant, missing}
			return nil
		}
		p.Variant, err = catalog.With(p.Variant, "k", s)
		return err
	}}
}

// unfit is a variant that lacks the knob of an axis: every point of it is refused.
type unfit struct {
	filters.Variant
	err error // why; wraps filters.ErrParam
}

func (v unfit) Build(filters.Target, []uint64) (filters.Querier, error) { return nil, v.err }

func (v unfit) Predict(filters.Target, uint64) (theory.Prediction, error) {
	return theory.Prediction{}, v.err
}

// LoadAxis varies the number of keys offered, as a multiple of n.
func LoadAxis(values ...string) Axis {
	return Axis{"load", values, func(p *Point, s string) (err error) {
		p.Load, err = parsePositive("load", s)
		return err
	}}
}

func parsePositive(name, s string) (float64, error) {
	x, err := units.ParseNumber(s)
	if err != nil || x == 0 {
		return 0, filters.Refuse(name, strconv.Quote(s), "a number above 0, such as 0.5, 12.5, 150% or 1e3")
	}
	return x, nil
}

// HitAxis varies the share of lookups that ask for a member.
func HitAxis(values ...string) Axis {
	return Axis{"hit-ratio", values, func(p *Point, s string) error {
		_, err := units.ParseRate(s)
		p.Hit = s
		return err
	}}
}

// SeedsAxis varies the least number of independently seeded filters at a point.
func SeedsAxis(values ...string) Axis {
	return Axis{"seeds", values, func(p *Point, s string) error {
		n, err := units.ParseCount(s)
		if err == nil && (n < 2 || n > maxSeeds) {
			err = filters.Refuse("seeds", s, fmt.Sprintf("2 to %d: a rate from one filter says nothing of the next", maxSeeds))
		}
		p.Seeds = int(n)
		return err
	}}
}

// Override replaces the values of the named axis. A grid without that axis
// refuses it and lists the axes it has; the number of seeds can be set in every
// grid.
func (g *Grid) Override(axis string, values []string) error {
	if len(values) == 0 {
		return filters.Refuse(axis, "an empty list", "at least one value")
	}
	var names []string
	for i := range g.Axes {
		if g.Axes[i].Name == axis {
			g.Axes[i].Values = values
			return nil
		}
		names = append(names, "--"+g.Axes[i].Name)
	}
	if a := SeedsAxis(values...); a.Name == axis {
		g.Axes = append(g.Axes[:len(g.Axes):len(g.Axes)], a)
		return nil
	}
	return filters.Refuse("axis", "--"+axis, "one of the axes of this experiment: "+strings.Join(names, ", "))
}

// Points returns the points of the grid in a fixed random order that depends on
// the seed alone, so that a slow drift of the machine spreads over all of them.
// Points of one group come as one slice.
func (g Grid) Points(seed uint64) ([][]*Point, error) {
	var groups [][]*Point
	at := map[string]int{}
	index := 0
	var walk func(p Point, axes []Axis) error
	walk = func(p Point, axes []Axis) error {
		if len(axes) == 0 {
			if g.Skip != nil && g.Skip(&p) {
				return nil
			}
			p.Index = index
			index++
			p.Group = strconv.Itoa(p.Index)
			if g.Same != nil {
				p.Group = g.Same(&p)
			}
			i, ok := at[p.Group]
			if !ok {
				i = len(groups)
				at[p.Group] = i
				groups = append(groups, nil)
			}
			groups[i] = append(groups[i], &p)
			return nil
		}
		for _, v := range axes[0].Values {
			q := p
			if err := axes[0].Set(&q, strings.TrimSpace(v)); err != nil {
				return err
			}
			if err := walk(q, axes[1:]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(Point{Hash: "xxh3", Keys: "random"}, g.Axes); err != nil {
		return nil, err
	}
	if index == 0 {
		return nil, filters.Refuse("grid", "no point", "axis values that leave at least one point")
	}
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	return groups, nil
}

// values are the values of every axis: two grids of one experiment with the same
// values have the same points.
func (g Grid) values() []Override {
	out := make([]Override, len(g.Axes))
	for i, a := range g.Axes {
		out[i] = Override{a.Name, a.Values}
	}
	return out
}
