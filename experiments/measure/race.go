package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"
)

// Contender is one thing to be timed: a filter's Add or lookup over a whole slice
// of keys. Nothing but Run is timed, and Run must be a plain loop: keys made
// beforehand, no random numbers, no division to find the next index, no
// formatting, and no call through an interface for each key. The one indirect call
// of Run itself is shared by all its operations.
type Contender struct {
	Name  string
	Ops   int  // operations of one Run, at least 1
	Batch bool // a batch API: may be as fast as 0.2 ns an operation, a single one 0.5

	// Prepare is called once a round, before anything of this contender runs:
	// the place to give the keys a fresh order. It may be nil.
	Prepare func(round int)

	// Reset is called before every Run, where one Run spoils the next: adding
	// needs an empty filter. Then every Run is timed by itself, and what reading
	// the clock costs, some 50 ns, is in it: let Run take 5 us at least. Without
	// Reset, Runs are timed together, as many as fill a sample.
	Reset func()

	// Cold leaves out the pass that is not timed, before each sample: for passes of
	// a second or more over tables that no cache holds. It needs a Want.
	Cold bool

	// Run makes Ops operations and returns what came of them, so that no compiler
	// can leave them out: the number of positive answers, or of keys stored.
	Run func() uint64

	// Want, called after Prepare, is what every Run of the round must return.
	// Without it only the Runs of one round are compared with each other.
	Want func() uint64
}

// Race times contenders turn about, in one process. Every round takes one sample
// of each. The order moves on by one place every other round and is run backwards
// in the rounds between, so that everyone comes to sit in every place, and any two
// are as often first as second. Rotation alone would not do: neighbours keep
// their order in all rounds but one, and under slow drift the later one seems the
// slower by the median.
type Race struct {
	// Loop is the same loop over the same keys without a filter. Its time, in the
	// same round, is taken off that of every contender.
	Loop Contender

	Contenders []Contender
	Rounds     int // samples of each; six give an interval, ten a useful one

	// MinSample is the shortest time that one sample should take; zero means 2 ms.
	// Short passes are repeated to fill it.
	MinSample time.Duration

	// Now reads a monotonic clock; nil means the machine's.
	Now func() time.Duration
}

// Sample is one timing as it was taken.
type Sample struct {
	Round   int
	Place   int // order within the round, from 0
	Name    string
	Again   bool   // the second run of the first contender
	Ops     uint64 // operations timed
	Elapsed time.Duration
}

// NsPerOp is the gross time of one operation in nanoseconds.
func (s Sample) NsPerOp() float64 { return float64(s.Elapsed.Nanoseconds()) / float64(s.Ops) }

// Series is all that was timed of one contender.
type Series struct {
	Name  string
	Ops   int       // operations of a pass
	Reps  int       // passes of a sample
	Gross []float64 // ns per operation, by round
	Net   []float64 // Gross less the loop's in the same round; can be negative where there is nothing to measure

	// Doubling is the time of twice the passes over that of once: 2 for work that
	// is really done each time. It is NaN where a pass is so long that it was not
	// tried, and noisy like any single timing.
	Doubling float64

	// Invalid says why the figures are not to be believed; empty when they may be.
	Invalid string
}

// Timing is the result of a race.
type Timing struct {
	Samples []Sample // everything, in the order taken
	Loop    Series
	Series  []Series // one for each contender, in the order given
	Again   Series   // the first contender once more, as though it were another
}

// The fastest that an operation can be, in ns: about two cycles. Anything below
// did not do the work.
const (
	floorSingle = 0.5
	floorBatch  = 0.2
)

// maxReps bounds the passes of a sample, so that a pass that takes no time at all
// ends. With a call each that is some 2 ms.
const maxReps = 1 << 20

// racer is a contender with what the race learns of it.
type racer struct {
	Contender
	reps     int
	doubling float64
	gross    []float64
}

