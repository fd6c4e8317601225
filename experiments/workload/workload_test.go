package workload

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"filterlab/filters"
	"filterlab/hashing"
)

func xxh3(t testing.TB) filters.Hasher {
	t.Helper()
	e, err := hashing.ByName("xxh3")
	if err != nil {
		t.Fatal(err)
	}
	return e.New(0)
}

// The first two members and non-members of every kind under seed 1. They were
// taken from this package: a change of any key changes what a seed means in
// every result, and must be seen.
func TestGoldenKeys(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	want := map[string][4]string{
		"random": {"\f\xca\x88B\xb5\x1f\xb2\x9f",
			"\x0f\xf12\xcb\x7f7\x8aB",
			"\x93\xf4'\r\x8f2\x9d\xcd",
			"4:\x03\xa7\xb9\xfe\xe5F"},
		"random32": {"\f\xca\x88B\xb5\x1f\xb2\x9fV\xbf\x90\x9a06\x84\xfd\xd4\x14\xca\x99[\x9c<\x0f\xf3W\xa4a\xbf \x06R",
			"\x0f\xf12\xcb\x7f7\x8aB\xf2$'-\xc8e\x81\\\x05\xa1\xa1D\n\xe9H\x82\xfc\x0e\xb0\x92\xddt6\xc0",
			"\x93\xf4'\r\x8f2\x9d\xcd\xc4\xc0F\x9cVA[\xf0\x8f\x81\x97j4\x90L\xb1M\xf0\x17C@\x98\xdc\r",
			"4:\x03\xa7\xb9\xfe\xe5F6f[WW)\x82\x14|\xa1_k\xca\x87\x05[H8\xdc\xc2\xa4\xa3w\xa4"},
		"sequential": {"\x01\x00\x00\x00\x00\x00\x00\x00",
			"\x02\x00\x00\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x00\x00\x00\x00\x00",
			"\x03\x00\x00\x00\x00\x00\x00\x00"},
		"sequentialbe": {"\x00\x00\x00\x00\x00\x00\x00\x01",
			"\x00\x00\x00\x00\x00\x00\x00\x02",
			"\x00\x00\x00\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x00\x00\x00\x00\x03"},
		"decimal": {"1",
			"2",
			"0",
			"3"},
		"strided": {"\x00\x10\x00\x00\x00\x00\x00\x00",
			"\x00 \x00\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x00\x00\x00\x00\x00",
			"\x000\x00\x00\x00\x00\x00\x00"},
		"bitreversed": {"\x00\x00\x00\x00\x00\x00\x00\x80",
			"\x00\x00\x00\x00\x00\x00\x00@",
			"\x00\x00\x00\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x00\x00\x00\x00\xc0"},
		"onebit": {"\x01\x00\x00\x00\x00\x00\x00\x00",
			"\x03\x00\x00\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x00\x00\x00\x00\x00",
			"\x02\x00\x00\x00\x00\x00\x00\x00"},
		"lastbytes": {"tenant/00000000/bucket/00000000/object/0\x00\x00\x00\x00\x00\x00\x00\x01",
			"tenant/00000000/bucket/00000000/object/0\x00\x00\x00\x00\x00\x00\x00\x02",
			"tenant/00000000/bucket/00000000/object/0\x00\x00\x00\x00\x00\x00\x00\x00",
			"tenant/00000000/bucket/00000000/object/0\x00\x00\x00\x00\x00\x00\x00\x03"},
		"zeroheavy": {"\x01" + zeros(63), "\x02" + zeros(63), zeros(64), "\x03" + zeros(63)},
		"ipv4": {zeros(10) + "\xff\xffQ\r\xa5\x83",
			zeros(10) + "\xff\xff\xb1r\u0787",
			zeros(10) + "\xff\xff\xb3=\xf3\xe0",
			zeros(10) + "\xff\xff\x19\xf8\xbdP"},
		"uuid": {"\x9f\xb2\x1f\xb5B\x88J\f\xb3\xf6\x10\xd8\xc2jB\xfd",
			"B\x8a7\x7f\xcb2A\x0f\xbdr\x05\x97 \xb4\x9c\x93",
			"\u035d2\x8f\r'D\x93\xbf\xc1m\x05Zq\x1b\x03",
			"F\xe5\xfe\xb9\xa7\x03J4\x8cR\b\xa5]]m\x98"},
		"uuidtext": {"9fb21fb5-4288-4a0c-b3f6-10d8c26a42fd",
			"428a377f-cb32-410f-bd72-059720b49c93",
			"cd9d328f-0d27-4493-bfc1-6d055a711b03",
			"46e5feb9-a703-4a34-8c52-08a55d5d6d98"},
		"urls": {"https://www.dailyshop0.com/island-easy-price-plan-1",
			"https://www.worldcloud5.com/products/city-music-photo-2",
			"https://www.sportgreen11.de/blog/2023/small-house-people-how-archive-0?page=4",
			"http://worldmedia15.com/articles/test-cheap-compare-water-3"},
		"threeletter": {"zya",
			"ait",
			"zse",
			"noa"},
	}
	kinds := All()
	if len(kinds) != len(want) {
		t.Errorf("%d kinds, %d golden", len(kinds), len(want))
	}
	for _, k := range kinds {
		s := k.New(1)
		got := [4]string{
			string(s.AppendMember(nil, 0)), string(s.AppendMember(nil, 1)),
			string(s.AppendAbsent(nil, 0)), string(s.AppendAbsent(nil, 1)),
		}
		if got != want[k.Name] {
			t.Errorf("%q: %+q,", k.Name, got)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, k := range All() {
		got, err := ByName(strings.ToUpper(k.Name))
		if err != nil || got.Name != k.Name {
			t.Errorf("ByName(%q) = %q, %v", strings.ToUpper(k.Name), got.Name, err)
		}
		if s := k.New(3); s.Name() != k.Name || s.Members() == 0 || s.Absent() == 0 || k.Doc == "" {
			t.Errorf("%s: set is named %q with %d members, %d non-members", k.Name, s.Name(), s.Members(), s.Absent())
		}
	}
	if _, err := ByName("zipf"); err == nil || !strings.Contains(err.Error(), "sequential, sequentialbe, decimal") {
		t.Errorf("unknown name: error %v does not list the names", err)
	}
}

// The disjointness that the construction promises, by comparing the keys: at the
// start, in the middle and at the end of every kind's range.
func TestH10_MembersAndNonMembersAreDisjoint(t *testing.T) {
	const n = 3000
	for _, k := range All() {
		for _, seed := range []uint64{0, 1, math.MaxUint64} {
			s := k.New(seed)
			members, absent := newKeys(0, 0), newKeys(0, 0)
			for _, first := range []uint64{0, s.Members()/2 - n/2, s.Members() - n} {
				a, err := Members(s, first, n)
				if err != nil {
					t.Fatal(err)
				}
				b, err := Absent(s, first, n)
				if err != nil {
					t.Fatal(err)
				}
				if s.Members() < 3*n { // the ranges overlap: take each by itself
					members, absent = newKeys(0, 0), newKeys(0, 0)
				}
				for i := range n {
					members.data = append(members.data, a.At(i)...)
					members.end()
					absent.data = append(absent.data, b.At(i)...)
					absent.end()
				}
				if err := Verify(members, absent).Err(); err != nil {
					t.Errorf("%s, seed %d, to pair %d: %v", k.Name, seed, first+n, err)
				}
			}
		}
	}
}

// Every three-letter word is there once.
func TestThreeLetterWordsAreAll(t *testing.T) {
	k, err := ByName("threeletter")
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{0, 1, 99} {
		s := k.New(seed)
		seen := map[string]bool{}
		for i := range s.Members() {
			seen[string(s.AppendMember(nil, i))] = true
		}
		for i := range s.Absent() {
			seen[string(s.AppendAbsent(nil, i))] = true
		}
		for w := range seen {
			if len(w) != 3 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
				t.Fatalf("seed %d: word %q", seed, w)
			}
		}
		if len(seen) != 26*26*26 {
			t.Errorf("seed %d: %d words, want %d", seed, len(seen), 26*26*26)
		}
	}
}

// What the counters say in each kind, read back from the keys.
func TestKindsAreWhatTheySay(t *testing.T) {
	le := binary.LittleEndian.Uint64
	counter := map[string]func(key []byte) uint64{
		"sequential":   le,
		"sequentialbe": binary.BigEndian.Uint64,
		"strided":      func(key []byte) uint64 { return le(key) / 4096 },
		"lastbytes":    func(key []byte) uint64 { return binary.BigEndian.Uint64(key[40:]) },
		"zeroheavy": func(key []byte) (c uint64) {
			for i := range 8 {
				c |= le(key[8*i:]) << (8 * i)
			}
			return c
		},
	}
	for name, read := range counter {
		k, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		s := k.New(7)
		ones := 0
		for i := range uint64(10000) {
			m, a := read(s.AppendMember(nil, i)), read(s.AppendAbsent(nil, i))
			if m/2 != i || a/2 != i || m == a {
				t.Fatalf("%s: pair %d is %d and %d", name, i, m, a)
			}
			ones += int(m & 1)
		}
		// The coin is fair: 5 standard deviations of Binomial(10000, 1/2).
		if ones < 4750 || ones > 5250 {
			t.Errorf("%s: %d of 10000 members are odd", name, ones)
		}
	}

	k, err := ByName("onebit")
	if err != nil {
		t.Fatal(err)
	}
	s := k.New(7)
	for i := range uint64(1000) {
		x := le(s.AppendMember(nil, i)) ^ le(s.AppendAbsent(nil, i))
		if x != 1 {
			t.Fatalf("onebit: pair %d differs in %b", i, x)
		}
	}
}

// Random keys of a format have what the format fixes: the version and the variant
// of UUIDs, the prefix of mapped addresses.
func TestFormats(t *testing.T) {
	sets := map[string]Source{}
	for _, name := range []string{"uuid", "uuidtext", "ipv4"} {
		k, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		sets[name] = k.New(7)
	}
	written := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for i := range uint64(2000) {
		text, raw := sets["uuidtext"].AppendMember(nil, i), sets["uuid"].AppendMember(nil, i)
		if !written.Match(text) || strings.ReplaceAll(string(text), "-", "") != hex.EncodeToString(raw) {
			t.Fatalf("UUID %d is %x and %s", i, raw, text)
		}
		a, ok := netip.AddrFromSlice(sets["ipv4"].AppendAbsent(nil, i))
		if !ok || !a.Is4In6() {
			t.Fatalf("address %d is %v", i, a)
		}
		seen[string(raw[:6])], seen[a.String()] = true, true
	}
	if len(seen) != 4000 {
		t.Errorf("%d distinct beginnings of UUIDs and addresses, want 4000", len(seen))
	}
}

// The lengths the catalogue promises.
func TestURLLengths(t *testing.T) {
	k, err := ByName("urls")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := Members(k.New(1), 0, 10000)
	if err != nil {
		t.Fatal(err)
	}
	shortest, longest := math.MaxInt, 0
	for i := range keys.Len() {
		n := len(keys.At(i))
		shortest, longest = min(shortest, n), max(longest, n)
	}
	mean := float64(len(keys.data)) / float64(keys.Len())
	if math.Abs(mean-62) > 0.5 || shortest < 30 || longest > 130 {
		t.Errorf("lengths %d to %d, mean %.2f", shortest, longest, mean)
	}
}

// A set is its kind, seed and index, whatever was asked before; seeds matter
// where the coin or the keys depend on them.
func TestDeterminism(t *testing.T) {
	for _, k := range All() {
		a, b, other := k.New(5), k.New(5), k.New(6)
		differ := 0
		for _, i := range []uint64{17, 0, 4000, 3, 17} {
			m := a.AppendMember(nil, i)
			if !bytes.Equal(m, b.AppendMember([]byte("before"), i)[6:]) {
				t.Errorf("%s: member %d depends on the set or on dst", k.Name, i)
			}
			if !bytes.Equal(a.AppendAbsent(nil, i), b.AppendAbsent(nil, i)) {
				t.Errorf("%s: non-member %d depends on the set", k.Name, i)
			}
		}
		for i := range uint64(100) {
			if !bytes.Equal(a.AppendMember(nil, i), other.AppendMember(nil, i)) {
				differ++
			}
		}
		if differ < 20 {
			t.Errorf("%s: two seeds differ in %d of 100 members", k.Name, differ)
		}
	}
}

// Hashes through the chunks are those of the keys one by one, for counts around the chunk size and from any first key.
func TestHashing(t *testing.T) {
	h := xxh3(t)
	for _, k := range All() {
		s := k.New(2)
		for _, n := range []int{0, 1, 255, 256, 257, 1000} {
			const first = 31
			members, absent := make([]uint64, n), make([]uint64, n)
			if err := errors.Join(HashMembers(members, h, s, first), HashAbsent(absent, h, s, first)); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if members[i] != h.Sum64(s.AppendMember(nil, first+uint64(i))) || absent[i] != h.Sum64(s.AppendAbsent(nil, first+uint64(i))) {
					t.Fatalf("%s, %d keys: hash %d is not that of its key", k.Name, n, i)
				}
			}
		}
	}
}

