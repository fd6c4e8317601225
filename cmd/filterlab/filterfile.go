package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"filterlab/experiments"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// errNo is the answer "no" of a command whose exit status is an answer, as those of
// grep and cmp are: status 1 and nothing to say.
var errNo = errors.New("no")

// troubleError is a failure of such a command: status 2, since 1 is an answer.
type troubleError struct{ error }

func (e troubleError) Unwrap() error { return e.error }

// fileError is about what a file holds, not about what was typed, whatever it wraps.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }

// trouble marks err as a failure of a command whose exit status is an answer. Refused
// command lines and the answer itself stay what they are.
func trouble(err error) error {
	if err == nil || errors.Is(err, errNo) || isUsage(err) {
		return err
	}
	return troubleError{err}
}

// hashOf is the hash that the keys of a saved filter went through. name and seed are
// what was typed, empty where nothing was: they are needed where the file does not
// name its hash, and must agree with one that does.
func hashOf(info catalog.Info, name, seed string) (hashing.Hash, error) {
	if name == "" {
		name = info.Hash
	}
	if name == "" {
		return nil, usagef("the file does not say which hash its keys went through: want --hash, and --seed if it was not 0")
	}
	e, err := experiments.HashByName(name)
	if err != nil {
		return nil, usageError{err}
	}
	s := info.Seed
	if seed != "" {
		if s, err = units.ParseCount(seed); err != nil {
			return nil, usagef("--seed: %w", err)
		}
	}
	h := e.New(s)
	if info.Hash == "" {
		return h, nil
	}
	return h, info.CheckHash(h)
}

// opened is a filter in a file with the hash of its keys.
type opened struct {
	*catalog.File
	path string
	hash hashing.Hash // nil where the file does not name one
}

// openFilter opens a filter, and reads and checks all of it where whole is set.
func openFilter(path string, whole bool) (*opened, error) {
	f, err := catalog.Open(path)
	if err != nil {
		return nil, fileError{err}
	}
	o := &opened{File: f, path: path}
	if f.Info().Hash != "" {
		if o.hash, err = hashOf(f.Info(), "", ""); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err == nil && whole {
		if err = f.Verify(); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return nil, fileError{errors.Join(err, f.Close())}
	}
	return o, nil
}

// saveFilter writes a filter to path, or to stdout for "-". A file appears under its
// name when it is whole, and what was there before stays until then. A path that is
// there and no regular file, such as a pipe, is written to as it stands.
func saveFilter(path string, f io.WriterTo, stdout io.Writer) (err error) {
	if path == "-" {
		_, err := f.WriteTo(stdout)
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		to, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteTo(to)
		return errors.Join(err, to.Close())
	}
	tmp, err := temporary(path)
	if err != nil {
		return err
	}
	_, err = f.WriteTo(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// temporary creates a file beside path, with the permissions that a new file gets.
func temporary(path string) (*os.File, error) {
	for i := 0; ; i++ {
		f, err := os.OpenFile(fmt.Sprintf("%s.tmp%d-%d", path, os.Getpid(), i), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// writable refuses an output that will not be writable before minutes are spent on it.
// It leaves no trace.
func writable(path string) error {
	if path == "-" {
		return nil
	}
	if st, err := os.Stat(path); err == nil {
		switch {
		case st.IsDir():
			return usagef("--out %q: want a file; it is a folder", path)
		case !st.Mode().IsRegular():
			return nil
		}
	}
	f, err := temporary(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// overfull says in what a filter is worse than it was meant to be, and is empty where
// all is well. promised is the rate it was sized for, NaN if that is not known;
// capacity is the number of keys, 0 if that is not known or, as for scalable filters,
// means nothing; stored is how many there are, where they are counted.
func overfull(f catalog.Saved, promised float64, capacity, stored uint64) string {
	n, now := f.EstimatedN(), f.EstimatedFPR()
	switch {
	case capacity > 0:
		// Estimates scatter by less than the square root of n. A count has no such
		// excuse.
		limit := 1.01*float64(capacity) + 3*math.Sqrt(float64(capacity))
		if n <= limit && stored <= capacity {
			return ""
		}
		return fmt.Sprintf("it holds %s keys and was sized for %d; false positives come at %s, and %s was promised", keyCount(n), capacity, rate(now), rate(promised))
	case promised > 0: // not NaN
		if now <= 1.05*promised {
			return ""
		}
		return fmt.Sprintf("false positives come at %s, and %s was promised", rate(now), rate(promised))
	}
	if _, slots := f.(filters.Deleter); slots || f.FillRatio() <= 0.52 {
		return "" // half is the best fill of a table of bits; other tables have no such rule
	}
	return fmt.Sprintf("%.4g%% of its bits are set, and false positives come at %s", 100*f.FillRatio(), rate(now))
}

// promise is what overfull wants to know of a file.
func promise(info catalog.Info, f catalog.Saved) (promised float64, capacity uint64) {
	for _, g := range info.Geometry {
		if g.Name == "p" && g.Float { // of a scalable filter, which keeps it whatever it holds
			return math.Float64frombits(g.Value), 0
		}
	}
	if info.Capacity > 0 {
		if pred, err := f.Predict(info.Capacity); err == nil {
			return pred.FPR, info.Capacity
		}
	}
	return math.NaN(), info.Capacity
}

// scalableFamily is the family that grows with its keys.
const scalableFamily = "scalable"

// rate prints a rate with three or four digits.
func rate(p float64) string {
	switch {
	case math.IsNaN(p):
		return "n/a"
	case p >= 1e-4:
		return fmt.Sprintf("%.4g%%", 100*p)
	}
	return fmt.Sprintf("%.3g", p)
}

// keyCount is an estimate as it stands before the word "keys".
func keyCount(n float64) string {
	if math.IsInf(n, 0) {
		return "countless"
	}
	return fmt.Sprintf("about %.0f", n)
}
