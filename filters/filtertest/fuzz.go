package filtertest

import (
	"errors"
	"testing"

	"filterlab/filters"
)

// Fuzz runs programs of operations, decoded from bytes, against an exact multiset:
// Add, AddMany, TestAndAdd, Delete of what is stored, Merge, Reset, single and
// batch queries. It fails when a stored key is denied or counted too low, when a
// batch answer differs from a single one, and when a refused operation changes
// an answer. The first byte picks the variant.
func Fuzz(f *testing.F, vs ...filters.Variant) {
	targets := make([]filters.Target, len(vs)) // found once: sizing is slower than a program
	for i, v := range vs {
		t, err := target(v, fuzzKeys/4)
		if err != nil {
			f.Fatal(err)
		}
		targets[i] = t
		for _, program := range programs() {
			f.Add(append([]byte{byte(i)}, program...))
		}
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 {
			return
		}
		i := int(program[0]) % len(vs)
		v := vs[i]
		program = program[1:min(len(program), longest)]
		c := clause{name: "fuzz", run: func(r *report, v filters.Variant) { interpret(r, v, targets[i], program) }}
		for _, msg := range c.examine(v, true).failures {
			t.Errorf("%v: %s", v, msg)
		}
	})
}

// Operations of a program. The low three bits of a byte are the operation, the
// others and the next byte its operand: a key, or the length of a batch.
const (
	opAdd = iota
	opAddMany
	opTestAndAdd
	opDelete
	opContains
	opContainsMany
	opMerge
	opReset
)

// programs is the seed corpus: each operation after others, many copies of one
// key, a filter filled until it refuses.
func programs() [][]byte {
	all := []byte{opAdd, 1, opAdd | 1<<3, 2, opAddMany, 40, opTestAndAdd, 1, opTestAndAdd, 200, opDelete, 1,
		opContains, 1, opContainsMany, 60, opMerge, 3, opContainsMany, 255, opReset, 0, opAddMany, 9, opDelete, 3, opContains, 3}
	var copies, fill, churn []byte
	for i := range 40 {
		copies = append(copies, opAdd, 7, opContains, 7)
		fill = append(fill, opAddMany|byte(i%4)<<3, 250)
		churn = append(churn, opAddMany, byte(i), opDelete, byte(i/2), opAdd, byte(3*i), opContainsMany, byte(i))
	}
	for range 45 {
		copies = append(copies, opDelete, 7)
	}
	return [][]byte{{}, all, copies, append(fill, opAdd, 5, opTestAndAdd, 6, opContainsMany, 255, opDelete, 5), churn}
}

// fuzzKeys is the number of distinct hashes a program can name; the filter is
// made for a quarter of them, so that programs can fill it.
const fuzzKeys = 1024

// longest is the number of bytes of a program that are run: more make the fuzzer
// slower, not better.
const longest = 2048

// interpret runs a program against the oracle.
func interpret(r *report, v filters.Variant, t filters.Target, program []byte) {
	m := r.maker(v)
	f := r.make(m, t)
	keys := Members(67, fuzzKeys)
	others := NonMembers(67, 256)
	stored := make(map[uint64]uint64)
	dst := make([]bool, 256)

	full := func(call string, err error) bool {
		if err != nil && !errors.Is(err, filters.ErrFull) {
			r.errorf("%s: %v; only ErrFull is allowed", call, err)
		}
		return err != nil
	}
	check := func(h uint64) {
		if stored[h] > 0 && !f.Contains(h) {
			r.errorf("key %#x is denied though %d copies of it are stored", h, stored[h])
		}
		if c, ok := f.(filters.Counter); ok {
			if n, saturated := c.Count(h); !saturated && n < stored[h] {
				r.errorf("Count(%#x) is %d; %d copies are stored", h, n, stored[h])
			}
		}
	}
	for len(program) >= 2 {
		op, operand := program[0]&7, int(program[0]>>3)<<8|int(program[1])
		program = program[2:]
		h := keys[operand%fuzzKeys]
		chunk := keys[operand%fuzzKeys:]
		chunk = chunk[:min(len(chunk), operand%256)]
		switch op {
		case opAdd:
			was := f.Contains(h)
			if !full("Add", f.Add(h)) {
				stored[h]++
			} else if f.Contains(h) != was {
				r.errorf("a refused Add(%#x) changed Contains from %v", h, was)
			}
		case opAddMany:
			n, err := filters.AddMany(f, chunk)
			if n < 0 || n > len(chunk) || full("AddMany", err) != (n < len(chunk)) {
				r.fatalf("AddMany of %d hashes = %d, %v", len(chunk), n, err)
			}
			for _, h := range chunk[:n] {
				stored[h]++
			}
		case opTestAndAdd:
			a, ok := f.(filters.TestAdder)
			if !ok {
				continue
			}
			was := f.Contains(h)
			present, err := a.TestAndAdd(h)
			switch {
			case full("TestAndAdd", err):
				if f.Contains(h) != was {
					r.errorf("a refused TestAndAdd(%#x) changed Contains from %v", h, was)
				}
			case present != was:
				r.errorf("TestAndAdd(%#x) reports %v; Contains said %v", h, present, was)
			default:
				stored[h]++
			}
		case opDelete:
			d, ok := f.(filters.Deleter)
			if !ok {
				continue
			}
			was := f.Contains(h)
			switch {
			case stored[h] > 0:
				if !d.Delete(h) {
					r.errorf("Delete(%#x) = false though %d copies are stored", h, stored[h])
				}
				stored[h]--
			case !was && d.Delete(h):
				r.errorf("Delete(%#x) = true though Contains denies it", h)
			}
		case opContains:
		case opContainsMany:
			for _, queries := range [][]uint64{chunk, others[:operand%256]} {
				hits := filters.ContainsMany(f, dst, queries)
				for i, h := range queries {
					if dst[i] != f.Contains(h) {
						r.errorf("ContainsMany says %v for %#x, Contains does not", dst[i], h)
					}
					if dst[i] {
						hits--
					}
				}
				if hits != 0 {
					r.errorf("ContainsMany is off by %d hits", hits)
				}
			}
		case opMerge:
			mf, ok := f.(filters.Merger)
			if !ok {
				continue
			}
			other := r.make(m, t)
			n, err := filters.AddMany(other, chunk)
			full("AddMany", err)
			if err := mf.Merge(other); err != nil {
				r.fatalf("Merge of a filter for the same target: %v", err)
			}
			for _, h := range chunk[:n] {
				stored[h]++
			}
		case opReset:
			if s, ok := f.(filters.Resetter); ok {
				s.Reset()
				clear(stored)
				for _, h := range keys[:64] {
					if f.Contains(h) {
						r.errorf("a filter contains %#x after Reset", h)
					}
				}
			}
		}
		check(h)
	}
	for _, h := range keys {
		check(h)
	}
}
