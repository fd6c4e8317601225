package measure

import (
	"fmt"
	"math"
)

// Count is a measured rate kept exactly: how often something happened among how
// many tries. For a false-positive rate the trials are queries for absent keys
// only, never all queries: present ones have no chance to be false positives.
type Count struct{ Events, Trials uint64 }

// Rate is Events / Trials, and NaN where there were no trials: not measured is
// neither 0 nor 1.
func (c Count) Rate() float64 {
	if c.Trials == 0 {
		return math.NaN()
	}
	return float64(c.Events) / float64(c.Trials)
}

// String prints the rate with three digits; "<= 3e-4" when nothing happened in
// 10,000 trials, since a rate is never shown to be 0; and "n/a" without trials.
func (c Count) String() string {
	switch {
	case c.Trials == 0:
		return "n/a"
	case c.Events == 0:
		return fmt.Sprintf("<= %.3g", UpperZero(c.Trials))
	}
	return fmt.Sprintf("%.3g", c.Rate())
}

// Pool adds up counts. The sum says all that is to be said about the rate only
// where the design effect is near 1.
func Pool(counts []Count) Count {
	var sum Count
	for _, c := range counts {
		sum.Events += c.Events
		sum.Trials += c.Trials
	}
	return sum
}
