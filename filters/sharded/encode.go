package sharded

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"filterlab/filters"
	"filterlab/filters/internal/envelope"
)

var (
	_ Saved                    = (*Filter)(nil)
	_ Saved                    = (*DeletingFilter)(nil)
	_ encoding.BinaryMarshaler = (*Filter)(nil)
	_ encoding.BinaryAppender  = (*Filter)(nil)
)

// Saved is what a sharded filter offers whatever the family inside: a [*Filter] or a
// [*DeletingFilter].
type Saved interface {
	filters.Concurrent
	filters.BatchQuerier
	filters.FillReporter
	filters.Estimator
	filters.Predictor
	filters.Saver
}

const (
	family     = "sharded" // in the header of a saved filter
	familySize = 16        // bytes of the name of the family inside
)

// bodied is what a family that can be saved offers.
type bodied interface {
	Body() (envelope.Header, []envelope.Part)
}

// body is what is saved, of shards that nobody writes to: their headers, in words of
// the geometry, and their tables.
func (f *Filter) body() (h envelope.Header, parts []envelope.Part, err error) {
	h = envelope.Header{Family: family, Capacity: f.plan.whole.N}
	for i := range f.shards {
		in, ok := f.shards[i].Filter.(bodied)
		if !ok {
			return h, nil, filters.Refuse("sharded", fmt.Sprintf("%T", f.shards[i].Filter), "a family that can be saved")
		}
		one, tables := in.Body()
		if i == 0 {
			var name [familySize]byte
			copy(name[:], one.Family)
			h.Geometry = append(h.Geometry, uint64(len(f.shards)), binary.LittleEndian.Uint64(name[:]), binary.LittleEndian.Uint64(name[8:]))
		}
		h.Geometry = append(h.Geometry, one.Capacity, one.Count, uint64(len(one.Geometry)))
		h.Geometry = append(h.Geometry, one.Geometry...)
		h.Count += one.Count
		parts = append(parts, tables...)
	}
	return h, parts, nil
}

// saving calls do with what is saved while nobody can add.
func (f *Filter) saving(do func(envelope.Body) error) error {
	for i := range f.shards {
		f.shards[i].mu.RLock()
		defer f.shards[i].mu.RUnlock()
	}
	h, parts, err := f.body()
	if err != nil {
		return err
	}
	return do(func() (envelope.Header, []envelope.Part) { return h, parts })
}

// WriteTo writes the filter as a file, all shards as they are at one moment: adds wait
// meanwhile. The file is read back by package catalog, which knows the families that
// may be inside. A family that cannot be saved is refused, and so are more numbers
// than a header has room for: those of 4,096 shards of most families, of fewer
// scalable ones.
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) { return f.WriteHashed(w, nil) }

// WriteHashed is WriteTo with the hash that the keys went through.
func (f *Filter) WriteHashed(w io.Writer, h filters.Hasher) (n int64, err error) {
	err = f.saving(func(b envelope.Body) error {
		n, err = b.Write(w, h)
		return err
	})
	return n, err
}

// MarshalBinary returns what WriteTo writes.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// AppendBinary appends what WriteTo writes to b.
func (f *Filter) AppendBinary(b []byte) ([]byte, error) {
	err := f.saving(func(body envelope.Body) (err error) {
		b, err = body.Append(b)
		return err
	})
	return b, err
}

// parts takes the header of a sharded filter apart into those of its shards.
func parts(h *envelope.Header) (shards []envelope.Header, err error) {
	g := h.Fields(family)
	n := g.Int("shards")
	var name [familySize]byte
	binary.LittleEndian.PutUint64(name[:], g.Uint("family inside"))
	binary.LittleEndian.PutUint64(name[8:], g.Uint("family inside"))
	if err := g.Err(); err != nil {
		return nil, err
	}
	if n < 1 || n > MaxShards {
		return nil, envelope.Corrupt("shards", fmt.Sprint(n), fmt.Sprintf("1 to %d", MaxShards))
	}
	inside, fill, _ := strings.Cut(string(name[:]), "\x00")
	if strings.Trim(fill, "\x00") != "" || inside == family {
		return nil, envelope.Corrupt("family inside", fmt.Sprintf("%q", name), "the name of one that is not sharded, filled up with zeros")
	}
	sum := uint64(0)
	for i := range n {
		field := func(name string) string { return fmt.Sprintf("shard %d: %s", i, name) }
		one := envelope.Header{Family: inside, Capacity: g.Uint(field("capacity")), Count: g.Uint(field("count"))}
		words := g.Int(field("geometry words"))
		if g.Err() == nil && words > g.Left() {
			return nil, envelope.Corrupt(field("geometry words"), words, fmt.Sprintf("at most the %d that are left", g.Left()))
		}
		for range words {
			one.Geometry = append(one.Geometry, g.Uint(field("geometry")))
		}
		if err := g.Err(); err != nil {
			return nil, err
		}
		sum += one.Count
		shards = append(shards, one)
	}
	if err := g.Done(); err != nil {
		return nil, err
	}
	if sum != h.Count {
		return nil, envelope.Corrupt("count", h.Count, fmt.Sprintf("%d, the sum over the shards", sum))
	}
	return shards, nil
}

