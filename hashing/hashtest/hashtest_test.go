package hashtest_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/filters/standard"
	"filterlab/hashing"
	"filterlab/hashing/hashtest"
)

// structures are keys of the kinds that weak hashes fail on.
var structures = []struct {
	name string
	key  func(dst []byte, i uint64) []byte
}{
	{"little-endian", binary.LittleEndian.AppendUint64},
	{"big-endian", binary.BigEndian.AppendUint64},
	{"big-endian 32", func(dst []byte, i uint64) []byte { return binary.BigEndian.AppendUint32(dst, uint32(i)) }},
	{"decimal", func(dst []byte, i uint64) []byte { return strconv.AppendUint(dst, i, 10) }},
	{"strided", func(dst []byte, i uint64) []byte { return binary.LittleEndian.AppendUint64(dst, i<<12) }},
	{"top bits", func(dst []byte, i uint64) []byte { return binary.LittleEndian.AppendUint64(dst, i<<44) }},
	{"text", func(dst []byte, i uint64) []byte {
		return fmt.Appendf(dst, "https://example.org/articles/%d/comments?page=2", i)
	}},
}

// keys makes n keys of a structure, from key first on.
func keys(key func([]byte, uint64) []byte, first uint64, n int) [][]byte {
	var data []byte
	list := make([][]byte, n)
	for i := range list {
		from := len(data)
		data = key(data, first+uint64(i))
		list[i] = data[from:len(data):len(data)]
	}
	return list
}

// hashes hashes a list of keys.
func hashes(h hashing.Hash, keys [][]byte) []uint64 {
	list := make([]uint64, len(keys))
	h.SumMany(list, keys)
	return list
}

func byName(t *testing.T, name string) hashing.Entry {
	t.Helper()
	e, err := hashing.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestKnownAnswers(t *testing.T) {
	for _, e := range hashing.All() {
		if err := hashtest.Check(e); err != nil {
			t.Error(err)
		}
	}
	for _, a := range hashtest.Answers() {
		byName(t, a.Hash) // no answer for a hash that does not exist
	}

	// An entry that is another function is found out, by both means.
	e := byName(t, "xxhash64")
	e.New = byName(t, "xxh3").New
	err := hashtest.Check(e)
	if err == nil || !strings.Contains(err.Error(), "verification value 0x9a636405, want 0x024b7cf4") || !strings.Contains(err.Error(), `key "www."`) {
		t.Errorf("an impostor: %v", err)
	}
}

// The theory sheet, block 10.avalanche: 1% family-wise limits.
func TestAvalancheLimits(t *testing.T) {
	for _, c := range []struct {
		samples, cells int
		want           float64
	}{
		{10000, 4096, 0.0235648146455},
		{10000, 8192, 0.0242612361756},
		{100000, 4096, 0.00745184869194},
		{100000, 8192, 0.00767207651660},
		{1000000, 4096, 0.00235648146455},
		{1000000, 8192, 0.00242612361756},
	} {
		if got := hashtest.AvalancheLimit(c.samples, c.cells, 0.01); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%d samples, %d cells: limit %.12g, want %.12g", c.samples, c.cells, got, c.want)
		}
	}
}

// The theory sheet, block 10.collisions. The last digits of the sums near zero are
// those of the exact formula, which ours has to 1e-9.
func TestExpectedCollisions(t *testing.T) {
	for _, c := range []struct {
		n, bits int
		want    float64
	}{
		{100000, 32, 1.16413254204},
		{1000000, 32, 116.406170946},
		{10000000, 32, 11632.5012598},
		{100000000, 32, 1155170.53557},
		{1000000000, 64, 0.0271050542845},
		{1000000, 40, 0.454746758276},
		{1000000, 48, 0.00177635506094},
		{2, 1, 0.5}, // two keys, two values
		{3, 1, 1.25},
		{0, 8, 0},
		{1, 8, 0},
	} {
		if got := hashtest.ExpectedCollisions(c.n, c.bits); math.Abs(got-c.want) > 1e-9*c.want+1e-12 {
			t.Errorf("n = %d, %d bits: %.12g, want %.12g", c.n, c.bits, got, c.want)
		}
	}
}

