// Package spec reads and writes the textual form of variants: a family name and,
// in parentheses, positional values and key=value knobs:
//
//	standard
//	blocked(512,k=6)
//	cuckoo(f=12,b=4)
package spec

import (
	"fmt"
	"strconv"
	"strings"

	"filterlab/filters"
)

// Spec is a parsed variant: the family name, the values without a key, and the
// knobs in the order they were written.
type Spec struct {
	Family string
	Args   []string
	Knobs  []Knob
}

// Knob is one key=value pair.
type Knob struct{ Key, Value string }

// Parse reads s. It knows no family and no knob: unknown ones are refused by the
// family. Spaces around names and values are dropped.
func Parse(s string) (Spec, error) {
	bad := func(why string) (Spec, error) {
		return Spec{}, filters.Refuse("filter", strconv.Quote(s), why)
	}
	name, rest, open := strings.Cut(strings.TrimSpace(s), "(")
	sp := Spec{Family: strings.TrimSpace(name)}
	if sp.Family == "" {
		return bad("a family name, such as standard or cuckoo(f=12,b=4)")
	}
	if strings.ContainsAny(sp.Family, "),= \t\r\n") {
		return bad("family(value,knob=value,...)")
	}
	if !open {
		return sp, nil
	}
	body, ok := strings.CutSuffix(rest, ")")
	if !ok || strings.ContainsAny(body, "()") {
		return bad("one pair of parentheses that ends the name")
	}
	if strings.TrimSpace(body) == "" {
		return sp, nil
	}
	seen := map[string]bool{}
	for _, part := range strings.Split(body, ",") {
		k, v, eq := strings.Cut(part, "=")
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		switch {
		case !eq && k == "", eq && (k == "" || v == ""):
			return bad("a value on each side of every comma and equals sign")
		case !eq && len(sp.Knobs) > 0:
			return bad("values without a name before those with one")
		case !eq:
			sp.Args = append(sp.Args, k)
		case seen[k]:
			return bad("each knob once; " + k + " is given twice")
		default:
			seen[k] = true
			sp.Knobs = append(sp.Knobs, Knob{k, v})
		}
	}
	return sp, nil
}

// String is the inverse of Parse.
func (s Spec) String() string {
	parts := append([]string(nil), s.Args...)
	for _, k := range s.Knobs {
		parts = append(parts, k.Key+"="+k.Value)
	}
	if len(parts) == 0 {
		return s.Family
	}
	return s.Family + "(" + strings.Join(parts, ",") + ")"
}

// Set appends a knob unless value prints as zero or empty, which is how a knob
// says "best for the target".
func (s *Spec) Set(key string, value any) {
	switch v := fmt.Sprint(value); v {
	case "", "0":
	default:
		s.Knobs = append(s.Knobs, Knob{key, v})
	}
}

// With returns s with one knob replaced or added; an empty value removes it.
func (s Spec) With(key, value string) Spec {
	out := Spec{Family: s.Family, Args: append([]string(nil), s.Args...)}
	done := false
	for _, k := range s.Knobs {
		if k.Key == key {
			k.Value, done = value, true
		}
		if k.Value != "" {
			out.Knobs = append(out.Knobs, k)
		}
	}
	if !done && value != "" {
		out.Knobs = append(out.Knobs, Knob{key, value})
	}
	return out
}

// Int reads a whole number within [lo, hi]. It names family and knob in the
// error.
func Int(family, knob, value string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < lo || n > hi {
		return 0, filters.Refuse(family+": "+knob, value, fmt.Sprintf("a whole number from %d to %d", lo, hi))
	}
	return n, nil
}

// Atomic reads the knob adds: atomic, or plain, the default.
func Atomic(family, value string) (bool, error) {
	switch value {
	case "atomic":
		return true, nil
	case "plain":
		return false, nil
	}
	return false, filters.Refuse(family+": adds", strconv.Quote(value), "plain or atomic")
}

// Unknown is the error for a knob a family does not have.
func Unknown(family, knob string, known ...string) error {
	return filters.Refuse("filter", family+" with knob "+knob, "one of the knobs "+strings.Join(known, ", "))
}
