package cuckoo

import (
	"flag"
	"fmt"
	"math"
	"sort"
	"testing"
)

// Run with: go test -run TestCalibrate -calibrate 4e7 -timeout 1h ./filters/cuckoo
var (
	calibrate  = flag.Float64("calibrate", 0, "adds to spend on each geometry of TestCalibrate (0: skip)")
	verify     = flag.Float64("verify", 0, "adds to spend on each geometry of TestVerifyCapacity (0: skip)")
	calibrateF = flag.Int("calibrate-f", 32, "fingerprint bits of TestCalibrate")
)

// stream is splitmix64 (Steele, Lea, Flood 2014): the hash of a good function
// over sequential keys.
type stream uint64

func (s *stream) next() uint64 {
	*s += golden
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// TestCalibrate prints how many keys fit before the first refusal: the evidence
// behind loadRuleFor.
func TestCalibrate(t *testing.T) {
	if *calibrate == 0 {
		t.Skip("a measurement, not a test: give -calibrate")
	}
	for _, b := range []int{2, 4, 8} {
		for _, buckets := range []uint64{4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 4096, 16384, 1 << 18} {
			f, err := New(Config{Buckets: buckets, SlotsPerBucket: b, FingerprintBits: *calibrateF})
			if err != nil {
				t.Fatal(err)
			}
			slots := float64(f.cfg.Slots())
			reps := int(min(3e5, *calibrate/slots)) + 2
			keys := stream(buckets)
			counts := make([]float64, reps)
			sum, sum2 := 0.0, 0.0
			for r := range counts {
				f.Reset()
				for f.Add(keys.next()) == nil {
				}
				c := float64(f.Len())
				counts[r] = c
				sum += c
				sum2 += c * c
			}
			sort.Float64s(counts)
			mean := sum / float64(reps)
			sd := math.Sqrt(sum2/float64(reps) - mean*mean)
			q := func(p float64) float64 { return counts[int(p*float64(reps))] }
			t.Logf("f=%d b=%d buckets=%d slots=%.0f reps=%d mean load=%.5f sd*sqrt(slots)=%.4f; count: mean=%.2f sd=%.2f min=%.0f q(3e-5)=%.0f q(1e-4)=%.0f q(1e-3)=%.0f q(1e-2)=%.0f", *calibrateF, b, buckets, slots, reps,
				mean/slots, sd/math.Sqrt(slots), mean, sd, counts[0], q(3e-5), q(1e-4), q(1e-3), q(1e-2))
		}
	}
}

// TestVerifyCapacity builds filters of Capacity keys, the worst case of each
// geometry, and prints how many builds were refused a key.
func TestVerifyCapacity(t *testing.T) {
	if *verify == 0 {
		t.Skip("a measurement, not a test: give -verify")
	}
	for _, b := range []int{1, 2, 4, 8} {
		for _, bits := range []int{4, 5, 6, 8, 10, 12, 16, 32} {
			builds, failures, worst := 0, 0, ""
			for buckets := uint64(2); buckets <= 1<<14; buckets += max(2, buckets/8) &^ 1 {
				f, err := New(Config{Buckets: buckets, SlotsPerBucket: b, FingerprintBits: bits})
				if err != nil {
					t.Fatal(err)
				}
				n := f.cfg.Capacity()
				reps := int(min(1e5, *verify/float64(n)))
				keys := stream(buckets * uint64(bits))
				bad := 0
				for range reps {
					f.Reset()
					for range n {
						if f.Add(keys.next()) != nil {
							bad++
							break
						}
					}
				}
				builds += reps
				failures += bad
				if bad > 0 {
					worst += fmt.Sprintf(" %d:%d/%d", buckets, bad, reps)
				}
			}
			t.Logf("b=%d f=%d: %d of %d builds refused a key; by buckets:%s", b, bits, failures, builds, worst)
		}
	}
}