// Good functions pass avalanche and those marked weak fail it, at every length.
// The limit for the first is that of the theory sheet, 1% for the whole family of
// cells and lengths (10^-6 for maphash, which is another function every time);
// an ideal function would exceed that for the second once in 10^12 runs.
func TestAvalancheTellsWeakFromGood(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	lengths := []int{4, 8, 13, 16, 40}
	const samples = 1000
	for _, e := range hashing.All() {
		t.Run(e.Name, func(t *testing.T) {
			for _, n := range lengths {
				r := hashtest.MeasureAvalanche(e.New(1), n, samples, 42)
				if r.Samples != samples || r.InBits != 8*n || r.OutBits != 64 {
					t.Fatalf("%d bytes: %+v", n, r)
				}
				if e.Weak {
					if r.P > 1e-12 {
						t.Errorf("%d bytes: weak, but its largest bias is %.4f, p = %.2g", n, r.MaxBias, r.P)
					}
					continue
				}
				alpha := 0.01
				if !e.Reproducible {
					alpha = 1e-6
				}
				limit := hashtest.AvalancheLimit(samples, r.InBits*r.OutBits*len(lengths), alpha)
				if r.MaxBias > limit {
					t.Errorf("%d bytes: input bit %d flips output bit %d with a bias of %.4f, limit %.4f", n, r.InBit, r.OutBit, r.MaxBias, limit)
				}
				// Too good is a fault as well: the largest of 2,048 biases or more is below
				// one standard deviation, 0.5/sqrt(samples), for no function at random.
				if r.MaxBias < 0.5/math.Sqrt(samples) {
					t.Errorf("%d bytes: largest bias %.5f", n, r.MaxBias)
				}
			}
		})
	}
}

// The bias and its place are those of a function with a known fault: identity
// flips output bit i with input bit i, always, and no other bit ever.
func TestAvalancheOfIdentity(t *testing.T) {
	r := hashtest.MeasureAvalanche(byName(t, "identity").New(0), 8, 100, 1)
	if r.MaxBias != 0.5 || r.InBit != 0 || r.OutBit != 0 || r.P > 1e-15 {
		t.Errorf("identity: %+v", r)
	}
}

// Digests of good functions spread like balls thrown at random, whatever the
// structure of the keys and whichever bits are taken: chi-square refused at both
// ends, at 1% over all the tests of a function.
func TestSpread(t *testing.T) {
	const n = 20000
	parts := []hashtest.Part{hashtest.Low(4), hashtest.Low(10), hashtest.High(4), hashtest.High(10), hashtest.Pair(5)}
	for _, s := range structures {
		keys := keys(s.key, 1, n)
		for _, e := range hashing.All() {
			if e.Weak {
				continue
			}
			alpha := 0.01
			if !e.Reproducible {
				alpha = 1e-6
			}
			list := hashes(e.New(0), keys)
			for _, part := range parts {
				r := hashtest.MeasureSpread(list, part)
				if r.Keys != n || r.Buckets != 1<<part.Bits {
					t.Fatalf("%s: %+v", part.Name, r)
				}
				if r.P < alpha/float64(len(structures)*len(parts)) {
					t.Errorf("%s, %s, %s: chi-square %.1f over %d buckets, p = %.2g, too even: %v", e.Name, s.name, part.Name, r.Chi2, r.Buckets, r.P, r.TooEven)
				}
			}
		}
	}
}

// The controls are refused at the right end: identity fills the low buckets of
// sequential integers too evenly and uses one high bucket; halves that repeat
// each other fail as a pair though each passes alone.
func TestSpreadControls(t *testing.T) {
	const n = 16384
	sequential := hashes(byName(t, "identity").New(0), keys(structures[0].key, 0, n))
	low := hashtest.MeasureSpread(sequential, hashtest.Low(8))
	if low.Chi2 != 0 || !low.TooEven || low.P > 1e-12 {
		t.Errorf("identity, low bits: %+v", low)
	}
	high := hashtest.MeasureSpread(sequential, hashtest.High(8))
	// All in one of 256: (n - n/256)^2/(n/256) + 255 n/256 = 255 n.
	if math.Abs(high.Chi2-255*n) > 1e-3 || high.TooEven || high.P > 1e-12 {
		t.Errorf("identity, high bits: %+v", high)
	}

	good := hashes(byName(t, "sha256").New(0), keys(structures[0].key, 0, n))
	repeated := make([]uint64, n)
	for i, h := range good {
		repeated[i] = h>>32<<32 | h>>32
	}
	if r := hashtest.MeasureSpread(repeated, hashtest.High(5)); r.P < 0.001 {
		t.Errorf("repeated halves, high bits: %+v", r)
	}
	if r := hashtest.MeasureSpread(repeated, hashtest.Pair(5)); r.P > 1e-12 || r.TooEven {
		t.Errorf("repeated halves, pair: %+v", r)
	}
}

