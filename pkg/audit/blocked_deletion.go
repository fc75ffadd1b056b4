package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

var blockedDeletion = Rule{
	ID:      "blocked-deletion",
	Summary: "A deletion waits for dependents, and the garbage collector cannot complete it.",
	group: func(p *ruleContext) []Finding {
		under := p.deletionsUnderWay()
		if len(under) == 0 {
			return nil
		}
		before := simulate.NewModel(p.graph, p.judge)
		after := simulate.NewModel(p.graph, p.judge)
		after.Simulate(simulate.Bounds{})
		lost, blockers := NewBlockers(p.judge, before), NewBlockers(p.judge, after)
		var out []Finding
		for _, n := range under {
			switch left := after.Object(n); {
			case left != nil && left.Finishing():
				out = append(out, p.blocked(n, blockers.Of(n)))
			case before.Decide(n).Action == collector.ActionRemoveFinalizer && p.overdue(n):
				out = append(out, p.blocked(n, lost.Of(n)))
			}
		}
		return out
	},
}

// deletionsUnderWay are the judged objects whose deletion is the collector's to end.
func (p *ruleContext) deletionsUnderWay() []graph.Node {
	var out []graph.Node
	for n := graph.Node(0); int(n) < p.graph.Listed(); n++ {
		if o := p.graph.Object(n); o.Finishing() && p.inScope(o) {
			out = append(out, n)
		}
	}
	return out
}

// overdue says whether a deletion has been under way for so long that the
// collector would have ended it.
func (p *ruleContext) overdue(n graph.Node) bool {
	s := p.graph.Snapshot()
	return s.Taken.Sub(*p.graph.Object(n).Deleted) > p.options.StuckAfter
}

func (p *ruleContext) blocked(n graph.Node, by Blocker) Finding {
	f := Finding{
		Object: p.graph.Object(n).Identity, Severity: Warning, Consequence: collector.ConsequenceNone, Fix: NoFix,
		Reason: reason.DeletionBlocked{Because: reason.Nested{Reason: by.Reason}}, Effect: reason.Waits{}, Members: append([]object.Identity{}, by.By...),
	}
	switch by.End.Why {
	case simulate.InCycle, simulate.CannotBeJudged:
		f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.Waits{Forever: true}
	case simulate.NotAllListed, simulate.SharesUID, simulate.ContentsNotListed:
		f.Consequence, f.Effect = collector.ConsequenceUnknown, reason.Waits{Unknown: true}
	case simulate.NothingBlocks:
		f.Effect = reason.Waits{Idle: true}
	case simulate.HeldByFinalizers, simulate.PodStillStopping, simulate.ContentsStillDeleting, simulate.LimitReached:
	}
	return f
}