// Run runs the race. It fails when a contender returns another answer than it
// must, or ctx ends.
func (r Race) Run(ctx context.Context) (Timing, error) {
	if err := r.check(); err != nil {
		return Timing{}, err
	}
	if r.MinSample == 0 {
		r.MinSample = 2 * time.Millisecond
	}
	if r.Now == nil {
		start := time.Now()
		r.Now = func() time.Duration { return time.Since(start) }
	}
	// Slot 0 is the loop, slot 1 the first contender again.
	racers := []racer{{Contender: r.Loop}, {}}
	for _, c := range r.Contenders {
		racers = append(racers, racer{Contender: c})
	}
	for i := range racers {
		if i == 1 {
			continue
		}
		if err := r.calibrate(ctx, &racers[i]); err != nil {
			return Timing{}, err
		}
	}
	racers[1] = racers[2] // the same contender is timed the same way twice

	t := Timing{Samples: make([]Sample, 0, r.Rounds*len(racers))}
	for round := range r.Rounds {
		runtime.GC() // not in the middle of somebody's sample
		for place := range racers {
			if err := ctx.Err(); err != nil {
				return Timing{}, err
			}
			slot := slotAt(round, place, len(racers))
			c := &racers[slot]
			elapsed, err := r.sample(c, round, c.reps)
			if err != nil {
				return Timing{}, err
			}
			s := Sample{Round: round, Place: place, Name: c.Name, Again: slot == 1, Ops: uint64(c.Ops) * uint64(c.reps), Elapsed: elapsed}
			t.Samples = append(t.Samples, s)
			c.gross = append(c.gross, s.NsPerOp())
		}
	}
	loop := racers[0].gross
	t.Loop, t.Again = racers[0].series(nil), racers[1].series(loop)
	for i := range racers[2:] {
		t.Series = append(t.Series, racers[2+i].series(loop))
	}
	return t, nil
}

// slotAt is who sits in a place: the order of the round before, backwards, in odd
// rounds; moved on by one in even ones.
func slotAt(round, place, slots int) int {
	if round%2 == 1 {
		place = slots - 1 - place
	}
	return (place + round/2) % slots
}

func (r Race) check() error {
	if len(r.Contenders) == 0 || r.Rounds < 1 || r.MinSample < 0 {
		return fmt.Errorf("race: %d contenders, %d rounds, samples of %v: want at least one contender and one round, and no negative time",
			len(r.Contenders), r.Rounds, r.MinSample)
	}
	for i, c := range append([]Contender{r.Loop}, r.Contenders...) {
		if c.Cold && c.Want == nil {
			return fmt.Errorf("race: contender %d (%q): want a Want, since it is cold", i, c.Name)
		}
		if c.Run == nil || c.Ops < 1 {
			return fmt.Errorf("race: contender %d (%q): want a Run of at least one operation, not of %d", i, c.Name, c.Ops)
		}
	}
	return nil
}

// calibrate finds how many passes fill a sample.
func (r Race) calibrate(ctx context.Context, c *racer) error {
	c.doubling = math.NaN()
	for c.reps = 1; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		elapsed, err := r.sample(c, 0, c.reps)
		if err != nil {
			return err
		}
		if c.reps >= maxReps || elapsed >= 10*r.MinSample {
			return nil
		}
		if elapsed >= r.MinSample {
			twice, err := r.sample(c, 0, 2*c.reps)
			if err != nil {
				return err
			}
			if twice >= r.MinSample {
				c.doubling = float64(twice) / float64(elapsed)
				return nil
			}
			// Twice the work took less time: something else ran meanwhile the
			// first time.
			elapsed = twice / 2
		}
		// A tenth more than seems needed, since a sample that is just too short
		// costs another step; a hundredfold at most, since the first, cold pass
		// predicts badly.
		grow := 100.0
		if elapsed > 0 {
			grow = min(grow, 1.1*float64(r.MinSample)/float64(elapsed))
		}
		c.reps = min(maxReps, int(math.Ceil(max(grow, 1.1)*float64(c.reps))))
	}
}

