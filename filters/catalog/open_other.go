//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package catalog

import (
	"io"
	"os"

	"filterlab/filters/internal/packed"
)

// mapFile is the content of f, read into memory that starts on a cache line.
func mapFile(f *os.File) (data []byte, release func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	words, err := packed.Words("length", 8*uint64(info.Size()))
	if err != nil {
		return nil, nil, err
	}
	data = packed.Bytes(words)[:info.Size()]
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, info.Size()), data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
