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
	group: func(p *ruleContext) []Finding {
		var out []Finding
		for _, cycle := range p.graph.Cycles(p.resolves) {
			if f, judged := p.cycle(cycle); judged {
				out = append(out, f)
			}
		}
		return out
	},
}

// resolves says whether a reference leads to its owner (design: cycles are
// those of references that are solid or waiting).
func (p *ruleContext) resolves(e graph.Edge) bool {
	v := p.judge.Reference(e).Verdict
	return v == collector.Solid || v == collector.Waiting
}

func (p *ruleContext) cycle(nodes []graph.Node) (f Finding, judged bool) {
	var members []object.Identity
	deleting := false
	for _, n := range nodes {
		o := p.graph.Object(n)
		judged = judged || p.inScope(o)
		deleting = deleting || o.Terminating()
		members = append(members, o.Identity)
	}
	slices.SortFunc(members, object.Identity.Compare)
	f = Finding{
		Severity: Error, Object: members[0], Members: members, Consequence: collector.ConsequenceStuck, Fix: Unlink,
		Reason: reason.OwnersInCycle{Members: members}, Effect: reason.NeverCollected{},
	}
	switch {
	case p.deadlocked(nodes):
		f.Effect = reason.NeverCompletes{}
	case deleting:
		f.Severity, f.Consequence, f.Effect = Warning, collector.ConsequenceNone, reason.DeletionUnderWay{}
	}
	return f, judged
}

// deadlocked says whether every member is in a foreground deletion that another
// member blocks (docs/gc-semantics.md#stuck-foreground-deletions).
func (p *ruleContext) deadlocked(members []graph.Node) bool {
	for _, n := range members {
		if !p.graph.Object(n).DeletingDependents() {
			return false
		}
		blocked := slices.ContainsFunc(p.graph.Dependents(n), func(e graph.Edge) bool {
			_, inside := slices.BinarySearch(members, e.Node) // members ascend
			return inside && e.Node != n && p.graph.Reference(e).Blocks()
		})
		if !blocked {
			return false
		}
	}
	return true
}
