package contest

import (
	"filterlab/experiments"
	"filterlab/experiments/peers/adapter"
)

// What a key costs, in ns, on the average over all filters: hashing it, and looking it
// up or adding it in a table of n keys. Of an idle machine of 2.8 GHz and rounded up;
// nothing but the plan depends on them.
const (
	hashCost = 15
	duelMake = 60 // of adding, the two of a duel, beyond the caches
)

// costOf is the time of one lookup or add in a filter of n keys, in ns.
func costOf(n uint64) float64 {
	switch {
	case n <= 100_000:
		return 20
	case n <= 1_000_000:
		return 40
	case n <= 10_000_000:
		return 95
	default:
		return 150
	}
}

// queries is how many lookups a pass over a filter of n keys makes.
func queries(n uint64) float64 { return float64(max(minQueries, min(n, maxQueries))) }

// SurveySeconds is about how long the survey takes with the profile on an idle
// machine: an estimate, within a third.
func SurveySeconds(p experiments.Profile) float64 {
	filters := float64(len(ours()) + len(adapter.All()))
	seconds := 0.0
	for n := min(smallest, p.MaxN); n <= p.MaxN; n *= 10 {
		cost, rounds, keys := costOf(n), float64(surveyRounds(p, n)), float64(n)
		rates := float64(seeds(n))*keys*(2*cost+hashCost) + 3e6*(cost+hashCost)
		built := keys * (2*cost + hashCost)
		lookups := 4 * rounds * queries(n) * (3*cost + 3*hashCost)
		passes := 2.0
		if n > largePass {
			passes = 1
		}
		added := passes * (rounds + 1) * keys * cost * 1.3 // a third of them in batches, too
		seconds += filters * (rates + built + lookups + added) / 1e9
	}
	return seconds
}

// EqualSeconds is the same for the race at equal measured rate.
func EqualSeconds(p experiments.Profile) float64 {
	filters := float64(len(ours()) + len(adapter.All()))
	n := min(equalKeys, p.MaxN)
	cost, rounds := costOf(n), float64(surveyRounds(p, n))
	tuned := 3 * (float64(n)*(2*cost+hashCost) + equalTrials*(cost+hashCost))
	return filters * (tuned + 4*rounds*queries(n)*(3*cost+3*hashCost)) / 1e9
}

// DuelSeconds is the same for the duels that o lets be fought, and how many they are.
func DuelSeconds(duels []Duel, o DuelOptions) (fought int, seconds float64) {
	made := map[match]bool{}
	for _, d := range duels {
		if !o.chosen(&d) || d.N > o.MaxN {
			continue
		}
		fought++
		cost, keys := costOf(d.N), float64(d.N)
		if m := d.match(); !made[m] {
			made[m] = true
			seconds += 2 * (keys*(duelMake+cost+2*hashCost) + float64(o.Trials)*(cost+hashCost)) / 1e9
		}
		if d.Op == Add {
			rounds, passes := float64(o.Rounds), 2.0
			if d.N > largePass {
				rounds, passes = min(rounds, 6), 1
			}
			seconds += 3 * passes * (rounds + 1) * keys * cost / 1e9
			continue
		}
		seconds += 3 * float64(o.Rounds) * queries(d.N) * (3*cost + 3*hashCost) / 1e9
	}
	return fought, seconds
}
