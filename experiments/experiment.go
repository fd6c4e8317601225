package experiments

import (
	"context"

	"filterlab/experiments/figure"
	"filterlab/filters"
	"filterlab/filters/catalog"
)

// Experiment is a question and all that is needed to answer it.
type Experiment struct {
	Name     string // as typed: "fpr-vs-k"
	Question string // one sentence, ending in a question mark
	Grid     func(p Profile) Grid
	Measures []Measure
	Figures  func(cells []Cell, about About) []figure.Figure // pure: the same arguments give the same figures
	Finding  func(cells []Cell) string                       // what was found, in a sentence or two, made from the cells

	// Parse reads the filters of the rows, and Loop finds the loops that time them;
	// nil stands for those of the catalog. Filters of other libraries have their
	// own.
	Parse func(filter string) (filters.Variant, error)
	Loop  func(filters.Querier) catalog.Loops

	// Parts says that no measure holds the members where they are more than a run
	// should keep in memory: they are made a part at a time.
	Parts bool

	// Values are exact metrics of the experiment's own.
	Values []Value

	// OwnKeys says that the measures make keys themselves: key files do not change
	// the grid.
	OwnKeys bool

	// OwnN says that every key costs many steps, so that n stays that of the grid
	// where a file has more keys. What is asked does not depend on how many they are.
	OwnN bool

	// Expected says why a cell is expected to differ from theory, and is empty
	// where agreement is due. Nil means that every cell must agree.
	Expected func(p *Point) string
}

func (e *Experiment) parse(filter string) (filters.Variant, error) {
	if filter == (ideal{}).String() {
		return ideal{}, nil
	}
	if e.Parse != nil {
		return e.Parse(filter)
	}
	return catalog.Parse(filter)
}

// Measure is one thing that is measured at every point.
type Measure struct {
	Name  string
	Timed bool // depends on a clock: the runner lets nothing else run meanwhile
	Exact bool // some of its rows are the same every time, although it is timed

	// Run measures the points of one group and returns their rows. An error ends
	// the group, not the run.
	Run func(ctx context.Context, lab *Lab, points []*Point) ([]Row, error)
}

// All lists every experiment, in the order in which they run.
func All() []Experiment {
	return []Experiment{
		Teaching(),
		FPRvsLoad(),
		FPRvsK(),
		FPRvsBits(),
		IndexSchemes(),
		InBlock(),
		Memory(),
		HashChoice(),
		HashQuality(),
		HashWidth(),
		LevelDBHash(),
		Misestimate(),
		Duplicates(),
		Churn(),
		BogusDelete(),
		Adversary(),
		Saturation(),
		CuckooLoad(),
		CuckooBuild(),
		Growth(),
		Merge(),
		TimeVsN(),
		HitRatio(),
		KeyLength(),
		BatchSize(),
		Pages(),
		Threads(),
		ConcurrentAdds(),
		Build(),
	}
}

// ByName finds an experiment.
func ByName(name string) (Experiment, error) {
	var names []string
	for _, e := range All() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, filters.Refuse("experiment", name, filters.OneOf(name, names))
}

// Profile says how much effort a run spends.
type Profile struct {
	Name      string
	Precision float64 // wanted relative half-width of a 95% interval on a rate of at least 1e-5; twice that below
	MaxTrials uint64  // lookups of absent keys at one point, at most
	Seeds     int     // independently seeded filters at one point, at least 10
	Rounds    int     // timing rounds
	MaxN      uint64  // largest n of time-vs-n
	Thin      bool    // grids leave out points that only make curves smoother
}

// Profiles lists the profiles: quick for a look and for CI, default for the
// committed results, full for the last digit.
func Profiles() []Profile {
	return []Profile{
		{Name: "quick", Precision: 0.10, MaxTrials: 4_000_000, Seeds: 10, Rounds: 6, MaxN: 100_000, Thin: true},
		{Name: "default", Precision: 0.03, MaxTrials: 500_000_000, Seeds: 16, Rounds: 10, MaxN: 1_000_000},
		{Name: "full", Precision: 0.02, MaxTrials: 2_000_000_000, Seeds: 32, Rounds: 20, MaxN: 100_000_000},
	}
}

// WithPrecision is the profile with another relative half-width wanted of the 95%
// interval on a rate, from 0.001 to 0.5. Trials and seeds follow from it before
// anything runs; MaxTrials stays the limit, and a point that would take more is
// measured less precisely, which its interval shows.
func (p Profile) WithPrecision(r float64) (Profile, error) {
	if !(r >= 0.001 && r <= 0.5) {
		return p, filters.Refuse("precision", r, "a relative half-width from 0.1% to 50%")
	}
	p.Precision = r
	return p, nil
}

// ProfileByName finds a profile.
func ProfileByName(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, filters.Refuse("profile", name, filters.OneOf(name, names))
}
