package catalog

import (
	"fmt"
	"io"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/counting"
	"filterlab/filters/cuckoo"
	"filterlab/filters/internal/envelope"
	"filterlab/filters/scalable"
	"filterlab/filters/sharded"
	"filterlab/filters/standard"
)

// Info is what the header of a saved filter says.
type Info struct {
	Version      int             // of the format
	Family       string          // "blocked"
	Variant      filters.Variant // the knobs that the geometry shows: blocked(512,k=6)
	Geometry     []Number        // the geometry, number by number
	Hash         string          // the hash its keys went through; empty if that was not said
	Seed         uint64          // of the hash
	Capacity     uint64          // keys it was sized for, 0 if not known
	Count        uint64          // keys stored, where the family counts them, else 0
	HeaderBytes  uint64
	PayloadBytes uint64

	digest uint64 // of envelope.Sample by the hash
}

// Number is a number of the geometry; String prints it.
type Number = envelope.Field

// Size is the length of the file in bytes.
func (i Info) Size() uint64 { return i.HeaderBytes + i.PayloadBytes }

// CheckHash tells whether h is the hash that the keys of the filter went through:
// by name, seed and the digest of one key, so that another function under the
// same name is noticed. The error wraps filters.ErrHash. A filter saved without
// its hash has nothing to compare, and is refused.
func (i Info) CheckHash(h filters.Hasher) error {
	wrong := func(field string, value, accepted any) error {
		return &filters.FormatError{Kind: filters.ErrHash, Field: field, Value: fmt.Sprint(accepted), Accepted: fmt.Sprint(value)}
	}
	switch {
	case i.Hash == "":
		return wrong("hash", "a file that names its hash", "none")
	case i.Hash != h.Name():
		return wrong("hash", i.Hash, h.Name())
	case i.Seed != h.Seed():
		return wrong("seed", i.Seed, h.Seed())
	}
	if d := h.Sum64([]byte(envelope.Sample)); d != i.digest {
		return wrong(fmt.Sprintf("%s of %q", i.Hash, envelope.Sample), fmt.Sprintf("%#x", i.digest), fmt.Sprintf("%#x", d))
	}
	return nil
}

// format is how a family is read.
type format struct {
	family   string
	decode   envelope.Decoder[Saved]
	describe func(*envelope.Header) (filters.Variant, []envelope.Field, error)
}

// Saved is what every filter that comes from a file offers: all families estimate,
// predict and are asked in batches.
type Saved interface {
	filters.Querier
	filters.BatchQuerier
	filters.FillReporter
	filters.Estimator
	filters.Predictor
}

// formats lists the families that can be read.
func formats() []format { return append(plainFormats(), shardedFormat()) }

// plainFormats lists those that may stand in shards, too.
func plainFormats() []format {
	return []format{
		formatOf("standard", standard.Decode, standard.Describe),
		formatOf("blocked", blocked.Decode, blocked.Describe),
		formatOf("counting", counting.Decode, counting.Describe),
		formatOf("scalable", scalable.Decode, scalable.Describe),
		formatOf("cuckoo", cuckoo.Decode, cuckoo.Describe),
	}
}

// formatOf turns the functions of a family into ones that return interfaces, nil
// on errors.
func formatOf[F Saved, V filters.Variant](family string, decode envelope.Decoder[F], describe func(*envelope.Header) (V, []envelope.Field, error)) format {
	return format{
		family: family,
		decode: func(h *envelope.Header, s *envelope.Source) (Saved, error) {
			f, err := decode(h, s)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		describe: func(h *envelope.Header) (filters.Variant, []envelope.Field, error) {
			v, fields, err := describe(h)
			if err != nil {
				return nil, nil, err
			}
			return v, fields, nil
		},
	}
}

// shardedFormat is that of any of the others in shards.
func shardedFormat() format {
	inner := func(h *envelope.Header, s *envelope.Source) (filters.Filter, error) {
		f, err := formatFor(h, plainFormats())
		if err != nil {
			return nil, err
		}
		q, err := f.decode(h, s)
		if err != nil {
			return nil, err
		}
		return q.(filters.Filter), nil // all of them grow
	}
	describe := func(h *envelope.Header) (filters.Variant, []envelope.Field, error) {
		f, err := formatFor(h, plainFormats())
		if err != nil {
			return nil, nil, err
		}
		return f.describe(h)
	}
	return format{
		family: "sharded",
		decode: func(h *envelope.Header, s *envelope.Source) (Saved, error) {
			f, err := sharded.Decode(h, s, inner, describe)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		describe: func(h *envelope.Header) (filters.Variant, []envelope.Field, error) {
			v, fields, err := sharded.Describe(h, describe)
			if err != nil {
				return nil, nil, err
			}
			return v, fields, nil
		},
	}
}

// formatFor finds the format for a header.
func formatFor(h *envelope.Header, of []format) (format, error) {
	known := ""
	for _, f := range of {
		if f.family == h.Family {
			return f, nil
		}
		known += ", " + f.family
	}
	return format{}, &filters.FormatError{Kind: filters.ErrFamily, Field: "family", Value: fmt.Sprintf("%q", h.Family), Accepted: "one of " + known[2:]}
}

// decode reads any family.
func decode(h *envelope.Header, s *envelope.Source) (Saved, error) {
	f, err := formatFor(h, formats())
	if err != nil {
		return nil, err
	}
	return f.decode(h, s)
}

// describe is the Info of a header.
func describe(h *envelope.Header) (Info, error) {
	f, err := formatFor(h, formats())
	if err != nil {
		return Info{}, err
	}
	v, geometry, err := f.describe(h)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Version:      envelope.Version,
		Family:       h.Family,
		Variant:      v,
		Geometry:     geometry,
		Hash:         h.Hash,
		Seed:         h.Seed,
		Capacity:     h.Capacity,
		Count:        h.Count,
		HeaderBytes:  uint64(h.Size()),
		PayloadBytes: h.Payload,
		digest:       h.Digest,
	}, nil
}

// Read reads a filter of whatever family, and nothing behind it. q is the filter
// type of the family, so that what it offers beyond [Saved] is found by type
// assertion: all of today can Add. Errors are filters.FormatErrors, errors of r,
// and refusals of a table beyond the memory limit; at the end of r the error wraps
// io.EOF.
//
// Which hash to ask the filter through is for the caller to look up by its name,
// and to compare with [Info.CheckHash].
func Read(r io.Reader) (q Saved, info Info, err error) {
	q, h, _, err := envelope.Read(r, decode)
	if err != nil {
		return nil, Info{}, err
	}
	info, err = describe(h)
	if err != nil {
		return nil, Info{}, err
	}
	return q, info, nil
}

// ReadInfo reads the header of a filter, checks it, and leaves the payload unread.
func ReadInfo(r io.Reader) (Info, error) {
	h, _, err := envelope.ReadHeader(r)
	if err != nil {
		return Info{}, err
	}
	return describe(h)
}
