package audit

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var duplicateOwner = Rule{
	ID:      "duplicate-owner",
	Summary: "Several references of an object carry the same owner UID.",
	find: func(s objectContext) []Finding {
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
				out = append(out, s.duplicate(of, i, good[r.UID] && s.assessment.Drops(r.UID)))
			}
		}
		return out
	},
}

// duplicate returns the finding that the i-th reference is a double of an earlier one.
// The collector drops references by UID, so a bad one takes its good double along: loses
// says that it will (docs/gc-semantics.md#removing-references).
func (s objectContext) duplicate(of, i int, loses bool) Finding {
	f := s.finding(i, reason.OwnerDuplicated{Earlier: s.owner(of), Later: s.owner(i), EarlierIndex: of, LaterIndex: i}, Unlink)
	if loses {
		f.Severity, f.Consequence, f.Effect = Warning, collector.ConsequenceUnlink, reason.RemovesAllWithUID{}
	}
	return f
}
