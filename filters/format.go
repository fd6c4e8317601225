package filters

import (
	"errors"
	"fmt"
	"io"
)

// Why bytes are no filter, or not the one asked for. Each is the Kind of a
// FormatError, so that errors.Is tells them apart.
var (
	// ErrCorrupt says that a filter was saved and is damaged: cut short, bits
	// flipped, or numbers that no filter has. Where bytes are missing,
	// io.ErrUnexpectedEOF is wrapped as well, and io.EOF where there was not one.
	ErrCorrupt = errors.New("damaged filter file")

	// ErrNotFilter says that the bytes do not begin as a saved filter does.
	ErrNotFilter = errors.New("not a filter file")

	// ErrVersion says that a filter was saved by a later version of the format.
	ErrVersion = errors.New("unknown version of the filter file")

	// ErrFamily says that the filter is of another family than the one asked for.
	ErrFamily = errors.New("filter of another family")

	// ErrHash says that a filter was filled through another hash function than the
	// one it is to be asked through.
	ErrHash = errors.New("filter of another hash")
)

// FormatError tells what is wrong with a saved filter.
type FormatError struct {
	Kind     error  // ErrCorrupt, ErrNotFilter, ErrVersion, ErrFamily or ErrHash
	Field    string // what was looked at: "header checksum", "k"
	Value    string // what stands there
	Accepted string // what would have been taken
	Cause    error  // an error met on the way, else nil
}

// Error names the field, what was found and what was wanted in one line.
func (e *FormatError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%v: %v", e.Kind, e.Cause)
	}
	return fmt.Sprintf("%v: %s = %s: want %s", e.Kind, e.Field, e.Value, e.Accepted)
}

// Unwrap makes errors.Is true for the Kind and for the Cause.
func (e *FormatError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Saver writes a filter as a file: every family does. The layout is that of
// package filterlab/filters/internal/envelope, described there byte by byte; what
// is written is read by the ReadFrom of the family, or by package catalog without
// knowing which family it is; filters in shards by the catalog alone, which knows
// what may be inside.
//
// Saving reads the whole table twice, for the checksum and for the copy; nobody
// may write to the filter meanwhile.
type Saver interface {
	// WriteTo writes the filter without saying which hash its keys went through.
	io.WriterTo

	// WriteHashed is WriteTo with the name, the seed and a sample digest of h.
	WriteHashed(w io.Writer, h Hasher) (n int64, err error)
}
