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
		if len(s.object.Owners) < 2 {
			return nil
		}
		first, good := map[types.UID]int{}, map[types.UID]bool{}
		for i, r := range s.object.Owners {
			if _, seen := first[r.UID]; !seen {
				first[r.UID] = i
			}
			if s.judgements[i].Verdict == collector.Solid {
				good[r.UID] = true
			}
		}
		var out []Finding
		for i, r := range s.object.Owners {
			if of := first[r.UID]; of != i {
				out = append(out, s.duplicate(of, i, good[r.UID] && s.outlook.Drops(r.UID)))
			}
		}
		return out
	},
}

// duplicate words the i-th reference as a double of an earlier one. The
// collector drops references by UID, so a bad one takes its good double along:
// loses says that it will (gc-semantics 10.2).
func (s sight) duplicate(of, i int, loses bool) Finding {
	r, earlier := s.object.Owners[i], s.object.Owners[of]
	fact := fmt.Sprintf("its references %d and %d, %s and %s, carry the same UID", of+1, i+1, earlier, r)
	f := s.on(i, fmt.Sprintf("%s and %s have one UID", earlier, r), fact, Unlink)
	if loses {
		f.Severity, f.Consequence = Warning, collector.Unlink
		f.Effect = "drops every reference to that UID"
		f.Message = fact + "; the collector drops references by UID, so a good one goes with the bad one"
	}
	return f
}
