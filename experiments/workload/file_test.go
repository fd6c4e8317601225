package workload

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 1<<16)  // the buffer exactly
	huge := strings.Repeat("yz", 1<<19) // 1 MiB, far beyond it
	for _, c := range []struct {
		name, text string
		keys       []string
		lines, dup uint64
		empty      bool
	}{
		{"nothing", "", nil, 0, 0, false},
		{"one empty line", "\n", []string{""}, 1, 0, true},
		{"one empty line of DOS", "\r\n", []string{""}, 1, 0, true},
		{"LF", "a\nb\n", []string{"a", "b"}, 2, 0, false},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}, 2, 0, false},
		{"mixed", "a\nb\r\na\r\n", []string{"a", "b"}, 3, 1, false},
		{"no final newline", "a\nb", []string{"a", "b"}, 2, 0, false},
		{"no final newline, CR", "a\r\nb\r", []string{"a", "b"}, 2, 0, false},
		{"empty lines in between", "a\n\n\nb\n", []string{"a", "", "b"}, 4, 1, true},
		{"two final newlines", "a\n\n", []string{"a", ""}, 2, 0, true},
		{"CR inside", "a\rb\n\r\r\n", []string{"a\rb", "\r"}, 2, 0, false},
		{"NUL", "a\x00b\n\x00\na\n", []string{"a\x00b", "\x00", "a"}, 3, 0, false},
		{"blanks count", " a\na\na \n\ta\n", []string{" a", "a", "a ", "\ta"}, 4, 0, false},
		{"not UTF-8", "\xff\xfe\n\x80\n", []string{"\xff\xfe", "\x80"}, 2, 0, false},
		{"mark", "\xef\xbb\xbfa\nb\n\xef\xbb\xbfa\n", []string{"a", "b", "\xef\xbb\xbfa"}, 3, 0, false},
		{"mark alone", "\xef\xbb\xbf\r\n", []string{""}, 1, 0, true},
		{"duplicates keep the first", "b\na\nb\na\nc\n", []string{"b", "a", "c"}, 5, 2, false},
		{"long lines", long + "\n" + huge + "\r\n" + long[1:] + "\n" + huge, []string{long, huge, long[1:]}, 4, 1, false},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r },
			"half":  iotest.HalfReader,
			"late":  iotest.DataErrReader,
		} {
			keys, report, err := Read(wrap(strings.NewReader(c.text)))
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, how, err)
				continue
			}
			var got []string
			for _, k := range keys.Slices() {
				got = append(got, string(k))
			}
			want := FileReport{Lines: c.lines, Duplicates: c.dup, Empty: c.empty, Keys: uint64(len(c.keys))}
			if !slices.Equal(got, c.keys) || report != want {
				t.Errorf("%s, %s: %.60q, %+v; want %.60q, %+v", c.name, how, got, report, c.keys, want)
			}
		}
	}
}

// A16: with or without its line end, as the last line or not, a key is one key.
func TestA16_LineEndsAreNotPartOfKeys(t *testing.T) {
	for _, text := range []string{"abc", "abc\n", "abc\r\n", "abc\r", "x\nabc", "abc\nx\n", "x\r\nabc\r\n"} {
		keys, _, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(keys.Slices(), func(k []byte) bool { return string(k) == "abc" }) {
			t.Errorf("%q holds %q", text, keys.Slices())
		}
	}
}

func TestReadReportsErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	_, _, err := Read(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v", err)
	}
	if _, _, err := Files(filepath.Join(t.TempDir(), "none"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, _, err := Files(t.TempDir(), ""); err == nil {
		t.Error("a directory was read as keys")
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func texts(t *testing.T, s Source) (members, absent []string) {
	t.Helper()
	a, err := Members(s, 0, s.Members())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Absent(s, 0, s.Absent())
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(a, b).Err(); err != nil {
		t.Error(err)
	}
	for _, k := range a.Slices() {
		members = append(members, string(k))
	}
	for _, k := range b.Slices() {
		absent = append(absent, string(k))
	}
	return members, absent
}

func TestFilesHoldOutHalf(t *testing.T) {
	path := write(t, "words.txt", "a\nb\nc\nd\ne\nf\ng\na\n")
	kind, reports, err := Files(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if kind.Name != "file:words.txt" || kind.New(0).Name() != kind.Name {
		t.Errorf("named %q", kind.Name)
	}
	if len(reports) != 1 || reports[0] != (FileReport{Path: path, Lines: 8, Duplicates: 1, Keys: 7}) {
		t.Errorf("reports %+v", reports)
	}
	if want := path + ": 8 lines, 7 distinct keys, 1 duplicates left out"; reports[0].String() != want {
		t.Errorf("report %q, want %q", reports[0], want)
	}
	splits := map[string]bool{}
	for seed := range uint64(20) {
		members, absent := texts(t, kind.New(seed))
		again, _ := texts(t, kind.New(seed))
		if !slices.Equal(members, again) {
			t.Errorf("seed %d: two splits", seed)
		}
		if len(members) != 4 || len(absent) != 3 {
			t.Errorf("seed %d: %d members, %d non-members", seed, len(members), len(absent))
		}
		all := slices.Sorted(slices.Values(append(slices.Clone(members), absent...)))
		if strings.Join(all, "") != "abcdefg" {
			t.Errorf("seed %d: all keys are %q", seed, all)
		}
		splits[strings.Join(slices.Sorted(slices.Values(members)), "")] = true
	}
	// 35 splits are possible; 20 draws see 15 of them on average.
	if len(splits) < 8 {
		t.Errorf("20 seeds give %d splits", len(splits))
	}
}

func TestFilesWithQueries(t *testing.T) {
	keys := write(t, "keys", "a\nb\nc\n")
	queries := write(t, "queries", "b\r\nx\r\ny\r\nx\r\n\r\n")
	kind, reports, err := Files(keys, queries)
	if err != nil {
		t.Fatal(err)
	}
	if want := (FileReport{Path: queries, Lines: 5, Duplicates: 1, Overlap: 1, Empty: true, Keys: 3}); len(reports) != 2 || reports[1] != want {
		t.Errorf("reports %+v, want %+v", reports, want)
	}
	if s := reports[1].String(); !strings.HasSuffix(s, "5 lines, 3 distinct keys, 1 duplicates left out, 1 that are members left out, among them the empty key") {
		t.Errorf("report %q", s)
	}
	members, absent := texts(t, kind.New(3))
	slices.Sort(members)
	slices.Sort(absent)
	if !slices.Equal(members, []string{"a", "b", "c"}) || !slices.Equal(absent, []string{"", "x", "y"}) {
		t.Errorf("members %q, non-members %q", members, absent)
	}
}

func TestFilesRefuse(t *testing.T) {
	for _, c := range []struct{ keys, queries string }{
		{"", ""}, {"a\n", ""}, {"a\na\na\r\n", ""}, {"", "b\n"}, {"a\nb\n", "b\na\n"}, {"a\nb\n", ""},
	} {
		var q string
		if c.queries != "" {
			q = write(t, "queries", c.queries)
		}
		_, _, err := Files(write(t, "keys", c.keys), q)
		if fine := c.keys == "a\nb\n" && c.queries == ""; (err == nil) != fine {
			t.Errorf("keys %q, queries %q: error %v", c.keys, c.queries, err)
		}
	}
}

// H10: a file of 140 words does not serve 65,536 keys.
func TestH10_FilesRefuseMoreKeysThanTheyHave(t *testing.T) {
	var text strings.Builder
	for i := range 140 {
		text.WriteString(strings.Repeat("w", i+1) + "\n")
	}
	kind, _, err := Files(write(t, "words", text.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	err = HashMembers(make([]uint64, 65536), xxh3(t), kind.New(0), 0)
	if err == nil || !strings.Contains(err.Error(), "at most 70 distinct keys") {
		t.Errorf("error %v", err)
	}
}

// The reader against the obvious: split, trim, remove repeats.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "\n", "a\r\nb", "a\n\na\n", "\xef\xbb\xbf\n\xef\xbb\xbf", "\r\r\n\x00\n", "no end\r"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, report, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		seen := map[string]bool{}
		var want []string
		for i, line := range lines {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if i == 0 {
				line = strings.TrimPrefix(line, "\xef\xbb\xbf")
			}
			if !seen[line] {
				seen[line] = true
				want = append(want, line)
			}
		}
		var got []string
		for _, k := range keys.Slices() {
			got = append(got, string(k))
		}
		wantReport := FileReport{Lines: uint64(len(lines)), Duplicates: uint64(len(lines) - len(want)), Empty: seen[""], Keys: uint64(len(want))}
		if !slices.Equal(got, want) || report != wantReport {
			t.Errorf("%q: %q, %+v; want %q, %+v", text, got, report, want, wantReport)
		}
	})
}
