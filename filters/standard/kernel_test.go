package standard

import (
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"filterlab/filters/filtertest"
	"filterlab/filters/internal/cpu"
)

func needAVX2(t testing.TB) {
	t.Helper()
	if !cpu.AVX2() {
		t.Skip("no AVX2 here, or not in this build")
	}
}

// kernels are geometries that have a kernel: every k, and sizes around a word and
// around the largest.
func kernels() []Config {
	var cs []Config
	for k := 1; k <= MaxK; k++ {
		cs = append(cs, Config{Bits: uint64(900*k + 13), K: k})
	}
	for _, bits := range []uint64{1, 2, 31, 32, 33, 63, 64, 65, 64*large - 1} {
		cs = append(cs, Config{Bits: bits, K: 7})
	}
	return cs
}

// agreeOn asks two filters of one table, with and without the kernel, and compares
// answers, counts and the bytes around the answers with what Contains says.
func agreeOn(t *testing.T, f *Filter, ask []uint64) {
	t.Helper()
	plain := *f
	plain.simd = false
	// One byte more at either end, and stale answers of both kinds.
	out, want := make([]bool, len(ask)+2), make([]bool, len(ask)+2)
	for i := range out {
		out[i], want[i] = i&1 == 0, i&1 == 0
	}
	kept := slices.Clone(ask)
	hits, wantHits := f.ContainsMany(out[1:], ask), 0
	for i, h := range ask {
		want[i+1] = f.Contains(h)
		wantHits += one(want[i+1])
	}
	if hits != wantHits || !slices.Equal(out, want) {
		t.Fatalf("%+v: %d queries by %s: %d hits, Contains says %d, or other keys", f.config, len(ask), f.Kernel(), hits, wantHits)
	}
	if hits := plain.ContainsMany(out[1:], ask); hits != wantHits || !slices.Equal(out, want) {
		t.Fatalf("%+v: %d queries without the kernel: %d hits, Contains says %d, or other keys", f.config, len(ask), hits, wantHits)
	}
	if !slices.Equal(ask, kept) {
		t.Fatalf("%+v: ContainsMany changed its argument", f.config)
	}
}

// The kernel and Go, in one process: lengths around eight and around the length of
// one call, slices that begin anywhere, tables half full, and the extremes of a hash,
// which ask for the first and the last bit.
func TestVectorsAgree(t *testing.T) {
	needAVX2(t)
	edges := []uint64{0, 1, ^uint64(0), ^uint64(0) - 1, 1 << 63, 1<<63 - 1, 1 << 32, 1<<32 - 1, 1<<32 + 1, 0xffffffff00000000}
	for i, c := range kernels() {
		f := mustNew(t, c)
		if !f.simd {
			t.Fatalf("%+v has no kernel", c)
		}
		rng := rand.New(rand.NewPCG(c.Bits, uint64(c.K)))
		hs := make([]uint64, 2*slice+20)
		for i := range hs {
			hs[i] = rng.Uint64()
		}
		copy(hs, edges)
		agreeOn(t, f, hs[:100]) // an empty table
		// Half full; of the members, each third is asked for.
		half := int(min(c.Bits*7/10/uint64(c.K), slice/2))
		f.AddMany(hs[:half])
		for j := 0; j < half; j += 3 {
			hs[slice+j] = hs[j]
		}
		lengths := []int{0, 1, 7, 8, 9, 15, 16, 17, 100}
		if i%8 == 0 {
			lengths = append(lengths, slice-1, slice, slice+1, 2*slice+9)
		}
		for j, n := range lengths {
			agreeOn(t, f, hs[j%5:][:n]) // 8-byte steps, so that no vector is aligned by luck
			agreeOn(t, f, hs[len(hs)-n:])
		}
		if half := f.FillRatio(); c.Bits > 100 && c.Bits < 1e5 && (half < 0.4 || half > 0.6) {
			t.Errorf("%+v: %.2f of the bits are set: too few answers of one kind", c, half)
		}
	}
}

// A kernel takes all keys but up to seven, where there is one; the switch takes it
// away.
func TestVectorSwitch(t *testing.T) {
	needAVX2(t)
	hs := filtertest.Members(1, 1001)
	f := mustNew(t, Config{Bits: 7000, K: 7})
	f.AddMany(hs)
	dst := make([]bool, len(hs))
	if done, hits := f.containsSIMD(dst, hs); done != 1000 || hits != 1000 {
		t.Errorf("%d of 1001 keys asked, %d found, want 1000", done, hits)
	}
	f.simd = false
	if done, hits := f.containsSIMD(dst, hs); done != 0 || hits != 0 {
		t.Errorf("switched off: %d keys asked, %d found", done, hits)
	}
}

// FuzzVectors feeds both sides what the fuzzer finds: hashes from bytes, in any
// geometry that has a kernel.
func FuzzVectors(f *testing.F) {
	needAVX2(f)
	for i := range kernels() {
		var seed []byte
		for _, h := range filtertest.Members(uint64(i), 20) {
			seed = binary.LittleEndian.AppendUint64(seed, h)
		}
		f.Add(uint8(i), uint8(128), seed)
	}
	f.Fuzz(func(t *testing.T, which, split uint8, data []byte) {
		cs := kernels()
		hs := make([]uint64, len(data)/8)
		for i := range hs {
			hs[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		filter := mustNew(t, cs[int(which)%(len(cs)-1)]) // 8 MiB would take most of the time
		filter.AddMany(hs[:len(hs)*int(split)/256])
		agreeOn(t, filter, hs)
	})
}

// A single lookup is one call to the code for its geometry: Contains itself
// disappears.
func TestContainsIsInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler to ask: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "can inline (*Filter).Contains\n") {
		t.Error("Contains is not inlined")
	}
}
