package filters

import (
	"errors"
	"fmt"
)

var (
	// ErrFull says that a filter has no room for the key. It was not stored, and
	// nothing else changed.
	ErrFull = errors.New("filter is full")

	// ErrIncompatible says that two filters cannot be merged or compared.
	// IncompatibleError carries the reason.
	ErrIncompatible = errors.New("filters are incompatible")

	// ErrNoTheory says that no formula is known for a scheme, so that
	// measurements of it stand alone.
	ErrNoTheory = errors.New("no theory for this scheme")

	// ErrParam is wrapped by every ParamError.
	ErrParam = errors.New("parameter out of range")
)

// ParamError is a parameter that a constructor, a sizing or a parser refused.
type ParamError struct {
	Field    string // what was refused, with its package or variant: "standard: k"
	Value    string // the value given
	Accepted string // what would have been taken: "1 to 64"
}

// Error names the field, the value and the accepted range in one line.
func (e *ParamError) Error() string {
	return fmt.Sprintf("%s = %s: want %s", e.Field, e.Value, e.Accepted)
}

// Unwrap makes errors.Is(err, ErrParam) true.
func (e *ParamError) Unwrap() error { return ErrParam }

// Refuse builds a ParamError. The value is printed as %v prints it.
func Refuse(field string, value any, accepted string) error {
	return &ParamError{Field: field, Value: fmt.Sprint(value), Accepted: accepted}
}

// IncompatibleError tells why two filters cannot be merged.
type IncompatibleError struct {
	Field       string // what differs: "m", "k", "type"
	Have, Other string // the value of the receiver and of the argument
}

// Error names the field and both values.
func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("cannot merge: %s is %s here and %s in the other filter", e.Field, e.Have, e.Other)
}

// Unwrap makes errors.Is(err, ErrIncompatible) true.
func (e *IncompatibleError) Unwrap() error { return ErrIncompatible }

// Differ builds an IncompatibleError. The values are printed as %v prints them.
func Differ(field string, have, other any) error {
	return &IncompatibleError{Field: field, Have: fmt.Sprint(have), Other: fmt.Sprint(other)}
}
