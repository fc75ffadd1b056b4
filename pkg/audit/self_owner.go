package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var selfOwner = Rule{
	ID:      "self-owner",
	Summary: "An object names itself as its owner.",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, r := range o.object.Owners {
			if r.UID != o.object.UID {
				continue
			}
			f := o.finding(i, reason.OwnsItself, Unlink)
			if f.Verdict == collector.VerdictSolid && !o.object.Terminating() {
				f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.NeverCollected{Itself: true}
			}
			if r.Blocks() && o.object.DeletingDependents() { // docs/gc-semantics.md#stuck-foreground-deletions
				f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.NeverCompletes{Itself: true}
			}
			out = append(out, f)
		}
		return out
	},
}
