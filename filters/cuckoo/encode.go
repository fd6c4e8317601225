package cuckoo

import (
	"encoding"
	"fmt"
	"io"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
)

var (
	_ filters.Saver              = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
)

// family is the name in the header of a saved filter.
const family = "cuckoo"

// Body is what is saved. It is for package sharded, which saves filters within its own.
func (f *Filter) Body() (envelope.Header, []envelope.Part) {
	c := f.cfg
	return envelope.Header{
		Family:   family,
		Count:    f.count,
		Geometry: []uint64{c.Buckets, uint64(c.SlotsPerBucket), uint64(c.FingerprintBits)},
	}, []envelope.Part{envelope.Bytes(f.table)}
}

// geometry reads the geometry of a saved filter.
func geometry(h *envelope.Header) (Config, *envelope.Fields, error) {
	g := h.Fields(family)
	c := Config{Buckets: g.Uint("buckets"), SlotsPerBucket: g.Int("b"), FingerprintBits: g.Int("f")}
	if err := g.Done(); err != nil {
		return c, nil, err
	}
	if err := c.Validate(); err != nil {
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
	return Variant{F: c.FingerprintBits, B: c.SlotsPerBucket}, g.Named(), nil
}

// Decode makes the filter of a header and its table. It is for package catalog;
// others use [Filter.ReadFrom] and [Filter.UnmarshalBinary].
func Decode(h *envelope.Header, s *envelope.Source) (*Filter, error) {
	c, _, err := geometry(h)
	if err != nil {
		return nil, err
	}
	// The capacity of a cuckoo filter follows from its geometry.
	if h.Capacity != 0 {
		return nil, envelope.Corrupt("capacity", h.Capacity, "0")
	}
	table, err := s.Bytes("cuckoo: bits", c.Bits(), padding)
	if err != nil {
		return nil, err
	}
	f := over(c, table)
	f.count = h.Count
	s.Check(func() error {
		if has := f.taken(); has != f.count {
			return envelope.Corrupt("count", f.count, fmt.Sprintf("%d, the slots taken", has))
		}
		return nil
	})
	return f, nil
}

// taken counts the fingerprints in the table, at the cost of a pass over it.
func (f *Filter) taken() (n uint64) {
	for pos, end := uint64(0), f.cfg.Bits(); pos < end; pos += f.step {
		if f.get(pos) != 0 {
			n++
		}
	}
	return n
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
