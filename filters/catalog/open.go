package catalog

import (
	"io"
	"os"

	"filterlab/filters/internal/envelope"
)

// File is a filter in a file that is asked where it lies. On Unix systems the file is
// mapped: to open it costs the header, whatever its size, and a lookup the pages
// it touches, which the system reads, shares between processes and takes away
// again as memory gets short. Elsewhere, and on big-endian machines for the
// families whose tables are words, it is copied into memory.
//
// All its methods but Close are safe for concurrent use. The filter cannot be
// changed; to go on adding, [Read] it. The file must neither be cut short nor
// written to while it is open: replace it by renaming another over it. A lookup in
// a mapped file of which the end was cut off, or whose disk fails, ends the
// process.
type File struct {
	Saved
	info    Info
	data    []byte
	verify  func() error
	release func() error
}

// Open opens the filter that is all of the named file. The header is checked at
// once; the payload is not read, see [File.Verify]. Errors are those of [Read],
// and of the file system.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	file, err := open(f)
	// A mapping stays when the file it came from is closed.
	if cerr := f.Close(); err == nil && cerr != nil {
		err = cerr
		_ = file.Close() // the first error tells more
	}
	if err != nil {
		return nil, &os.PathError{Op: "open filter", Path: path, Err: err}
	}
	return file, nil
}

func open(f *os.File) (*File, error) {
	// The header is looked at first: a file that is no filter may not be fit to be
	// mapped, and its error should say what is wrong.
	if _, err := ReadInfo(f); err != nil {
		return nil, err
	}
	data, release, err := mapFile(f)
	if err != nil {
		return nil, err
	}
	adviseRandom(data)
	q, h, verify, err := envelope.Map(data, decode)
	if err == nil {
		var info Info
		if info, err = describe(h); err == nil {
			return &File{q, info, data, verify, release}, nil
		}
	}
	_ = release() // the first error tells more
	return nil, err
}

// Info is what the header says.
func (f *File) Info() Info { return f.info }

// Verify reads the whole payload and compares it with its checksum and with what
// the header says of it. A file that passes answers as the filter that was saved.
func (f *File) Verify() error {
	adviseSequential(f.data)
	defer adviseRandom(f.data)
	return f.verify()
}

// Close gives the mapping back. No other method may be called afterwards or
// meanwhile.
func (f *File) Close() error {
	if f.Saved == nil {
		return os.ErrClosed
	}
	f.Saved = nil
	return f.release()
}

var _ io.Closer = (*File)(nil)
