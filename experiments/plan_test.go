package experiments

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"filterlab/experiments/measure"
)

// A plan goes by a run with the same profile: exactly for the same points, in
// proportion for others, and not at all where there is none.
func TestPlanOfARun(t *testing.T) {
	e, o := tiny(Rate(0)), tinyOptions(t)
	if err := measureAll(t.Context(), e, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Out, e.Name, envFile)
	var env measure.Env
	if err := readJSON(path, &env); err != nil {
		t.Fatal(err)
	}
	if !(env.Seconds >= 0) {
		t.Errorf("the run took %v seconds", env.Seconds)
	}
	env.Seconds = 8 // for eight points, whatever it was
	b, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	half, other := o, o
	half.Overrides = []Override{{"filters", []string{"blocked"}}}
	other.Profile.Precision = 0.05
	for _, c := range []struct {
		name    string
		o       Options
		folders []string
		want    Plan
		points  int
	}{
		{"the same", o, []string{o.Out}, Plan{Seconds: 8, Same: true}, 8},
		{"behind an empty folder", o, []string{t.TempDir(), o.Out}, Plan{Seconds: 8, Same: true}, 8},
		{"half the points", half, []string{o.Out}, Plan{Seconds: 4}, 4},
		{"another profile", other, []string{o.Out}, Plan{}, 8},
		{"no run", o, []string{t.TempDir()}, Plan{}, 8},
	} {
		got, err := c.o.Plan(e, c.folders...)
		if err != nil || len(got.Points) != c.points || got.Seconds != c.want.Seconds || got.Same != c.want.Same {
			t.Errorf("%s: %d points, %v s, same %v, %v; want %d, %v, %v", c.name, len(got.Points), got.Seconds, got.Same, err, c.points, c.want.Seconds, c.want.Same)
		}
	}
}
