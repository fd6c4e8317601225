package choose

import (
	"fmt"
	"go/format"
	"strconv"
	"strings"
)

// Snippet is a Go program that builds a choice for a question, ready to be compiled.
func Snippet(q Question, c Choice) (string, error) {
	var b strings.Builder
	keys := strings.TrimSuffix(strings.TrimSuffix(c.describe(), "."), ",")
	switch c.config.name {
	case NoFilter:
		b.WriteString("package main\n\nimport \"fmt\"\n\nfunc main() {\n\t// No filter pays: ask the slow thing at once.\n\tfmt.Println(\"no filter\")\n}\n")
	case ExactSet:
		fmt.Fprintf(&b, `package main

import "fmt"

func main() {
	// %s
	set := make(map[string]struct{}, %d)
	set["apple"] = struct{}{}
	_, in := set["pear"]
	fmt.Println(in)
}
`, keys, q.N)
	default:
		seedImport, seed := "", "\tconst seed = 1 // any: filters that are merged or compared need the same\n"
		if q.Untrusted {
			seedImport = "\t\"crypto/rand\"\n\t\"encoding/binary\"\n"
			seed = `	// Secret and random: whoever knows it can make keys that pass.
	var secret [8]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return filters.Keyed{}, err
	}
	seed := binary.LittleEndian.Uint64(secret[:])
`
		}
		target := "P: " + strconv.FormatFloat(c.Target.P, 'g', -1, 64)
		if c.Target.P == 0 {
			target = "BitsPerKey: " + strconv.FormatFloat(c.Target.BitsPerKey, 'g', -1, 64)
		}
		fmt.Fprintf(&b, `package main

import (
%s	"fmt"
	"log"

	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

// newFilter makes an empty filter: %s
func newFilter() (filters.Keyed, error) {
	v, err := catalog.Parse(%q)
	if err != nil {
		return filters.Keyed{}, err
	}
	f, err := v.(filters.Maker).New(filters.Target{N: %d, %s})
	if err != nil {
		return filters.Keyed{}, err
	}
	h, err := hashing.ByName(%q)
	if err != nil {
		return filters.Keyed{}, err
	}
%s	return filters.Keyed{Filter: f, Hash: h.New(seed)}, nil
}

func main() {
	f, err := newFilter()
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Add([]byte("apple")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Contains([]byte("apple")), f.Contains([]byte("pear")))
}
`, seedImport, keys, c.Filter, c.Target.N, target, c.Hash, seed)
	}
	out, err := format.Source([]byte(b.String()))
	return string(out), err
}

// describe is a choice in one line.
func (c *Choice) describe() string {
	switch c.config.name {
	case NoFilter:
		return "no filter"
	case ExactSet:
		return fmt.Sprintf("an exact set, %s", size(float64(c.Bits)))
	}
	return fmt.Sprintf("%s keys in %s, %.4g bits each, rate %.3g%%.", count(float64(c.Target.N)), size(float64(c.Bits)), c.BitsPerKey, 100*c.FPR)
}
