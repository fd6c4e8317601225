package catalog

import (
	"fmt"

	"filterlab/filters"
	"filterlab/filters/blocked"
	"filterlab/filters/counting"
	"filterlab/filters/cuckoo"
	"filterlab/filters/scalable"
	"filterlab/filters/standard"
)

// Loops are the loops that a timed run of the single-key methods needs.
// Contains sets dst[i] to the answer for hs[i] and returns the number of true
// ones; Add stores hs up to the first that is refused. Both call the methods of
// the concrete type, so that they can be inlined and no key pays for dispatch.
// It is an alias of a plain struct, so that filtertest, which must not import
// this package, names the same type.
type Loops = struct {
	Contains func(dst []bool, hs []uint64) (hits int)
	Add      func(hs []uint64) (n int, err error)
}

// Loop returns the loops for q. A type that is not in the catalog gets loops over
// the interface: right answers, a call more for each key.
//
// Each family has its loops written out. A generic function does not do: Go
// compiles one body for all types of the same shape and calls the methods of a
// type parameter through a dictionary, even where the shape belongs to one type
// alone (seen in the disassembly of Go 1.26), which is the indirect call that
// these loops are there to avoid.
func Loop(q filters.Querier) Loops {
	switch f := q.(type) {
	case *standard.Filter:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	case *blocked.Filter:
		if p, ok := f.Patterns(); ok {
			return patternLoops(p)
		}
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	case *counting.Filter:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	case *scalable.Filter:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	case *cuckoo.Filter:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	case *standard.ConcurrentFilter:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	case *blocked.ConcurrentFilter:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := f.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				for i, h := range hs {
					if err := f.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	default:
		return Loops{
			func(dst []bool, hs []uint64) (hits int) {
				dst = dst[:len(hs)]
				for i, h := range hs {
					in := q.Contains(h)
					dst[i] = in
					hits += one(in)
				}
				return hits
			},
			func(hs []uint64) (int, error) {
				d, ok := q.(filters.Filter)
				if !ok {
					return 0, filters.Refuse("filter", fmt.Sprintf("%T", q), "a filter that takes keys one by one (this one is static)")
				}
				for i, h := range hs {
					if err := d.Add(h); err != nil {
						return i, err
					}
				}
				return len(hs), nil
			},
		}
	}
}

// patternLoops are the loops over the pattern layout, whose single calls are
// inlined. It must not be inlined itself: in functions within an inlined one Go 1.26
// inlines no more calls.
//
//go:noinline
func patternLoops(p blocked.Patterns) Loops {
	return Loops{
		func(dst []bool, hs []uint64) (hits int) {
			dst = dst[:len(hs)]
			for i, h := range hs {
				in := p.Contains(h)
				dst[i] = in
				hits += one(in)
			}
			return hits
		},
		func(hs []uint64) (int, error) {
			for _, h := range hs {
				p.Add(h)
			}
			return len(hs), nil
		},
	}
}

// one counts a true answer without a branch, which would pay for every change
// between true and false.
func one(in bool) int {
	if in {
		return 1
	}
	return 0
}
