package standard

import (
	"fmt"
	"math"
	"slices"

	"filterlab/filters"
	"filterlab/filters/internal/packed"
)

// Merge adds all that other holds, by OR of the two tables: the result is bit
// for bit the filter that all keys would have built together. other must be a
// *Filter of the same geometry.
func (f *Filter) Merge(other filters.Filter) error {
	o, ok := other.(*Filter)
	if !ok {
		return filters.Differ("type", fmt.Sprintf("%T", f), fmt.Sprintf("%T", other))
	}
	if err := f.config.compatible(o.config); err != nil {
		return err
	}
	packed.Or(f.words, o.words)
	return nil
}

// Equal reports whether both filters have the same geometry and the same bits.
// How they came to hold them does not matter: a key added twice changes
// nothing.
func (f *Filter) Equal(other *Filter) bool {
	return f.config == other.config && slices.Equal(f.words, other.words)
}

// UnionSize estimates how many distinct hashes a and b hold together, from the
// bits of their OR, without changing either. It is +Inf when every bit is set.
// Filters of different geometry are refused with an error that wraps
// filters.ErrIncompatible. It costs one pass over both tables.
func UnionSize(a, b *Filter) (float64, error) {
	if err := a.config.compatible(b.config); err != nil {
		return 0, err
	}
	return a.config.estimateN(packed.OnesCountOr(a.words, b.words)), nil
}

// IntersectionSize estimates how many distinct hashes are in both a and b, as
// n(a) + n(b) - n(union); the AND of two filters is not the filter of the
// intersection, it has bits too many. The estimator of Papapetrou et al. 2010 is
// the same number. It may be negative by chance when few are shared: its error
// is that of the three estimates (theory.EstimateSD). It is NaN when every bit of
// the union is set. Errors are those of [UnionSize].
func IntersectionSize(a, b *Filter) (float64, error) {
	union, err := UnionSize(a, b)
	if err != nil {
		return 0, err
	}
	if math.IsInf(union, 1) {
		return math.NaN(), nil
	}
	return a.EstimatedN() + b.EstimatedN() - union, nil
}

// compatible names the first difference between two geometries.
func (c Config) compatible(o Config) error {
	switch {
	case c.Bits != o.Bits:
		return filters.Differ("m", c.Bits, o.Bits)
	case c.K != o.K:
		return filters.Differ("k", c.K, o.K)
	case c.Scheme != o.Scheme:
		return filters.Differ("scheme", c.Scheme, o.Scheme)
	case c.Layout != o.Layout:
		return filters.Differ("layout", c.Layout, o.Layout)
	}
	return nil
}
