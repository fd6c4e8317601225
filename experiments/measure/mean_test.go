package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Student (1908), the difference of two soporifics: mean 1.58, s = 1.23, n = 10,
// t = 4.0621, two-sided P = 0.002833; 95% interval 0.70 to 2.46.
func TestMeanOfStudentsData(t *testing.T) {
	xs := []float64{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4}
	if p := MeanTest(xs, 0, math.NaN()); math.Abs(p-0.002833) > 1e-6 {
		t.Errorf("P = %v, want 0.002833", p)
	}
	if iv := MeanInterval(xs, 0.95); math.Abs(iv.Lo-0.7001) > 1e-4 || math.Abs(iv.Hi-2.4599) > 1e-4 {
		t.Errorf("interval %v, want 0.7001 to 2.4599", iv)
	}
}

func TestMeanTestOfKnownScatter(t *testing.T) {
	// Two values a standard deviation above: z = sqrt 2, P = 0.1573.
	if p := MeanTest([]float64{3, 3}, 1, 2); math.Abs(p-0.157299) > 1e-6 {
		t.Errorf("P = %v, want 0.157299", p)
	}
	for _, c := range []struct {
		xs       []float64
		expected float64
		sd, want float64
	}{
		{[]float64{0, 0, 0}, 0, 0, 1},
		{[]float64{0, 0, 1}, 0, 0, 0}, // one lost key is one too many
		{[]float64{2, 2}, 2, math.NaN(), 1},
		{[]float64{2, 2}, 3, math.NaN(), 0},
		{nil, 3, 0, math.NaN()},
		{[]float64{1}, 3, math.NaN(), math.NaN()},
		{[]float64{1, 2}, math.NaN(), 1, math.NaN()},
	} {
		if p := MeanTest(c.xs, c.expected, c.sd); p != c.want && !(math.IsNaN(p) && math.IsNaN(c.want)) {
			t.Errorf("%v against %v with sd %v: P = %v, want %v", c.xs, c.expected, c.sd, p, c.want)
		}
	}
}

// Student's interval covers 95% of normal samples exactly: of 10,000 runs within
// four standard deviations, 94.1% to 95.9%. P below 5% is the same event.
func TestMeanIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range 10_000 {
		xs := make([]float64, 10)
		for i := range xs {
			xs[i] = 5 + 3*r.NormFloat64()
		}
		in := MeanInterval(xs, 0.95).Contains(5)
		if in {
			covered++
		}
		if p := MeanTest(xs, 5, math.NaN()); in != (p >= 0.05) {
			t.Fatalf("%v: inside %v, P = %v", xs, in, p)
		}
	}
	if covered < 9413 || covered > 9587 {
		t.Errorf("%d of 10000 covered", covered)
	}
}
