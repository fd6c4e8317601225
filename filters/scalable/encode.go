package scalable

import (
	"encoding"
	"fmt"
	"io"
	"math"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
	"filterlab/filters/internal/index"
	"filterlab/filters/standard"
)

var (
	_ filters.Saver              = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
)

// family is the name in the header of a saved filter.
const family = "scalable"

// Body is what is saved: the stages that are open. The geometry of each stands in
// the file, since sizing takes logarithms, which need not agree to the last bit on
// every machine.
func (f *Filter) Body() (envelope.Header, []envelope.Part) {
	c := f.config
	h := envelope.Header{
		Family:   family,
		Count:    f.counted(),
		Geometry: []uint64{c.N0, math.Float64bits(c.P), math.Float64bits(c.Growth), math.Float64bits(c.Tighten), uint64(c.Scheme)},
	}
	var parts []envelope.Part
	for i := range f.stages[:f.open] {
		s := &f.stages[i]
		h.Geometry = append(h.Geometry, s.capacity, s.distinct, s.counted, s.geometry.Bits, uint64(s.geometry.K))
		_, bits := s.bits.Body()
		parts = append(parts, bits...)
	}
	return h, parts
}

// geometry reads the geometry of a saved filter: its stages, without their bits.
func geometry(h *envelope.Header) (Config, []table, *envelope.Fields, error) {
	g := h.Fields(family)
	c := Config{N0: g.Uint("n0"), P: g.Float("p"), Growth: g.Float("s"), Tighten: g.Float("r"), Scheme: standard.Scheme(g.Byte("scheme"))}
	var stages []table
	multiplier := uint64(1)
	for g.Left() > 0 || len(stages) == 0 && g.Err() == nil {
		name := func(what string) string { return fmt.Sprintf("stage %d: %s", len(stages), what) }
		s := table{stage: stage{number: len(stages), multiplier: multiplier}}
		s.capacity, s.distinct, s.counted = g.Uint(name("capacity")), g.Uint(name("distinct")), g.Uint(name("counted"))
		s.geometry = standard.Config{Bits: g.Uint(name("m")), K: g.Int(name("k")), Scheme: c.Scheme}
		stages = append(stages, s)
		multiplier *= index.StageMultiplier
	}
	if err := g.Done(); err != nil {
		return c, nil, nil, err
	}
	full, err := c.normal()
	if err != nil {
		return c, nil, nil, envelope.Refused(err)
	}
	if c != full {
		return c, nil, nil, envelope.Corrupt("geometry", "a default left open", "every number given")
	}
	return c, stages, g, c.consistent(stages, h.Count)
}

// consistent refuses stages that do not follow from each other. Their sizes are
// those of the machine that made them.
func (c Config) consistent(stages []table, count uint64) error {
	capacity, bits := c.N0, uint64(0)
	for i, s := range stages {
		field := func(what string) string { return fmt.Sprintf("stage %d: %s", i, what) }
		full := i < len(stages)-1
		switch {
		case s.capacity != capacity:
			return envelope.Corrupt(field("capacity"), s.capacity, fmt.Sprint(capacity))
		case s.distinct < s.capacity || s.distinct > 4*s.capacity:
			return envelope.Corrupt(field("distinct"), s.distinct, fmt.Sprintf("%d to %d", s.capacity, 4*s.capacity))
		case s.counted > s.capacity:
			return envelope.Corrupt(field("counted"), s.counted, fmt.Sprintf("at most %d", s.capacity))
		case full && s.counted != s.capacity:
			return envelope.Corrupt(field("counted"), s.counted, fmt.Sprintf("%d, since a later stage is open", s.capacity))
		}
		if bits += s.geometry.Bits; s.geometry.Bits > filters.MaxBits || bits > filters.MaxBits {
			return envelope.Corrupt(field("m"), s.geometry.Bits, "2^48 bits for all stages together")
		}
		next := math.Ceil(float64(capacity) * c.Growth)
		if full && next > filters.MaxBits {
			return envelope.Corrupt(field("capacity"), next, "at most 2^48 keys a stage")
		}
		capacity = uint64(next)
		count -= s.counted // wraps where the sum is another, and comes back where it is not
	}
	if count != 0 {
		return envelope.Corrupt("count", fmt.Sprintf("%d more", int64(count)), "the keys counted in all stages")
	}
	return nil
}

// Describe tells which filter a header stands for. It is for package catalog.
func Describe(h *envelope.Header) (Variant, []envelope.Field, error) {
	c, _, g, err := geometry(h)
	if err != nil {
		return Variant{}, nil, err
	}
	v := Variant{N0: c.N0, Scheme: c.Scheme}
	if c.Growth != DefaultGrowth {
		v.Growth = c.Growth
	}
	if c.Tighten != DefaultTighten {
		v.Tighten = c.Tighten
	}
	return v, g.Named(), nil
}

// Decode makes the filter of a header and its tables. It is for package catalog;
// others use [Filter.ReadFrom] and [Filter.UnmarshalBinary].
func Decode(h *envelope.Header, src *envelope.Source) (*Filter, error) {
	c, stages, _, err := geometry(h)
	if err != nil {
		return nil, err
	}
	if h.Capacity != 0 {
		return nil, envelope.Corrupt("capacity", h.Capacity, "0: it grows")
	}
	for i := range stages {
		g := stages[i].geometry
		one := envelope.Header{Family: "standard", Geometry: []uint64{g.Bits, uint64(g.K), uint64(g.Scheme), uint64(g.Layout)}}
		if stages[i].bits, err = standard.Decode(&one, src); err != nil {
			return nil, fmt.Errorf("scalable: stage %d: %w", i, err)
		}
	}
	return &Filter{config: c, stages: stages, open: len(stages)}, nil
}

// WriteTo writes the filter as a file; see [filters.Saver].
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) { return f.WriteHashed(w, nil) }

// WriteHashed is WriteTo with the hash that the keys went through.
func (f *Filter) WriteHashed(w io.Writer, h filters.Hasher) (n int64, err error) {
	return envelope.Body(f.Body).Write(w, h)
}

// MarshalBinary returns what WriteTo writes.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// AppendBinary appends what WriteTo writes to b.
func (f *Filter) AppendBinary(b []byte) ([]byte, error) { return envelope.Body(f.Body).Append(b) }

// ReadFrom replaces f by the filter that r holds next and reads nothing behind
// it; n is what it took. An error is a filters.FormatError, one of r, or a
// refusal of a table beyond the memory limit; then f is what it was. At the end
// of r the error wraps io.EOF, where other readers return none.
func (f *Filter) ReadFrom(r io.Reader) (n int64, err error) {
	read, _, n, err := envelope.Read(r, Decode)
	if err == nil {
		*f = *read
	}
	return n, err
}

// UnmarshalBinary replaces f by the filter that is all of data, which it does not
// keep. Errors are those of ReadFrom.
func (f *Filter) UnmarshalBinary(data []byte) error {
	read, err := envelope.Unmarshal(data, Decode)
	if err == nil {
		*f = *read
	}
	return err
}
