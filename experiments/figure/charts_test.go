package figure

import (
	"fmt"
	"math"
)

// The charts below resemble the ones that the experiments declare. The numbers
// are the textbook formula, with marks set off from it by a fixed pattern.

const caption = "n = 100,000 keys; 10 seeds of 1,000,000 negative lookups each; bars are 95% Wilson intervals over pooled trials. " +
	"Measured on an Example CPU at 2.1 GHz (L1d 32 KiB, L2 1 MiB, L3 32 MiB), Linux 6.1, go1.26; revision 0123abc, seed 7."

func bloom(bits, k float64) float64 { return math.Pow(1-math.Exp(-k/bits), k) }

func around(x, y float64, i int) Point {
	y *= 1 + 0.03*math.Sin(float64(7*i))
	return Point{X: x, Y: y, Lo: y * 0.93, Hi: y * 1.07}
}

func fprVsLoad() Chart {
	c := Chart{
		Name: "fpr-vs-load", Title: "An overfilled filter fails slowly, then all at once", Caption: caption,
		X:      Axis{Label: "load (keys inserted ÷ keys promised)", Log: true, Ticks: []float64{0.1, 0.2, 0.5, 1, 2, 4}},
		Y:      Axis{Label: "false-positive rate", Log: true},
		VLines: []Line{{1, "built for"}},
		HLines: []Line{{0.01, "1%"}},
	}
	for i, name := range []string{"standard", "blocked(512)", "counting(w=4)", "scalable(s=2,r=0.5)", "cuckoo(f=12,b=4)"} {
		bits := 9.6 - 0.4*float64(i)
		theory, measured := Series{Name: name, Theory: true}, Series{Name: name}
		for x := 0.05; x < 5; x *= 1.05 {
			theory.Points = append(theory.Points, Point{X: x, Y: bloom(bits/x, 7)})
		}
		for j, x := range []float64{0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4} {
			pt := around(x, bloom(bits/x, 7), j+i)
			if pt.Y < 3e-7 {
				pt = Unseen(x, 10_000_000)
			}
			measured.Points = append(measured.Points, pt)
		}
		c.Series = append(c.Series, theory, measured)
	}
	return c
}

func fprVsK() Grid {
	g := Grid{
		Name: "fpr-vs-k", Title: "The best k is near 0.69 × bits per key, and the valley is flat", Caption: caption,
		X: Axis{Label: "k (bits set per key)", Min: 0, Max: 21},
		Y: Axis{Label: "false-positive rate", Log: true},
	}
	for _, bits := range []float64{4, 8, 10, 12, 16, 20} {
		p := Panel{Title: fmt.Sprintf("%v bits per key", bits)}
		for i, name := range []string{"standard", "blocked(512)"} {
			theory, measured := Series{Name: name, Theory: true}, Series{Name: name}
			best := Point{Y: 2}
			for k := 1.0; k <= 20; k++ {
				y := bloom(bits, k) * (1 + 0.05*k*float64(i))
				theory.Points = append(theory.Points, Point{X: k, Y: y})
				pt := around(k, y, int(k))
				if pt.Y < best.Y {
					best = pt
				}
				measured.Points = append(measured.Points, pt)
			}
			p.Series = append(p.Series, theory, measured)
			p.Marks = append(p.Marks, Mark{X: best.X, Y: best.Y, Name: "least measured rate"})
		}
		g.Panels = append(g.Panels, p)
	}
	return g
}

func fprVsBits() Chart {
	c := Chart{
		Name: "fpr-vs-bits", Title: "Every family against its formula and the lower bound", Caption: caption,
		X: Axis{Label: "bits per key"}, Y: Axis{Label: "false-positive rate", Log: true},
	}
	bound := Series{Name: "lower bound 2^(−bits/key)", Theory: true, Style: Reference}
	for x := 4.0; x <= 24; x += 0.5 {
		bound.Points = append(bound.Points, Point{X: x, Y: math.Exp2(-x)})
	}
	c.Series = append(c.Series, bound)
	for i, name := range []string{"standard", "blocked(512)", "counting(w=4)", "scalable(s=2,r=0.5)", "cuckoo(f=12,b=4)"} {
		theory, measured := Series{Name: name, Theory: true}, Series{Name: name}
		for x := 4.0; x <= 24; x++ {
			y := math.Pow(0.6185, x*(1-0.07*float64(i)))
			theory.Points = append(theory.Points, Point{X: x, Y: y})
			if int(x)%2 == 0 {
				pt := around(x, y, int(x)+i)
				if y < 3e-5 {
					pt = Unseen(x, 100_000)
				}
				measured.Points = append(measured.Points, pt)
			}
		}
		c.Series = append(c.Series, theory, measured)
	}
	return c
}

