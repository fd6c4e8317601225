package experiments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	samplesFile = "samples.csv"
	timesFile   = "times.csv"
	envFile     = "env.json"
	summaryFile = "summary.csv"
	partialDir  = "partial"
	journalFile = "journal"
	runFile     = "run.json"

	// completeFile in the partial folder says that all rows are there and what is
	// left is to move the files.
	completeFile = "complete"
)

// identity is what a run was asked to do: what must be equal for it to go on
// where another stopped, and what is needed to repeat it. It stays beside the
// results, as run.json.
type identity struct {
	Experiment string     `json:"experiment"`
	Profile    Profile    `json:"profile"`
	Seed       uint64     `json:"seed"`
	Axes       []Override `json:"axes"`           // every axis of the grid with its values
	Keys       string     `json:"keys,omitempty"` // name and content hash of key files
	Revision   string     `json:"revision"`
}

// differs names the first field in which two runs differ, or nothing.
func (id identity) differs(other identity) string {
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"experiment", id.Experiment, other.Experiment},
		{"precision", id.Profile.Precision, other.Profile.Precision},
		{"profile", id.Profile, other.Profile},
		{"seed", id.Seed, other.Seed},
		{"grid", id.Axes, other.Axes},
		{"keys", id.Keys, other.Keys},
		{"revision", id.Revision, other.Revision},
	} {
		if a, b := fmt.Sprintf("%+v", f.a), fmt.Sprintf("%+v", f.b); a != b {
			return fmt.Sprintf("%s is %s there and %s now", f.name, a, b)
		}
	}
	return ""
}

// finished reports whether dir holds the results of the very run that id names,
// and no other run was begun there since.
func finished(dir string, id identity) bool {
	if _, err := os.Stat(filepath.Join(dir, partialDir, runFile)); err == nil {
		return false
	}
	var was identity
	b, err := os.ReadFile(filepath.Join(dir, runFile))
	return err == nil && json.Unmarshal(b, &was) == nil && was.differs(id) == ""
}

// journal appends the rows of a run to the partial files of an experiment, group
// by group. After each group it writes one line with the sizes that both files
// then have; a run that was cut off anywhere is brought back to its last whole
// group by cutting the files to the sizes of the last whole line.
type journal struct {
	dir            string // results/<experiment>
	samples, times *os.File
	log            *os.File
	done           int // groups that are in the files
}

// openJournal starts a run in dir, or takes up the one that was interrupted
// there. It refuses a folder that another process is writing to.
func openJournal(dir string, id identity, resume, restart bool) (_ *journal, err error) {
	part := filepath.Join(dir, partialDir)
	j := &journal{dir: dir}
	if err := os.MkdirAll(part, 0o777); err != nil {
		return nil, err
	}
	if err := j.open(part); err != nil {
		return nil, errors.Join(err, j.close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	if err := lock(j.log); err != nil {
		return nil, fmt.Errorf("%s: another process is writing there: %w", part, err)
	}
	old, err := os.ReadFile(filepath.Join(part, runFile))
	switch {
	case err == nil && !restart:
		var was identity
		if err := json.Unmarshal(old, &was); err != nil {
			return nil, fmt.Errorf("%s: %w; --restart discards the interrupted run", filepath.Join(part, runFile), err)
		}
		if !resume {
			return nil, fmt.Errorf("%s holds an interrupted run; --resume continues it, --restart discards it", part)
		}
		if d := was.differs(id); d != "" {
			return nil, fmt.Errorf("%s cannot be resumed: %s; --restart discards it", part, d)
		}
		return j, j.reopen(part)
	case err == nil:
		// The identity goes first: a folder without one is a folder without rows.
		if err := os.Remove(filepath.Join(part, runFile)); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, f := range []*os.File{j.samples, j.times, j.log} {
		if err := f.Truncate(0); err != nil {
			return nil, err
		}
	}
	if err := j.write(nil, nil, true); err != nil {
		return nil, err
	}
	// The identity comes last: a folder with one is a folder with headers.
	b, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return nil, err
	}
	return j, writeAtomic(filepath.Join(part, runFile), append(b, '\n'))
}

func (j *journal) open(part string) (err error) {
	for _, f := range []struct {
		name string
		to   **os.File
	}{{samplesFile, &j.samples}, {timesFile, &j.times}, {journalFile, &j.log}} {
		*f.to, err = os.OpenFile(filepath.Join(part, f.name), os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
	}
	return nil
}

// reopen cuts the partial files back to the last group that was written whole.
func (j *journal) reopen(part string) error {
	text, err := os.ReadFile(filepath.Join(part, journalFile))
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	lines := strings.Split(strings.TrimSuffix(string(whole), "\n"), "\n")
	var samples, times int64
	if _, err := fmt.Sscanf(lines[len(lines)-1], "%d %d", &samples, &times); err != nil {
		return fmt.Errorf("%s: %w; --restart discards the interrupted run", filepath.Join(part, journalFile), err)
	}
	for _, f := range []struct {
		file *os.File
		size int64
	}{{j.samples, samples}, {j.times, times}, {j.log, int64(len(whole))}} {
		if st, err := f.file.Stat(); err != nil {
			return err
		} else if st.Size() < f.size {
			return fmt.Errorf("%s is shorter than its journal says; --restart discards the interrupted run", f.file.Name())
		}
		if err := f.file.Truncate(f.size); err != nil {
			return err
		}
		if _, err := f.file.Seek(f.size, 0); err != nil {
			return err
		}
	}
	j.done = len(lines) - 1 // the first line stands for the headers
	return nil
}

// write appends one group.
func (j *journal) write(samples, times []Row, head bool) error {
	if err := writeRows(j.samples, samples, head); err != nil {
		return err
	}
	if err := writeRows(j.times, times, head); err != nil {
		return err
	}
	s, err := j.samples.Seek(0, 1)
	if err != nil {
		return err
	}
	t, err := j.times.Seek(0, 1)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(j.log, "%d %d\n", s, t); err != nil {
		return err
	}
	if !head {
		j.done++
	}
	return nil
}

// close closes the files; the partial folder stays, to be resumed.
func (j *journal) close() error {
	var errs []error
	for _, f := range []*os.File{j.samples, j.times, j.log} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// publish moves the finished files over those of an earlier run.
func (j *journal) publish(env []byte) error {
	for _, f := range []*os.File{j.samples, j.times} {
		if err := f.Sync(); err != nil {
			return errors.Join(err, j.close())
		}
	}
	if err := j.close(); err != nil {
		return err
	}
	part := filepath.Join(j.dir, partialDir)
	for _, f := range []struct {
		name string
		text []byte
	}{{envFile, env}, {completeFile, nil}} {
		if err := writeAtomic(filepath.Join(part, f.name), f.text); err != nil {
			return err
		}
	}
	return settle(j.dir)
}

// settle brings publishing to its end in dir. Files of one run move one by one, and a
// process can die between two of them; whoever comes next calls settle first, so that
// nobody measures again what is complete, or takes the rows of one run for those of
// another. Each step may be repeated.
func settle(dir string) error {
	part := filepath.Join(dir, partialDir)
	if _, err := os.Stat(filepath.Join(part, completeFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, name := range []string{envFile, samplesFile, timesFile, runFile} {
		err := os.Rename(filepath.Join(part, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.RemoveAll(part)
}

// tempFiles are the files that writeAtomic has not yet given their names.
const tempFiles = ".tmp-*"

// writeAtomic writes a file under a temporary name and renames it, so that a
// reader sees the old file or the new one and never a part.
func writeAtomic(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempFiles)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o666 &^ 0o022)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
