//go:build !race

package filtertest

const underRace = false // whether the race detector is compiled in
