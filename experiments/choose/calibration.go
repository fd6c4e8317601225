package choose

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"filterlab/experiments/measure"
)

// Schema is the version of the calibration file.
const Schema = 1

// Calibration is what operations cost on one machine. All times are medians in
// nanoseconds, net of the loop around the operation.
type Calibration struct {
	Schema int         `json:"schema"`
	Env    measure.Env `json:"env"`    // the machine, and when it was measured
	Noise  float64     `json:"noise"`  // how far one filter seemed to differ from itself, the median over the races: 0.05 is 5%
	Curves []Curve     `json:"curves"` // one for each filter that is a candidate
	Hashes []HashCurve `json:"hashes"`
	Map    []MapPoint  `json:"map"` // a Go map of strings, by the number of keys
}

// Curve is the cost of one filter, over sizes of its table and numbers of probes.
type Curve struct {
	Filter string  `json:"filter"` // the variant with k or f left open: "blocked", "cuckoo(b=4)"
	Points []Point `json:"points"`
}

// Point is a filter that was timed.
type Point struct {
	Variant string `json:"variant"`
	N       uint64 `json:"n"`    // keys in it
	Bits    uint64 `json:"bits"` // its table
	K       int    `json:"k"`    // as in theory.Prediction: probes, fingerprint bits
	Single  Ops    `json:"single"`
	Batch   Ops    `json:"batch"`
}

// Ops are the times of operations in nanoseconds a key.
type Ops struct {
	Miss  float64 `json:"ns_miss"`  // lookup of an absent key
	Hit   float64 `json:"ns_hit"`   // lookup of a member
	Mixed float64 `json:"ns_mixed"` // lookup of either in random order, half and half: what a branch predictor cannot learn
	Add   float64 `json:"ns_add"`
}

// HashCurve is the cost of a hash over lengths of the key.
type HashCurve struct {
	Hash   string      `json:"hash"`
	Points []HashPoint `json:"points"` // by length, ascending
}

// HashPoint is the cost of hashing one key of a length, one after the other.
type HashPoint struct {
	Bytes int     `json:"bytes"`
	Ns    float64 `json:"ns"`
}

// MapPoint is a map[string]struct{} that was timed and weighed.
type MapPoint struct {
	N     uint64  `json:"n"`
	Bytes float64 `json:"bytes"` // heap for each key, the bytes of the key itself left out
	Ops
}

// File is the name of a calibration inside the cache folder of a user.
const File = "calibration.json"

//go:embed calibration.json
var shipped []byte

// Shipped is the calibration that comes with the program, of the machine that the
// committed results are from.
func Shipped() (*Calibration, error) { return parse(shipped) }

// CachePath is where a calibration of this machine is kept: filterlab/ in
// os.UserCacheDir.
func CachePath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "filterlab", File), nil
}

// Load reads a calibration that Save wrote.
func Load(path string) (*Calibration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (filterlab calibrate makes it anew)", path, err)
	}
	return c, nil
}

