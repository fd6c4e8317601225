package filters

import "testing"

func TestOneOf(t *testing.T) {
	known := []string{"standard", "blocked", "cuckoo", "n", "k"}
	for name, want := range map[string]string{
		"standart": "; did you mean standard?", // a letter replaced
		"cukoo":    "; did you mean cuckoo?",   // one left out
		"Blocked":  "; did you mean blocked?",  // another case
		"bllocked": "; did you mean blocked?",
		"bloom":    "", // too far from all
		"":         "",
		"x":        "", // one letter for another is no slip of the finger
		"xyz":      "",
	} {
		if got, want := OneOf(name, known), "one of standard, blocked, cuckoo, n, k"+want; got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	// Textbook examples.
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"saturday", "sunday", 3}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
