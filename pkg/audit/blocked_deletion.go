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
	group: func(r *ruleContext) []Finding {
		deletions := r.deletionsUnderWay()
		if len(deletions) == 0 {
			return nil
		}
		before := simulate.NewModel(r.judge, simulate.Options{})
		after := simulate.Run(r.judge, simulate.Options{}, simulate.Bounds{}).Model
		blockersBefore, blockersAfter := NewBlockers(before), NewBlockers(after)
		var out []Finding
		for _, n := range deletions {
			switch left := after.Object(n); {
			case left != nil && left.HasCollectorFinalizer():
				out = append(out, r.blocked(n, blockersAfter.Blocker(n)))
			case before.Decide(n).Action == collector.ActionRemoveFinalizer && r.overdue(n):
				out = append(out, r.blocked(n, blockersBefore.Blocker(n)))
			}
		}
		return out
	},
}

// deletionsUnderWay returns the objects in scope whose deletion the garbage collector has to
// complete.
func (r *ruleContext) deletionsUnderWay() []graph.Node {
	var out []graph.Node
	for n := graph.Node(0); int(n) < r.graph.Listed(); n++ {
		if o := r.graph.Object(n); o.HasCollectorFinalizer() && r.inScope(o) {
			out = append(out, n)
		}
	}
	return out
}

// overdue reports whether a deletion has been under way for so long that the garbage
// collector would have completed it.
func (r *ruleContext) overdue(n graph.Node) bool {
	s := r.graph.Snapshot()
	return s.Taken.Sub(*r.graph.Object(n).Deleted) > r.options.StuckAfter
}

func (r *ruleContext) blocked(n graph.Node, by Blocker) Finding {
	f := Finding{
		Object: r.graph.Object(n).Identity, Severity: Warning, Consequence: collector.ConsequenceNone, Fix: NoFix,
		Reason: reason.DeletionBlocked{Because: reason.Nested{Reason: by.Reason}}, Effect: reason.Waits{}, Members: append([]object.Identity{}, by.By...),
	}
	switch by.RootCause.Reason {
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
