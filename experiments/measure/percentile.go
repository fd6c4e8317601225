package measure

import (
	"math"
	"slices"
	"time"
)

// Clock is what reading a clock costs and how finely it ticks, in nanoseconds.
// Single operations are timed with one reading before and one after: Cost is in
// each of their times, and two times that differ by less than Resolution are the
// same.
type Clock struct {
	Cost       float64 // median time between two readings with nothing between them
	Resolution float64 // smallest difference above zero between two such times, or between two readings
}

// clockReadings is how many pairs of readings calibrate a clock: a tenth of a
// millisecond on common machines.
const clockReadings = 2001

// CalibrateClock reads now some thousand times. Nil means the machine's monotonic
// clock. A clock that stands still has no resolution: it is +Inf, and no time that
// it gives means anything.
func CalibrateClock(now func() time.Duration) Clock {
	if now == nil {
		now = monotonic()
	}
	gaps := make([]float64, clockReadings)
	for i := range gaps {
		start := now()
		gaps[i] = float64((now() - start).Nanoseconds())
	}
	c := Clock{Cost: Median(gaps), Resolution: math.Inf(1)}
	slices.Sort(gaps)
	last := 0.0
	for _, g := range gaps {
		if g > last {
			c.Resolution = min(c.Resolution, g-last)
			last = g
		}
	}
	return c
}

// monotonic is the machine's clock, from now on.
func monotonic() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// TimeEach calls op for 0 to n-1, times every call by itself, and appends the times
// to dst, in nanoseconds and in the order of the calls. The cost of the clock and of
// the call is in each: see [Clock]. It stops where op returns false, without that
// call. With room in dst nothing is allocated.
func TimeEach(dst []float64, n int, op func(i int) bool) []float64 {
	now := monotonic()
	for i := range n {
		start := now()
		ok := op(i)
		elapsed := now() - start
		if !ok {
			return dst
		}
		dst = append(dst, float64(elapsed.Nanoseconds()))
	}
	return dst
}

// Tail is the far end of a distribution of times, in their unit.
type Tail struct {
	P50, P99, P999 float64 // quantiles: the share above is at most 50%, 1% and 0.1%
	Worst          float64
	Samples        int
}

// TailOf sums up xs, which it sorts. A quantile with too few samples behind it to
// be exceeded at all with probability 95% (see [SamplesAbove]: 299 for P99, 2,995
// for P999) is NaN, and so is everything of no samples.
func TailOf(xs []float64) Tail {
	slices.Sort(xs)
	at := func(q float64) float64 {
		if uint64(len(xs)) < SamplesAbove(q, 0.95) {
			return math.NaN()
		}
		return xs[int(math.Ceil(q*float64(len(xs))))-1]
	}
	t := Tail{P50: math.NaN(), P99: at(0.99), P999: at(0.999), Worst: math.NaN(), Samples: len(xs)}
	if len(xs) > 0 {
		t.P50, t.Worst = xs[(len(xs)-1)/2], xs[len(xs)-1]
	}
	return t
}
