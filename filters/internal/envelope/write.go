package envelope

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"iter"
	"slices"

	"filterlab/filters"
	"filterlab/filters/internal/packed"
)

// piece is how many bytes are read or converted at a time.
const piece = 1 << 18

// Part is a table as the bytes of the file, in pieces that are valid until the
// next one.
type Part = iter.Seq[[]byte]

// Words is the part of a table of words. On little-endian machines it is the
// memory of the table.
func Words(table []uint64) Part {
	if littleEndian() {
		return Bytes(packed.Bytes(table))
	}
	return swapped(table)
}

// swapped is Words where the order of bytes in memory is another.
func swapped(table []uint64) Part {
	return func(yield func([]byte) bool) {
		buf := make([]byte, 0, piece)
		for part := range slices.Chunk(table, piece/8) {
			buf = buf[:0]
			for _, w := range part {
				buf = binary.LittleEndian.AppendUint64(buf, w)
			}
			if !yield(buf) {
				return
			}
		}
	}
}

// Bytes is the part of a table of bytes whose order is that of the file.
func Bytes(table []byte) Part { return slices.Chunk(table, piece) }

// littleEndian reports the byte order of the machine.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// Body is what a family saves: its header, without length, checksum and hash, and
// its tables.
type Body func() (Header, []Part)

// finish fills in what the tables decide.
func (b Body) finish(hash filters.Hasher) (Header, []Part) {
	h, parts := b()
	if hash != nil {
		h.Hash, h.Seed, h.Digest = hash.Name(), hash.Seed(), hash.Sum64([]byte(Sample))
	}
	crc := castagnoli()
	for _, part := range parts {
		for p := range part {
			h.Payload += uint64(len(p))
			h.Sum = crc32.Update(h.Sum, crc, p)
		}
	}
	return h, parts
}

// Write writes a file and returns how many bytes it wrote. hash may be nil.
func (b Body) Write(w io.Writer, hash filters.Hasher) (n int64, err error) {
	h, parts := b.finish(hash)
	head, err := h.Append(nil)
	if err != nil {
		return 0, err
	}
	m, err := w.Write(head)
	n = int64(m)
	for _, part := range parts {
		for p := range part {
			if err != nil {
				return n, err
			}
			m, err = w.Write(p)
			n += int64(m)
		}
	}
	return n, err
}

// Append appends a file without a hash to dst.
func (b Body) Append(dst []byte) ([]byte, error) {
	h, parts := b.finish(nil)
	dst = slices.Grow(dst, h.Size()+int(h.Payload))
	dst, err := h.Append(dst)
	if err != nil {
		return dst, err
	}
	for _, part := range parts {
		for p := range part {
			dst = append(dst, p...)
		}
	}
	return dst, nil
}
