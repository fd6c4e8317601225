package scalable

import (
	"fmt"
	"math"

	"filterlab/filters"
	"filterlab/filters/internal/index"
	"filterlab/filters/standard"
	"filterlab/filters/theory"
)

// Defaults of the knobs.
const (
	// DefaultGrowth doubles the capacity from stage to stage: at worst a little
	// more than half of all allocated bits are waiting for keys. 4 halves the
	// number of stages, and at worst three quarters wait.
	DefaultGrowth = 2

	// DefaultTighten is r. A small r makes late stages strict and large, an r near
	// 1 all stages, the first included. After L stages of growth 2 the bits are
	// least near r = 1 - 1/(L-1). At 1%, from n0 = 1000 to a million keys in ten
	// stages, r = 0.5 takes 23.1 bits per key, 0.8 17.0, 0.9 16.5; to 10,000 keys in
	// four, 21.4, 21.0 and 22.3 (the theory sheet, block 4.growth). 0.8 is within
	// 4% of the best at both ends, and gets 88% of the promised rate used where 0.9
	// gets 64%.
	DefaultTighten = 0.8

	// MaxGrowth bounds s: more is a filter that should have been sized for its end.
	MaxGrowth = 1024
)

// Config is the geometry of a scalable filter.
type Config struct {
	N0      uint64  // keys of stage 0, at least 1
	P       float64 // bound of the compound rate at every size, 0 < P < 1
	Growth  float64 // s, capacity of a stage over that of its predecessor, 1 to MaxGrowth; 0 means DefaultGrowth
	Tighten float64 // r, rate of a stage over that of its predecessor, 0 < r < 1; 0 means DefaultTighten
	Scheme  standard.Scheme
}

// normal fills in the defaults and checks the ranges. Comparisons are written so
// that NaN fails them.
func (c Config) normal() (Config, error) {
	if c.Growth == 0 {
		c.Growth = DefaultGrowth
	}
	if c.Tighten == 0 {
		c.Tighten = DefaultTighten
	}
	switch {
	case c.N0 < 1 || c.N0 > filters.MaxBits:
		return c, filters.Refuse("scalable: n0", c.N0, "1 to 2^48 keys")
	case !(c.P > 0 && c.P < 1):
		return c, filters.Refuse("scalable: p", c.P, "0 < p < 1")
	case !(c.Growth >= 1 && c.Growth <= MaxGrowth):
		return c, filters.Refuse("scalable: s", c.Growth, "a growth factor from 1 to 1024")
	case !(c.Tighten > 0 && c.Tighten < 1):
		return c, filters.Refuse("scalable: r", c.Tighten, "a tightening ratio above 0 and below 1")
	}
	return c, nil
}

// stage is the plan of one stage.
type stage struct {
	number     int
	capacity   uint64          // keys it counts before it is full: n0·s^number, rounded up at every step
	distinct   uint64          // distinct keys it takes until then
	geometry   standard.Config // sized for distinct keys
	multiplier uint64          // what hashes are multiplied with, so that stages are independent
}

// first plans stage 0.
func (c Config) first() (stage, error) { return c.plan(0, c.N0, 1) }

// after plans the stage that follows s.
func (c Config) after(s stage) (stage, error) {
	// One rounding per product, so every platform gets the same capacity.
	next := math.Ceil(float64(s.capacity) * c.Growth)
	if next > filters.MaxBits {
		return stage{}, filters.Refuse("scalable: n", next, fmt.Sprintf("a stage of at most 2^48 keys (stage %d)", s.number+1))
	}
	return c.plan(s.number+1, uint64(next), s.multiplier*index.StageMultiplier)
}

