package measure

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// clock is a clock that stands still unless it is told otherwise, so that what
// a race reports is known to the last digit.
type clock struct{ now time.Duration }

func (c *clock) read() time.Duration { return c.now }

// worker is a contender that costs so much per operation and answers hits.
func (c *clock) worker(name string, ops int, cost float64, hits uint64) Contender {
	return Contender{Name: name, Ops: ops, Run: func() uint64 {
		c.now += time.Duration(cost * float64(ops))
		return hits
	}}
}

func run(t *testing.T, r Race) Timing {
	t.Helper()
	timing, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return timing
}

func TestRace(t *testing.T) {
	var c clock
	timing := run(t, Race{
		Loop:       c.worker("loop", 1000, 1, 0),
		Contenders: []Contender{c.worker("a", 1000, 4, 10), c.worker("b", 2000, 3, 20)},
		Rounds:     6, Now: c.read,
	})
	for _, want := range []struct {
		s          Series
		name       string
		gross, net float64
		ops        int
	}{{timing.Series[0], "a", 4, 3, 1000}, {timing.Series[1], "b", 3, 2, 2000}, {timing.Again, "a", 4, 3, 1000}} {
		s := want.s
		if s.Name != want.name || s.Ops != want.ops || len(s.Gross) != 6 || Median(s.Gross) != want.gross || Median(s.Net) != want.net || s.Invalid != "" || s.Doubling != 2 {
			t.Errorf("series %+v, want %+v", s, want)
		}
		if took := time.Duration(float64(s.Reps*s.Ops) * want.gross); took < 2*time.Millisecond || took > 4*time.Millisecond {
			t.Errorf("%s: a sample takes %v, want 2 ms or little more", s.Name, took)
		}
	}
	if l := timing.Loop; Median(l.Gross) != 1 || l.Net != nil {
		t.Errorf("loop %+v", l)
	}
	r, separated := timing.Compare(0, 1)
	if !separated || !near(r.Median, 1.5, 1e-12) || timing.Noise() != 0 {
		t.Errorf("a against b: %+v, separated %v, noise %v", r, separated, timing.Noise())
	}
	for _, s := range timing.Samples {
		if want := map[string]float64{"loop": 1, "a": 4, "b": 3}[s.Name]; s.NsPerOp() != want {
			t.Errorf("sample %+v: %v ns, want %v", s, s.NsPerOp(), want)
		}
	}
}

func TestRaceOrderIsALatinSquare(t *testing.T) {
	var c clock
	const slots = 5 // the loop, a again, a, b, d
	timing := run(t, Race{
		Loop:       c.worker("loop", 1000, 1, 0),
		Contenders: []Contender{c.worker("a", 1000, 4, 1), c.worker("b", 1000, 4, 2), c.worker("d", 1000, 4, 3)},
		Rounds:     2 * slots, Now: c.read,
	})
	type seat struct {
		name  string
		again bool
		place int
	}
	times := map[seat]int{}
	for i, s := range timing.Samples {
		if s.Round != i/slots || s.Place != i%slots {
			t.Fatalf("sample %d is of round %d, place %d", i, s.Round, s.Place)
		}
		times[seat{s.Name, s.Again, s.Place}]++
	}
	if len(times) != slots*slots {
		t.Errorf("%d pairs of contender and place, want %d", len(times), slots*slots)
	}
	for s, n := range times {
		if n != 2 {
			t.Errorf("%+v came %d times in %d rounds, want 2", s, n, 2*slots)
		}
	}
}

func TestRacePreparesAndResets(t *testing.T) {
	var c clock
	var log []string
	rounds := map[int]bool{}
	// Adding spoils the filter: a Run without a Reset before it would answer 0.
	empty := false
	add := Contender{Name: "add", Ops: 100,
		Prepare: func(round int) { rounds[round] = true; log = append(log, "prepare") },
		Reset:   func() { empty = true; c.now += time.Hour; log = append(log, "reset") },
		Run: func() uint64 {
			c.now += 2 * 100
			if !empty {
				return 0
			}
			empty = false
			return 100
		},
		Want: func() uint64 { return 100 },
	}
	timing := run(t, Race{Loop: c.worker("loop", 100, 1, 0), Contenders: []Contender{add}, Rounds: 3, MinSample: time.Microsecond, Now: c.read})
	if got := Median(timing.Series[0].Gross); got != 2 {
		t.Errorf("add takes %v ns, want 2: Reset and Prepare are not timed", got)
	}
	if len(rounds) != 3 || log[0] != "prepare" || log[1] != "reset" {
		t.Errorf("rounds %v, began with %v", rounds, log[:2])
	}
}

