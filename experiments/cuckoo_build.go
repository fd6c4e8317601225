package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"

	"filterlab/experiments/figure"
	"filterlab/experiments/measure"
	"filterlab/filters"
)

// buildPromise is the share of builds that a cuckoo filter sized for n keys may
// fail to take them: "fewer than 1 in 10,000".
const buildPromise = 1e-4

// CuckooBuild asks how often a cuckoo filter refuses a key before it holds as many
// as it was sized for.
func CuckooBuild() Experiment {
	return Experiment{
		Name:     "cuckoo-build",
		Question: "Does a cuckoo filter sized for n keys take them all, but for fewer than 1 in 10,000 sets of keys?",
		Grid: func(p Profile) Grid {
			ns := denseCounts(3, 1000, 1.13)
			ns = append(ns, "2000", "4000", "1e4", "3e4", "1e5")
			shapes := []string{"cuckoo(f=16,b=1)", "cuckoo(f=12,b=2)", "cuckoo(f=5,b=4)", "cuckoo(f=12,b=4)", "cuckoo(f=12,b=8)"}
			if p.Thin {
				ns, shapes = []string{"10", "30", "100", "300", "1000", "1e4"}, []string{"cuckoo(f=12,b=2)", "cuckoo(f=12,b=4)"}
			}
			return Grid{
				// Promised so little that the slots decide the size, and never the rate.
				Axes: []Axis{FilterAxis(shapes...), HashAxis("xxh3"), KeysAxis("random"), NAxis(ns...), PAxis("50%")},
				// Fingerprints too short for n keys are refused when sizing.
				Skip: func(p *Point) bool {
					_, err := p.Variant.Predict(p.Target, p.Target.N)
					return err != nil
				},
			}
		},
		Measures: []Measure{countBuilds()},
		Values:   []Value{{Metric: MetricBuildFailed, Bound: true, Expect: func(*Cell) (float64, float64) { return buildPromise, 0 }}},
		Figures: func(cells []Cell, about About) []figure.Figure {
			shape := func(c *Cell) string { return c.Filter }
			failures := figure.Grid{
				Name: "cuckoo-build", Title: "Builds that failed at the size that was to do",
				Caption: "Failed builds of a filter sized for n keys. Points are pooled over half a decade of n; bars: 95% Clopper-Pearson; open marks: none failed, 3/builds. Line: promised. " + about.Text,
				X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power},
				Y:       figure.Axis{Label: "failed builds / builds", Log: true, Format: figure.Power},
			}
			slack := figure.Chart{
				Name: "cuckoo-build-load", Title: "Small tables need slack",
				Caption: "Share of the slots that n keys take in the smallest table that is trusted with them. Marks: built. Lines: the sizing rule at every n. " + about.Text,
				X:       figure.Axis{Label: "keys", Log: true, Format: figure.Power},
				Y:       figure.Axis{Label: "load at n keys", Format: figure.Percent},
			}
			for _, g := range groupBy(cells, shape) {
				marks := figure.Series{}
				for _, band := range groupBy(g, func(c *Cell) float64 { return math.Floor(2 * math.Log10(float64(c.N))) }) {
					failed, builds, n := pooledBuilds(band)
					if builds == 0 {
						continue
					}
					x := math.Exp(n / float64(len(band)))
					if failed == 0 {
						marks.Points = append(marks.Points, figure.Unseen(x, builds))
						continue
					}
					iv := measure.ClopperPearson(failed, builds, 0.95)
					marks.Points = append(marks.Points, figure.Point{X: x, Y: float64(failed) / float64(builds), Lo: iv.Lo, Hi: iv.Hi})
				}
				if len(marks.Points) > 0 {
					failures.Panels = append(failures.Panels, figure.Panel{Title: shape(&g[0]), Series: []figure.Series{marks}, HLines: []figure.Line{{At: buildPromise}}})
				}
				loads := figure.Series{Name: shape(&g[0])}
				line := figure.Series{Name: loads.Name, Theory: true}
				lo, hi := math.Inf(1), 0.0
				for i := range g {
					c := &g[i]
					if c.Predicted.Fill > 0 {
						loads.Points = append(loads.Points, figure.Point{X: float64(c.N), Y: c.Predicted.Fill})
						lo, hi = min(lo, float64(c.N)), max(hi, float64(c.N))
					}
				}
				if len(loads.Points) == 0 {
					continue
				}
				for _, x := range spread(lo, hi, 300) {
					t := g[0].Target()
					t.N = uint64(math.Round(x))
					if p, err := g[0].Variant().Predict(t, t.N); err == nil {
						line.Points = append(line.Points, figure.Point{X: float64(t.N), Y: p.Fill})
					}
				}
				slack.Series = append(slack.Series, loads, line)
			}
			return []figure.Figure{failures, slack}
		},
		Finding: func(cells []Cell) string {
			s := ""
			for _, g := range groupBy(cells, func(c *Cell) string { return c.Filter }) {
				failed, builds, _ := pooledBuilds(g)
				if builds == 0 {
					continue
				}
				lo, hi := g[0].N, g[0].N
				worst := &g[0]
				for i := range g {
					lo, hi = min(lo, g[i].N), max(hi, g[i].N)
					if g[i].Own[MetricBuildFailed].Value > worst.Own[MetricBuildFailed].Value {
						worst = &g[i]
					}
				}
				s += fmt.Sprintf("%s, n = %d to %d: %d of %d builds failed, at most %.2g of all with 95%%", g[0].Filter, lo, hi, failed, builds, measure.ClopperPearson(failed, builds, 0.9).Hi)
				if o := worst.Own[MetricBuildFailed]; o.Events > 0 {
					s += fmt.Sprintf("; most at n = %d, %d of %d", worst.N, o.Events, o.Trials)
				}
				s += ". "
			}
			return s + fmt.Sprintf("Promised are %g at most. Verdicts: ", buildPromise) + verdicts(cells) + "."
		},
	}
}

