package standard

import (
	"encoding"
	"io"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
)

var (
	_ filters.Saver              = (*Filter)(nil)
	_ filters.Saver              = (*ConcurrentFilter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
)

// family is the name in the header of a saved filter.
const family = "standard"

// Body is what is saved. It is for packages scalable and sharded, which save filters
// of this kind within theirs.
func (f *Filter) Body() (envelope.Header, []envelope.Part) {
	c := f.config
	return envelope.Header{
		Family:   family,
		Capacity: f.capacity,
		Geometry: []uint64{c.Bits, uint64(c.K), uint64(c.Scheme), uint64(c.Layout)},
	}, []envelope.Part{envelope.Words(f.words)}
}

// geometry reads the geometry of a saved filter.
func geometry(h *envelope.Header) (Config, *envelope.Fields, error) {
	g := h.Fields(family)
	c := Config{Bits: g.Uint("m"), K: g.Int("k"), Scheme: Scheme(g.Byte("scheme")), Layout: Layout(g.Byte("layout"))}
	if err := g.Done(); err != nil {
		return c, nil, err
	}
	if err := c.validate(); err != nil {
		return c, nil, envelope.Refused(err)
	}
	return c, g, nil
}

// Describe tells which filter a header stands for. It is for package catalog.
func Describe(h *envelope.Header) (Variant, []envelope.Field, error) {
	c, g, err := geometry(h)
	if err != nil {
		return Variant{}, nil, err
	}
	return Variant{K: c.K, Scheme: c.Scheme, Layout: c.Layout}, g.Named(), nil
}

// Decode makes the filter of a header and its table. It is for package catalog;
// others use [Filter.ReadFrom] and [Filter.UnmarshalBinary].
func Decode(h *envelope.Header, s *envelope.Source) (*Filter, error) {
	c, _, err := geometry(h)
	if err != nil {
		return nil, err
	}
	if h.Count != 0 {
		return nil, envelope.Corrupt("count", h.Count, "0: the family does not count keys")
	}
	words, err := s.Words("standard: bits", c.Bits)
	if err != nil {
		return nil, err
	}
	f := over(c, words)
	f.capacity = h.Capacity
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

// WriteTo writes the plain filter as a file; it is read back as a [Filter], whose
// Concurrent makes this view of it. Nobody may add meanwhile: a file written while
// bits change has a checksum that is not its own, and is refused when it is read.
func (f *ConcurrentFilter) WriteTo(w io.Writer) (n int64, err error) { return f.plain.WriteTo(w) }

// WriteHashed is WriteTo with the hash that the keys went through.
func (f *ConcurrentFilter) WriteHashed(w io.Writer, h filters.Hasher) (n int64, err error) {
	return f.plain.WriteHashed(w, h)
}

// Body is what is saved; see [Filter.Body].
func (f *ConcurrentFilter) Body() (envelope.Header, []envelope.Part) { return f.plain.Body() }