// A cold contender runs as often as it is timed and not once more, and its answers
// are checked all the same.
func TestRaceColdRunsOnce(t *testing.T) {
	var c clock
	passes := 0
	cold := c.worker("cold", 1000, 4e4, 7) // 40 ms a pass: one fills a sample
	run, resets := cold.Run, 0
	cold.Run = func() uint64 { passes++; return run() }
	cold.Reset = func() { resets++ }
	cold.Want = func() uint64 { return 7 }
	cold.Cold = true
	race := Race{Loop: c.worker("loop", 1000, 1, 0), Contenders: []Contender{cold}, Rounds: 6, Now: c.read}
	if _, err := race.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	// Once to calibrate, then once a round as itself and once as the noise floor.
	if passes != 1+2*6 || resets < passes {
		t.Errorf("%d passes and %d resets, want 13 passes, each after a reset", passes, resets)
	}
	race.Contenders[0].Want = func() uint64 { return 8 }
	if _, err := race.Run(context.Background()); !errors.Is(err, ErrWrongAnswer) {
		t.Errorf("answer 7 where 8 is wanted: error %v", err)
	}
	race.Contenders[0].Want = nil
	if _, err := race.Run(context.Background()); err == nil {
		t.Error("a cold contender without Want is not refused")
	}
}

func TestH02_WorkThatIsNotDone(t *testing.T) {
	// A body that ignores how much it was asked to do: too fast to be true.
	var c clock
	lazy := Contender{Name: "lazy", Ops: 1_000_000, Run: func() uint64 { c.now += 10; return 0 }}
	batch := c.worker("batch", 1_000_000, 0.3, 0)
	batch.Batch = true
	single := c.worker("single", 1_000_000, 0.3, 0)
	timing := run(t, Race{Loop: c.worker("loop", 1000, 0.1, 0), Contenders: []Contender{lazy, batch, single}, Rounds: 1, Now: c.read})
	if s := timing.Series[0]; !strings.Contains(s.Invalid, "below the 0.5 ns") {
		t.Errorf("lazy: %q, want it flagged", s.Invalid)
	}
	if s := timing.Series[1]; s.Invalid != "" {
		t.Errorf("0.3 ns in a batch: %q", s.Invalid)
	}
	if s := timing.Series[2]; s.Invalid == "" {
		t.Error("0.3 ns for single lookups is not flagged")
	}
	// Twice the work takes twice the time, unless it is only done once.
	done := false
	cached := Contender{Name: "cached", Ops: 1000, Run: func() uint64 {
		if !done {
			c.now += time.Millisecond
		}
		c.now += 10
		return 0
	}, Prepare: func(int) { done = false }}
	timing = run(t, Race{Loop: cached, Contenders: []Contender{{Name: "fixed", Ops: 1000, Run: func() uint64 { return 1 }}}, Rounds: 1, Now: c.read})
	if s := timing.Series[0]; s.Invalid == "" || s.Reps != maxReps {
		t.Errorf("work that takes no time: %+v", s)
	}
	if got := timing.Loop.Doubling; got != 2 {
		t.Errorf("honest work doubles by %v", got)
	}
}

func TestH03_AnswersAreChecked(t *testing.T) {
	var c clock
	loop := c.worker("loop", 1000, 1, 0)
	wrong := c.worker("dead", 1000, 4, 0)
	wrong.Want = func() uint64 { return 500 }
	_, err := Race{Loop: loop, Contenders: []Contender{wrong}, Rounds: 1, Now: c.read}.Run(context.Background())
	if !errors.Is(err, ErrWrongAnswer) || !strings.Contains(err.Error(), "dead, round 0: 0 positive, want 500") {
		t.Errorf("removed work: %v", err)
	}
	// A contender that changes its mind while it is timed, with and without Reset.
	for _, reset := range []func(){nil, func() {}} {
		calls := uint64(0)
		fickle := Contender{Name: "fickle", Ops: 1000, Reset: reset, Run: func() uint64 { calls++; c.now += 4000; return calls / 3 }}
		_, err := Race{Loop: loop, Contenders: []Contender{fickle}, Rounds: 1, Now: c.read}.Run(context.Background())
		if !errors.Is(err, ErrWrongAnswer) {
			t.Errorf("answers that change (reset: %v): %v", reset != nil, err)
		}
	}
}

func TestH14_DriftFallsOnAllAlike(t *testing.T) {
	// A machine that slows down by 1% with every sample. In blocks (AAABBB) the
	// same contender would seem to differ from itself by 1.01^rounds = 13%; turn
	// about it is neither faster nor slower.
	var c clock
	speed, samples := 1.0, 0
	drifting := func(name string, cost float64) Contender {
		w := c.worker(name, 1_000_000, 1, 1)
		return Contender{Name: name, Ops: w.Ops, Prepare: func(int) { samples++; speed *= 1.01 },
			Run: func() uint64 { c.now += time.Duration(cost * speed * 1e6); return 1 }}
	}
	timing := run(t, Race{Loop: drifting("loop", 0.001), Contenders: []Contender{drifting("a", 4), drifting("b", 4), drifting("c", 5)}, Rounds: 15, Now: c.read})
	again := PairedRatio(timing.Series[0].Net, timing.Again.Net)
	if !again.Interval.Contains(1) || math.Abs(again.Median-1) > 0.02 {
		t.Errorf("a against itself: %+v, want no difference", again)
	}
	if n := timing.Noise(); n < 0.005 || n > 0.05 {
		t.Errorf("noise %v, want some percent", n)
	}
	if r, separated := timing.Compare(0, 1); separated {
		t.Errorf("equal contenders were separated: %+v", r)
	}
	if r, separated := timing.Compare(2, 0); !separated || math.Abs(r.Median-1.25) > 0.03 {
		t.Errorf("a quarter slower: %+v, separated %v", r, separated)
	}
}

