package measure

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Benchmark is one timed round: a name in the form "filter=standard/op=hit", whose
// parts become benchstat's keys, and nanoseconds per operation.
type Benchmark struct {
	Name string
	Ns   float64
}

// WriteBenchmarks writes rounds in the Go benchmark format, one line each, so that
// benchstat reads them. Blanks in names become underscores. The format wants a number
// of iterations; a round is one.
func WriteBenchmarks(w io.Writer, e Env, list []Benchmark) error {
	b := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\ncpu: %s\npkg: filterlab\n", e.OS, e.Arch, e.CPU)
	for _, x := range list {
		fmt.Fprintf(b, "BenchmarkRace/%s-%d\t1\t%.5g ns/op\n", strings.Join(strings.Fields(x.Name), "_"), e.GOMAXPROCS, x.Ns)
	}
	return b.Flush()
}
