package cpu

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// A kernel must never run where it is not built in, and the switch that turns it
// off must work on machines that have it.
func TestAVX2(t *testing.T) {
	if os.Getenv("WANT_NO_AVX2") != "" {
		if AVX2() {
			t.Error("AVX2 although it is off")
		}
		return
	}
	if AVX2() && runtime.GOARCH != "amd64" {
		t.Errorf("AVX2 on %s", runtime.GOARCH)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAVX2$")
	cmd.Env = append(os.Environ(), "WANT_NO_AVX2=1", "GODEBUG=cpu.avx2=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with GODEBUG=cpu.avx2=off: %v\n%s", err, out)
	}
}
