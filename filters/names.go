package filters

import (
	"strings"
)

// OneOf is what Refuse accepts where a name is none of the known ones: "one of a,
// b, c", and behind it the nearest of them when that is at most two letters off.
func OneOf(name string, known []string) string {
	s := "one of " + strings.Join(known, ", ")
	if near := Nearest(name, known); near != "" {
		s += "; did you mean " + near + "?"
	}
	return s
}

// Nearest is the known name that name becomes by the fewest insertions, deletions
// and replacements of letters, in whatever case; the first of several. It is empty
// where more than two are needed (two slips of the finger, no more), or as many as
// the known name has letters.
func Nearest(name string, known []string) string {
	near, nearest := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < nearest && d < len(k) {
			near, nearest = k, d
		}
	}
	return near
}

// distance is the edit distance of Levenshtein: insertions, deletions and
// replacements of bytes that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
