package choose

import (
	"context"
	"fmt"
	"io"
	"math"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
)

// Check is a predicted cost next to the one then measured.
type Check struct {
	Filter      string  `json:"filter"`
	Predicted   Cost    `json:"predicted"`
	Measured    Cost    `json:"measured"`
	FPR         float64 `json:"fpr_expected"`
	MeasuredFPR float64 `json:"fpr_measured"`
	Skipped     string  `json:"skipped,omitempty"` // why nothing was measured
}

// Limits of what Measure builds.
const (
	maxMapKeys = 10_000_000
	fprTrials  = 1 << 24 // a rate of 1e-5 to some 8%
)

// Measure builds the best two contestants of a, for as many keys as the question
// says, and measures what was predicted of them: the lookups in one race, at the hit
// rate of the question, the hash over keys of its lengths, and the rate by 2^24
// absent keys. What a false positive costs is the question's own number.
func Measure(ctx context.Context, a *Answer, progress io.Writer) ([]Check, error) {
	q, p := a.Question, DefaultPlan(large)
	hashed, err := p.hashCost(ctx, q, a.Ranked)
	if err != nil {
		return nil, err
	}
	var checks []Check
	var runners []*runner
	var at []int // the check of each runner
	for i, c := range a.Ranked[:min(2, len(a.Ranked))] {
		check := Check{Filter: c.Filter, Predicted: c.Cost, FPR: c.FPR}
		n := q.final()
		switch {
		case c.config.name == NoFilter:
			check.Skipped = "nothing to measure"
		case c.config.name == ExactSet && n > maxMapKeys:
			check.Skipped = fmt.Sprintf("not measured above %s keys", units.FormatCount(maxMapKeys))
		case c.config.name == ExactSet:
			say(progress, "building a map of %s keys", units.FormatCount(n))
			set := buildMap(mapKeys(func(i int) uint64 { return uint64(i) }, int(n)))
			ns, err := p.raceMap(ctx, set, n, q.HitRate)
			if err != nil {
				return nil, err
			}
			check.Measured = total(0, ns, 0)
		case measure.Memory() > 0 && c.Bits/8 > measure.Memory()/3:
			check.Skipped = "too large for the memory of this machine"
		default:
			t := c.config.target
			r, err := newRunner(c.config.variant, t, uint64(i))
			if err != nil {
				return nil, err
			}
			say(progress, "building %s, %s", c.Filter, units.FormatBytes(c.Bits/8))
			if err := r.fill(); err != nil {
				return nil, err
			}
			check.MeasuredFPR = measuredRate(r)
			runners, at = append(runners, r), append(at, i)
		}
		checks = append(checks, check)
	}
	if len(runners) == 0 {
		return checks, nil
	}
	say(progress, "timing lookups")
	single, batch, _, err := p.race(ctx, runners, q.HitRate)
	if err != nil {
		return nil, err
	}
	for i := range runners {
		ns := single[i]
		if q.Batch {
			ns = batch[i]
		}
		c := &checks[at[i]]
		c.Measured = total(hashed, ns, (1-q.HitRate)*c.MeasuredFPR*q.MissCost)
	}
	return checks, nil
}

// measuredRate asks for keys that are not in the filter, and that no race asks for.
func measuredRate(r *runner) float64 {
	hs, dst := make([]uint64, chunk), make([]bool, chunk)
	hits := 0
	for from := uint64(0); from < fprTrials; from += chunk {
		for i := range hs {
			hs[i] = key(absent + 1<<62 + from + uint64(i))
		}
		hits += filters.ContainsMany(r.filter, dst, hs)
	}
	return float64(hits) / fprTrials
}

// hashCost times the hash that was chosen, over the lengths of the keys.
func (p Plan) hashCost(ctx context.Context, q Question, ranked []Choice) (ns float64, err error) {
	name := ""
	for _, c := range ranked {
		if name = c.Hash; name != "" {
			break
		}
	}
	if name == "" {
		return 0, nil
	}
	p.Bytes = nil
	weights := map[int]float64{DefaultKeyBytes: 1}
	if len(q.Lengths) > 0 {
		clear(weights)
		for bytes, n := range q.Lengths {
			weights[bytes] += float64(n)
		}
	}
	// Lengths in octaves: files have hundreds.
	grouped, sum := map[int]float64{}, 0.0
	for bytes, n := range weights {
		grouped[octave(bytes)] += n
		sum += n
	}
	for bytes := range grouped {
		p.Bytes = append(p.Bytes, bytes)
	}
	curves, err := p.timeHashes(ctx, []string{name})
	if err != nil {
		return 0, err
	}
	for _, point := range curves[0].Points {
		ns += point.Ns * grouped[point.Bytes] / sum
	}
	return ns, nil
}

// octave rounds a length to quarters of an octave.
func octave(bytes int) int {
	if bytes < 1 {
		return 1
	}
	return int(math.Round(math.Exp2(math.Round(4*math.Log2(float64(bytes))) / 4)))
}
