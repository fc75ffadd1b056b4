package audit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var duplicateOwner = Rule{
	ID:      "duplicate-owner",
	Summary: "Several references of an object carry the same owner UID.",
	find: func(s sight) []Finding {
		first := map[types.UID]int{}
		var out []Finding
		for i, r := range s.object.Owners {
			of, seen := first[r.UID]
			if !seen {
				first[r.UID] = i
				continue
			}
			out = append(out, s.duplicate(of, i))
		}
		return out
	},
}

// duplicate words the i-th reference as a double of an earlier one. The
// collector drops references by UID, so a bad one takes its good double along
// (gc-semantics 10.2).
func (s sight) duplicate(of, i int) Finding {
	r, earlier := s.object.Owners[i], s.object.Owners[of]
	f := s.on(i,
		fmt.Sprintf("%s and %s have one UID", earlier, r),
		fmt.Sprintf("its references %d and %d, %s and %s, carry the same UID", of+1, i+1, earlier, r),
		Unlink)
	a, b := s.judgements[of].Verdict, s.judgements[i].Verdict
	if (s.outlook.Of(a) == collector.Unlink) != (s.outlook.Of(b) == collector.Unlink) {
		f.Severity, f.Consequence = Warning, collector.Unlink
		f.Effect = "drops both references"
		f.Message = fmt.Sprintf("its references %d and %d, %s and %s, carry the same UID; the collector drops references by UID, so the good one goes with the bad one", of+1, i+1, earlier, r)
	}
	return f
}
