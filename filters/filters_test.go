package filters_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// exact is the plainest filter there can be: a list of hashes with room for cap.
type exact struct {
	hs  []uint64
	cap int
}

func (f *exact) Contains(h uint64) bool { return slices.Contains(f.hs, h) }
func (f *exact) SizeBits() uint64       { return 64 * uint64(f.cap) }
func (f *exact) Add(h uint64) error {
	if len(f.hs) == f.cap {
		return filters.ErrFull
	}
	f.hs = append(f.hs, h)
	return nil
}

// batched is exact with batch methods that leave a trace.
type batched struct {
	exact
	adds, queries int
}

func (f *batched) AddMany(hs []uint64) (int, error) {
	f.adds++
	return filters.AddMany(&f.exact, hs)
}

func (f *batched) ContainsMany(dst []bool, hs []uint64) int {
	f.queries++
	return filters.ContainsMany(&f.exact, dst, hs)
}

// merging is exact with a union.
type merging struct{ exact }

func (f *merging) Merge(other filters.Filter) error {
	o, ok := other.(*merging)
	if !ok {
		return filters.Differ("type", fmt.Sprintf("%T", f), fmt.Sprintf("%T", other))
	}
	f.hs = append(f.hs, o.hs...)
	return nil
}

// static holds what it was built with.
type static struct{ filters.Querier }

// The batch functions fall back to single calls and agree with batch methods.
func TestBatchFunctions(t *testing.T) {
	plain, batch := &exact{cap: 3}, &batched{exact: exact{cap: 3}}
	for _, f := range []filters.Filter{plain, batch} {
		if n, err := filters.AddMany(f, []uint64{1, 2}); n != 2 || err != nil {
			t.Errorf("%T: AddMany = %d, %v; want 2", f, n, err)
		}
		if n, err := filters.AddMany(f, []uint64{3, 4, 5}); n != 1 || !errors.Is(err, filters.ErrFull) {
			t.Errorf("%T: AddMany beyond the room = %d, %v; want 1 and ErrFull", f, n, err)
		}
		dst := []bool{true, true, true, true, true}
		if hits := filters.ContainsMany(f, dst, []uint64{3, 4, 1}); hits != 2 || !slices.Equal(dst, []bool{true, false, true, true, true}) {
			t.Errorf("%T: ContainsMany = %d with %v", f, hits, dst)
		}
	}
	if batch.adds != 2 || batch.queries != 1 {
		t.Errorf("the batch methods were called %d and %d times; want 2 and 1", batch.adds, batch.queries)
	}
	if n, err := filters.AddMany(plain, nil); n != 0 || err != nil {
		t.Errorf("AddMany of nothing into a full filter = %d, %v", n, err)
	}
}

func TestContainsManyPanicsOnShortDst(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("dst shorter than hs went through")
		}
	}()
	filters.ContainsMany(&exact{}, make([]bool, 1), []uint64{1, 2})
}

func TestC01_NoKeys(t *testing.T) {
	wantParam(t, filters.Target{N: 0, P: 0.01}.Validate(), "n", "0", "at least 1")
}

// NaN fails p <= 0 and p >= 1 alike, so a check by refusal lets it through; the
// values are those users passed to other libraries, and n and p swapped.
func TestC03_RateOutOfRange(t *testing.T) {
	for _, p := range []float64{-0.1, math.Copysign(math.SmallestNonzeroFloat64, -1), 1, 1.5, 2, 10.1, 1000, math.NaN(), math.Inf(1), math.Inf(-1)} {
		wantParam(t, filters.Target{N: 1000, P: p}.Validate(), "p", fmt.Sprint(p), "0 < p < 1")
	}
	// The largest rate below 1 and the smallest above 0 are rates; whether a
	// filter can keep them is for the family to say.
	for _, p := range []float64{math.Nextafter(1, 0), 0.5, 1e-6, 1e-320} {
		if err := (filters.Target{N: 1, P: p}).Validate(); err != nil {
			t.Errorf("p = %v is refused: %v", p, err)
		}
	}
}

func TestTargetBitsPerKey(t *testing.T) {
	for _, c := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		wantParam(t, filters.Target{N: 1000, BitsPerKey: c}.Validate(), "bits per key", fmt.Sprint(c), "above 0")
	}
	if err := (filters.Target{N: math.MaxUint64, BitsPerKey: 0.1}).Validate(); err != nil {
		t.Error(err)
	}
}

