// Package cpu says which kernels this machine can run. It is asked once, when a
// filter is made, and the answer kept in the filter: a test can then make one
// filter with a kernel and one without in the same process.
package cpu

import "golang.org/x/sys/cpu"

// AVX2 reports whether there are kernels for AVX2 (and BMI2, which came with it) in
// this build and a processor
// and an operating system to run them. The tag purego takes them out of the
// build, and GODEBUG=cpu.avx2=off makes a program do without them.
func AVX2() bool { return assembly && cpu.X86.HasAVX2 && cpu.X86.HasBMI2 }
