package counting

import (
	"encoding"
	"fmt"
	"io"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
	"filterlab/filters/internal/packed"
)

var (
	_ filters.Saver              = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
)

// family is the name in the header of a saved filter.
const family = "counting"

// Body is what is saved. It is for package sharded, which saves filters within its own.
func (f *Filter) Body() (envelope.Header, []envelope.Part) {
	c := f.Config()
	return envelope.Header{
		Family:   family,
		Capacity: f.capacity,
		Geometry: []uint64{c.M, uint64(c.K), uint64(c.Width), uint64(c.Layout), f.saturated},
	}, []envelope.Part{envelope.Words(f.counters.Words())}
}

// geometry reads the geometry of a saved filter, and the number of its saturated
// counters.
func geometry(h *envelope.Header) (Config, uint64, *envelope.Fields, error) {
	g := h.Fields(family)
	c := Config{M: g.Uint("m"), K: g.Int("k"), Width: g.Int("w"), Layout: Layout(g.Byte("layout"))}
	saturated := g.Uint("saturated")
	if err := g.Done(); err != nil {
		return c, 0, nil, err
	}
	full, err := c.normal()
	if err != nil {
		return c, 0, nil, envelope.Refused(err)
	}
	if c != full {
		return c, 0, nil, envelope.Corrupt("geometry", "a default left open", "every number given")
	}
	return c, saturated, g, nil
}

// Describe tells which filter a header stands for. It is for package catalog.
func Describe(h *envelope.Header) (Variant, []envelope.Field, error) {
	c, _, g, err := geometry(h)
	if err != nil {
		return Variant{}, nil, err
	}
	v := Variant{Width: c.Width, K: c.K}
	if c.Layout != Shared {
		v.Layout = c.Layout
	}
	return v, g.Named(), nil
}

// Decode makes the filter of a header and its table. It is for package catalog;
// others use [Filter.ReadFrom] and [Filter.UnmarshalBinary].
func Decode(h *envelope.Header, s *envelope.Source) (*Filter, error) {
	c, saturated, _, err := geometry(h)
	if err != nil {
		return nil, err
	}
	if h.Count != 0 {
		return nil, envelope.Corrupt("count", h.Count, "0: the family does not count keys")
	}
	counters, err := packed.CountersIn(family, c.M, c.Width, s.Words)
	if err != nil {
		return nil, err
	}
	f := over(c, counters)
	f.saturated, f.capacity = saturated, h.Capacity
	s.Check(func() error {
		if has := counters.Saturated(); has != saturated {
			return envelope.Corrupt("saturated", saturated, fmt.Sprintf("%d, the counters at their ceiling", has))
		}
		return nil
	})
	return f, nil
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
