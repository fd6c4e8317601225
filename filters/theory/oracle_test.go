package theory

import (
	_ "embed"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"
)

// The tables of the theory sheet, computed there in exact rational or 30 to 60
// digit arithmetic. Tests name the block they take values from.
//
//go:embed testdata/oracles.txt
var oracles string

// row is one line of a block by column name.
type row struct {
	t      *testing.T
	block  string
	fields map[string]string
}

// block returns the rows of the named block and fails the test if there are none.
func block(t *testing.T, name string) []row {
	t.Helper()
	for part := range strings.SplitSeq(oracles, "\n\n") {
		head, body, _ := strings.Cut(part, "\n")
		if title, ok := strings.CutPrefix(head, "# block: "); !ok || strings.TrimSuffix(strings.Fields(title)[0], ":") != name {
			continue
		}
		lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || len(lines) < 2 {
			t.Fatalf("block %s: %d lines, %v", name, len(lines), err)
		}
		var rows []row
		for _, cells := range lines[1:] {
			r := row{t, name, map[string]string{}}
			for i, c := range lines[0] {
				r.fields[c] = cells[i]
			}
			rows = append(rows, r)
		}
		return rows
	}
	t.Fatalf("no block %s", name)
	return nil
}

func (r row) str(column string) string {
	r.t.Helper()
	s, ok := r.fields[column]
	if !ok {
		r.t.Fatalf("block %s has no column %q", r.block, column)
	}
	return s
}

// num reads "0.01", "1e-4", "2^-16", "14/256".
func (r row) num(column string) float64 {
	r.t.Helper()
	x, err := number(r.str(column))
	if err != nil {
		r.t.Fatal(err)
	}
	return x
}

func number(s string) (float64, error) {
	if e, ok := strings.CutPrefix(s, "2^"); ok {
		x, err := strconv.Atoi(e)
		return math.Ldexp(1, x), err
	}
	if a, b, ok := strings.Cut(s, "/"); ok {
		x, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return 0, err
		}
		y, err := strconv.ParseFloat(b, 64)
		return x / y, err
	}
	return strconv.ParseFloat(s, 64)
}

func (r row) uint(column string) uint64 { r.t.Helper(); return uint64(r.num(column)) }
func (r row) int(column string) int     { r.t.Helper(); return int(r.num(column)) }

// check compares got with the printed value: two units of its last digit, in
// either direction.
func (r row) check(column string, got float64) {
	r.t.Helper()
	r.within(column, got, 2*lastDigit(r.str(column)))
}

// near compares got with the printed value within a relative error.
func (r row) near(column string, got, rel float64) {
	r.t.Helper()
	r.within(column, got, rel*math.Abs(r.num(column)))
}

func (r row) within(column string, got, tol float64) {
	r.t.Helper()
	if want := r.num(column); !(math.Abs(got-want) <= tol) {
		r.t.Errorf("%s %v: %s = %.13g, want %s (off by %.2g, allowed %.2g)", r.block, r.fields, column, got, r.str(column), got-want, tol)
	}
}

// lastDigit is the unit of the last printed digit: 1e-5 for "0.00123", 1e-8 for
// "1.234e-5".
func lastDigit(s string) float64 {
	mant, exp, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exp)
	_, frac, _ := strings.Cut(mant, ".")
	return math.Pow(10, float64(e-len(frac)))
}

// atBitsPerKey is a filter so large that m/n is c and everything of order 1/m is
// gone, for tables that give limits.
func atBitsPerKey(c float64) (m, n uint64) {
	const huge = 1e15
	return uint64(math.Round(c * huge)), huge
}

// close fails unless got is within a relative error of want.
func closeTo(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %.15g, want %.15g (relative error %.2g, allowed %.2g)", what, got, want, got/want-1, rel)
	}
}
