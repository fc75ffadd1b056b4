package audit

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var duplicateOwner = Rule{
	ID:      "duplicate-owner",
	Summary: "Several references of an object carry the same owner UID.",
	find: func(o objectContext) []Finding {
		if len(o.object.Owners) < 2 {
			return nil
		}
		first, good := map[types.UID]int{}, map[types.UID]bool{}
		for i, r := range o.object.Owners {
			if _, seen := first[r.UID]; !seen {
				first[r.UID] = i
			}
			if o.judgements[i].Verdict == collector.VerdictSolid {
				good[r.UID] = true
			}
		}
		var out []Finding
		for i, r := range o.object.Owners {
			if earlier := first[r.UID]; earlier != i {
				out = append(out, o.duplicate(earlier, i, good[r.UID] && o.assessment.Unlinks(r.UID)))
			}
		}
		return out
	},
}

// duplicate returns the finding that the i-th reference repeats an earlier one. The garbage
// collector removes references by UID, so it removes a good reference together with a bad
// duplicate; losesGood reports that it will (docs/gc-semantics.md#removing-references).
func (o objectContext) duplicate(earlier, i int, losesGood bool) Finding {
	f := o.finding(i, reason.OwnerDuplicated{Earlier: o.owner(earlier), Later: o.owner(i), EarlierIndex: earlier, LaterIndex: i}, Unlink)
	if losesGood {
		f.Severity, f.Consequence, f.Effect = Warning, collector.ConsequenceUnlink, reason.RemovesAllWithUID
	}
	return f
}