// sample times reps passes, after one that is not timed unless the contender is
// cold: it brings code and tables into the caches that they fit in, and settles
// what the answer is.
func (r Race) sample(c *racer, round, reps int) (time.Duration, error) {
	if c.Prepare != nil {
		c.Prepare(round)
	}
	if c.Reset != nil {
		c.Reset()
	}
	var want uint64
	if c.Cold {
		want = c.Want()
	} else if want = c.Run(); c.Want != nil && want != c.Want() {
		return 0, wrongAnswer(c, round, want, c.Want())
	}
	var elapsed time.Duration
	if c.Reset == nil {
		var sum uint64
		start := r.Now()
		for range reps {
			sum += c.Run()
		}
		elapsed = r.Now() - start
		if all := want * uint64(reps); sum != all { // both modulo 2^64
			return 0, wrongAnswer(c, round, sum, all)
		}
		return elapsed, nil
	}
	for range reps {
		c.Reset()
		start := r.Now()
		got := c.Run()
		elapsed += r.Now() - start
		if got != want {
			return 0, wrongAnswer(c, round, got, want)
		}
	}
	return elapsed, nil
}

// ErrWrongAnswer says that a contender did not do what it was timed for.
var ErrWrongAnswer = errors.New("wrong answer while timing")

// AnswerError is an ErrWrongAnswer that names who gave it, so that a race can be run
// without them.
type AnswerError struct {
	Name      string // of the contender
	Round     int
	Got, Want uint64
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%v: %s, round %d: %d positive, want %d", ErrWrongAnswer, e.Name, e.Round, e.Got, e.Want)
}

// Unwrap is ErrWrongAnswer.
func (e *AnswerError) Unwrap() error { return ErrWrongAnswer }

func wrongAnswer(c *racer, round int, got, want uint64) error {
	return &AnswerError{c.Name, round, got, want}
}

// series sums a racer up; loop is nil for the loop itself, which has no net time
// and no floor: an empty loop may well be free.
func (c *racer) series(loop []float64) Series {
	s := Series{Name: c.Name, Gross: c.gross}
	if loop != nil {
		s = NewSeries(c.Name, c.Batch, c.gross, loop)
	}
	s.Ops, s.Reps, s.Doubling = c.Ops, c.reps, c.doubling
	return s
}

// NewSeries sums up times in ns per operation, by round, that were taken in another way
// than by a Race, beside those of the loop without the work. Batch tells which floor
// they are held against.
func NewSeries(name string, batch bool, gross, loop []float64) Series {
	s := Series{Name: name, Gross: gross, Doubling: math.NaN()}
	for i, g := range gross {
		s.Net = append(s.Net, g-loop[i])
	}
	floor := floorSingle
	if batch {
		floor = floorBatch
	}
	if g := Median(s.Gross); g < floor {
		s.Invalid = fmt.Sprintf("%.3g ns per operation, below the %v ns that any work takes", g, floor)
	} else if net := Median(s.Net); !(net > 0) {
		s.Invalid = fmt.Sprintf("%.3g ns per operation, no more than the loop without a filter", g)
	}
	return s
}

// Noise is the relative difference below which this race tells nothing: how far
// the first contender seemed to differ from itself. It is the outer end of the
// interval of that ratio, or the worst round where there are too few for an
// interval; 0.02 means 2%. It is NaN where the net time was not above zero in all
// rounds.
func (t Timing) Noise() float64 {
	a, b := t.Series[0].Net, t.Again.Net
	r := PairedRatio(a, b)
	if r.Rounds == 0 {
		return math.NaN()
	}
	if r.Interval.Valid() {
		return math.Expm1(max(math.Abs(math.Log(r.Interval.Lo)), math.Abs(math.Log(r.Interval.Hi))))
	}
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(math.Log(a[i]/b[i])))
	}
	return math.Expm1(worst)
}

// Compare is the ratio of the net times of two contenders, by their index, and
// whether the race separates them: the interval of the ratio leaves out 1, and
// the ratio is further from 1 than the noise. With fewer than six rounds nothing
// is separated.
func (t Timing) Compare(i, j int) (ratio Ratio, separated bool) {
	ratio = PairedRatio(t.Series[i].Net, t.Series[j].Net)
	separated = ratio.Interval.Valid() && !ratio.Interval.Contains(1) &&
		math.Abs(math.Log(ratio.Median)) > math.Log1p(t.Noise())
	return ratio, separated
}
