package contest

// Op is what a duel times.
type Op string

// The operations. Lookups of keys hash a byte string of 32 bytes first, ours by
// xxh3 and in blocks, theirs by XXH64 and one by one.
const (
	Hit     Op = "hit"
	Miss    Op = "miss"
	Add     Op = "add"
	HitKey  Op = "hit-key32"
	MissKey Op = "miss-key32"
)

// Duel is one ratio that is claimed, or looked at: how many times as fast as
// theirs ours is.
type Duel struct {
	Name   string
	Ours   string
	Theirs string
	N      uint64
	Bits   bool // ours gets the bits of theirs instead of the promised rate of 1%
	Batch  bool // ours through its batch calls; theirs too where it has any, else in a loop
	Op     Op
	Want   float64 // the ratio to reach; 0 where none is claimed
	Why    string  // what keeps ours from the ratio, for reports where it is not reached
}

// series is a row of duels that differ in the number of keys and the operation.
type series struct {
	Duel
	at []wants
}

// wants are the ratios to reach at one number of keys, by operation.
type wants struct {
	n  uint64
	by map[Op]float64
}

// lookups claims one ratio for present and absent keys.
func lookups(n uint64, ratio float64) wants {
	return wants{n, map[Op]float64{Hit: ratio, Miss: ratio}}
}

func keyLookups(n uint64, ratio float64) wants {
	return wants{n, map[Op]float64{HitKey: ratio, MissKey: ratio}}
}

func adds(n uint64, ratio float64) wants { return wants{n, map[Op]float64{Add: ratio}} }

// Numbers of keys at which the tables of seiflotfy, a power of two of slots, are
// 95% full.
const (
	cuckooSmall  = 15_565
	cuckooMedium = 996_147
	cuckooLarge  = 31_876_710
)

// firstClaim is the duel that is claimed for each kernel by itself: by vectors as
// it stands in the list, by the others less.
const firstClaim = "split block, batched"

// want is the ratio to reach when ours runs the given kernel.
func (d *Duel) want(kernel string) float64 {
	if d.Name != firstClaim {
		return d.Want
	}
	switch kernel {
	case "go+prefetch":
		return map[uint64]float64{1e4: 1, 1e6: 1.6, 1e7: 4, 1e8: 3}[d.N]
	case "go":
		return map[uint64]float64{1e4: 1, 1e6: 1.3, 1e7: 1.7, 1e8: 1.8}[d.N]
	}
	return d.Want
}

// standardWhy is what bounds a Bloom filter in a table beyond the caches.
const standardWhy = "a present key reads seven lines and an absent one two or three, and theirs has as many loads under way as ours, since no load waits for another: where the memory is the bound little is " +
	"left to gain, and fetching ahead need not help present keys (compare one at a time with batched). Fewer lines a key is what the blocked filters are"