// denseCounts are whole numbers from lo to hi, each about step times the one
// before.
func denseCounts(lo, hi, step float64) []string {
	var out []string
	last := 0.0
	for x := lo; x < hi*(1+1e-9); x *= step {
		if n := math.Round(x); n > last {
			out = append(out, fmt.Sprint(n))
			last = n
		}
	}
	if last < hi {
		out = append(out, fmt.Sprint(hi))
	}
	return out
}

// pooledBuilds adds up what cells counted, and the logarithms of their n.
func pooledBuilds(cells []Cell) (failed, builds uint64, logs float64) {
	for i := range cells {
		o := cells[i].Own[MetricBuildFailed]
		failed += o.Events
		builds += o.Trials
		logs += math.Log(float64(cells[i].N))
	}
	return failed, builds, logs
}

// MetricBuildFailed counts builds that were refused a key.
const MetricBuildFailed = "build_failed"

// countBuilds builds filters for as many sets of keys as the profile affords, and
// counts those that refuse one.
func countBuilds() Measure {
	return Measure{Name: "builds", Run: func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error) {
		var rows []Row
		for _, p := range points {
			more, err := lab.countBuilds(ctx, p)
			rows = append(rows, more...)
			if err != nil {
				return rows, fmt.Errorf("%v: %w", p, err)
			}
		}
		return rows, nil
	}}
}

func (l *Lab) countBuilds(ctx context.Context, p *Point) ([]Row, error) {
	f, err := newFilter(p)
	if err != nil {
		return refusal(p, err)
	}
	src, err := l.source(p, l.Seed)
	if err != nil {
		return refusal(p, err)
	}
	n := p.Inserted()
	// At 500 million trials, the default, 33,333 builds: without a failure the limit
	// for their rate is then below what is promised. Where that would be more than 8
	// million adds, fewer.
	builds := max(min(l.Profile.MaxTrials/64/n, max(l.Profile.MaxTrials/15_000, 2000)), 20)
	var failed, done uint64
	var seed uint64
	for round := 0; done < builds; round++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Sets of keys are drawn many at a time; a key is in one of them.
		sets := min(max(keysAtOnce/n, 1), builds-done, max(src.Members()/n, 1))
		q := *p
		q.Load = float64(sets*n) / float64(p.Target.N)
		keys, err := l.keys(&q, round)
		if err != nil {
			return refusal(p, err)
		}
		if round == 0 {
			seed = keys.seed
		}
		for i := range sets {
			f.(filters.Resetter).Reset()
			switch _, err := filters.AddMany(f, keys.members[i*n:(i+1)*n]); {
			case errors.Is(err, filters.ErrFull):
				failed++
			case err != nil:
				return nil, err
			}
		}
		done += sets
	}
	var rows []Row
	l.emitter(p, &rows, 0, seed)(MetricBuildFailed, float64(failed), done)
	return rows, nil
}

// keysAtOnce is how many keys are drawn at a time where builds are small.
const keysAtOnce = 1 << 18