func TestCalibrationIsNotFooledByAPause(t *testing.T) {
	// The machine does something else for 5 ms in the second pass of all.
	var c clock
	passes := 0
	paused := Contender{Name: "p", Ops: 1000, Run: func() uint64 {
		if passes++; passes == 2 {
			c.now += 5 * time.Millisecond
		}
		c.now += 4000
		return 1
	}}
	timing := run(t, Race{Loop: c.worker("loop", 1000, 1, 0), Contenders: []Contender{paused}, Rounds: 1, Now: c.read})
	if s := timing.Series[0]; s.Reps < 500 || s.Reps > 600 || s.Doubling != 2 {
		t.Errorf("%d passes of 4 us fill 2 ms, doubling %v", s.Reps, s.Doubling)
	}
}

func TestNoiseWithFewRounds(t *testing.T) {
	var c clock
	calls := 0
	// The second run of every pair costs 10% more.
	uneven := Contender{Name: "u", Ops: 1_000_000, Prepare: func(int) { calls++ }, Run: func() uint64 {
		c.now += time.Duration(4e6 + 4e5*float64(calls%2))
		return 1
	}}
	timing := run(t, Race{Loop: c.worker("loop", 1000, 0, 0), Contenders: []Contender{uneven}, Rounds: 2, Now: c.read})
	if n := timing.Noise(); !near(n, 0.1, 1e-9) {
		t.Errorf("noise %v, want the worst round, 0.1", n)
	}
	// Without a net time nothing can be said.
	timing = run(t, Race{Loop: c.worker("loop", 1000, 9, 0), Contenders: []Contender{c.worker("a", 1000, 4, 0)}, Rounds: 6, Now: c.read})
	if n := timing.Noise(); !math.IsNaN(n) {
		t.Errorf("noise of negative net times is %v", n)
	}
	if s := timing.Series[0]; !strings.Contains(s.Invalid, "no more than the loop") {
		t.Errorf("negative net times: %q, want them flagged", s.Invalid)
	}
	if _, separated := timing.Compare(0, 0); separated {
		t.Error("negative net times were separated")
	}
}

func TestRaceRefuses(t *testing.T) {
	var c clock
	good := c.worker("a", 10, 4, 0)
	for name, r := range map[string]Race{
		"no contenders":  {Loop: good, Rounds: 1},
		"no rounds":      {Loop: good, Contenders: []Contender{good}},
		"no loop":        {Contenders: []Contender{good}, Rounds: 1},
		"no operations":  {Loop: good, Contenders: []Contender{{Run: good.Run}}, Rounds: 1},
		"nothing to run": {Loop: good, Contenders: []Contender{{Ops: 1}}, Rounds: 1},
		"negative time":  {Loop: good, Contenders: []Contender{good}, Rounds: 1, MinSample: -1},
	} {
		if _, err := r.Run(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Race{Loop: good, Contenders: []Contender{good}, Rounds: 1, Now: c.read}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRaceOnTheRealClock(t *testing.T) {
	// Only that it ends and counts; how long it took is no condition.
	keys := make([]uint64, 1000)
	for i := range keys {
		keys[i] = uint64(i)
	}
	odd := Chain(keys, func(h uint64) bool { return h&1 == 1 })
	timing := run(t, Race{
		Loop:       Contender{Name: "loop", Ops: len(keys), Run: Chain(keys, func(uint64) bool { return false })},
		Contenders: []Contender{{Name: "odd", Ops: len(keys), Run: odd, Want: func() uint64 { return 500 }}},
		Rounds:     2, MinSample: 100 * time.Microsecond,
	})
	if len(timing.Samples) != 6 || !(timing.Series[0].Gross[0] > 0) {
		t.Errorf("timing %+v", timing)
	}
}

func TestWriteBenchmarks(t *testing.T) {
	var out strings.Builder
	rounds := []Benchmark{{"filter=blocked(512, k=6)/op=hit", 3.14159265}, {"op=add", 1e6}}
	if err := WriteBenchmarks(&out, Env{OS: "linux", Arch: "amd64", CPU: "some CPU", GOMAXPROCS: 2}, rounds); err != nil {
		t.Fatal(err)
	}
	// The format: golang.org/design/14313-benchmark-format.
	want := "goos: linux\ngoarch: amd64\ncpu: some CPU\npkg: filterlab\n" +
		"BenchmarkRace/filter=blocked(512,_k=6)/op=hit-2\t1\t3.1416 ns/op\nBenchmarkRace/op=add-2\t1\t1e+06 ns/op\n"
	if out.String() != want {
		t.Errorf("wrote\n%swant\n%s", out.String(), want)
	}
}