// Find is the calibration of this machine where there is one, else the shipped
// one. own says which.
func Find() (c *Calibration, own bool, err error) {
	path, err := CachePath()
	if err == nil {
		c, err = Load(path)
		if err == nil {
			return c, true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
	c, err = Shipped()
	return c, false, err
}

func parse(data []byte) (*Calibration, error) {
	var c Calibration
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	return &c, c.check()
}

// check refuses a file that some other version wrote, or somebody's hand.
func (c *Calibration) check() error {
	if c.Schema != Schema {
		return fmt.Errorf("calibration of schema %d: want %d", c.Schema, Schema)
	}
	if len(c.Curves) == 0 || len(c.Hashes) == 0 || len(c.Map) == 0 {
		return fmt.Errorf("calibration of %d filters, %d hashes and %d maps: want at least one of each", len(c.Curves), len(c.Hashes), len(c.Map))
	}
	positive := func(of string, values ...float64) error {
		for _, v := range values {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("calibration of %s: a time or size of %v: want a finite one above 0", of, v)
			}
		}
		return nil
	}
	for _, curve := range c.Curves {
		if len(curve.Points) == 0 {
			return fmt.Errorf("calibration of %s: no points", curve.Filter)
		}
		for _, p := range curve.Points {
			for _, o := range []Ops{p.Single, p.Batch} {
				if err := positive(p.Variant, float64(p.Bits), o.Miss, o.Hit, o.Mixed, o.Add); err != nil {
					return err
				}
			}
		}
	}
	for _, h := range c.Hashes {
		if len(h.Points) == 0 {
			return fmt.Errorf("calibration of %s: no points", h.Hash)
		}
		for _, p := range h.Points {
			if err := positive(h.Hash, p.Ns); err != nil {
				return err
			}
		}
	}
	for _, p := range c.Map {
		if err := positive("the map", float64(p.N), p.Bytes, p.Miss, p.Hit, p.Mixed, p.Add); err != nil {
			return err
		}
	}
	return nil
}

// Save writes c to path, whole or not at all, and makes its folder.
func (c *Calibration) Save(path string) error {
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+File+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	if _, err = f.Write(append(data, '\n')); err == nil {
		err = f.Chmod(0o644)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Lookup is the time of a lookup when the share hits of them are members. Hits and
// misses in random order cost more than their mean, since the branch predictor
// errs most at half and half; the excess there is scaled by 4h(1-h), which is the
// variance of the answer.
func (o Ops) Lookup(hits float64) float64 {
	excess := o.Mixed - (o.Hit+o.Miss)/2
	t := hits*o.Hit + (1-hits)*o.Miss + 4*hits*(1-hits)*excess
	return max(t, min(o.Hit, o.Miss, o.Mixed))
}

// At is the cost for a table of the given bits with k probes: linear in k between
// the points of a size, and linear in the logarithm of the size between sizes. Where
// one number of probes was timed at a size, the others relate to it as at the next
// smaller size. Smaller tables than measured cost what the smallest does, larger
// ones go on as the last two sizes rise; beyond tells that.
func (c *Curve) At(bits float64, k int, batch bool) (o Ops, beyond bool) {
	var xs []float64
	var ys []Ops
	var below func(k float64) Ops // the next smaller size
	for _, points := range c.sizes() {
		var ks []float64
		var ops []Ops
		size := 0.0
		for _, p := range points {
			ks = append(ks, float64(p.K))
			size += math.Log2(float64(p.Bits)) / float64(len(points))
			if batch {
				ops = append(ops, p.Batch)
			} else {
				ops = append(ops, p.Single)
			}
		}
		here := func(k float64) Ops { return between(ks, ops, k, true) }
		if smaller := below; len(ks) == 1 && smaller != nil {
			here = func(k float64) Ops { return ops[0].scaled(smaller(k), smaller(ks[0])) }
		}
		xs, ys, below = append(xs, size), append(ys, here(float64(k))), here
	}
	x := math.Log2(bits)
	return between(xs, ys, max(x, xs[0]), true), x > xs[len(xs)-1]+0.5
}

// scaled multiplies every time by the ratio of those of a to those of b.
func (o Ops) scaled(a, b Ops) Ops {
	return Ops{o.Miss * a.Miss / b.Miss, o.Hit * a.Hit / b.Hit, o.Mixed * a.Mixed / b.Mixed, o.Add * a.Add / b.Add}
}

// sizes groups the points by octaves of their tables, since filters of one size
// differ by a few bits; sizes and numbers of probes ascend.
func (c *Curve) sizes() [][]Point {
	octave := func(p Point) float64 { return math.Round(math.Log2(float64(p.Bits))) }
	sorted := slices.SortedFunc(slices.Values(c.Points), func(a, b Point) int {
		return cmp.Or(cmp.Compare(octave(a), octave(b)), cmp.Compare(a.K, b.K))
	})
	var out [][]Point
	for i, p := range sorted {
		if i == 0 || octave(p) != octave(sorted[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

// between interpolates linearly in xs, which ascend; extend goes on as the nearest
// two rise, but to no less than half of the nearest. One value is a constant.
func between(xs []float64, ys []Ops, x float64, extend bool) Ops {
	if len(xs) == 1 {
		return ys[0]
	}
	if !extend {
		x = min(max(x, xs[0]), xs[len(xs)-1])
	}
	i := min(max(sort.SearchFloat64s(xs, x), 1), len(xs)-1)
	share := (x - xs[i-1]) / (xs[i] - xs[i-1])
	near := ys[i]
	if share < 0.5 {
		near = ys[i-1]
	}
	line := func(of func(Ops) float64) float64 {
		return max(of(ys[i-1])+share*(of(ys[i])-of(ys[i-1])), of(near)/2)
	}
	return Ops{
		Miss:  line(func(o Ops) float64 { return o.Miss }),
		Hit:   line(func(o Ops) float64 { return o.Hit }),
		Mixed: line(func(o Ops) float64 { return o.Mixed }),
		Add:   line(func(o Ops) float64 { return o.Add }),
	}
}

// At is the cost of hashing a key of the given bytes: linear between the lengths
// that were measured and beyond them.
func (h *HashCurve) At(bytes int) float64 {
	xs, ys := make([]float64, len(h.Points)), make([]Ops, len(h.Points))
	for i, p := range h.Points {
		xs[i], ys[i].Miss = float64(p.Bytes), p.Ns
	}
	return between(xs, ys, float64(bytes), true).Miss
}

// mapAt is the cost of a map of n keys, and its bytes for each, interpolated in the
// logarithm of n. Bytes a key go up and down as the map doubles, so that beyond the
// sizes measured they are those of the last one; times go on as they rise.
func (c *Calibration) mapAt(n float64) (o Ops, bytes float64, beyond bool) {
	xs, ys, heap := make([]float64, len(c.Map)), make([]Ops, len(c.Map)), make([]Ops, len(c.Map))
	for i, p := range c.Map {
		xs[i], ys[i], heap[i].Miss = math.Log2(float64(p.N)), p.Ops, p.Bytes
	}
	x := max(math.Log2(n), xs[0])
	return between(xs, ys, x, true), between(xs, heap, x, false).Miss, x > xs[len(xs)-1]+0.5
}
