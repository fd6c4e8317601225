package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// FileReport tells what became of the lines of one file.
type FileReport struct {
	Path       string
	Lines      uint64 // lines in the file, a last one without a newline included
	Duplicates uint64 // lines equal to an earlier line, left out
	Overlap    uint64 // distinct queries that are keys, left out; 0 for a file of keys
	Empty      bool   // whether the empty key is among the keys (there were empty lines)
	Keys       uint64 // distinct keys that remain
}

// String is one line for a person.
func (r FileReport) String() string {
	s := fmt.Sprintf("%s: %d lines, %d distinct keys", r.Path, r.Lines, r.Keys)
	if r.Duplicates > 0 {
		s += fmt.Sprintf(", %d duplicates left out", r.Duplicates)
	}
	if r.Overlap > 0 {
		s += fmt.Sprintf(", %d that are members left out", r.Overlap)
	}
	if r.Empty {
		s += ", among them the empty key"
	}
	return s
}

// Read reads one key a line, of any length and any bytes but the newline. A line
// ends with LF or CRLF; the last may end with the file. An empty line is the empty
// key; a file that ends with a newline has no empty line after it. A byte order
// mark of UTF-8 at the start is dropped. Repeated keys are left out and counted;
// the others keep their order.
func Read(r io.Reader) (*Keys, FileReport, error) {
	const mark = "\xef\xbb\xbf"
	var report FileReport
	keys := newKeys(0, 0)
	seen := newIndex(keys)
	start := 0 // where the line began in keys.data
	line := func() {
		report.Lines++
		text := keys.data[start:]
		if n := len(text); n > 0 && text[n-1] == '\r' {
			text = text[:n-1]
		}
		if report.Lines == 1 {
			if rest, found := bytes.CutPrefix(text, []byte(mark)); found {
				text = text[:copy(text, rest)]
			}
		}
		keys.data = keys.data[:start+len(text)]
		keys.end()
		if seen.add(keys.Len() - 1) {
			report.Empty = report.Empty || len(text) == 0
			start = len(keys.data)
			return
		}
		report.Duplicates++
		keys.data, keys.ends = keys.data[:start], keys.ends[:keys.Len()-1]
	}

	in := bufio.NewReaderSize(r, 1<<16)
	for {
		// A line longer than the buffer comes in parts, each put where it will stay.
		part, err := in.ReadSlice('\n')
		whole := err == nil
		if whole {
			part = part[:len(part)-1]
		}
		keys.data = append(keys.data, part...)
		if whole {
			line()
			continue
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return nil, report, fmt.Errorf("line %d: %w", report.Lines+1, err)
		}
		if len(keys.data) > start {
			line()
		}
		report.Keys = uint64(keys.Len())
		return keys, report, nil
	}
}

func readFile(path string) (*Keys, FileReport, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, FileReport{}, err
	}
	defer f.Close()
	keys, report, err := Read(f)
	report.Path = path
	if err != nil {
		return nil, report, fmt.Errorf("%s: %w", path, err)
	}
	return keys, report, nil
}

// Files makes a kind of the keys in one file and, if queriesPath is not empty, of
// the queries in another, one a line as Read takes them. Queries that are keys are
// left out and counted. Without queries, half of the keys are held out: the seed
// of a set decides which are its members and which its non-members. With
// queries, the seed decides the order alone.
//
// The kind is named "file:" and the last element of the path; nothing else of the
// path goes into results. The reports, one a file, are for the person who gave
// them.
func Files(keysPath, queriesPath string) (Kind, []FileReport, error) {
	keys, report, err := readFile(keysPath)
	if err != nil {
		return Kind{}, nil, err
	}
	reports := []FileReport{report}
	name := "file:" + filepath.Base(keysPath)
	kind := Kind{Name: name, Doc: "keys from a file, half of them held out as non-members"}
	if queriesPath == "" {
		if keys.Len() < 2 {
			return Kind{}, reports, fmt.Errorf("%s has %d distinct keys: want at least 2, since half are held out as non-members", keysPath, keys.Len())
		}
		kind.New = func(seed uint64) Source { return holdOut(name, keys, seed) }
		return kind, reports, nil
	}

	if keys.Len() < 1 {
		return Kind{}, reports, fmt.Errorf("%s has no keys", keysPath)
	}
	queries, report, err := readFile(queriesPath)
	if err != nil {
		return Kind{}, reports, err
	}
	queries, report.Overlap = without(queries, keys)
	report.Keys = uint64(queries.Len())
	reports = append(reports, report)
	if queries.Len() < 1 {
		return Kind{}, reports, fmt.Errorf("%s has no query that is not among the keys of %s", queriesPath, keysPath)
	}
	kind.Doc = "keys from a file, non-members from another"
	kind.New = func(seed uint64) Source {
		r := rng(seed)
		return &fileSet{name, keys, queries, order(keys, &r), order(queries, &r)}
	}
	return kind, reports, nil
}

// without returns the keys of list that are not in drop, and how many were.
func without(list, drop *Keys) (*Keys, uint64) {
	dropped := newIndex(drop)
	for i := range drop.Len() {
		dropped.add(i)
	}
	kept := newKeys(0, list.Len())
	for i := range list.Len() {
		if key := list.At(i); !dropped.has(key) {
			kept.data = append(kept.data, key...)
			kept.end()
		}
	}
	return kept, uint64(list.Len() - kept.Len())
}

// fileSet is a Source of keys in memory.
type fileSet struct {
	name                     string
	memberKeys, absentKeys   *Keys
	memberOrder, absentOrder []int // which key is member i, and non-member i
}

// holdOut makes members of one half of the keys, the larger if they are odd in
// number, and non-members of the other.
func holdOut(name string, keys *Keys, seed uint64) Source {
	r := rng(seed)
	numbers := order(keys, &r)
	half := (len(numbers) + 1) / 2
	return &fileSet{name, keys, keys, numbers[:half], numbers[half:]}
}

// order is the numbers of all keys, shuffled.
func order(keys *Keys, r *rng) []int {
	numbers := make([]int, keys.Len())
	for i := range numbers {
		numbers[i] = i
	}
	shuffle(r, numbers)
	return numbers
}

func (s *fileSet) Name() string    { return s.name }
func (s *fileSet) Members() uint64 { return uint64(len(s.memberOrder)) }
func (s *fileSet) Absent() uint64  { return uint64(len(s.absentOrder)) }

func (s *fileSet) AppendMember(dst []byte, i uint64) []byte {
	return append(dst, s.memberKeys.At(s.memberOrder[i])...)
}

func (s *fileSet) AppendAbsent(dst []byte, i uint64) []byte {
	return append(dst, s.absentKeys.At(s.absentOrder[i])...)
}
