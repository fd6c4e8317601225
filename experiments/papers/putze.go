package papers

import (
	"context"
	"fmt"
	"math"

	"filterlab/filters/theory"
)

// putzePublished is the compensation table for blocks of 512 bits: the bits per
// key that a blocked filter needs to be as good as a standard one of c bits per
// key, for c = 5 to 34.
var putzePublished = [...]int{
	6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 20, 21, 23,
	25, 26, 28, 30, 32, 35, 38, 40, 44, 48, 51, 58, 64, 74, 90,
}

func putze() Paper {
	return Paper{
		Name:   "putze",
		Source: "Putze, Sanders, Singler 2009, Cache-, hash- and space-efficient Bloom filters, J. Exp. Algorithmics 14, table of compensation",
		About:  "Bits per key that a filter of 512-bit blocks needs to be as good as a standard filter of c bits per key.",
		Make: func(ctx context.Context, _ Effort) (*Table, error) {
			t := &Table{Columns: []string{"c", "rate of standard", "published", "k = round(c' ln 2)", "ours", "best k", "ours with best k"}}
			same, saved := 0, 0
			for i, published := range putzePublished {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				c := float64(i + 5)
				std := bestClassic(c)
				byRule, ruleK := compensate(std, func(more float64) int { return int(math.Round(more * math.Ln2)) })
				best, bestK := compensate(std, bestBlockedK)
				if byRule == published {
					same++
				}
				saved = max(saved, byRule-best)
				t.row(c, std, published, ruleK, byRule, bestK, best)
			}
			t.check("entries equal to the published ones", fmt.Sprint(len(putzePublished)), float64(same), float64(len(putzePublished)), float64(len(putzePublished)))
			t.check("bits per key at c = 34 with the best k", "90 with k = round(c' ln 2)", float64(lastBest(t)), 51, 51)
			t.note("The published numbers come out when the probes are kept at k = round(c' ln 2), the best for a standard filter of the same size. Blocks want fewer: with the k that is "+
				"best for them, up to %d bits per key less do. The rate of a block is (1-(1-1/512)^(kj))^k here, as in the paper; exact in-block rates (theory.Blocked) are a little higher.", saved)
			return t, nil
		},
	}
}

// lastBest is the last entry of the last column.
func lastBest(t *Table) (n int) {
	row := t.Rows[len(t.Rows)-1]
	fmt.Sscan(row[len(row)-1], &n)
	return n
}

// bestClassic is (1-e^(-k/c))^k at its best whole k.
func bestClassic(c float64) float64 {
	best := 1.0
	for k := 1; k <= 64; k++ {
		best = min(best, classicRate(c, 1, k))
	}
	return best
}

// compensate is the least whole number of bits per key at which blocks of 512 bits
// reach the rate, with the probes that choose gives.
func compensate(rate float64, choose func(c float64) int) (c, k int) {
	for c = 1; c < 1000; c++ {
		k = choose(float64(c))
		if k >= 1 && putzeRate(float64(c), k) <= rate {
			return c, k
		}
	}
	return 0, 0
}

// bestBlockedK is the number of probes of least rate. Rates fall to it and rise
// behind it.
func bestBlockedK(c float64) int {
	k := 1
	for putzeRate(c, k+1) < putzeRate(c, k) {
		k++
	}
	return k
}

// putzeRate is eq. 3 of the paper for B = 512: the rate of a block with j keys,
// (1-(1-1/B)^(kj))^k, over the Poisson number j of keys in a block.
func putzeRate(c float64, k int) float64 {
	const block = 512
	mean := block / c
	sum, weight := 0.0, math.Exp(-mean)
	// Twelve standard deviations and some: nothing is left beyond.
	for j := uint64(0); float64(j) < mean+12*math.Sqrt(mean)+20; j++ {
		if j > 0 {
			weight *= mean / float64(j)
			sum += weight * theory.StandardOneStep(block, j, k)
		}
	}
	return sum
}

// classicRate is (1-e^(-kn/m))^k for real m and n.
func classicRate(m, n float64, k int) float64 {
	return math.Pow(-math.Expm1(-float64(k)*n/m), float64(k))
}
