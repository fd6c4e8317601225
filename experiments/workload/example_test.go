package workload_test

import (
	"fmt"

	"filterlab/experiments/workload"
)

// A key set gives members and non-members by number; no non-member is a member.
func ExampleByName() {
	kind, err := workload.ByName("decimal")
	if err != nil {
		fmt.Println(err)
		return
	}
	keys := kind.New(1)
	var buf []byte
	for i := range uint64(4) {
		buf = keys.AppendMember(buf[:0], i)
		fmt.Printf("member %s, ", buf)
		buf = keys.AppendAbsent(buf[:0], i)
		fmt.Printf("non-member %s\n", buf)
	}
	// Output:
	// member 1, non-member 0
	// member 2, non-member 3
	// member 5, non-member 4
	// member 6, non-member 7
}

// Half of the queries ask for members, in random order.
func ExampleMix_Draw() {
	refs, err := workload.Mix{Queries: 6, HitRatio: 0.5}.Draw(1000, 1000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range refs {
		fmt.Println(r.Member(), r.Index())
	}
	// Output:
	// true 424
	// false 290
	// false 684
	// true 296
	// true 583
	// false 966
}
