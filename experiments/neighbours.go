package experiments

import (
	"encoding/binary"
	"strconv"
	"strings"

	"filterlab/experiments/workload"
)

// neighbours is a key set of numbers that count up from a random start: even ones
// are members, and the absent keys are the odd ones between them. It is what a
// store sees that is asked for the rows next to its own.
type neighbours struct {
	name  string
	start uint64
	write func(dst []byte, i uint64) []byte
}

// neighbourPrefix begins the names of these key sets.
const neighbourPrefix = "even-"

func (s neighbours) Name() string    { return s.name }
func (s neighbours) Members() uint64 { return 1 << 40 }
func (s neighbours) Absent() uint64  { return 1 << 40 }

func (s neighbours) AppendMember(dst []byte, i uint64) []byte { return s.write(dst, s.start+2*i) }
func (s neighbours) AppendAbsent(dst []byte, i uint64) []byte { return s.write(dst, s.start+2*i+1) }

// neighbourKinds lists the ways of writing the numbers.
func neighbourKinds() []workload.Kind {
	kind := func(name, doc string, write func([]byte, uint64) []byte) workload.Kind {
		return workload.Kind{Name: neighbourPrefix + name, Doc: doc, New: func(seed uint64) workload.Source {
			// Numbers as they are in use: below 2^30, and even.
			return neighbours{neighbourPrefix + name, mix(seed) >> 35 << 1, write}
		}}
	}
	return []workload.Kind{
		kind("be64", "8 big-endian bytes", binary.BigEndian.AppendUint64),
		kind("le64", "8 little-endian bytes", binary.LittleEndian.AppendUint64),
		kind("decimal16", "16 decimal digits, padded with zeros", func(dst []byte, i uint64) []byte { return appendPadded(dst, i, 10) }),
		kind("hex16", "16 hexadecimal digits, padded with zeros", func(dst []byte, i uint64) []byte { return appendPadded(dst, i, 16) }),
	}
}

// appendPadded writes the last 16 digits of i.
func appendPadded(dst []byte, i, base uint64) []byte {
	var digits [16]byte
	for at := len(digits) - 1; at >= 0; at-- {
		digits[at] = "0123456789abcdef"[i%base]
		i /= base
	}
	return append(dst, digits[:]...)
}

// Marks behind the name of a key set: what an experiment does with the keys,
// and how many times. The rows say by it what was done.
const (
	repeated = "*" // random*4: every key is added four times
	turned   = "~" // random~10: every key is deleted and replaced, ten times over
)

// unmark splits the name of a key set into the set and its mark, if it has one:
// "random" and "*4".
func unmark(name string) (set, mark string) {
	i := strings.LastIndexAny(name, repeated+turned)
	if i < 0 {
		return name, ""
	}
	if n, err := strconv.Atoi(name[i+1:]); err != nil || n < 1 {
		return name, ""
	}
	return name[:i], name[i:]
}

// times is the number behind a mark in the name of a key set, 0 without one.
func times(name, mark string) int {
	_, found := unmark(name)
	if !strings.HasPrefix(found, mark) {
		return 0
	}
	n, err := strconv.Atoi(found[len(mark):])
	if err != nil {
		return 0
	}
	return n
}

// marked is a key set that carries a mark.
func marked(name string) (workload.Kind, bool) {
	for _, mark := range []string{repeated, turned} {
		before, _, found := strings.Cut(name, mark)
		if kind, err := workload.ByName(before); found && err == nil && times(name, mark) > 0 {
			kind.Name += name[len(before):]
			return kind, true
		}
	}
	return workload.Kind{}, false
}

// keyKind finds a key set by name: one of workload's, with or without a mark, or
// of the even numbers above.
func keyKind(name string) (workload.Kind, error) {
	if k, ok := marked(name); ok {
		return k, nil
	}
	for _, k := range neighbourKinds() {
		if k.Name == name {
			return k, nil
		}
	}
	if n := keyBytes(name); n > 0 {
		return kindOfLength(n), nil
	}
	return workload.ByName(name)
}