// Duels lists all of them, in the order of the claims.
func Duels() []Duel {
	const (
		split  = "blocked(layout=split)"
		line   = "blocked"
		huge   = "blocked(layout=split,pages=huge)"
		table  = "blocked(layout=pattern)"
		parq   = "peer:parquet-go"
		bab    = "peer:bits-and-blooms"
		holi   = "peer:holiman"
		seif   = "peer:seiflotfy"
		boomC  = "peer:boom-counting"
		boomS  = "peer:boom-scalable"
		blockC = "counting(layout=blocked)"
	)
	all := []series{
		{Duel{Name: firstClaim, Ours: split, Theirs: parq, Batch: true, Why: "from 1e7 keys on a lookup takes about what reading its one line takes, fetched ahead (columns over_floor and " +
			"ns_floor of experiment pages, with their intervals), so that the rest of the ratio is the memory's. With the table on pages of 2 MiB it is the duel of that name"},
			[]wants{lookups(1e4, 2.5), lookups(1e6, 4), lookups(1e7, 6), lookups(1e8, 5)}},
		{Duel{Name: "split block on 2 MiB pages, batched", Ours: huge, Theirs: parq, Batch: true},
			[]wants{lookups(1e7, 0), lookups(1e8, 0)}},
		{Duel{Name: "cache line, batched", Ours: line, Theirs: parq, Batch: true},
			[]wants{lookups(1e4, 0), lookups(1e6, 0), lookups(1e7, 0), lookups(1e8, 0)}},
		{Duel{Name: "pattern table, one at a time", Ours: table, Theirs: parq},
			[]wants{lookups(1e4, 1.15), lookups(1e6, 0)}},
		{Duel{Name: "split block, one at a time", Ours: split, Theirs: parq},
			[]wants{lookups(1e4, 0), lookups(1e6, 0)}},
		{Duel{Name: "cache line, one at a time", Ours: line, Theirs: parq},
			[]wants{lookups(1e4, 0), lookups(1e6, 0)}},
		{Duel{Name: "pattern table, one at a time", Ours: table, Theirs: bab},
			[]wants{lookups(1e4, 20), lookups(1e6, 10)}},
		{Duel{Name: "split block against InsertBulk", Ours: split, Theirs: parq, Batch: true},
			[]wants{adds(1e6, 1)}},
		{Duel{Name: "split block on 2 MiB pages against InsertBulk", Ours: huge, Theirs: parq, Batch: true},
			[]wants{adds(1e7, 0), adds(1e8, 1.9)}},
		{Duel{Name: "32-byte keys, hashed and looked up", Ours: split, Theirs: parq, Batch: true},
			[]wants{keyLookups(1e4, 2.2), keyLookups(1e6, 2), keyLookups(1e7, 0), keyLookups(1e8, 6)}},
		{Duel{Name: "cuckoo, same bits and load, one at a time", Ours: "cuckoo(f=8,b=4)", Theirs: seif, Bits: true},
			[]wants{
				{cuckooSmall, map[Op]float64{Hit: 5.5, Miss: 2.8, Add: 1}},
				{cuckooMedium, map[Op]float64{Hit: 0, Miss: 0, Add: 1}},
				{cuckooLarge, map[Op]float64{Add: 1}},
			}},
		{Duel{Name: "cuckoo, same bits and load, batched", Ours: "cuckoo(f=8,b=4)", Theirs: seif, Bits: true, Batch: true, Why: "a lookup reads two lines that are in no cache, which are fetched ahead; what is left is the misses, " +
			"and theirs has them under way as well"},
			[]wants{
				{cuckooSmall, map[Op]float64{Hit: 0, Miss: 0}},
				{cuckooMedium, map[Op]float64{Hit: 4.5, Miss: 2.4}},
				{cuckooLarge, map[Op]float64{Hit: 4.5, Miss: 4.5}},
			}},
		{Duel{Name: "cuckoo that keeps 1%, batched", Ours: "cuckoo(b=4)", Theirs: seif, Batch: true},
			[]wants{lookups(cuckooSmall, 0), lookups(cuckooMedium, 0), lookups(cuckooLarge, 0)}},
		{Duel{Name: "counting in blocks, one at a time", Ours: blockC, Theirs: boomC},
			[]wants{
				{1e4, map[Op]float64{Hit: 4, Miss: 4, Add: 2.5}},
				{1e6, map[Op]float64{Hit: 4, Miss: 4, Add: 2.5}},
			}},
		{Duel{Name: "counting, one at a time", Ours: "counting", Theirs: boomC},
			[]wants{
				{1e4, map[Op]float64{Hit: 0, Miss: 0, Add: 0}},
				{1e6, map[Op]float64{Hit: 0, Miss: 0, Add: 0}},
			}},
		{Duel{Name: "counting in blocks, batched", Ours: blockC, Theirs: boomC, Batch: true},
			[]wants{lookups(1e4, 0), lookups(1e6, 0), lookups(1e7, 0)}},
		{Duel{Name: "counting, batched", Ours: "counting", Theirs: boomC, Batch: true},
			[]wants{lookups(1e4, 0), lookups(1e6, 0), lookups(1e7, 0)}},
		{Duel{Name: "standard, same bits, one at a time", Ours: "standard", Theirs: holi, Bits: true, Why: standardWhy},
			[]wants{
				{1e4, map[Op]float64{Hit: 3.8, Miss: 0}},
				{1e6, map[Op]float64{Hit: 3, Miss: 0}},
				{1e8, map[Op]float64{Hit: 2.1, Miss: 0}},
			}},
		{Duel{Name: "standard, same bits, batched", Ours: "standard", Theirs: holi, Bits: true, Batch: true, Why: standardWhy},
			[]wants{lookups(1e4, 0), lookups(1e6, 0), lookups(1e7, 0), {1e8, map[Op]float64{Hit: 4.5, Miss: 3.5}}}},
		{Duel{Name: "standard, same bits, batched", Ours: "standard", Theirs: bab, Bits: true, Batch: true, Why: standardWhy},
			[]wants{lookups(1e4, 9), lookups(1e6, 9), lookups(1e7, 9), lookups(1e8, 9)}},
		{Duel{Name: "scalable from n/8 on, batched", Ours: "scalable", Theirs: boomS, Batch: true, Why: "at 1e6 keys the stages together are larger than the second cache of the machine that was measured; " +
			"the vectors test all probes of a stage, for absent keys too, and leaving a stage early has not been tried in them"},
			[]wants{lookups(1e4, 10), lookups(1e6, 10)}},
		{Duel{Name: "scalable from n/8 on, one at a time", Ours: "scalable", Theirs: boomS},
			[]wants{lookups(1e4, 0), lookups(1e6, 0)}},
	}
	var out []Duel
	for _, s := range all {
		for _, w := range s.at {
			for _, op := range []Op{Hit, Miss, HitKey, MissKey, Add} {
				if want, ok := w.by[op]; ok {
					d := s.Duel
					d.N, d.Op, d.Want = w.n, op, want
					out = append(out, d)
				}
			}
		}
	}
	return out
}
