package audit

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var ownerCycle = Rule{
	ID:      "owner-cycle",
	Summary: "Objects own each other in a cycle, so that none of them is ever garbage.",
	Choice:  "is in an owner cycle",
	group: func(r *ruleContext) []Finding {
		var out []Finding
		for _, cycle := range r.graph.Cycles(r.judge.Resolves) {
			if f, ok := r.cycle(cycle); ok {
				out = append(out, f)
			}
		}
		return out
	},
}

func (r *ruleContext) cycle(nodes []graph.Node) (f Finding, inScope bool) {
	var members []object.Identity
	deleting := false
	for _, n := range nodes {
		o := r.graph.Object(n)
		inScope = inScope || r.inScope(o)
		deleting = deleting || o.Terminating()
		members = append(members, o.Identity)
	}
	slices.SortFunc(members, object.Identity.Compare)
	f = Finding{
		Severity: Error, Object: members[0], Members: members, Consequence: collector.ConsequenceStuck, Fix: Unlink,
		Reason: reason.OwnersInCycle(members), Effect: reason.NeverCollected(false),
	}
	switch {
	case r.deadlocked(nodes):
		f.Effect = reason.NeverCompletes(false)
	case deleting:
		f.Severity, f.Consequence, f.Effect = Warning, collector.ConsequenceNone, reason.DeletionUnderWay
	}
	return f, inScope
}

// deadlocked reports whether every member is in a foreground deletion that another member
// blocks (docs/gc-semantics.md#stuck-foreground-deletions). One that also orphans its dependents
// breaks the cycle.
func (r *ruleContext) deadlocked(members []graph.Node) bool {
	for _, n := range members {
		if o := r.graph.Object(n); !o.DeletingDependents() || o.Orphaning() {
			return false
		}
		blocked := slices.ContainsFunc(r.graph.Dependents(n), func(e graph.Edge) bool {
			_, inside := slices.BinarySearch(members, e.Node) // nodes of a cycle are sorted
			return inside && e.Node != n && r.graph.Reference(e).Blocks()
		})
		if !blocked {
			return false
		}
	}
	return true
}