// Describe tells which filter a header stands for; inner does that for the family
// inside. It is for package catalog.
func Describe(h *envelope.Header, inner func(*envelope.Header) (filters.Variant, []envelope.Field, error)) (Variant, []envelope.Field, error) {
	shards, err := parts(h)
	if err != nil {
		return Variant{}, nil, err
	}
	out := Variant{Shards: len(shards)}
	fields := []envelope.Field{{Name: "shards", Value: uint64(len(shards))}}
	for i := range shards {
		v, numbers, err := inner(&shards[i])
		if err != nil {
			return Variant{}, nil, fmt.Errorf("shard %d: %w", i, err)
		}
		m, ok := v.(filters.Maker)
		if !ok {
			return Variant{}, nil, envelope.Corrupt("family inside", shards[i].Family, "one that takes keys one by one")
		}
		if i == 0 {
			out.Inner = m
		}
		if m != out.Inner || shards[i].Capacity != shards[0].Capacity {
			return Variant{}, nil, envelope.Corrupt("shards", fmt.Sprintf("%v and %v, for %d and %d keys", out.Inner, v, shards[0].Capacity, shards[i].Capacity), "shards that are alike")
		}
		for _, number := range numbers {
			number.Name = fmt.Sprintf("shard %d: %s", i, number.Name)
			fields = append(fields, number)
		}
	}
	return out, fields, nil
}

// Decode makes the filter of a header and its tables; inner and describe do that for
// the family inside. It is for package catalog.
func Decode(h *envelope.Header, s *envelope.Source, inner envelope.Decoder[filters.Filter], describe func(*envelope.Header) (filters.Variant, []envelope.Field, error)) (Saved, error) {
	v, _, err := Describe(h, describe)
	if err != nil {
		return nil, err
	}
	headers, err := parts(h)
	if err != nil {
		return nil, err
	}
	shards := make([]shard, len(headers))
	for i := range headers {
		if shards[i].Filter, err = inner(&headers[i], s); err != nil {
			return nil, fmt.Errorf("shard %d: %w", i, err)
		}
	}
	p := plan{v: v, whole: filters.Target{N: h.Capacity}}
	p.built, _ = shards[0].Filter.(filters.Predictor)
	return over(shards, p), nil
}

// FillRatio is that of the table of all shards together. It, EstimatedFPR and
// EstimatedN are NaN where the family inside does not tell.
func (f *Filter) FillRatio() float64 {
	sum, bits := 0.0, 0.0
	f.Each(func(_ int, inner filters.Filter) {
		fill := math.NaN()
		if r, ok := inner.(filters.FillReporter); ok {
			fill = r.FillRatio()
		}
		size := float64(inner.SizeBits())
		sum, bits = sum+fill*size, bits+size
	})
	return sum / bits
}

// EstimatedFPR is the mean over the shards, to which absent keys go evenly.
func (f *Filter) EstimatedFPR() float64 {
	return f.sum(filters.Estimator.EstimatedFPR) / float64(len(f.shards))
}

// EstimatedN is the sum over the shards.
func (f *Filter) EstimatedN() float64 { return f.sum(filters.Estimator.EstimatedN) }

// sum adds up an estimate of the shards.
func (f *Filter) sum(estimate func(filters.Estimator) float64) float64 {
	sum := 0.0
	f.Each(func(_ int, inner filters.Filter) {
		if e, ok := inner.(filters.Estimator); ok {
			sum += estimate(e)
		} else {
			sum = math.NaN()
		}
	})
	return sum
}
