// Package scalable is the scalable Bloom filter (Almeida, Baquero, Preguiça,
// Hutchison, Information Processing Letters 101(6), 2007): a standard filter that
// opens another, larger one whenever it is full. It is for callers who do not
// know how many keys will come.
//
// # What is promised
//
// Stage i takes n0·s^i keys and is sized for the rate P(1-r)·r^i. A lookup is
// positive when any stage says so, so the rates add up, but to no more than P
// however many stages open, at every number of keys. Early on the rate is far
// below: with one stage it is P(1-r).
//
// # What it costs
//
// Space: the stages are smaller shares of a stricter promise, and the newest is
// part empty. For 1% a standard filter takes 9.6 bits per key; this one takes 16
// to 26 depending on how far the newest stage has come. Time: an absent key must
// pass every stage, two to three probes each; a present one is found in the newest
// stage first, where half or more of the keys are.
//
// # Counting
//
// A stage counts the keys that set a bit in it, so a key added again and again
// opens no stage. A new key that the stage already answers true for is not counted
// either: a stage takes slightly more keys than its capacity, and is sized for
// them. Only the Add that opens a stage allocates.
package scalable
