//go:build !amd64 || purego

package standard

func (f *Filter) containsSIMD([]bool, []uint64) (done, hits int) { return 0, 0 }
