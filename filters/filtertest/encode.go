package filtertest

import (
	"bytes"
	"encoding"
	"errors"
	"io"
	"reflect"

	"filterlab/filters"
)

// checkEncoding: a filter read back from its bytes is the filter that was saved,
// for every caller and to the byte, and can be used further: it takes keys,
// forgets them and merges as the first would. Reading takes the bytes of the
// filter and no more, and bytes cut short leave the receiver as it was. Skipped
// for filters that cannot be saved, and for concurrent ones, which are saved as the
// plain filter that they are a view of.
func checkEncoding(r *report, v filters.Variant) {
	const n = 3000
	t := r.target(v, n)
	members := Members(encodingSeed, n)
	queries := join(members, NonMembers(encodingSeed, 5000))
	for _, keys := range []int{0, 1, n / 2, n} {
		q := r.build(v, t, members[:keys])
		s := need[filters.Saver](r, q, "Saver")
		if _, ok := q.(filters.Concurrent); ok {
			r.skip("read back as a plain filter")
		}
		var stream bytes.Buffer
		wrote, err := s.WriteTo(&stream)
		if err != nil || wrote != int64(stream.Len()) {
			r.fatalf("%v with %d keys: WriteTo = %d, %v; %d bytes came", v, keys, wrote, err, stream.Len())
		}
		file := bytes.Clone(stream.Bytes())
		stream.WriteString("1234")

		back := like(q)
		from, ok := back.(io.ReaderFrom)
		if !ok {
			r.fatalf("%T has WriteTo and no ReadFrom", q)
		}
		// A plain reader, so that nothing tells how much there is.
		took, err := from.ReadFrom(struct{ io.Reader }{&stream})
		if err != nil || took != wrote || stream.String() != "1234" {
			r.fatalf("%v with %d keys: ReadFrom = %d, %v and leaves %q; it should take %d bytes", v, keys, took, err, stream.String(), wrote)
		}
		if d := observe(q, queries).differ(observe(back, queries)); d != "" {
			r.fatalf("%v with %d keys, before and after: %s", v, keys, d)
		}
		checkUsable(r, v, q, back, queries)

		copied := like(q)
		other := copied.(encoding.BinaryUnmarshaler)
		if err := other.UnmarshalBinary(append(bytes.Clone(file), 'x')); !errors.Is(err, filters.ErrCorrupt) {
			r.errorf("%v: UnmarshalBinary takes a byte too many (%v)", v, err)
		}
		again := r.build(v, t, members[:keys])
		before := observe(again, queries)
		for _, short := range []int{len(file) - 1, len(file) / 2, 100, 0} {
			if err := again.(encoding.BinaryUnmarshaler).UnmarshalBinary(file[:short]); !errors.Is(err, filters.ErrCorrupt) {
				r.errorf("%v: UnmarshalBinary of %d of %d bytes: %v", v, short, len(file), err)
			}
		}
		if d := before.differ(observe(again, queries)); d != "" {
			r.errorf("%v: a refused file changed the filter: %s", v, d)
		}
		if err := other.UnmarshalBinary(file); err != nil {
			r.fatalf("%v: UnmarshalBinary of what WriteTo wrote: %v", v, err)
		}
		clear(file)
		if d := before.differ(observe(copied, queries)); d != "" {
			r.errorf("%v: the filter keeps the bytes it was read from: %s", v, d)
		}
	}
}

// encodingSeed keeps the keys of this clause apart from those of others.
const encodingSeed = 23

// like is a zero filter of the type of q, as a caller declares it before reading.
func like(q filters.Querier) filters.Querier {
	return reflect.New(reflect.TypeOf(q).Elem()).Interface().(filters.Querier)
}

// checkUsable does the same to the saved filter and to the one read back, until
// they differ.
func checkUsable(r *report, v filters.Variant, q, back filters.Querier, queries []uint64) {
	f, ok := q.(filters.Filter)
	if !ok {
		return
	}
	g := back.(filters.Filter)
	fresh := Members(encodingSeed+1, 200)
	nf, errF := filters.AddMany(f, fresh)
	ng, errG := filters.AddMany(g, fresh)
	if nf != ng || errors.Is(errF, filters.ErrFull) != errors.Is(errG, filters.ErrFull) {
		r.errorf("%v: AddMany = %d, %v before and %d, %v after reading", v, nf, errF, ng, errG)
	}
	if d, ok := q.(filters.Deleter); ok {
		for _, h := range fresh[:nf/2] {
			if d.Delete(h) != back.(filters.Deleter).Delete(h) {
				r.errorf("%v: Delete(%#x) differs after reading", v, h)
			}
		}
	}
	if m, ok := q.(filters.Merger); ok {
		if err := m.Merge(g); err != nil {
			r.errorf("%v: Merge with the filter read back: %v", v, err)
		}
		if err := back.(filters.Merger).Merge(g); err != nil { // itself, as f did with its twin
			r.errorf("%v: Merge of the filter read back: %v", v, err)
		}
	}
	if d := observe(q, queries).differ(observe(back, queries)); d != "" {
		r.errorf("%v: after the same adds, deletes and merges: %s", v, d)
	}
}