func TestNoAllocationPerKey(t *testing.T) {
	h := xxh3(t)
	for _, k := range All() {
		s := k.New(2)
		buf := make([]byte, 0, 256)
		if n := testing.AllocsPerRun(100, func() {
			s.AppendMember(buf, 77)
			s.AppendAbsent(buf, 77)
		}); n != 0 {
			t.Errorf("%s: %v allocations a key", k.Name, n)
		}
		// The buffers of one call: keys, ends (their growth), slices, the list.
		dst := make([]uint64, 8000)
		if n := testing.AllocsPerRun(5, func() {
			if err := HashMembers(dst, h, s, 0); err != nil {
				t.Fatal(err)
			}
		}); n > 25 {
			t.Errorf("%s: %v allocations for 8000 keys", k.Name, n)
		}
	}
}

// No set gives more distinct keys than it has.
func TestH10_RefusesMoreKeysThanThereAre(t *testing.T) {
	h := xxh3(t)
	k, err := ByName("threeletter")
	if err != nil {
		t.Fatal(err)
	}
	s := k.New(0)
	if s.Members() != 8788 {
		t.Fatalf("members = %d, want half of 17576", s.Members())
	}
	for _, c := range []struct{ first, n uint64 }{{0, 8789}, {8788, 1}, {8789, 0}, {math.MaxUint64, 1}, {1, 8788}} {
		_, errA := Members(s, c.first, c.n)
		_, errB := Absent(s, c.first, c.n)
		dst := make([]uint64, c.n)
		for _, err := range []error{errA, errB, HashMembers(dst, h, s, c.first), HashAbsent(dst, h, s, c.first)} {
			if !errors.Is(err, filters.ErrParam) || !strings.Contains(err.Error(), "8788") {
				t.Errorf("%d keys from %d: error %v", c.n, c.first, err)
			}
		}
	}
	dst := make([]uint64, 8788)
	if err := errors.Join(HashMembers(dst, h, s, 0), HashAbsent(dst, h, s, 0), HashMembers(nil, h, s, 8788)); err != nil {
		t.Errorf("all keys: %v", err)
	}
	r, err := ByName("random")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Members(r.New(0), 0, 1<<50); !errors.Is(err, filters.ErrParam) {
		t.Errorf("2^50 keys in memory: error %v", err)
	}
}