// The theory sheet, block 10.chi2: a chi-square at the printed quantiles has a
// two-sided p of 1%. Counts that give a wanted chi-square are made by moving keys
// between two of 16 buckets: moving d from e each adds 2 d^2 / e.
func TestSpreadProbability(t *testing.T) {
	const buckets, each = 16, 20000
	for _, want := range []float64{4.60091557, 32.8013206} {
		d := int(math.Round(math.Sqrt(want * each / 2)))
		var list []uint64
		for b := range uint64(buckets) {
			n := each
			switch b {
			case 3:
				n += d
			case 11:
				n -= d
			}
			for range n {
				list = append(list, b)
			}
		}
		r := hashtest.MeasureSpread(list, hashtest.Low(4))
		if math.Abs(r.Chi2/want-1) > 0.01 || math.Abs(r.P/0.01-1) > 0.06 || r.TooEven != (want < 15) {
			t.Errorf("chi-square %v, p = %v, too even %v; want %v, 0.01", r.Chi2, r.P, r.TooEven, want)
		}
	}
}

// Good functions collide as often as chance has it, in 24 bits of either end,
// where 40,000 keys make 48 collisions; at full width none.
func TestCollisions(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	const n = 40000
	for _, s := range structures {
		keys := keys(s.key, 0, n)
		for _, e := range hashing.All() {
			if e.Weak {
				continue
			}
			list := hashes(e.New(0), keys)
			for _, part := range []hashtest.Part{hashtest.Low(24), hashtest.High(24)} {
				// 7 structures, 2 parts.
				if r := hashtest.MeasureCollisions(list, part); r.P < 0.01/14 && e.Reproducible || r.P < 1e-8 {
					t.Errorf("%s, %s, %s: %d collisions, expected %.1f, p = %.2g", e.Name, s.name, part.Name, r.Excess, r.Expected, r.P)
				}
			}
			if r := hashtest.MeasureCollisions(list, hashtest.Low(64)); r.Excess != 0 || r.P < 0.9 {
				t.Errorf("%s, %s: %d keys collide in all 64 bits", e.Name, s.name, r.Excess)
			}
		}
	}
}

func TestCollisionControls(t *testing.T) {
	const n = 40000
	// Sequential integers never collide in their low bits: too few.
	list := hashes(byName(t, "identity").New(0), keys(structures[0].key, 0, n))
	if r := hashtest.MeasureCollisions(list, hashtest.Low(24)); r.Excess != 0 || r.P > 1e-12 {
		t.Errorf("identity, low bits: %+v", r)
	}
	// And always in their high bits: too many.
	if r := hashtest.MeasureCollisions(list, hashtest.High(24)); r.Excess != n-1 || r.P > 1e-12 {
		t.Errorf("identity, high bits: %+v", r)
	}
	// B07 and B11: a digest of 32 bits laid out in 64 has 32, no more and no fewer.
	// 200,000 keys make 4.66 collisions, where 64 bits would make none.
	e := byName(t, "fnv1a32")
	random := hashes(byName(t, "sha256").New(0), keys(structures[0].key, 0, 200000))
	h := e.New(0)
	for i, x := range random {
		random[i] = h.SumUint64(x)
	}
	r := hashtest.MeasureCollisions(random, hashtest.Low(32))
	if all := hashtest.MeasureCollisions(random, hashtest.Low(64)); r.P < 0.001 || all.Excess != r.Excess {
		t.Errorf("fnv1a32: %+v in 32 bits, %d in all", r, all.Excess)
	}
}

// rate builds filters at 1% for the members, one for each seed of the hash, and returns
// their pooled false-positive rate and what to hold it against: the prediction,
// and five relative standard deviations, of the filters (theory sheet, block
// 1.build_sd) and of the queries together.
func rate(t *testing.T, e hashing.Entry, members, absent [][]byte, seeds int) (got, want, limit float64) {
	t.Helper()
	target := filters.Target{N: uint64(len(members)), P: 0.01}
	v := standard.Variant{}
	expected, err := v.Predict(target, target.N)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	dst := make([]bool, len(absent))
	for seed := range uint64(seeds) {
		h := e.New(seed)
		f, err := v.New(target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := filters.AddMany(f, hashes(h, members)); err != nil {
			t.Fatal(err)
		}
		hits += filters.ContainsMany(f, dst, hashes(h, absent))
	}
	total := float64(len(absent) * seeds)
	build := expected.BuildSD / expected.FPR
	return float64(hits) / total, expected.FPR, 5 * math.Sqrt(build*build/float64(seeds)+1/(expected.FPR*total))
}

// B03, the reported trigger for every hash: n = 1000 at p = 1%, keys 0 ... 999 as
// big-endian 32-bit integers (and as other structures), queries from 1000 on. At
// this n filters differ by 3.9% from seed to seed, so ten seeds are pooled; the
// limit is 12.7%. The faults reported were of 28% and more. The weak functions
// are the controls: each must miss the rate on some structure.
func TestB03_RateOfAFilterWithStructuredKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	missed := map[string]int{}
	for _, s := range structures {
		members, absent := keys(s.key, 0, 1000), keys(s.key, 1000, 20000)
		for _, e := range hashing.All() {
			got, want, limit := rate(t, e, members, absent, 10)
			if math.Abs(got/want-1) <= limit {
				continue
			}
			missed[e.Name]++
			if !e.Weak {
				t.Errorf("%s, %s: rate %.4f%%, expected %.4f%%: %+.1f%%, limit %.1f%%", e.Name, s.name, 100*got, 100*want, 100*(got/want-1), 100*limit)
			}
		}
	}
	for _, e := range hashing.All() {
		// That of LevelDB shows with more keys: its digests repeat from some 1e5 padded
		// numbers on (experiment leveldb-hash).
		if e.Weak && e.Name != "leveldb" && missed[e.Name] == 0 {
			t.Errorf("%s: the control keeps its rate on every structure", e.Name)
		}
	}
}