// A target is a promise or a space, never both and never neither.
func TestTargetNeedsOneOfTwo(t *testing.T) {
	wantParam(t, filters.Target{N: 1000}.Validate(), "target", "n=1000", "both are zero")
	wantParam(t, filters.Target{N: 1000, P: 0.01, BitsPerKey: 10}.Validate(), "target", "n=1000 p=0.01 bits/key=10", "not both")
	wantParam(t, filters.Target{N: 1000, P: math.NaN(), BitsPerKey: math.NaN()}.Validate(), "target", "NaN", "not both")
}

// wantParam fails unless err is a ParamError with just these words.
func wantParam(t *testing.T, err error, field, value, accepted string) {
	t.Helper()
	var pe *filters.ParamError
	if !errors.As(err, &pe) || !errors.Is(err, filters.ErrParam) {
		t.Errorf("error is %v; want a ParamError for %s", err, field)
		return
	}
	if pe.Field != field || !strings.Contains(pe.Value, value) || !strings.Contains(pe.Accepted, accepted) {
		t.Errorf("error is %q; want field %q, value %q, accepted %q", err, field, value, accepted)
	}
	for _, part := range []string{pe.Field, pe.Value, pe.Accepted} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q leaves out %q", err, part)
		}
	}
}

func TestTargetString(t *testing.T) {
	for _, c := range []struct {
		t    filters.Target
		want string
	}{
		{filters.Target{N: 1000, P: 0.01}, "n=1000 p=0.01"},
		{filters.Target{N: 1000, P: 1e-9}, "n=1000 p=1e-09"},
		{filters.Target{N: 1, BitsPerKey: 9.5}, "n=1 bits/key=9.5"},
		{filters.Target{N: 1}, "n=1"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("%#v prints as %q; want %q", c.t, got, c.want)
		}
	}
}

// The typed errors say all they know and answer to errors.Is and errors.As, also
// when wrapped.
func TestErrors(t *testing.T) {
	param := fmt.Errorf("while sizing: %w", filters.Refuse("cuckoo: f", 40, "4 to 32"))
	if got, want := param.Error(), "while sizing: cuckoo: f = 40: want 4 to 32"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	differ := fmt.Errorf("while merging: %w", filters.Differ("k", 7, 8))
	if got, want := differ.Error(), "while merging: cannot merge: k is 7 here and 8 in the other filter"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	sentinels := []error{filters.ErrFull, filters.ErrIncompatible, filters.ErrNoTheory, filters.ErrParam}
	for _, c := range []struct{ err, is error }{{param, filters.ErrParam}, {differ, filters.ErrIncompatible}} {
		for _, s := range sentinels {
			if got := errors.Is(c.err, s); got != (s == c.is) {
				t.Errorf("errors.Is(%q, %q) = %v", c.err, s, got)
			}
		}
	}
	var ie *filters.IncompatibleError
	if !errors.As(differ, &ie) || *ie != (filters.IncompatibleError{Field: "k", Have: "7", Other: "8"}) {
		t.Errorf("IncompatibleError is %+v", ie)
	}
}

// maker makes exact filters with room for t.N.
type maker struct{}

func (maker) String() string { return "exact" }
func (maker) New(t filters.Target) (filters.Filter, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return &exact{cap: int(t.N)}, nil
}
func (v maker) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}
func (maker) Predict(filters.Target, uint64) (theory.Prediction, error) {
	return theory.Prediction{}, filters.ErrNoTheory
}

// BuildByAdding stores all or returns no filter and says which key did not fit.
func TestBuildByAdding(t *testing.T) {
	q, err := maker{}.Build(filters.Target{N: 3, P: 0.5}, []uint64{1, 2, 3})
	if err != nil || !q.Contains(1) || !q.Contains(3) || q.Contains(4) {
		t.Errorf("Build = %v, %v", q, err)
	}
	q, err = maker{}.Build(filters.Target{N: 2, P: 0.5}, []uint64{1, 2, 3})
	if q != nil || !errors.Is(err, filters.ErrFull) || !strings.Contains(err.Error(), "exact: key 2 of 3") {
		t.Errorf("Build of too much = %v, %v", q, err)
	}
	q, err = maker{}.Build(filters.Target{}, nil)
	if q != nil || !errors.Is(err, filters.ErrParam) {
		t.Errorf("Build for no target = %v, %v", q, err)
	}
}
