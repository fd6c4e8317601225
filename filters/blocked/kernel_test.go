package blocked

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"filterlab/filters/filtertest"
	"filterlab/filters/internal/cpu"
	"filterlab/filters/internal/prefetch"
)

// kernels are geometries that have a kernel, small ones and some that are fetched
// ahead; the last is of an odd number of blocks.
func kernels() []Config {
	var cs []Config
	for k := 1; k <= perMix; k++ {
		cs = append(cs, Config{Blocks: 3, K: k})
	}
	return append(cs,
		Config{Blocks: large/8 + 1, K: 6},
		Config{Layout: Split, Blocks: 1},
		Config{Layout: Split, Blocks: 5},
		Config{Layout: Split, Blocks: large/4 + 77},
	)
}

// guarded is a filter between two guards of one cache line and more, and the
// function that tells whether they stand.
func guarded(t *testing.T, c Config, simd bool) (*Filter, func() bool) {
	t.Helper()
	const guard, mark = 16, 0xa5a5a5a5a5a5a5a5
	room := mustNew(t, c)
	n := int(room.SizeBits() / 64)
	all := slices.Repeat([]uint64{mark}, guard+n+guard)
	f := *room
	f.table(all[guard:][:n:n])
	clear(f.words)
	f.simd = simd
	return &f, func() bool {
		for i, w := range all {
			if (i < guard || i >= guard+n) && w != mark {
				return false
			}
		}
		return true
	}
}

func needAVX2(t testing.TB) {
	t.Helper()
	if !cpu.AVX2() {
		t.Skip("no AVX2 here, or not in this build")
	}
}

// agreeOn adds and asks through the kernel and through Go, and compares tables,
// answers, counts and what lies around them.
func agreeOn(t *testing.T, c Config, add, ask []uint64) {
	t.Helper()
	v, vGuard := guarded(t, c, true)
	g, gGuard := guarded(t, c, false)
	kept := slices.Clone(add)
	addAll(t, v, add)
	addAll(t, g, add)
	if !slices.Equal(v.words, g.words) {
		t.Fatalf("%+v: AddMany of %d keys makes other tables", c, len(add))
	}
	if !slices.Equal(add, kept) {
		t.Fatalf("%+v: AddMany changed its argument", c)
	}
	// One byte more at either end, and stale answers of both kinds.
	out, want := make([]bool, len(ask)+2), make([]bool, len(ask)+2)
	for i := range out {
		out[i], want[i] = i&1 == 0, i&1 == 0
	}
	hits, wantHits := v.ContainsMany(out[1:], ask), g.ContainsMany(want[1:], ask)
	if hits != wantHits || !slices.Equal(out, want) {
		t.Fatalf("%+v: %d keys, %d queries: %d hits, Go says %d", c, len(add), len(ask), hits, wantHits)
	}
	for i, h := range ask {
		if out[i+1] != g.Contains(h) {
			t.Fatalf("%+v: query %d of %d: %v, Contains says %v", c, i, len(ask), out[i+1], g.Contains(h))
		}
	}
	if !vGuard() || !gGuard() {
		t.Fatalf("%+v: %d keys: something was written beside the table", c, len(add))
	}
}

// The kernels and Go, in one process: every length up to a few chunks, those
// around the length of one call, and slices that begin anywhere.
func TestVectorsAgree(t *testing.T) {
	needAVX2(t)
	for _, c := range kernels() {
		rng := rand.New(rand.NewPCG(uint64(c.Blocks), uint64(c.K)))
		hs := make([]uint64, 3*slice)
		for i := range hs {
			hs[i] = rng.Uint64()
		}
		per := int(c.Blocks) * 12 // about a quarter of the bits, to see both answers
		lengths := []int{slice - 1, slice, slice + 1, slice + ahead - 1, slice + ahead, slice + ahead + 1, 2*slice + 3}
		if c.Blocks < 100 {
			for n := range 3 * ahead {
				lengths = append(lengths, n)
			}
		} else {
			lengths = append(lengths, 0, 1, 3, 4, 5, 2*ahead-1, 2*ahead, 2*ahead+1, 2*ahead+7)
		}
		for i, n := range lengths {
			from := i % 5 // 8-byte steps, so that no vector is aligned by luck
			add := hs[from:][:min(n, per)]
			ask := append(slices.Clone(hs[from:][:n/2]), hs[len(hs)-(n-n/2):]...)
			rng.Shuffle(len(ask), func(i, j int) { ask[i], ask[j] = ask[j], ask[i] })
			agreeOn(t, c, add, ask)
		}
	}
}

