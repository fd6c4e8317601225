package blocked

import (
	"strconv"

	"filterlab/filters"
)

// Layout says where in its block the bits of a key may lie.
type Layout uint8

const (
	// DefaultLayout stands for Plain.
	DefaultLayout Layout = iota

	// Plain lets each of the k bits lie anywhere in the block.
	Plain

	// Split is the split-block filter of Parquet, Impala and Arrow, bit for bit:
	// blocks of 256 bits in 8 lanes of 32, and one bit of a key in each lane. One
	// multiplication of vectors finds all 8. It takes 10.53 bits a key for 1%,
	// where Plain takes 9.92, and is the fastest there is in batches; see
	// [Filter.AppendParquet].
	Split

	// Pattern takes two words of a block of 512 bits, one in each half, and sets
	// three bits in each that stand ready in a table of 1,024 patterns (8 KiB).
	// It takes 10.33 bits a key for 1%, and is the fastest for one key at a time
	// and where there are no vectors.
	Pattern
)

// String prints the name that ParseLayout reads; the default prints as nothing.
func (l Layout) String() string {
	switch l {
	case DefaultLayout:
		return ""
	case Plain:
		return "plain"
	case Split:
		return "split"
	case Pattern:
		return "pattern"
	}
	return "Layout(" + strconv.Itoa(int(l)) + ")"
}

// ParseLayout is the inverse of Layout.String.
func ParseLayout(s string) (Layout, error) {
	for l := DefaultLayout; l <= Pattern; l++ {
		if s == l.String() {
			return l, nil
		}
	}
	return 0, refuseLayout(strconv.Quote(s))
}

func refuseLayout(v any) error {
	return filters.Refuse("blocked: layout", v, "plain, split or pattern")
}

// Pages is the size of the memory pages a table lies on.
type Pages uint8

const (
	// DefaultPages stands for SystemPages.
	DefaultPages Pages = iota

	// SystemPages takes the pages that the system gives without being asked: 4
	// KiB on most.
	SystemPages

	// HugePages asks for pages of 2 MiB under tables of 8 MiB and more (Linux; a
	// wish, not a demand). Adds and lookups in batches no longer miss the
	// translation cache too: at 13 MB they take a tenth less time, at 130 MB from
	// a tenth to a half, most on virtual machines. It is not the default because
	// the advice stays with the addresses after the filter is gone.
	HugePages
)

// String prints the name that ParsePages reads; the default prints as nothing.
func (p Pages) String() string {
	switch p {
	case DefaultPages:
		return ""
	case SystemPages:
		return "system"
	case HugePages:
		return "huge"
	}
	return "Pages(" + strconv.Itoa(int(p)) + ")"
}

// ParsePages is the inverse of Pages.String.
func ParsePages(s string) (Pages, error) {
	for p := DefaultPages; p <= HugePages; p++ {
		if s == p.String() {
			return p, nil
		}
	}
	return 0, refusePages(strconv.Quote(s))
}

func refusePages(v any) error {
	return filters.Refuse("blocked: pages", v, "system or huge")
}
