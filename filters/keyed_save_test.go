package filters_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"filterlab/filters"
)

// saved is exact with a file: it writes the name of the hash.
type saved struct{ exact }

func (f *saved) WriteTo(w io.Writer) (int64, error) { return f.WriteHashed(w, nil) }
func (f *saved) WriteHashed(w io.Writer, h filters.Hasher) (int64, error) {
	n, err := fmt.Fprintf(w, "%s %d", h.Name(), h.Seed())
	return int64(n), err
}

// perProcess is a hash that is another one in every process.
type perProcess struct{ fnvHash }

func (perProcess) Reproducible() bool { return false }

// Keyed saves its filter under the name of its hash, and refuses what could not be
// asked again: a hash without a name, one of this process only, a filter that
// cannot be saved. Nothing is written then.
func TestD12_KeyedWriteTo(t *testing.T) {
	var b bytes.Buffer
	k := filters.Keyed{Filter: &saved{}, Hash: fnvHash{"fnv", 3}}
	if n, err := k.WriteTo(&b); err != nil || n != int64(b.Len()) || b.String() != "fnv 3" {
		t.Errorf("WriteTo = %d, %v: %q", n, err, b.String())
	}
	b.Reset()
	for _, k := range []filters.Keyed{
		{Filter: &saved{}, Hash: perProcess{fnvHash{"fnv", 3}}},
		{Filter: &saved{}, Hash: fnvHash{"", 3}},
		{Filter: &exact{}, Hash: fnvHash{"fnv", 3}},
	} {
		if n, err := k.WriteTo(&b); n != 0 || b.Len() != 0 || !errors.Is(err, filters.ErrParam) {
			t.Errorf("%+v is saved: %d, %v", k, n, err)
		}
	}
}

// A FormatError answers to its kind and its cause, and prints all it knows.
func TestFormatError(t *testing.T) {
	err := fmt.Errorf("opening: %w", &filters.FormatError{Kind: filters.ErrCorrupt, Field: "payload", Value: "cut short", Accepted: "64 bytes", Cause: io.ErrUnexpectedEOF})
	if got, want := err.Error(), "opening: damaged filter file: payload = cut short: want 64 bytes"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if !errors.Is(err, filters.ErrCorrupt) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, filters.ErrVersion) {
		t.Errorf("%v answers to the wrong kinds", err)
	}
	geometry := &filters.FormatError{Kind: filters.ErrCorrupt, Cause: filters.Refuse("k", 99, "1 to 64")}
	if got, want := geometry.Error(), "damaged filter file: k = 99: want 1 to 64"; got != want || !errors.Is(geometry, filters.ErrParam) {
		t.Errorf("%q; want %q", got, want)
	}
}