// B08: a 32-bit digest is not cut into halves: on keys without structure, where
// FNV is no worse than others, the rate is 1% at n = 10,000 and 100,000 (with
// halves of 16 bits it was 5.3% and 100%). The floor of 32 bits, n / 2^32, is
// 0.0023% at most and lost in the limits of 4.4% and 3.6%.
func TestB08_ThirtyTwoBitsAreSpread(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	random := byName(t, "xxh3").New(0)
	all := keys(func(dst []byte, i uint64) []byte { return binary.LittleEndian.AppendUint64(dst, random.SumUint64(i)) }, 0, 500000)
	for _, n := range []int{10000, 100000} {
		got, want, limit := rate(t, byName(t, "fnv1a32"), all[:n], all[n:n+400000], 5)
		if math.Abs(got/want-1) > limit {
			t.Errorf("n = %d: rate %.4f%%, expected %.4f%%, limit %.1f%%", n, 100*got, 100*want, 100*limit)
		}
	}
}

// Functions meant to be good pass at 1% over all of them, and those with a fault
// fail by far: with 2,000 samples the largest of 129,024 correlations of an ideal
// function is some 4.5/sqrt(2000) = 0.10. The correlation of 0.1 that XXH3 has
// takes more samples to show.
func TestBitIndependence(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	const samples = 2000
	good := 0
	for _, e := range hashing.All() {
		if !e.Weak {
			good++
		}
	}
	for _, e := range hashing.All() {
		r := hashtest.MeasureIndependence(e.New(1), 8, samples, 42)
		alpha := 0.01 / float64(good)
		if !e.Reproducible {
			alpha = 1e-6
		}
		switch {
		case e.Name == "identity":
			// Each input bit flips one output bit, always: nothing varies.
			if r.Pairs != 0 || !math.IsNaN(r.P) {
				t.Errorf("identity: %+v", r)
			}
		case e.Weak:
			if r.P > 1e-12 {
				t.Errorf("%s is weak, but its largest correlation is %.4f, p = %.2g", e.Name, r.MaxCorrelation, r.P)
			}
		default:
			if r.Pairs != 64*64*63/2 || r.P < alpha {
				t.Errorf("%s: %+v", e.Name, r)
			}
			// Too independent is a fault as well: the largest of so many is below 3
			// standard deviations for no function at random.
			if r.MaxCorrelation < 3/math.Sqrt(samples) {
				t.Errorf("%s: largest correlation %.4f", e.Name, r.MaxCorrelation)
			}
		}
	}
}

// A good function with one bit copied to another fails at those two bits, with a
// correlation of 1, and passes the avalanche test.
func TestBitIndependenceFindsACopiedBit(t *testing.T) {
	h := copied{byName(t, "xxh3").New(1)}
	r := hashtest.MeasureIndependence(h, 8, 500, 7)
	if r.MaxCorrelation != 1 || r.OutBit != 3 || r.OtherBit != 40 || r.P > 1e-50 {
		t.Errorf("bits 3 and 40 are equal: %+v", r)
	}
	if a := hashtest.MeasureAvalanche(h, 8, 500, 7); a.P < 0.001 {
		t.Errorf("avalanche: %+v", a)
	}
}

// copied is a hash whose bit 40 is its bit 3.
type copied struct{ hashing.Hash }

func (c copied) Sum64(key []byte) uint64 {
	h := c.Hash.Sum64(key)
	return h&^(1<<40) | h>>3&1<<40
}
