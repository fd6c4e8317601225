package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
)

const (
	// longestLine is the longest key that is taken from a file, in bytes.
	longestLine = 16 << 20

	// batch is how many keys are hashed, added and looked up at a time: enough for
	// the misses of the cache to overlap, and few enough for the keys to stay in it.
	batch = 4096

	readSize = 1 << 18
)

// keyLines reads keys, one a line, by the rules of the key files of the experiments: a
// line ends with LF or CRLF, the last may end with the file; an empty line is the
// empty key; a byte order mark of UTF-8 at the start is dropped. Memory is bounded:
// by some hundred KiB, and by the longest line.
type keyLines struct {
	r     io.Reader
	buf   []byte // buf[from:] has been read and not handed out
	from  int
	ended bool // r has no more

	lines uint64 // handed out
	read  uint64 // bytes taken from r
}

func newKeyLines(r io.Reader) *keyLines { return &keyLines{r: r, buf: make([]byte, 0, readSize)} }

// next puts the keys that follow into dst, up to its capacity, and returns as soon as
// there is one. They stay until the next call. The error is io.EOF where none is left.
func (k *keyLines) next(dst [][]byte) ([][]byte, error) {
	dst = dst[:0]
	searched := 0 // bytes of the first line that have no line end
	hand := func(line []byte) {
		key := bytes.TrimSuffix(line, []byte("\r"))
		if k.lines == 0 {
			key = bytes.TrimPrefix(key, []byte("\xef\xbb\xbf"))
		}
		k.lines++
		dst = append(dst, key)
	}
	for {
		for len(dst) < cap(dst) {
			rest := k.buf[k.from:]
			i := bytes.IndexByte(rest[searched:], '\n')
			if i < 0 {
				searched = len(rest)
				break
			}
			hand(rest[:searched+i])
			k.from += searched + i + 1
			searched = 0
		}
		switch {
		case len(dst) > 0:
			return dst, nil
		case k.ended && k.from < len(k.buf):
			hand(k.buf[k.from:])
			k.from = len(k.buf)
			return dst, nil
		case k.ended:
			return dst, io.EOF
		}
		if err := k.fill(); err != nil {
			return dst, fmt.Errorf("line %d: %w", k.lines+1, err)
		}
	}
}

// fill reads once behind what there is.
func (k *keyLines) fill() error {
	k.buf = k.buf[:copy(k.buf, k.buf[k.from:])]
	k.from = 0
	if len(k.buf) == cap(k.buf) {
		if len(k.buf) >= longestLine {
			return fmt.Errorf("want a key of less than %d bytes", longestLine)
		}
		k.buf = append(make([]byte, 0, 2*cap(k.buf)), k.buf...)
	}
	n, err := k.r.Read(k.buf[len(k.buf):cap(k.buf)])
	k.buf = k.buf[:len(k.buf)+n]
	k.read += uint64(n)
	k.ended = err == io.EOF
	if err != nil && !k.ended {
		return err
	}
	return nil
}

// countLines is the number of keys that keyLines finds in r.
func countLines(ctx context.Context, r io.Reader) (uint64, error) {
	var n uint64
	last := byte('\n')
	buf := make([]byte, readSize)
	for ctx.Err() == nil {
		got, err := r.Read(buf)
		if got > 0 {
			n += uint64(bytes.Count(buf[:got], []byte{'\n'}))
			last = buf[got-1]
		}
		if err == io.EOF {
			if last != '\n' {
				n++
			}
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, ctx.Err()
}

// stdin is the standard input, whose reads end as soon as ctx does: one that waits for
// a terminal or a pipe would keep Ctrl-C waiting as well.
func stdin(ctx context.Context) io.Reader { return &waiter{ctx, os.Stdin, make(chan taken, 1)} }

type waiter struct {
	ctx  context.Context
	r    io.Reader
	done chan taken
}

type taken struct {
	n   int
	err error
}

func (w *waiter) Read(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, w.ctx.Err() // p may still be in the hands of a read before
	}
	go func() {
		n, err := w.r.Read(p)
		w.done <- taken{n, err}
	}()
	select {
	case t := <-w.done:
		return t.n, t.err
	case <-w.ctx.Done():
		return 0, w.ctx.Err()
	}
}
