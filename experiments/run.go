package experiments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"filterlab/experiments/measure"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Options say how to run an experiment.
type Options struct {
	Profile   Profile
	Out       string // results folder; each experiment gets a folder in it
	Seed      uint64
	Resume    bool // continue an interrupted run if there is one, and keep one that has ended
	Restart   bool // discard an interrupted run if there is one
	Overrides []Override
	Files     *FileKeys // keys from files instead of the key sets of the grid; may be nil
	Log       io.Writer // progress and warnings
	Terminal  bool      // Log is a terminal
}

// Override replaces the values of one axis of the grid.
type Override struct {
	Axis   string   `json:"axis"`
	Values []string `json:"values"`
}

// Lab is what a measure may use: how much effort to spend, and where seeds and
// keys come from.
type Lab struct {
	Profile Profile
	Seed    uint64
	Files   *FileKeys

	loop func(filters.Querier) catalog.Loops
	hold uint64 // members of a point that are kept in memory, at most; 0 is holdKeys
}

// seed derives the seed of one round at one point. Points and rounds are
// independent of one another, and a point keeps its seeds when the grid around
// it changes.
func (l *Lab) seed(p *Point, round int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d|%v|%d", l.Seed, p, round)
	// FNV's low bits are weak for near-equal texts; finish it.
	return mix(h.Sum64())
}

// Outcome is what became of a run.
type Outcome struct {
	Cells   []Cell // controls come last
	Failed  int    // cells that are Bad
	Finding string
}

// Run visits every point of e and leaves samples.csv, times.csv, env.json,
// summary.csv, the figures and the finding in Out/e.Name. A run that ends early
// leaves all it has in a folder named partial, to be resumed; results of an
// earlier run stay until the new ones are complete.
func Run(ctx context.Context, e Experiment, o Options) (Outcome, error) {
	if err := measureAll(ctx, e, o); err != nil {
		return Outcome{}, err
	}
	return Remake(e, o.Out)
}

// measureAll is Run without what is derived from the rows.
func measureAll(ctx context.Context, e Experiment, o Options) error {
	grid, err := o.grid(e)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	groups, err := grid.Points(o.Seed)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	more, err := controls()
	if err != nil {
		return err
	}
	groups = append(groups, more...)
	env := measure.ReadEnv(o.Seed, time.Now())
	id := identity{
		Experiment: e.Name, Profile: o.Profile, Seed: o.Seed,
		Axes: grid.values(), Keys: o.Files.identity(), Revision: env.Revision,
	}
	dir := filepath.Join(o.Out, e.Name)
	if err := settle(dir); err != nil {
		return err
	}
	if o.Resume && finished(dir, id) {
		fmt.Fprintf(o.Log, "%s: measured already\n", e.Name)
		return nil
	}
	j, err := openJournal(dir, id, o.Resume, o.Restart)
	if err != nil {
		return err
	}
	lab := &Lab{Profile: o.Profile, Seed: o.Seed, Files: o.Files, loop: catalog.Loop}
	if e.Loop != nil {
		lab.loop = e.Loop
	}
	before := j.done
	if err := visit(ctx, e, lab, groups, j, newProgress(o.Log, o.Terminal, e.Name, len(groups), j.done)); err != nil {
		return errors.Join(err, j.close())
	}
	if measured := len(groups) - before; measured > 0 {
		// A run that was taken up again counts as if it had gone on at the pace of its
		// last part; a tenth of a second is as much as anybody plans by.
		seconds := time.Since(env.Start).Seconds() * float64(len(groups)) / float64(measured)
		env.Seconds = math.Round(10*seconds) / 10
	}
	envJSON, err := json.MarshalIndent(env, "", "  ")
	if err != nil {
		return err
	}
	return j.publish(append(envJSON, '\n'))
}

// grid applies the overrides, and lets keys from files replace the key sets where
// the experiment has no keys of its own.
func (o *Options) grid(e Experiment) (Grid, error) {
	g := e.Grid(o.Profile)
	over := o.Overrides
	if o.Files != nil && !e.OwnKeys {
		over = append(o.Files.overrides(&g, e.OwnN, over), over...)
	}
	for _, v := range over {
		if err := g.Override(v.Axis, v.Values); err != nil {
			return Grid{}, err
		}
	}
	return g, nil
}

// result is what one group of points gave.
type result struct {
	samples, times []Row
	err            error
}

// visit measures the groups that the journal does not hold yet and writes them
// in order. Exact measures share the cores; as soon as one measure is timed,
// nothing runs beside it.
func visit(ctx context.Context, e Experiment, lab *Lab, groups [][]*Point, j *journal, bar *progress) error {
	workers := runtime.GOMAXPROCS(0)
	for _, m := range e.Measures {
		if m.Timed {
			workers = 1
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	// Each group has a channel of its own, so that rows are written in the order
	// of the groups whatever order they finish in. Tokens bound how far workers
	// run ahead of the writer.
	todo := groups[j.done:]
	results := make([]chan result, len(todo))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	tokens := make(chan struct{}, workers)
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				results[i] <- runGroup(ctx, e, lab, todo[i])
			}
		})
	}
	go func() {
		defer close(next)
		for i := range todo {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer wg.Wait()
	defer cancel()

	for i := range todo {
		var r result
		select {
		case r = <-results[i]:
		case <-ctx.Done():
			r.err = ctx.Err()
		}
		if ctx.Err() != nil {
			bar.end(j.done, "interrupted after")
			return fmt.Errorf("%s: %w; what was measured is kept, --resume continues", e.Name, context.Cause(ctx))
		}
		if r.err != nil {
			bar.end(j.done, "stopped after")
			return fmt.Errorf("%s: %w", e.Name, r.err)
		}
		if err := j.write(r.samples, r.times, false); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		<-tokens
		bar.step(j.done)
	}
	bar.end(j.done, "measured")
	return nil
}

// runGroup runs every measure at the points of a group. What goes wrong at a
// point becomes a row, so that one bad point does not end a sweep.
func runGroup(ctx context.Context, e Experiment, lab *Lab, points []*Point) (out result) {
	measure := "" // the one that runs
	defer func() {
		// A bug in a measure must not take the rows of other points with it.
		if v := recover(); v != nil {
			buf := make([]byte, 4096)
			out.err = fmt.Errorf("%v: %s: panic: %v\n%s", points[0], measure, v, buf[:runtime.Stack(buf, false)])
		}
	}()
	measures := e.Measures
	if points[0].Role != "" {
		measures = []Measure{Rate(0)}
	}
	failed := false
	for _, m := range measures {
		if failed {
			break // do not time a filter that lost a key
		}
		measure = m.Name
		rows, err := m.Run(ctx, lab, points)
		if ctx.Err() != nil {
			return result{err: ctx.Err()}
		}
		if err != nil {
			row := points[0].row(MetricFailed)
			row.Note = m.Name + ": " + err.Error()
			rows = append(rows, row)
			failed = true
		}
		for _, r := range rows {
			r.Experiment = e.Name
			if r.volatile() {
				out.times = append(out.times, r)
			} else {
				out.samples = append(out.samples, r)
			}
		}
	}
	return out
}