// B04: 1,200,000 numbers written as one rune each are 1,112,064 distinct keys, of
// which U+FFFD comes 87,937 times (the known-failures list); decimals are
// distinct.
func TestB04_RunesAreNotDistinct(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine that counts or computes for seconds")
	}
	runes, decimals := newKeys(0, 0), newKeys(0, 0)
	for i := range 1200000 {
		runes.data = append(runes.data, string(rune(i))...)
		runes.end()
		decimals.data = appendDecimal(decimals.data, uint64(i))
		decimals.end()
	}
	none := NewKeys()
	r := Verify(runes, none)
	if got := r.Members - r.DuplicateMembers; got != 1112064 || r.Err() == nil {
		t.Errorf("runes: %d distinct, error %v; want 1112064 and an error", got, r.Err())
	}
	if err := Verify(decimals, none).Err(); err != nil {
		t.Errorf("decimals: %v", err)
	}
}

// H10: overlaps and repetitions are counted and make an error.
func TestH10_VerifyFindsOverlapsAndRepetitions(t *testing.T) {
	key := func(s ...string) *Keys {
		k := newKeys(0, 0)
		for _, s := range s {
			k.data = append(k.data, s...)
			k.end()
		}
		return k
	}
	for _, c := range []struct {
		members, absent *Keys
		want            Report
	}{
		{key(), key(), Report{}},
		{key("a", "b"), key("c", ""), Report{Members: 2, Absent: 2}},
		{key("a", "b", "a", "a"), key("c"), Report{Members: 4, Absent: 1, DuplicateMembers: 2}},
		{key("a"), key("c", "c"), Report{Members: 1, Absent: 2, DuplicateAbsent: 1}},
		{key("a", "b"), key("b", "a\x00", "b"), Report{Members: 2, Absent: 3, DuplicateAbsent: 1, Overlap: 2}},
		{key("", "x"), key(""), Report{Members: 2, Absent: 1, Overlap: 1}},
	} {
		got := Verify(c.members, c.absent)
		spoiled := c.want.DuplicateMembers+c.want.DuplicateAbsent+c.want.Overlap > 0
		if got != c.want || (got.Err() != nil) != spoiled {
			t.Errorf("Verify(%q, %q) = %+v, %v; want %+v", c.members.Slices(), c.absent.Slices(), got, got.Err(), c.want)
		}
	}

	// Non-members with 1% of the members among them.
	k, err := ByName("urls")
	if err != nil {
		t.Fatal(err)
	}
	s := k.New(0)
	members, err := Members(s, 0, 10000)
	if err != nil {
		t.Fatal(err)
	}
	absent, err := Absent(s, 0, 9900)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		absent.data = append(absent.data, members.At(i*97)...)
		absent.end()
	}
	if r := Verify(members, absent); r.Overlap != 100 || r.DuplicateAbsent != 0 || r.DuplicateMembers != 0 || r.Err() == nil {
		t.Errorf("1%% of overlap: %+v, %v", r, r.Err())
	}
}

func TestKeys(t *testing.T) {
	in := [][]byte{[]byte("one"), {}, []byte("three\x00"), nil, []byte("5")}
	k := NewKeys(in...)
	if k.Len() != len(in) {
		t.Fatalf("Len = %d", k.Len())
	}
	for i, got := range k.Slices() {
		if !bytes.Equal(got, in[i]) || !bytes.Equal(k.At(i), in[i]) || cap(got) != len(got) {
			t.Errorf("key %d is %q (cap %d), want %q", i, got, cap(got), in[i])
		}
	}
}
