package hashing

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"math/bits"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func must(t *testing.T, name string) Entry {
	t.Helper()
	e, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ramp(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// D03: an independent XXH64, written from the specification (doc/xxhash_spec.md)
// for this test, at every length to 1,100 and with seeds.
func TestD03_XXHash64Tails(t *testing.T) {
	data := ramp(1100)
	e := must(t, "xxhash64")
	for _, seed := range []uint64{0, 1, 1 << 63} {
		h := e.New(seed)
		for n := 0; n <= len(data); n++ {
			if got, want := h.Sum64(data[:n]), specXXH64(data[:n], seed); got != want {
				t.Fatalf("seed %#x, %d bytes: %#x, want %#x", seed, n, got, want)
			}
		}
	}
}

func specXXH64(b []byte, seed uint64) uint64 {
	// Variables, because their sums must wrap where constants would overflow.
	var p1, p2, p3, p4, p5 uint64 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5
	round := func(acc, lane uint64) uint64 { return bits.RotateLeft64(acc+lane*p2, 31) * p1 }
	length := uint64(len(b))
	acc := seed + p5
	if len(b) >= 32 {
		lanes := [4]uint64{seed + p1 + p2, seed + p2, seed, seed - p1}
		for ; len(b) >= 32; b = b[32:] {
			for i := range lanes {
				lanes[i] = round(lanes[i], binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
		acc = 0
		for i, r := range []int{1, 7, 12, 18} {
			acc += bits.RotateLeft64(lanes[i], r)
		}
		for _, lane := range lanes {
			acc = (acc^round(0, lane))*p1 + p4
		}
	}
	acc += length
	for ; len(b) >= 8; b = b[8:] {
		acc = bits.RotateLeft64(acc^round(0, binary.LittleEndian.Uint64(b)), 27)*p1 + p4
	}
	for ; len(b) >= 4; b = b[4:] {
		acc = bits.RotateLeft64(acc^uint64(binary.LittleEndian.Uint32(b))*p1, 23)*p2 + p3
	}
	for _, c := range b {
		acc = bits.RotateLeft64(acc^uint64(c)*p5, 11) * p1
	}
	acc = (acc ^ acc>>33) * p2
	acc = (acc ^ acc>>29) * p3
	return acc ^ acc>>32
}

// The library and the twin that stands in for it on big-endian machines are one
// function, at every length of every tail and beyond; and the twin is
// MurmurHash3_x64_128, whose verification value in SMHasher is 0x6384BA69 over
// all 128 bits.
func TestMurmur3TwinEqualsLibrary(t *testing.T) {
	data := ramp(300)
	for _, seed := range []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff} {
		for n := 0; n <= len(data); n++ {
			if lib, twin := murmur3Sum(data[:n], seed), murmur3Twin(data[:n], uint64(seed)); lib != twin {
				t.Fatalf("seed %#x, %d bytes: library %#x, twin %#x", seed, n, lib, twin)
			}
		}
	}
	var digests []byte
	sum := func(key []byte, seed uint64) {
		h1, h2 := murmur3Twin128(key, seed)
		digests = binary.LittleEndian.AppendUint64(digests, h1)
		digests = binary.LittleEndian.AppendUint64(digests, h2)
	}
	for i := range 256 {
		sum(data[:i], uint64(256-i))
	}
	h1, _ := murmur3Twin128(digests, 0)
	if got := uint32(h1); got != 0x6384ba69 {
		t.Errorf("verification value %#x, published 0x6384ba69", got)
	}
}

// FNV and SHA-256 against the standard library, with the seed's bytes in front as
// documented and, at seed 0, without.
func TestSeedPrefix(t *testing.T) {
	for _, seed := range []uint64{0, 1, 0xfedcba9876543210} {
		for n := range 600 {
			key := ramp(n)
			var in []byte
			if seed != 0 {
				in = binary.LittleEndian.AppendUint64(in, seed)
			}
			in = append(in, key...)

			h64 := fnv.New64a()
			h64.Write(in)
			if got := must(t, "fnv1a64").New(seed).Sum64(key); got != h64.Sum64() {
				t.Fatalf("fnv1a64, seed %#x, %d bytes: %#x, want %#x", seed, n, got, h64.Sum64())
			}
			h32 := fnv.New32a()
			h32.Write(in)
			got := must(t, "fnv1a32").New(seed).Sum64(key)
			if got != widen32(h32.Sum32()) || Narrow32(got) != h32.Sum32() {
				t.Fatalf("fnv1a32, seed %#x, %d bytes: %#x from %#x", seed, n, got, h32.Sum32())
			}
			sum := sha256.Sum256(in)
			if got, want := must(t, "sha256").New(seed).Sum64(key), binary.LittleEndian.Uint64(sum[:]); got != want {
				t.Fatalf("sha256, seed %#x, %d bytes: %#x, want %#x", seed, n, got, want)
			}
			// blake3 at seed 0 is held to its vectors; with a seed it is itself over the
			// longer string, on both sides of the stack buffer.
			if got, want := must(t, "blake3").New(seed).Sum64(key), must(t, "blake3").New(0).Sum64(in); got != want {
				t.Fatalf("blake3, seed %#x, %d bytes: %#x, want %#x", seed, n, got, want)
			}
			var p [3]uint64
			for i, base := range PolynomialBases() {
				p[i] = Polynomial(base, in)
			}
			if got, want := must(t, "poly").New(seed).Sum64(key), p[0]^bits.RotateLeft64(p[1], 21)^bits.RotateLeft64(p[2], 42); got != want {
				t.Fatalf("poly, seed %#x, %d bytes: %#x, want %#x", seed, n, got, want)
			}
		}
	}
}

func TestMapHashIsTheStandardLibrarys(t *testing.T) {
	e := must(t, "maphash")
	for _, key := range []string{"", "a", strings.Repeat("long", 100)} {
		want := maphash.String(processSeed, key)
		if got := e.New(0).SumString(key); got != want {
			t.Errorf("%q: %#x, want %#x", key, got, want)
		}
		if got := e.New(9).SumString(key); got != fmix64(want^9) {
			t.Errorf("%q, seed 9: %#x, want %#x", key, got, fmix64(want^9))
		}
	}
}

// childVariable makes the test binary print its digests instead of testing.
const childVariable = "FILTERLAB_HASHING_PRINT"

// digests hashes keys of many lengths under two seeds; one line an entry.
func digests() []byte {
	var out bytes.Buffer
	data := ramp(5000)
	for _, e := range All() {
		var sum uint64
		for _, seed := range []uint64{0, 12345} {
			h := e.New(seed)
			for n := 0; n < len(data); n += 1 + n/8 {
				sum = fmix64(sum) + h.Sum64(data[:n])
			}
		}
		fmt.Fprintf(&out, "%s %016x %08x\n", e.Name, sum, Verify(e))
	}
	return out.Bytes()
}

// child runs this test in another process with the given variables set, and
// returns what it prints.
func child(t *testing.T, test string, env ...string) []byte {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skipf("no other process can be started: %v", err)
	}
	cmd := exec.Command(exe, "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), append(env, childVariable+"=1")...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Skipf("no other process can be started: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s %q: %v", test, env, err)
	}
	before, _, _ := bytes.Cut(out.Bytes(), []byte("PASS"))
	return before
}

// D12: another process gives the same digests, except through maphash, whose
// entry says so.
func TestD12_DigestsHoldAcrossProcesses(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		os.Stdout.Write(digests())
		return
	}
	here := strings.Split(string(digests()), "\n")
	there := strings.Split(string(child(t, "TestD12_DigestsHoldAcrossProcesses")), "\n")
	if len(there) < len(All()) {
		t.Fatalf("the other process printed %q", there)
	}
	for i, e := range All() {
		if same := here[i] == there[i]; same != e.Reproducible {
			t.Errorf("%s: reproducible %v, but digests equal %v:\n%s\n%s", e.Name, e.Reproducible, same, here[i], there[i])
		}
	}
}

// D06: with every optional processor feature off the digests are the same and
// nothing crashes.
func TestD06_ProcessorFeaturesOff(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		os.Stdout.Write(digests())
		return
	}
	here := strings.Split(string(digests()), "\n")
	for _, off := range []string{"cpu.all=off", "cpu.avx2=off,cpu.avx=off", "cpu.aes=off"} {
		there := strings.Split(string(child(t, "TestD06_ProcessorFeaturesOff", "GODEBUG="+off)), "\n")
		if len(there) < len(All()) {
			t.Fatalf("%s: the other process printed %q", off, there)
		}
		for i, e := range All() {
			if e.Reproducible && here[i] != there[i] {
				t.Errorf("%s: %s, here %s", off, there[i], here[i])
			}
		}
	}
}

func FuzzMurmur3Twin(f *testing.F) {
	f.Add([]byte("www."), uint32(0))
	f.Add(ramp(47), uint32(0x80000000))
	f.Fuzz(func(t *testing.T, key []byte, seed uint32) {
		if lib, twin := murmur3Sum(key, seed), murmur3Twin(key, uint64(seed)); lib != twin {
			t.Errorf("%d bytes, seed %#x: library %#x, twin %#x", len(key), seed, lib, twin)
		}
	})
}
