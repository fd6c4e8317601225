package measure

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteBenchmarks writes a race in the Go benchmark format, one line a sample, so
// that benchstat reads it: gross and net nanoseconds per operation. Names of
// contenders in the form "filter=standard/op=hit" become benchstat's keys; blanks
// in them become underscores.
func WriteBenchmarks(w io.Writer, e Env, t Timing) error {
	b := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\ncpu: %s\npkg: filterlab\n", e.OS, e.Arch, e.CPU)
	for _, s := range t.Series {
		name := strings.Join(strings.Fields(s.Name), "_")
		for i, gross := range s.Gross {
			fmt.Fprintf(b, "BenchmarkRace/%s-%d\t%d\t%.4g ns/op\t%.4g net-ns/op\n",
				name, e.GOMAXPROCS, uint64(s.Ops)*uint64(s.Reps), gross, s.Net[i])
		}
	}
	return b.Flush()
}
