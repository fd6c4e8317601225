package experiments

import (
	"math"
	"testing"

	"filterlab/filters"
)

// The theory sheet, block 2.double_hashing_inside_block: 512 bits, k = 6, 10 bits
// a key, Poisson loads, which a million keys have. Its values are exact, ours
// leave out what is of higher order (0.1% and 0.2%).
func TestInBlockSchemesAgainstTheSheet(t *testing.T) {
	target := filters.Target{N: 1_000_000, BitsPerKey: 10}
	for v, want := range map[scheme]float64{
		inBlockDouble: 0.0116384936993, inBlockOdd: 0.0108733902744, inBlockEnhanced: 0.00986538287882,
	} {
		p, err := v.Predict(target, target.N)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.FPR/want-1) > 0.003 {
			t.Errorf("%v: %v, want %v: %+.2f%%", v, p.FPR, want, 100*(p.FPR/want-1))
		}
	}
}
