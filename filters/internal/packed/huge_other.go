//go:build !linux

package packed

func adviseHuge([]uint64) {}
