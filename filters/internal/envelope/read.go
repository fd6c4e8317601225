package envelope

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"strconv"

	"filterlab/filters"
	"filterlab/filters/internal/packed"
)

// Fields hands out the geometry words of a header one by one and remembers their
// names. The first thing wrong is kept as the error of Done.
type Fields struct {
	h     *Header
	next  int
	named []Field
	err   error
}

// Field is a number of the header with its name.
type Field struct {
	Name  string
	Value uint64 // the bits of the number where it is a float64
	Float bool
}

// String is the number in decimal.
func (f Field) String() string {
	if f.Float {
		return strconv.FormatFloat(math.Float64frombits(f.Value), 'g', -1, 64)
	}
	return strconv.FormatUint(f.Value, 10)
}

// Fields begins to read the geometry of a filter that has to be of the given
// family.
func (h *Header) Fields(family string) *Fields {
	f := &Fields{h: h}
	if h.Family != family {
		f.err = &filters.FormatError{Kind: filters.ErrFamily, Field: "family", Value: h.Family, Accepted: family}
	}
	return f
}

// Uint is the next word.
func (f *Fields) Uint(name string) uint64 {
	if f.err != nil {
		return 0
	}
	if f.next == len(f.h.Geometry) {
		f.err = corrupt("geometry words", f.next, fmt.Sprintf("more: %s is missing", name))
		return 0
	}
	v := f.h.Geometry[f.next]
	f.next++
	f.named = append(f.named, Field{Name: name, Value: v})
	return v
}

// Int is the next word, up to 2^31-1.
func (f *Fields) Int(name string) int { return int(f.upTo(name, math.MaxInt32)) }

// Byte is the next word, up to 255.
func (f *Fields) Byte(name string) uint8 { return uint8(f.upTo(name, math.MaxUint8)) }

func (f *Fields) upTo(name string, most uint64) uint64 {
	v := f.Uint(name)
	if v > most && f.err == nil {
		f.err = corrupt(name, v, fmt.Sprintf("at most %d", most))
		return 0
	}
	return v
}

// Float is the next word as the bits of a float64.
func (f *Fields) Float(name string) float64 {
	v := f.Uint(name)
	if f.err == nil {
		f.named[len(f.named)-1].Float = true
	}
	return math.Float64frombits(v)
}

// Left is the number of words not yet read, 0 after an error.
func (f *Fields) Left() int {
	if f.err != nil {
		return 0
	}
	return len(f.h.Geometry) - f.next
}

// Err is the first error so far.
func (f *Fields) Err() error { return f.err }

// Done returns the first error, and refuses words that nobody asked for.
func (f *Fields) Done() error {
	if f.err == nil && f.Left() > 0 {
		f.err = corrupt("geometry words", len(f.h.Geometry), fmt.Sprint(f.next))
	}
	return f.err
}

// Named lists the words read, in order, with their names.
func (f *Fields) Named() []Field { return f.named }

// Source delivers the tables of a payload, copied from a stream or as they lie in a
// mapping.
type Source struct {
	h      *Header
	left   uint64 // bytes of the payload not yet handed out
	checks []func() error

	r     io.Reader // a stream
	known uint64    // bytes that it certainly has, as far as it can be told
	taken int64     // bytes read from it
	sum   uint32

	mapped []byte // a mapping: the whole payload
}

// Words is the next table, of nbits bits and what fills it up; field names it in
// errors. It lies on a cache line. In a mapping on a little-endian machine it must
// not be written to.
func (s *Source) Words(field string, nbits uint64) ([]uint64, error) {
	words, err := s.table(field, nbits)
	if err != nil {
		return nil, err
	}
	if !littleEndian() {
		if s.mapped != nil {
			own, err := packed.Words(field, nbits)
			if err != nil {
				return nil, err
			}
			copy(own, words)
			words = own
		}
		swap(words)
	}
	s.Check(func() error { return zeroFrom(words, nbits) })
	return words, nil
}

