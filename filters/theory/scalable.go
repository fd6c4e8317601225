package theory

import "math"

// ScalableCompound is the rate of a filter whose negative lookups must pass every
// stage: 1 - prod(1-f_i) over the rates of its stages (Almeida et al. 2007).
func ScalableCompound(stages ...float64) float64 {
	sum := 0.0
	for _, f := range stages {
		if !(f >= 0 && f <= 1) {
			return math.NaN()
		}
		sum += math.Log1p(-f)
	}
	return -math.Expm1(sum)
}

// ScalableStageRate is the rate stage i (from 0) is sized for so that the
// compound stays below p however many stages open: p (1-r) r^i, with tightening
// ratio 0 < r < 1.
func ScalableStageRate(p, r float64, i int) float64 {
	if !(p > 0 && p < 1) || !(r > 0 && r < 1) || i < 0 {
		return math.NaN()
	}
	return p * (1 - r) * math.Pow(r, float64(i))
}

// ScalableStages is the number of stages that N keys open when stage 0 takes n0
// keys and each further one s times its predecessor: the least l >= 1 with
// n0 (s^l-1)/(s-1) >= N, that is ceil(log_s(1 + N (s-1)/n0)). It is 0 outside
// the domain: n0 = 0, or s below 1 or not finite.
func ScalableStages(N, n0 uint64, s float64) int {
	if n0 == 0 || !(s >= 1) || math.IsInf(s, 1) {
		return 0
	}
	if s == 1 {
		return int(max(1, (N+n0-1)/n0))
	}
	stages, total, last := 1, float64(n0), float64(n0)
	for total < float64(N) {
		last *= s
		total += last
		stages++
	}
	return stages
}
