package catalog

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/theory"
)

var updateAnswers = flag.Bool("update-answers", false, "write testdata/answers.txt anew; its diff says which layouts changed")

const answersFile = "testdata/answers.txt"

// answers condenses what a filter built from fixed hashes answers to fixed
// queries: any change of a probe, a fingerprint or a size changes it.
func answers(v filters.Variant) (uint64, error) {
	const n, queries = 2000, 100_000
	next := func(i uint64) uint64 { // SplitMix64, which is the same everywhere
		x := (i + 1) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = next(uint64(i))
	}
	q, err := v.Build(filters.Target{N: n, P: 0.03}, hs)
	if errors.Is(err, filters.ErrParam) { // fingerprints of 4 bits
		q, err = v.Build(filters.Target{N: n, P: 0.3}, hs)
	}
	if err != nil {
		return 0, err
	}
	sum := uint64(14695981039346656037) // FNV-1a over the queries that are answered true
	for i := uint64(0); i < queries; i++ {
		if q.Contains(next(i)) {
			sum = (sum ^ i) * 1099511628211
		}
	}
	return (sum ^ q.SizeBits()) * 1099511628211, nil
}

// B24: a filter is the same on every machine. The answers were written on amd64;
// the same file is read by the runs for 386, arm64, s390x and purego.
func TestB24AnswersAreTheSameEverywhere(t *testing.T) {
	if *updateAnswers {
		var b strings.Builder
		for _, v := range Variants() {
			sum, err := answers(v)
			if err != nil {
				t.Fatalf("%v: %v", v, err)
			}
			fmt.Fprintf(&b, "%v %#016x\n", v, sum)
		}
		if err := os.WriteFile(answersFile, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		name, sum, _ := strings.Cut(s.Text(), " ")
		want[name] = sum
	}
	for _, v := range Variants() {
		sum, err := answers(v)
		if err != nil {
			t.Errorf("%v: %v", v, err)
			continue
		}
		if got := fmt.Sprintf("%#016x", sum); got != want[v.String()] {
			t.Errorf("%v answers %s, and %q is on record (go test -update-answers writes it anew)", v, got, want[v.String()])
		}
		delete(want, v.String())
	}
	for name := range want {
		t.Errorf("%s is on record and in no catalog", name)
	}
}

// B10: 350 million keys at 1% are 3.35e9 bits, which powers of two round to
// exactly 2^32, and 32 bits to 0. No size is 0 or below the lower bound, and none
// is wasteful.
func TestB10HundredsOfMillionsOfKeys(t *testing.T) {
	for _, v := range Variants() {
		for _, n := range []uint64{350_000_000, 448_000_000, 5_000_000_000} {
			p, err := v.Predict(filters.Target{N: n, P: 0.01}, n)
			if err != nil {
				t.Logf("%v refuses %d keys at 1%%: %v", v, n, err)
				continue
			}
			if c := float64(p.Bits) / float64(n); c < theory.LowerBound(0.01) || c > 200 || !(p.FPR <= 0.0101) {
				t.Errorf("%v: %d bits for %d keys, rate %g", v, p.Bits, n, p.FPR)
			}
		}
	}
}
