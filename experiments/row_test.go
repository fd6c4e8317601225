package experiments

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func someRows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			Experiment: "e", Point: i, Role: MustAgree, Filter: "cuckoo(f=12,b=4)", Hash: "xxh3", Keys: `file:a "quoted", name`,
			N: 1 << 60, P: 1e-300, BitsPerKey: 0.1, Inserted: 3, Round: 2, Seed: 1<<64 - 1,
			Metric: MetricFPR, Value: float64(i) / 3, Trials: 7, Note: "two\nlines",
		}
	}
	return rows
}

func TestRowsRoundTrip(t *testing.T) {
	var b bytes.Buffer
	rows := someRows(5)
	if err := writeRows(&b, rows, true); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRows(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, rows) {
		t.Errorf("read %v, wrote %v", got, rows)
	}
}

func TestReadRowsNamesLineColumnAndValue(t *testing.T) {
	var b bytes.Buffer
	if err := writeRows(&b, someRows(2), true); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, tc := range []struct{ from, to, want string }{
		{"schema,", "scheme,", `column 1 is "scheme"`},
		{"\n1,e,0", "\n2,e,0", "schema 2, this program reads 1"},
		{",0,7,", ",zero,7,", `column value, value "zero"`},
	} {
		_, err := ReadRows(strings.NewReader(strings.Replace(text, tc.from, tc.to, 1)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q to %q: error %v, want %q", tc.from, tc.to, err, tc.want)
		}
	}
}

// I07: a writer that cannot write says so, and no row is lost silently.
func TestI07NoRowIsLostSilently(t *testing.T) {
	var b bytes.Buffer
	if err := writeRows(&b, someRows(200), true); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRows(&b)
	if err != nil || len(got) != 200 {
		t.Fatalf("%d rows of 200, %v", len(got), err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if err := writeRows(full, someRows(200), true); err == nil {
		t.Error("writing to a full device gave no error")
	}
}

// Fuzzing the reader: it must refuse or give rows that it can write and read
// again.
func FuzzReadRows(f *testing.F) {
	var b bytes.Buffer
	if err := writeRows(&b, someRows(2), true); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("schema\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		rows, err := ReadRows(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := writeRows(&out, rows, true); err != nil {
			t.Fatal(err)
		}
		again, err := ReadRows(&out)
		if err != nil || len(again) != len(rows) {
			t.Fatalf("%d rows, then %d, %v", len(rows), len(again), err)
		}
	})
}

// Fuzzing the writer: whatever rows hold comes back, to the bit of every number, NaN
// and infinities included, and to the byte of every text but for carriage returns.
func FuzzRows(f *testing.F) {
	f.Add("e", "cuckoo(f=12,b=4)", `file:a "quoted", name`, "two\nlines", "a\r\nb\rc", 3, uint64(1<<60), 1e-300, math.Inf(1))
	f.Add("", " ", "\"", "\\.", "\xef\xbb\xbf", -1, uint64(0), math.Copysign(0, -1), math.NaN())
	f.Add(",", "\"\"", "\x00", "\xff", "\n", 0, uint64(math.MaxUint64), math.SmallestNonzeroFloat64, math.MaxFloat64)
	f.Fuzz(func(t *testing.T, experiment, filter, keys, note, role string, point int, n uint64, p, value float64) {
		row := Row{
			Experiment: experiment, Filter: filter, Keys: keys, Note: note, Role: role, Hash: note, API: keys, Kernel: role, Hit: filter, Metric: experiment,
			Point: point, Round: -point, N: n, Inserted: ^n, Seed: n, Trials: n / 3, P: p, BitsPerKey: value, Value: value,
		}
		var b bytes.Buffer
		if err := writeRows(&b, []Row{row, {}, row}, true); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		got, err := ReadRows(&b)
		if err != nil || len(got) != 3 {
			t.Fatalf("%d rows of 3, %v, from %q", len(got), err, text)
		}
		for _, s := range []*string{&row.Experiment, &row.Filter, &row.Keys, &row.Note, &row.Role, &row.Hash, &row.API, &row.Kernel, &row.Hit, &row.Metric} {
			*s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(*s)
		}
		// Numbers are compared by what is written of them: NaN differs from itself.
		for i, want := range []Row{row, {}, row} {
			if g, w := fmt.Sprintf("%q", fmt.Sprint(got[i])), fmt.Sprintf("%q", fmt.Sprint(want)); g != w {
				t.Fatalf("row %d came back as %s, was %s", i, g, w)
			}
			for _, x := range [][2]float64{{got[i].P, want.P}, {got[i].Value, want.Value}, {got[i].BitsPerKey, want.BitsPerKey}} {
				if math.Float64bits(x[0]) != math.Float64bits(x[1]) && !(math.IsNaN(x[0]) && math.IsNaN(x[1])) {
					t.Fatalf("row %d: %v came back as %v", i, x[1], x[0])
				}
			}
		}
	})
}
