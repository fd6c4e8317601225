package sharded

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"filterlab/filters"
	"filterlab/filters/theory"
)

// MaxShards is the most shards a filter may have. Some more than there are
// goroutines do: of g that add to 8g shards, one in sixteen waits.
const MaxShards = 4096

// Variant is a number of shards and the family inside. The zero Variant builds
// nothing.
type Variant struct {
	Shards int           // 1 to MaxShards
	Inner  filters.Maker // a comparable one, as all variants are
}

var _ filters.Maker = Variant{}

// String prints both: "sharded(16,counting)", "sharded(4,cuckoo(f=12,b=4))".
func (v Variant) String() string { return fmt.Sprintf("sharded(%d,%v)", v.Shards, v.Inner) }

// Is reports whether text is meant for Parse.
func Is(text string) bool {
	name, _, open := strings.Cut(text, "(")
	return open && strings.TrimSpace(name) == "sharded"
}

// Parse reads what String prints. inner reads the name of the variant inside; a
// family does not know the others.
func Parse(text string, inner func(string) (filters.Variant, error)) (Variant, error) {
	body, closed := strings.CutSuffix(strings.TrimSpace(text), ")")
	count, rest, both := strings.Cut(body[strings.Index(body, "(")+1:], ",")
	if !Is(text) || !closed || !both {
		return Variant{}, filters.Refuse("sharded", strconv.Quote(text), "sharded(shards,variant), such as sharded(16,counting)")
	}
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 || n > MaxShards {
		return Variant{}, refuseShards(count)
	}
	if Is(rest) {
		return Variant{}, filters.Refuse("sharded", strconv.Quote(text), "one layer of shards")
	}
	in, err := inner(rest)
	if err != nil {
		return Variant{}, err
	}
	m, ok := in.(filters.Maker)
	if !ok {
		return Variant{}, filters.Refuse("sharded", in, "a family that takes keys one by one (this one is static)")
	}
	return Variant{n, m}, nil
}

func refuseShards(value any) error {
	return filters.Refuse("sharded: shards", value, fmt.Sprintf("1 to %d", MaxShards))
}

// plan is a variant with the targets of the whole and of a shard.
type plan struct {
	v            Variant
	whole, shard filters.Target
	built        filters.Predictor // a shard that was read, whose target is not known
}

// one is what theory expects of a shard with that many keys.
func (p plan) one(keys uint64) (theory.Prediction, error) {
	if p.built != nil {
		return p.built.Predict(keys)
	}
	return p.v.Inner.Predict(p.shard, keys)
}

// overfull is the chance, over sets of N keys, that some shard gets more keys than
// it was sized for.
const overfull = 1e-4

// plan sizes the shards for t.
func (v Variant) plan(t filters.Target) (plan, error) {
	p := plan{v: v, whole: t}
	if v.Shards < 1 || v.Shards > MaxShards {
		return p, refuseShards(v.Shards)
	}
	if v.Inner == nil {
		return p, filters.Refuse("sharded", "nothing", "a variant inside")
	}
	if err := t.Validate(); err != nil {
		return p, err
	}
	mean := float64(t.N) / float64(v.Shards)
	p.shard.N = uint64(math.Ceil(mean))
	if t.P == 0 {
		p.shard.BitsPerKey = t.BitsPerKey * mean / float64(p.shard.N)
	} else {
		p.shard.P = t.P
	}
	// A shard that nothing could be said about is the inner family's to refuse.
	if _, err := v.Inner.Predict(p.shard, p.shard.N); err != nil {
		return p, err
	}
	// A family that can be full does not predict for any number of keys.
	if _, err := v.Inner.Predict(p.shard, math.MaxUint64); err != nil {
		p.shard.N = fullest(t.N, v.Shards)
	}
	if t.P == 0 {
		p.shard.BitsPerKey = t.BitsPerKey * mean / float64(p.shard.N)
		_, err := p.predict(0)
		return p, err
	}
	return p.keep()
}

// keep looks for the rate of a shard with which the whole keeps its own: by as much
// as the mean over the loads is too high or too low, the next shard is stricter or
// laxer. Rates of whole fingerprint bits jump, so the highest that keeps the promise
// is taken.
func (p plan) keep() (plan, error) {
	best, rate := 0.0, p.whole.P
	var refused error
	hair := 1e-6 // for sizes are whole numbers of bits; ever more where shards are small
	for range 6 {
		p.shard.P = rate
		got, err := p.predict(p.whole.N)
		if err != nil {
			refused = err
			break
		}
		if got.FPR <= p.whole.P {
			best = max(best, rate)
			if got.FPR >= (1-1e-5)*p.whole.P {
				break
			}
		}
		rate = min(rate*p.whole.P/got.FPR*(1-hair), math.Nextafter(1, 0))
		hair *= 10
	}
	switch {
	case best > 0:
		p.shard.P = best
		return p, nil
	case refused != nil:
		return p, refused
	}
	return p, filters.Refuse("sharded: p", p.whole.P, fmt.Sprintf("a rate that %d shards of %v can keep for %d keys", p.v.Shards, p.v.Inner, p.whole.N))
}

