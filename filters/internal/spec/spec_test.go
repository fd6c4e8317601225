package spec

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"filterlab/filters"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in     string
		want   Spec
		prints string
	}{
		{"standard", Spec{Family: "standard"}, "standard"},
		{" standard\n", Spec{Family: "standard"}, "standard"},
		{"standard()", Spec{Family: "standard"}, "standard"},
		{"standard( )", Spec{Family: "standard"}, "standard"},
		{"blocked(512)", Spec{Family: "blocked", Args: []string{"512"}}, "blocked(512)"},
		{"blocked(512,k=6)", Spec{Family: "blocked", Args: []string{"512"}, Knobs: []Knob{{"k", "6"}}}, "blocked(512,k=6)"},
		{" cuckoo ( f = 12 , b = 4 ) ", Spec{Family: "cuckoo", Knobs: []Knob{{"f", "12"}, {"b", "4"}}}, "cuckoo(f=12,b=4)"},
		{"x(a,b,c=d=e)", Spec{Family: "x", Args: []string{"a", "b"}, Knobs: []Knob{{"c", "d=e"}}}, "x(a,b,c=d=e)"},
	} {
		got, err := Parse(c.in)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
		if got.String() != c.prints {
			t.Errorf("Parse(%q) prints as %q; want %q", c.in, got, c.prints)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "()", "(k=7)", "=", "a b", "a b(k=7)", "a)(k=7)", "a=b", "a,b", "a)", "a(", "a(k=7", "a(k=7))", "a((k=7))", "a(k=7)b",
		"a(,)", "a(k=7,)", "a(,k=7)", "a(k=)", "a(=7)", "a(=)", "a(k=7,512)", "a(k=7,k=7)",
	} {
		if got, err := Parse(in); !errors.Is(err, filters.ErrParam) {
			t.Errorf("Parse(%q) = %+v, %v; want a ParamError", in, got, err)
		} else if !strings.Contains(err.Error(), `"`) {
			t.Errorf("Parse(%q): %q does not quote what was given", in, err)
		}
	}
}

// A knob at zero is one that is not set, whatever its type.
func TestSet(t *testing.T) {
	s := Spec{Family: "x"}
	s.Set("a", 0)
	s.Set("b", "")
	s.Set("c", uint64(0))
	s.Set("d", 0.0)
	if s.String() != "x" {
		t.Errorf("zeros print as %q", s)
	}
	s.Set("e", 7)
	s.Set("f", 0.85)
	s.Set("g", "name")
	if want := "x(e=7,f=0.85,g=name)"; s.String() != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

// With changes a copy; an empty value takes the knob away.
func TestWith(t *testing.T) {
	s := Spec{Family: "x", Args: []string{"1"}, Knobs: []Knob{{"a", "2"}, {"b", "3"}}}
	for _, c := range []struct{ key, value, want string }{
		{"a", "9", "x(1,a=9,b=3)"},
		{"b", "9", "x(1,a=2,b=9)"},
		{"c", "9", "x(1,a=2,b=3,c=9)"},
		{"a", "", "x(1,b=3)"},
		{"c", "", "x(1,a=2,b=3)"},
	} {
		if got := s.With(c.key, c.value).String(); got != c.want {
			t.Errorf("With(%q, %q) = %q; want %q", c.key, c.value, got, c.want)
		}
	}
	if want := "x(1,a=2,b=3)"; s.String() != want {
		t.Errorf("With changed its receiver to %q", s)
	}
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		value string
		want  int
		ok    bool
	}{{"1", 1, true}, {"64", 64, true}, {"0", 0, false}, {"65", 0, false}, {"-1", 0, false}, {"", 0, false}, {"1e1", 0, false}, {"7.0", 0, false}, {"99999999999999999999", 0, false}} {
		got, err := Int("x", "k", c.value, 1, 64)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("Int(%q) = %d, %v", c.value, got, err)
		}
		if err != nil && (!errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "x: k") || !strings.Contains(err.Error(), "1 to 64")) {
			t.Errorf("Int(%q): %q names not family, knob and range", c.value, err)
		}
	}
}

func TestUnknown(t *testing.T) {
	err := Unknown("x", "q", "a", "b")
	if want := "filter = x with knob q: want one of the knobs a, b"; err.Error() != want || !errors.Is(err, filters.ErrParam) {
		t.Errorf("%q; want %q", err, want)
	}
}

// What Parse takes, String prints so that Parse reads the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"standard", "blocked(512,k=6)", " a ( b , c = d ) ", "a(", "a(=)", "\x00(\xff)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		b, err := Parse(a.String())
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("Parse(%q) = %+v prints as %q, which parses as %+v (%v)", s, a, a, b, err)
		}
	})
}
