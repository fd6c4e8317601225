package experiments

import (
	"errors"
	"fmt"
	"path/filepath"

	"filterlab/experiments/measure"
)

// Plan is what a run would do.
type Plan struct {
	Points  []*Point // in the order in which they would be visited
	Seconds float64  // how long it would take; 0 when unknown
	Same    bool     // Seconds is what a run of these very points took; it is in proportion otherwise
}

// Plan says what Run would do with e, and how long that would take by what runs with
// the same profile took whose results lie in one of the folders, the first that has
// any: as long for the same points, and in proportion to the number of points for
// others. Points differ in their cost, so that the latter is rough. Nothing is
// measured.
func (o *Options) Plan(e Experiment, folders ...string) (Plan, error) {
	points, err := o.pointsOf(e)
	if err != nil {
		return Plan{}, fmt.Errorf("%s: %w", e.Name, err)
	}
	plan := Plan{Points: points}
	for _, from := range folders {
		var id identity
		var env measure.Env
		dir := filepath.Join(from, e.Name)
		if err := errors.Join(readJSON(filepath.Join(dir, runFile), &id), readJSON(filepath.Join(dir, envFile), &env)); err != nil {
			return Plan{}, err
		}
		if env.Seconds == 0 || id.Profile != o.Profile || id.Keys != o.Files.identity() {
			continue
		}
		past := Options{Profile: id.Profile, Seed: o.Seed, Overrides: id.Axes, Files: o.Files}
		then, err := past.pointsOf(e)
		if err != nil {
			continue // a grid of an earlier version
		}
		plan.Seconds = env.Seconds * float64(len(points)) / float64(len(then))
		plan.Same = same(points, then)
		break
	}
	return plan, nil
}

// pointsOf lists the points of the grid of e, without the controls.
func (o *Options) pointsOf(e Experiment) ([]*Point, error) {
	g, err := o.grid(e)
	if err != nil {
		return nil, err
	}
	groups, err := g.Points(o.Seed)
	var all []*Point
	for _, group := range groups {
		all = append(all, group...)
	}
	return all, err
}

func same(a, b []*Point) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].String() != b[i].String() || a[i].Seeds != b[i].Seeds || a[i].Hit != b[i].Hit {
			return false
		}
	}
	return true
}