// plan sizes a stage so that it keeps its rate when it is full, for the keys it
// then holds: those it counted and those that set no bit and went uncounted. The
// latter are 0.1% at a rate of 1%, which would raise it by 0.5%.
func (c Config) plan(number int, capacity, multiplier uint64) (stage, error) {
	s := stage{number: number, capacity: capacity, distinct: capacity, multiplier: multiplier}
	target := filters.Target{P: theory.ScalableStageRate(c.P, c.Tighten, number)}
	// The uncounted are a small share, and their number hardly moves the size, so
	// the second round changes little and a third nothing that matters.
	for range 3 {
		var err error
		target.N = s.distinct
		if s.geometry, err = (standard.Variant{Scheme: c.Scheme}).Geometry(target); err != nil {
			return stage{}, fmt.Errorf("scalable: stage %d for %d keys: %w", number, s.capacity, err)
		}
		distinct := capacity + uncounted(s.geometry, s.distinct)
		if distinct == s.distinct {
			break
		}
		s.distinct = distinct
	}
	return s, nil
}

// uncounted is the expected number of n distinct keys that a table already
// answers true for when they come: the sum of the rates after 0, 1 ... n-1 keys.
// The classic formula will do for so small a share. The sum is taken as an
// integral (Simpson) less half the last term.
func uncounted(g standard.Config, n uint64) uint64 {
	const intervals = 16
	rate := func(i int) float64 {
		return theory.StandardClassic(g.Bits*intervals, uint64(i)*n, g.K)
	}
	sum := rate(intervals)
	for i := 1; i < intervals; i++ {
		sum += rate(i) * float64(2+2*(i%2))
	}
	return uint64(math.Round(max(sum*float64(n)/(3*intervals)-rate(intervals)/2, 0)))
}

// walk calls visit with every stage that n distinct keys open, from the oldest,
// and with the number of keys that go into it. The newest of several has at
// least one.
func (c Config) walk(n uint64, visit func(s stage, keys uint64)) error {
	s, err := c.first()
	for ; err == nil; s, err = c.after(s) {
		keys := min(n, s.distinct)
		visit(s, keys)
		if n -= keys; n == 0 {
			return nil
		}
	}
	return err
}

// Predict is what theory expects of a filter of this Config after inserted
// distinct hashes, each given to Add: the compound rate, the stages open then and
// their bits. (TestAndAdd stores fewer, those that pass for absent.) K is the most
// probes of a stage, Capacity what all stages open take.
//
// Where a stage is about to fill up, chance decides whether the next one is open
// already; the prediction takes the mean.
func (c Config) Predict(inserted uint64) (theory.Prediction, error) {
	c, err := c.normal()
	if err != nil {
		return theory.Prediction{}, err
	}
	p := theory.Prediction{Inserted: inserted}
	var (
		unknown error // the scheme has no formula
		passes  = 1.0 // chance that an absent key passes no stage so far
		spread  float64
		set     float64
	)
	err = c.walk(inserted, func(s stage, keys uint64) {
		one, err := s.geometry.Predict(keys)
		if err != nil {
			unknown = err
		}
		// Var(1 - prod q_i) for independent q_i = 1 - f_i, relative to prod q_i squared.
		q := 1 - one.FPR
		if q > 0 {
			spread += one.BuildSD * one.BuildSD / (q * q)
		}
		passes *= q
		set += one.Fill * float64(one.Bits)
		p.Bits += one.Bits
		p.K = max(p.K, one.K)
		p.Capacity += s.distinct
		p.Stages++
	})
	if err != nil {
		return theory.Prediction{}, err
	}
	if p.Bits > filters.MaxBits {
		return theory.Prediction{}, tooLarge(inserted, p.Bits)
	}
	p.FPR = 1 - passes
	p.BuildSD = passes * math.Sqrt(spread)
	p.Fill = set / float64(p.Bits)
	return p, unknown
}

func tooLarge(n, bits uint64) error {
	return filters.Refuse("scalable: n", n, fmt.Sprintf("stages of at most 2^48 bits together; this needs %d bits (%.4g bytes)", bits, float64(bits)/8))
}