// The extremes of a hash: first and last block, first and last bit.
func TestVectorsAtTheEdges(t *testing.T) {
	needAVX2(t)
	edges := []uint64{0, 1, ^uint64(0), ^uint64(0) - 1, 1 << 63, 1<<63 - 1, 1 << 32, 1<<32 - 1, 1<<32 + 1, 0xffffffff00000000}
	for _, c := range kernels() {
		for i := range edges {
			agreeOn(t, c, slices.Repeat(edges[i:i+1], 9), slices.Concat(edges, edges, edges))
		}
		agreeOn(t, c, edges, slices.Repeat(edges, 20))
	}
}

// A kernel takes all keys but up to three, where there is one; the switch takes
// it away, and the name says so.
func TestVectorSwitch(t *testing.T) {
	hs := filtertest.Members(1, 1001)
	fetched := "go"
	if prefetch.Enabled {
		fetched = "go+prefetch"
	}
	for _, c := range []struct {
		config Config
		runs   bool
	}{
		{Config{Layout: Split, Blocks: 1000}, true},
		{Config{Blocks: 1000, K: 6}, true},
		{Config{Blocks: 1000, K: 7}, true},
		{Config{Blocks: 1000, K: 8}, false},
		{Config{Blocks: 1000, K: 6, BlockBits: 256}, false},
		{Config{Blocks: 1000, K: 6, Probes: Distinct}, false},
		{Config{Blocks: 1000, Layout: Pattern}, false},
		{Config{Blocks: large / 8, Layout: Pattern}, false},
		{Config{Blocks: large/8 - 1, Layout: Pattern}, false},
	} {
		f := mustNew(t, c.config)
		for _, on := range []bool{true, false} {
			on = on && cpu.AVX2()
			f.simd = f.simd && on
			want, name := [2]int{0, 0}, "go"
			if len(f.words) >= large {
				name = fetched
			}
			if c.runs && on {
				want, name = [2]int{1000, 1000}, "avx2"
			}
			asked, _ := f.containsSIMD(make([]bool, len(hs)), hs)
			if got := [2]int{asked, f.addSIMD(hs)}; got != want || f.Kernel() != name {
				t.Errorf("%+v, switch %v: kernels take %v of 1001 keys, by name %q; want %v and %q", c.config, on, got, f.Kernel(), want, name)
			}
		}
	}
}

// FuzzVectors feeds both sides what the fuzzer finds: hashes from bytes, in any
// geometry that has a kernel.
func FuzzVectors(f *testing.F) {
	needAVX2(f)
	for i := range kernels() {
		var seed []byte
		for _, h := range filtertest.Members(uint64(i), 20) {
			seed = fmt.Appendf(seed, "%08d", h%100_000_000)
		}
		f.Add(uint8(i), uint8(7), seed)
	}
	f.Fuzz(func(t *testing.T, which, split uint8, data []byte) {
		cs := kernels()
		hs := make([]uint64, len(data)/8)
		for i := range hs {
			for _, b := range data[8*i:][:8] {
				hs[i] = hs[i]<<8 | uint64(b)
			}
		}
		// A few hashes many times over make a batch long enough to look ahead.
		if len(hs) > 0 {
			hs = slices.Repeat(hs, 1+int(split)%32)
		}
		agreeOn(t, cs[int(which)%len(cs)], hs[:len(hs)*int(split)/256], hs)
	})
}

// The compiler is asked what it made of the loops over a batch: one check a key,
// for the block, none inside the block, and no call.
func TestCompiledLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("128-bit products and bits set by one instruction are for amd64; elsewhere the compiler may call")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m -d=ssa/check_bce", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler to ask: %v\n%s", err, out)
	}
	checks := map[string]int{}
	for line := range strings.SplitSeq(string(out), "\n") {
		if at, ok := strings.CutSuffix(line, ": Found IsInBounds"); ok {
			file, rest, _ := strings.Cut(strings.TrimPrefix(at, "./"), ":")
			row, _, _ := strings.Cut(rest, ":")
			checks[file+":"+row]++
		}
	}
	total := 0
	for at, n := range checks {
		switch {
		case strings.HasPrefix(at, "pattern.go"), strings.HasPrefix(at, "batch.go") && n > 1:
			t.Errorf("%s: %d checks of an index", at, n)
		case strings.HasPrefix(at, "batch.go"):
			total++
		}
	}
	if total < 6 { // patterns, lines and quads, each added to and asked
		t.Errorf("only %d loops were seen in batch.go", total)
	}
	for _, name := range []string{"missPattern", "setPatterns", "lanes", "splitBlock", "(*Filter).line", "(*Filter).quad", "mix", "one", "Patterns.Contains", "Patterns.Add"} {
		if !strings.Contains(string(out), "can inline "+name+"\n") {
			t.Errorf("%s is not inlined", name)
		}
	}
}
