//go:build race

package filtertest

const underRace = true
