//go:build !linux

package catalog

// Package syscall has no advice here.
func adviseRandom([]byte)     {}
func adviseSequential([]byte) {}
