package experiments

import (
	"errors"
	"fmt"
	"math"

	"filterlab/experiments/measure"
	"filterlab/experiments/units"
	"filterlab/filters"
	"filterlab/filters/theory"
	"filterlab/hashing"
)

// Check reports what of o the experiment would refuse, before anything runs:
// values that nothing accepts, points that this machine has no memory for, and
// grids without a single point that can be measured. A sweep that can measure
// some of its points is let pass; the others become rows that say why.
//
// The error wraps ErrNothing in the last case. The warnings are about points that run, and may not be what was meant.
func (o *Options) Check(e Experiment) (warnings []string, err error) {
	g, err := o.grid(e)
	var groups [][]*Point
	if err == nil {
		groups, err = g.Points(o.Seed)
	}
	if err == nil {
		warnings, err = o.checkPoints(groups, e.Parts)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	if o.Files != nil && e.OwnKeys {
		warnings = append(warnings, "makes its keys itself; those of the file are not used")
	}
	return warnings, nil
}

// ErrNothing says that a grid has no point that can be measured.
var ErrNothing = errors.New("no point can be measured")

func (o *Options) checkPoints(groups [][]*Point, parts bool) (warnings []string, err error) {
	lab := &Lab{Profile: o.Profile, Seed: o.Seed, Files: o.Files}
	memory := measure.Memory()
	have := map[string]uint64{} // members by key set
	warned := map[string]bool{}
	var refusal error // of the first point that cannot be measured
	measurable := false
	for _, group := range groups {
		for _, p := range group {
			members, seen := have[p.Keys]
			if !seen {
				src, err := lab.source(p, o.Seed)
				if err != nil {
					return nil, err
				}
				members = src.Members()
				have[p.Keys] = members
			}
			bits, err := p.bits()
			if err == nil && p.Inserted() > members {
				err = filters.Refuse("inserted", p.Inserted(), fmt.Sprintf("at most the %d members that %s has", members, p.Keys))
			}
			if err != nil {
				if refusal == nil {
					refusal = fmt.Errorf("%w; the first: %w", ErrNothing, err)
				}
				continue
			}
			measurable = true
			held := p.Inserted()
			if parts && held > holdKeys {
				held = sampleKeys
			}
			if err := p.fits(bits, held, memory); err != nil {
				return nil, err
			}
			if w := p.narrowHash(); w != "" && !warned[p.Hash] {
				warned[p.Hash] = true
				warnings = append(warnings, w)
			}
		}
	}
	if !measurable {
		return nil, refusal
	}
	return warnings, nil
}

// bits is the size of the point's table as far as it is known beforehand, or why
// the variant refuses the point.
func (p *Point) bits() (float64, error) {
	pred, err := p.Variant.Predict(p.Target, p.Inserted())
	if errors.Is(err, filters.ErrParam) {
		// A filter that is full before all keys are in can be measured.
		pred, err = p.Variant.Predict(p.Target, p.Target.N)
	}
	switch {
	case err == nil:
		return float64(pred.Bits), nil
	case !errors.Is(err, filters.ErrNoTheory):
		return 0, err
	case p.Target.P == 0:
		return p.Target.BitsPerKey * float64(p.Target.N), nil
	}
	return -math.Log2(p.Target.P) * float64(p.Target.N), nil // the lower bound for any filter
}

// fits refuses a point whose table and the hashes that are held alone are more than the
// machine's memory, in bytes; 0 is unknown, and refuses nothing. Without it the
// operating system would end the program, or the machine would stand still.
func (p *Point) fits(bits float64, held, memory uint64) error {
	table, hashes := bits/8, 8*float64(held)
	if memory == 0 || table+hashes <= float64(memory) {
		return nil
	}
	return filters.Refuse("n", p.Target.N, fmt.Sprintf("what fits into the %s of this machine; %v takes %s for its table and %s for the hashes of %d keys",
		units.FormatBytes(memory), p.Variant, formatBytes(table), formatBytes(hashes), held))
}

// formatBytes is units.FormatBytes up to where its argument ends.
func formatBytes(x float64) string {
	if x >= math.MaxUint64 {
		return fmt.Sprintf("%.3g bytes", x)
	}
	return units.FormatBytes(uint64(x))
}

// narrowHash warns of a hash of fewer than 64 bits that by itself takes a tenth
// of the promised rate or more.
func (p *Point) narrowHash() string {
	e, err := hashing.ByName(p.Hash)
	if err != nil || e.Bits >= 64 || p.Target.P == 0 {
		return ""
	}
	floor := theory.HashFloor(p.Inserted(), e.Bits)
	if floor < p.Target.P/10 {
		return ""
	}
	return fmt.Sprintf("%s has %d bits: with %d keys %.2g of the absent ones have the hash of a member, whatever the filter, against a promised rate of %.2g; expected rates allow for it",
		e.Name, e.Bits, p.Inserted(), floor, p.Target.P)
}
