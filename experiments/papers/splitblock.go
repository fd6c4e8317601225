package papers

import (
	"context"
	"fmt"
	"math"

	"filterlab/filters/theory"
)

func splitBlock() Paper {
	return Paper{
		Name:   "split-block",
		Source: "Apache Parquet, BloomFilter.md, sizing table of the split-block Bloom filter; Apple 2023, Split block Bloom filters",
		About:  "Bits per key of a split-block filter of 256-bit blocks, by false-positive rate.",
		Make: func(context.Context, Effort) (*Table, error) {
			t := &Table{Columns: []string{"rate", "published", "rate there", "ours", "-8/ln(1-p^(1/8))", "rate there", "standard filter"}}
			for _, x := range []struct {
				p, published float64
			}{{0.1, 6.0}, {0.01, 10.5}, {1e-3, 16.9}, {1e-4, 26.4}, {1e-5, 41}} {
				naive := -8 / math.Log1p(-math.Pow(x.p, 1.0/8))
				got := theory.SplitBlock(x.published)
				t.row(x.p, x.published, got, theory.SplitBlockBitsPerKey(x.p), naive, theory.SplitBlock(naive), theory.StandardBitsPerKey(x.p))
				t.check(fmt.Sprintf("rate at %g bits per key", x.published), fmt.Sprint(x.p), got, 0.98*x.p, 1.02*x.p)
			}
			for _, x := range []struct {
				keys      uint64
				stated    string
				low, high float64
			}{{26_214, "1.26%", 0.01255, 0.01265}, {52_428, "18%", 0.175, 0.185}, {13_107, "0.04%", 0.00035, 0.00045}} {
				c := 1024 * 256 / float64(x.keys)
				t.check(fmt.Sprintf("rate of 1024 blocks with %d keys", x.keys), x.stated, theory.SplitBlock(c), x.low, x.high)
			}
			t.note("Everything here is by formula: sum over the Poisson number j of keys in a block of (1-(31/32)^j)^8. The published sizes meet it to the digit they give. The formula that earlier " +
				"texts and arrow-rs size by, -8/ln(1-p^(1/8)), is that of one large table: asked for 1%% it gives 1.46%%, asked for 0.01%% three times as much.")
			return t, nil
		},
	}
}
