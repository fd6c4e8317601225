// Package experiments declares what filterlab measures and runs it.
//
// An [Experiment] is a question, a grid of points, a list of measures, and
// figures. A [Point] is one cell: a filter variant with a target, a hash, a key
// set and a number of keys to insert. [Run] visits the points in a fixed random
// order; at each it builds the filter, checks that no key was lost, measures,
// and writes [Row]s as they come, so that a run that was interrupted goes on
// where it stopped.
//
// Rows that depend on nothing but the seed (events, trials, bits) go to
// samples.csv, which is the same byte for byte on every machine. Rows that
// depend on a clock, an allocator or a process-random hash go to times.csv. The
// summary and the figures are made from those two files alone.
//
// To add an experiment, write one file with one function that returns an
// Experiment, and name it in [All].
package experiments