// fullest bounds the keys in the fullest of s shards, in all but a share of
// overfull of the sets of n keys: a binomial variable exceeds q with probability at
// most exp(-n D(q/n ‖ 1/s)) (Chernoff; Hoeffding, JASA 58, 1963, theorem 1).
func fullest(n uint64, s int) uint64 {
	N, P := float64(n), 1/float64(s)
	need := math.Log(float64(s) / overfull)
	lo, hi := uint64(math.Ceil(N*P)), n
	for lo < hi {
		mid := lo + (hi-lo)/2
		q := float64(mid) / N
		d := q * math.Log(q/P)
		if q < 1 {
			d += (1 - q) * math.Log((1-q)/(1-P))
		}
		if N*d >= need {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// load is a number of keys in a shard and its share among all shards.
type load struct {
	keys  uint64
	share float64
}

// loads samples the binomial loads of a shard after n keys: all of them where the
// spread is small, else one in each standard deviation, which for a smooth
// function and a bell curve is as good (the trapezoidal rule: its error is of order
// exp(-2π²)).
func (v Variant) loads(n uint64) []load {
	N, P := float64(n), 1/float64(v.Shards)
	mean := N * P
	sd := math.Sqrt(mean * (1 - P))
	if sd == 0 {
		return []load{{uint64(mean), 1}}
	}
	step := max(1, math.Floor(sd))
	logN, _ := math.Lgamma(N + 1)
	density := func(x float64) float64 {
		if sd > 1000 { // and skewness below a thousandth
			z := (x - mean) / sd
			return math.Exp(-z * z / 2)
		}
		logX, _ := math.Lgamma(x + 1)
		logY, _ := math.Lgamma(N - x + 1)
		return math.Exp(logN - logX - logY + x*math.Log(P) + (N-x)*math.Log1p(-P))
	}
	var ls []load
	sum := 0.0
	center := math.Floor(mean)
	width := math.Ceil((5*sd+4)/step) * step // the tail of a small binomial is Poisson's
	for x := center - width; x <= min(center+width, N); x += step {
		if x >= 0 {
			d := density(x)
			ls = append(ls, load{uint64(x), d})
			sum += d
		}
	}
	for i := range ls {
		ls[i].share /= sum
	}
	return ls
}

// unlikely is the share of loads that may be beyond what a shard can hold: they
// are left out, as keys that are refused are.
const unlikely = 1e-3

// predict is the mean over the loads of the shards.
func (p plan) predict(inserted uint64) (theory.Prediction, error) {
	s := float64(p.v.Shards)
	mean, err := p.one(inserted / uint64(p.v.Shards))
	if err != nil {
		return theory.Prediction{}, err
	}
	out := theory.Prediction{Inserted: inserted, K: mean.K, Stages: mean.Stages, Capacity: p.whole.N}
	var covered, bits, sd2 float64
	var x1, x2, r2, xr float64 // moments of load x and rate r
	for _, l := range p.v.loads(inserted) {
		in, e := p.one(l.keys)
		if e != nil {
			err = e
			continue
		}
		covered += l.share
		x := float64(l.keys) - float64(inserted)/s
		out.FPR += l.share * in.FPR
		out.Fill += l.share * in.Fill
		out.Overflow += l.share * in.Overflow * s
		bits += l.share * float64(in.Bits)
		sd2 += l.share * in.BuildSD * in.BuildSD
		x1 += l.share * x
		x2 += l.share * x * x
		r2 += l.share * in.FPR * in.FPR
		xr += l.share * x * in.FPR
	}
	if covered < 1-unlikely {
		return theory.Prediction{}, err
	}
	out.Bits = uint64(math.Round(bits/covered)) * uint64(p.v.Shards)
	out.FPR /= covered
	out.Fill = min(out.Fill/covered, 1)
	out.Overflow /= covered
	// From one seed to the next, a shard's rate varies for its load and with it. The
	// loads have a fixed sum, so that what is linear in them cancels over the shards.
	x1, x2, r2, xr = x1/covered, x2/covered, r2/covered, xr/covered
	spread := r2 - out.FPR*out.FPR
	if v := x2 - x1*x1; v > 0 {
		c := xr - x1*out.FPR
		spread -= c * c / v
	}
	out.BuildSD = math.Sqrt(max(spread+sd2/covered, 0) / s)
	// A rest has log2 S bits less than a hash: it meets as many others as the hash
	// does among the keys of all shards, of which the inner family knows its own.
	out.FPR = theory.Combine(out.FPR, theory.HashFloor(inserted-inserted/uint64(p.v.Shards), 64))
	return out, nil
}

// New makes an empty filter for t. Where the inner family can be full, it takes t.N
// distinct hashes without refusing one but for about 1 in 10,000 sets of keys, on
// top of what the inner family promises.
func (v Variant) New(t filters.Target) (filters.Filter, error) {
	p, err := v.plan(t)
	if err != nil {
		return nil, err
	}
	shards := make([]shard, v.Shards)
	for i := range shards {
		if shards[i].Filter, err = v.Inner.New(p.shard); err != nil {
			return nil, err
		}
	}
	return over(shards, p), nil
}

// over is the filter of the shards, which are of one family.
func over(shards []shard, p plan) Saved {
	f := &DeletingFilter{Filter{shards: shards, empty: uint64(len(shards)&-len(shards)) - 1, plan: p}}
	_, deletes := shards[0].Filter.(filters.Deleter)
	_, counts := shards[0].Filter.(filters.Counter)
	if !deletes || !counts {
		return &f.Filter
	}
	return f
}

// Build makes a filter for t that holds hs.
func (v Variant) Build(t filters.Target, hs []uint64) (filters.Querier, error) {
	return filters.BuildByAdding(v, t, hs)
}

// Predict is the expectation of the filter that New(t) makes, after inserted
// distinct hashes: the mean over the binomial loads of its shards. Bits is exact
// where shards do not grow, the mean of what they come to where they do (scalable).
func (v Variant) Predict(t filters.Target, inserted uint64) (theory.Prediction, error) {
	p, err := v.plan(t)
	if err != nil {
		return theory.Prediction{}, err
	}
	return p.predict(inserted)
}