// swap turns the words of a file into those of a big-endian machine.
func swap(words []uint64) {
	b := packed.Bytes(words)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// zeroFrom refuses set bits behind the table: they would be counted as keys.
func zeroFrom(words []uint64, nbits uint64) error {
	for i := nbits / 64; i < uint64(len(words)); i++ {
		w := words[i]
		if i == nbits/64 {
			w = w >> (nbits % 64) << (nbits % 64)
		}
		if w != 0 {
			return corrupt("payload", fmt.Sprintf("%#x in word %d", w, i), fmt.Sprintf("zeros from bit %d on", nbits))
		}
	}
	return nil
}

// Bytes is Words for tables that are bytes in the order of the file on every
// machine, and that end with padding more bits, which are zero.
func (s *Source) Bytes(field string, nbits, padding uint64) ([]byte, error) {
	words, err := s.table(field, nbits+padding)
	if err != nil {
		return nil, err
	}
	table := packed.Bytes(words)
	s.Check(func() error {
		for i := nbits / 8; i < uint64(len(table)); i++ {
			b := table[i]
			if i == nbits/8 {
				b = b >> (nbits % 8) << (nbits % 8)
			}
			if b != 0 {
				return corrupt("payload", fmt.Sprintf("%#x in byte %d", b, i), fmt.Sprintf("zeros from bit %d on", nbits))
			}
		}
		return nil
	})
	return table, nil
}

// Check is called once the payload is known to be what was written, to judge what
// only the family can.
func (s *Source) Check(check func() error) { s.checks = append(s.checks, check) }

// table is the next table in the bytes of the file.
func (s *Source) table(field string, nbits uint64) ([]uint64, error) {
	size := packed.Size(nbits) * 8
	if size > s.left {
		return nil, corrupt("payload length", s.h.Payload, fmt.Sprintf("at least %d bytes for the table of %d bits", s.h.Payload-s.left+size, nbits))
	}
	s.left -= size
	if s.mapped == nil {
		return s.read(field, nbits)
	}
	b := s.mapped[:size]
	s.mapped = s.mapped[size:]
	return packed.View(b), nil
}

// unproven is how much is allocated on the word of a header alone, in bytes.
const unproven = piece

// read is table for a stream. A stream that may end any moment gets memory as it
// delivers, never more than twice as much as it has delivered.
func (s *Source) read(field string, nbits uint64) ([]uint64, error) {
	if err := packed.Fits(field, nbits); err != nil {
		return nil, err
	}
	size := packed.Size(nbits)
	words, err := packed.Words(field, 64*min(size, max(s.known, unproven)/8))
	for done := uint64(0); err == nil; {
		b := packed.Bytes(words)[done:]
		for len(b) > 0 && err == nil {
			var n int
			n, err = io.ReadFull(s.r, b[:min(len(b), piece)])
			s.taken += int64(n)
			s.sum = crc32.Update(s.sum, castagnoli(), b[:n])
			b = b[n:]
		}
		if err != nil {
			return nil, short("payload", uint64(s.taken), s.h.Payload, err)
		}
		done = uint64(len(words)) * 8
		if uint64(len(words)) == size {
			s.known -= min(s.known, done)
			return words, nil
		}
		var more []uint64
		if more, err = packed.Words(field, 64*min(size, 2*uint64(len(words)))); err == nil {
			copy(more, words)
			words = more
		}
	}
	return nil, err
}

// finish tells whether the payload was used up, is what was written, and makes
// sense to the family.
func (s *Source) finish() error {
	if err := s.used(); err != nil {
		return err
	}
	if s.sum != s.h.Sum {
		return corrupt("payload checksum", inHex(s.sum), inHex(s.h.Sum))
	}
	return s.verify()
}

func (s *Source) used() error {
	if s.left > 0 {
		return corrupt("payload length", s.h.Payload, fmt.Sprintf("%d bytes for the tables", s.h.Payload-s.left))
	}
	return nil
}

func (s *Source) verify() error {
	for _, check := range s.checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Decoder makes a filter of a header and its tables.
type Decoder[F any] func(h *Header, s *Source) (F, error)

// Read reads a filter from a stream and nothing behind it; n is what it took.
func Read[F any](r io.Reader, decode Decoder[F]) (f F, h *Header, n int64, err error) {
	var none F
	known := remaining(r)
	h, n, err = ReadHeader(r)
	if err != nil {
		return none, nil, n, err
	}
	s := &Source{h: h, left: h.Payload, r: r, known: known - min(known, uint64(n))}
	if f, err = decode(h, s); err == nil {
		err = s.finish()
	}
	if err != nil {
		return none, nil, n + s.taken, err
	}
	return f, h, n + s.taken, nil
}

// remaining is how many bytes r has left, or 0 where it does not say.
func remaining(r io.Reader) uint64 {
	switch r := r.(type) {
	case interface{ Len() int }: // bytes.Reader, bytes.Buffer, strings.Reader
		return uint64(r.Len())
	case interface {
		io.Seeker
		Stat() (fs.FileInfo, error)
	}:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil || at > info.Size() {
			return 0
		}
		return uint64(info.Size() - at)
	}
	return 0
}

// Unmarshal reads a filter that is all of data, which is copied.
func Unmarshal[F any](data []byte, decode Decoder[F]) (f F, err error) {
	var none F
	r := bytes.NewReader(data)
	f, _, n, err := Read(r, decode)
	if err == nil && r.Len() > 0 {
		err = corrupt("length", fmt.Sprintf("%d bytes", len(data)), fmt.Sprintf("%d bytes; the rest belongs to no filter", n))
	}
	if err != nil {
		return none, err
	}
	return f, nil
}

// Map makes a filter of a whole file in memory, which starts on a cache line and
// stays unchanged as long as the filter. verify compares the payload with its
// checksum and with the header, at the cost of reading all of it.
func Map[F any](file []byte, decode Decoder[F]) (f F, h *Header, verify func() error, err error) {
	var none F
	h, n, err := ReadHeader(bytes.NewReader(file))
	if err != nil {
		return none, nil, nil, err
	}
	payload := file[n:]
	switch {
	case uint64(len(payload)) < h.Payload:
		return none, nil, nil, short("payload", uint64(len(payload)), h.Payload, io.ErrUnexpectedEOF)
	case uint64(len(payload)) > h.Payload:
		return none, nil, nil, corrupt("length", fmt.Sprintf("%d bytes", len(file)), fmt.Sprintf("%d bytes; the rest belongs to no filter", uint64(n)+h.Payload))
	}
	s := &Source{h: h, left: h.Payload, mapped: payload}
	if f, err = decode(h, s); err == nil {
		err = s.used()
	}
	if err != nil {
		return none, nil, nil, err
	}
	return f, h, func() error {
		if sum := crc32.Checksum(payload, castagnoli()); sum != h.Sum {
			return corrupt("payload checksum", inHex(sum), inHex(h.Sum))
		}
		return s.verify()
	}, nil
}
