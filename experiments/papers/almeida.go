package papers

import (
	"context"

	"filterlab/filters"
	"filterlab/filters/scalable"
	"filterlab/filters/theory"
)

func almeida() Paper {
	return Paper{
		Name:   "almeida",
		Source: "Almeida, Baquero, Preguiça, Hutchison 2007, Scalable Bloom filters, Inf. Process. Lett. 101(6), sections 3 and 4",
		About:  "What growing from 1,000 keys costs: stages, bits per key and compound rate, promised 1%.",
		Make: func(ctx context.Context, e Effort) (*Table, error) {
			const n0, p = 1000, 0.01
			t := &Table{Columns: []string{"growth", "tightening", "keys", "stages", "ours", "bits per key", "ours", "over one filter of the right size", "rate", "ours"}}
			worst, least, most, stagesOff := 0.0, 2.0, 0.0, 0
			for _, s := range []float64{2, 4} {
				for _, r := range []float64{0.5, 0.8, 0.85, 0.9} {
					for n := uint64(1000); n <= 1e6; n *= 10 {
						if err := ctx.Err(); err != nil {
							return nil, err
						}
						stages, bits, rate := almeidaSize(n0, p, s, r, n)
						v := scalable.Variant{N0: n0, Growth: s, Tighten: r}
						ours, err := v.Predict(filters.Target{N: n, P: p}, n)
						if err != nil {
							return nil, err
						}
						perKey := bits / float64(n)
						t.row(s, r, n, stages, ours.Stages, perKey, ours.BitsPerKey(), perKey/theory.StandardBitsPerKey(p), rate, ours.FPR)
						worst = max(worst, ours.FPR)
						least, most = min(least, ours.BitsPerKey()/perKey), max(most, ours.BitsPerKey()/perKey)
						if stages != ours.Stages {
							stagesOff++
						}
					}
				}
			}
			t.check("lines whose number of stages differs", "", float64(stagesOff), 0, 0)
			t.check("our bits over the formula's, least", "1", least, 1, 1.02)
			t.check("our bits over the formula's, most", "1", most, 1, 1.02)
			t.check("highest rate of ours at any size", "at most 1%", worst, 0, p)
			t.note("By the paper, stage i holds n0 s^i keys at the rate P (1-r) r^i, so that all of them together stay below P, and takes log2(1/P_i)/ln 2 bits for each; it recommends s = 2 where " +
				"little growth is expected, s = 4 where much is, and r = 0.8 to 0.9. The paper sizes with a real number of probes; ours has whole ones, and sizes each stage for the keys that pass it " +
				"uncounted as well, which is why it takes a little more.")
			t.note("Those are sizes just as the last key came; a new stage is the largest yet, and nearly empty.")
			return t, nil
		},
	}
}

// almeidaSize is the filter of the paper once n keys are in: its stages, their
// bits, and the compound rate with whole probes and the newest stage as full as n
// makes it.
func almeidaSize(n0 uint64, p, s, r float64, n uint64) (stages int, bits, rate float64) {
	stages = theory.ScalableStages(n, n0, s)
	rates := make([]float64, stages)
	left, capacity := float64(n), float64(n0)
	for i := range rates {
		pi := theory.ScalableStageRate(p, r, i)
		m := capacity * theory.StandardBitsPerKey(pi)
		bits += m
		k := max(1, int(theory.LowerBound(pi)+0.5))
		rates[i] = classicRate(m, min(left, capacity), k)
		left -= capacity
		capacity *= s
	}
	return stages, bits, theory.ScalableCompound(rates...)
}
