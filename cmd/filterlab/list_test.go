package main

import (
	"strings"
	"testing"

	"filterlab/experiments"
	"filterlab/experiments/workload"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// The list names everything there is, once, in lines that a terminal shows.
func TestList(t *testing.T) {
	code, stdout, stderr := filterlab("list")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	sections := map[string][]string{} // names by title
	title := ""
	for i, line := range strings.Split(strings.TrimSuffix(stdout, "\n"), "\n") {
		if len(line) > 100 || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d has %d columns or blanks at its end: %q", i+1, len(line), line)
		}
		switch {
		case line == "":
		case line[0] != ' ':
			title = line
		case len(line) > 2 && line[2] != ' ':
			sections[title] = append(sections[title], strings.Fields(line)[0])
		}
	}
	want := map[string][]string{}
	for _, e := range experiments.All() {
		want["Experiments"] = append(want["Experiments"], e.Name)
	}
	for _, f := range catalog.Families() {
		want["Filters"] = append(want["Filters"], f.Name)
		for _, k := range f.Knobs {
			if !strings.Contains(stdout, "\n    "+k.Name+" ") {
				t.Errorf("knob %s of %s is not listed", k.Name, f.Name)
			}
		}
	}
	for _, h := range hashing.All() {
		want["Hashes"] = append(want["Hashes"], h.Name)
		if h.Alias != "" && !strings.Contains(stdout, "(also named "+h.Alias+")") {
			t.Errorf("alias %s of %s is not listed", h.Alias, h.Name)
		}
	}
	for _, k := range workload.All() {
		want["Key sets"] = append(want["Key sets"], k.Name)
	}
	want["Key sets"] = append(want["Key sets"], experiments.Zipf)
	for _, p := range experiments.Profiles() {
		want["Profiles"] = append(want["Profiles"], p.Name)
	}
	for title, names := range want {
		if got := strings.Join(sections[title], " "); got != strings.Join(names, " ") {
			t.Errorf("%s: %s, want %s", title, got, strings.Join(names, " "))
		}
	}
	if len(sections) != len(want) {
		t.Errorf("%d sections, want %d", len(sections), len(want))
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"one two three", 8, "one two|three"},
		{"one two", 7, "one two"},
		{"extraordinary a b", 4, "extraordinary|a b"},
	} {
		if got := strings.Join(wrap(c.text, c.n), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
