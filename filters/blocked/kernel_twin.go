//go:build !amd64 || purego

package blocked

func (f *Filter) containsSIMD([]bool, []uint64) (done, hits int) { return 0, 0 }

func (f *Filter) addSIMD([]uint64) (done int) { return 0 }