func memory() Chart {
	c := Chart{
		Name: "memory", Title: "Below a rate of 0.4% a cuckoo filter is the smaller one", Caption: caption,
		X: Axis{Label: "target false-positive rate", Log: true, Reversed: true, Format: Percent},
		Y: Axis{Label: "memory (bits per key)"},
	}
	bound := Series{Name: "lower bound log₂(1/p)", Theory: true, Style: Reference}
	bl, cu := Series{Name: "standard", Theory: true}, Series{Name: "cuckoo(b=4)", Theory: true}
	blm, cum := Series{Name: "standard"}, Series{Name: "cuckoo(b=4)"}
	for e := 1.0; e <= 5; e += 0.1 {
		p := math.Pow(10, -e)
		bound.Points = append(bound.Points, Point{X: p, Y: math.Log2(1 / p)})
		bl.Points = append(bl.Points, Point{X: p, Y: 1.44 * math.Log2(1/p)})
		cu.Points = append(cu.Points, Point{X: p, Y: math.Ceil(math.Log2(1/p)+3) / 0.955})
	}
	for e := 1.0; e <= 5; e++ {
		p := math.Pow(10, -e)
		blm.Points = append(blm.Points, Point{X: p, Y: 1.44 * math.Log2(1/p)})
		cum.Points = append(cum.Points, Point{X: p, Y: math.Ceil(math.Log2(1/p)+3) / 0.955})
	}
	c.Series = []Series{bound, bl, blm, cu, cum}
	c.Marks = []Mark{{X: 0.004, Y: 11.5, Name: "crossing", Text: "0.4%"}}
	return c
}

func timeVsN() Chart {
	c := Chart{
		Name: "time-vs-n", Title: "One cache miss per probe: a filter is as fast as the memory it sits in", Caption: caption,
		X:      Axis{Label: "keys in the filter (n)", Log: true, Min: 1e3, Max: 1e8},
		Y:      Axis{Label: "time per positive lookup (ns)", Log: true},
		VLines: []Line{{2.7e4, "L1d"}, {8.7e5, "L2 1 MiB"}, {2.7e7 / 9.6 * 8, "L3 32 MiB"}},
	}
	for i, name := range []string{"standard", "blocked(512)", "counting(w=4)", "scalable(s=2,r=0.5)", "cuckoo(f=12,b=4)"} {
		s := Series{Name: name, Join: true}
		for j := range 11 {
			x := math.Pow(10, 3+0.5*float64(j))
			y := (2 + float64(i)) * (1 + math.Pow(x/1e6, 0.7)/(1+math.Pow(x/1e8, 0.7)))
			s.Points = append(s.Points, around(x, y, j+i))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func hashChoice() HeatMap {
	h := HeatMap{
		Name: "hash-choice", Title: "A weak hash breaks the promise only on structured keys", Caption: caption,
		X: "keys", Y: "hash function",
		Columns: []string{"random", "sequential", "strided", "URL-like", "Zipf queries", "real words"},
		Rows:    []string{"xxhash64", "xxh3-64", "murmur3", "blake3", "FNV-1a-64", "FNV-1a-32 (weak)", "maphash", "SHA-256", "SipHash", "polynomial (weak)", "identity (control)"},
		Value:   Axis{Label: "measured ÷ expected rate", Log: true},
	}
	for i := range h.Rows {
		var row []Cell
		for j := range h.Columns {
			v := 1 + 0.02*math.Sin(float64(5*i+3*j))
			if i >= 9 {
				v = math.Pow(10, float64(j*(i-8))/5)
			}
			row = append(row, Cell{Value: v})
		}
		h.Cells = append(h.Cells, row)
	}
	h.Cells[10][1] = Cell{Value: math.NaN()}
	h.Cells[9][2] = Cell{Value: 0.02, UpperBound: true}
	return h
}
