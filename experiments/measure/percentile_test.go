package measure

import (
	"math"
	"testing"
	"time"
)

// A clock that takes 40 ns to read and ticks in steps of 20.
func TestCalibrateClock(t *testing.T) {
	now, calls := time.Duration(0), 0
	c := CalibrateClock(func() time.Duration {
		calls++
		now += 40
		if calls%10 == 0 {
			now += 20 // a hiccup now and then
		}
		return now
	})
	if c.Cost != 40 || c.Resolution != 20 {
		t.Errorf("%+v, want cost 40 and resolution 20", c)
	}
	if c := CalibrateClock(func() time.Duration { return 7 }); c.Cost != 0 || !math.IsInf(c.Resolution, 1) {
		t.Errorf("a clock that stands still: %+v", c)
	}
	if c := CalibrateClock(nil); !(c.Cost >= 0) || !(c.Resolution > 0) {
		t.Errorf("the real clock: %+v", c)
	}
}

func TestTimeEach(t *testing.T) {
	var seen []int
	got := TimeEach([]float64{-1}, 10, func(i int) bool {
		seen = append(seen, i)
		if i == 1 {
			time.Sleep(time.Millisecond)
		}
		return i < 3
	})
	if len(seen) != 4 || len(got) != 4 || got[0] != -1 {
		t.Fatalf("called for %v, times %v", seen, got)
	}
	if got[2] < 1e6 { // Sleep never returns early
		t.Errorf("a call that sleeps a millisecond took %v ns", got[2])
	}
}

// The quantiles of 1 ... 10,000 in any order are known.
func TestTailOf(t *testing.T) {
	xs := make([]float64, 10_000)
	for i := range xs {
		xs[i] = float64(i*7919%10_000 + 1)
	}
	if got, want := TailOf(xs), (Tail{5000, 9900, 9990, 10_000, 10_000}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	few := TailOf([]float64{3, 1, 2})
	if few.P50 != 2 || few.Worst != 3 || !math.IsNaN(few.P99) || !math.IsNaN(few.P999) {
		t.Errorf("three samples: %+v", few)
	}
	if one := TailOf(make([]float64, 2994)); !math.IsNaN(one.P999) || math.IsNaN(one.P99) {
		t.Errorf("2,994 samples: %+v", one)
	}
	if none := TailOf(nil); !math.IsNaN(none.P50) || !math.IsNaN(none.Worst) {
		t.Errorf("no samples: %+v", none)
	}
}
