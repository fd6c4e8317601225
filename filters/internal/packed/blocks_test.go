package packed

import "testing"

// A block is a view: what is written through it stands in the table.
func TestBlocks(t *testing.T) {
	for n := range 40 {
		words := make([]uint64, n)
		quads, lines := Blocks[[4]uint64](words), Blocks[[8]uint64](words)
		if len(quads) != n/4 || len(lines) != n/8 || cap(quads) != n/4 || cap(lines) != n/8 {
			t.Fatalf("%d words are %d quads and %d lines", n, len(quads), len(lines))
		}
		for i := range quads {
			for j := range quads[i] {
				quads[i][j] = uint64(4*i + j + 1)
			}
		}
		for i, w := range words[:n/4*4] {
			if w != uint64(i+1) || i < n/8*8 && lines[i/8][i%8] != w {
				t.Fatalf("word %d of %d is %d", i, n, w)
			}
		}
	}
}
