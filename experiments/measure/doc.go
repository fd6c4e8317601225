// Package measure counts, times and weighs filters, and says how far each figure
// can be trusted. It knows nothing of experiments, grids or rows: it is the
// library that a runner calls.
//
// # Rates
//
// A false-positive rate is kept as a [Count]: events among trials, fixed
// beforehand by [PlanTrials] or [PlanRuns]. [Absent] counts them and [Lost]
// proves that no stored key is denied. Two things scatter a measured rate: the
// queries drawn, and the filter built, whose own conditional rate differs from
// one seed to the next. Intervals that ignore the second are too narrow by the
// root of the [DesignEffect], four times for one filter of 1,000 keys under a
// million queries. [RateInterval] chooses between the exact interval over pooled
// counts and the cluster interval over seeds; [VerdictOf] holds counts against an
// exact expectation, and [Holm] corrects for having looked at many.
//
// # Times
//
// A [Race] runs contenders turn about in one process, the loop without a filter
// among them, and keeps every sample. Timings are summarised by medians and by
// order statistics, which assume nothing of their distribution; six samples are
// the fewest that support an interval.
//
// # Memory and machine
//
// [WeighBuild] weighs what a build leaves behind, and [ReadEnv] records the machine.
package measure
