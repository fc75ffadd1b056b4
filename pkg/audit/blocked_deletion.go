package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var blockedDeletion = Rule{
	ID:      "blocked-deletion",
	Summary: "A deletion waits for dependents, and the garbage collector cannot complete it.",
	group: func(r *ruleContext) []Finding {
		deletions := r.listed(func(_ graph.Node, o *object.Object) bool { return o.HasCollectorFinalizer() })
		if len(deletions) == 0 {
			return nil
		}
		before, after := r.model(), r.after()
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

// listed returns the listed objects in scope that are selected.
func (r *ruleContext) listed(selected func(graph.Node, *object.Object) bool) []graph.Node {
	var out []graph.Node
	for n := graph.Node(0); int(n) < r.graph.Listed(); n++ {
		if o := r.graph.Object(n); r.inScope(o) && selected(n, o) {
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
		Object: r.graph.Object(n).Identity, Severity: Warning, Consequence: by.Consequence, Fix: NoFix,
		Reason: reason.DeletionBlocked.Of(reason.Nested{Reason: by.Reason}), Effect: reason.Waits{}, Members: append([]object.Identity{}, by.By...), Blocker: by.Reason,
	}
	if root := by.RootCause.Node; root != n {
		f.Cause = &Cause{Object: r.graph.Object(root).Identity}
	} else if len(by.Finalizers) > 0 {
		f.Cause = heldBy(by.Finalizers)
	}
	switch {
	case by.Consequence == collector.ConsequenceStuck:
		f.Severity, f.Effect = Error, reason.Waits{Forever: true}
	case by.Consequence == collector.ConsequenceUnknown:
		f.Effect = reason.Waits{Unknown: true}
	case by.RootCause.Reason == simulate.NothingBlocks:
		f.Idle, f.Effect = true, reason.Waits{Idle: true}
	}
	return f
}

// Blockers explains what blocks deletions in one state of a model. It is not safe for
// concurrent use.
type Blockers struct {
	graph     *graph.Graph
	model     *simulate.Model
	obstacles *simulate.Obstacles
}

// NewBlockers returns the Blockers of a model, which must not change while they are used.
func NewBlockers(m *simulate.Model) *Blockers {
	return &Blockers{graph: m.Graph(), model: m, obstacles: simulate.NewObstacles(m)}
}

// Blocker is what blocks one deletion.
type Blocker struct {
	By        []object.Identity // the dependents that block it; empty where there are none
	RootCause simulate.Obstacle
	Reason    reason.Reason // said of the object that is deleted
	Cause     reason.Reason // said of the object of RootCause
	// Finalizers are those of others that hold the object itself; empty if something else blocks it.
	Finalizers []string
	// Consequence is ConsequenceStuck if the deletion never completes by itself, ConsequenceUnknown if too
	// little could be read to tell, and ConsequenceNone if it waits for something else.
	Consequence collector.Consequence
}

// Blocker returns what blocks the deletion of a terminating object.
func (b *Blockers) Blocker(n graph.Node) Blocker {
	out := Blocker{By: []object.Identity{}}
	for _, by := range b.model.Blocking(n) {
		out.By = append(out.By, b.graph.Object(by).Identity)
	}
	out.RootCause, _ = b.obstacles.RootCause(n)
	out.Cause = b.reason(out.RootCause)
	out.Reason = out.Cause
	out.Consequence = b.consequence(out.RootCause)
	switch root := b.graph.Object(out.RootCause.Node).Identity; {
	case out.RootCause.Node != n:
		if len(out.By) == 0 { // an orphan whose reference to it cannot be removed
			out.By = append(out.By, root)
		}
		out.Reason = reason.BlockedByDependents{By: out.By[0], RootCause: root, Because: reason.Nested{Reason: out.Cause}}
	case out.RootCause.Reason == simulate.HeldByFinalizers:
		out.Finalizers = b.model.Object(out.RootCause.Node).ForeignFinalizers()
	}
	return out
}

func (b *Blockers) consequence(at simulate.Obstacle) collector.Consequence {
	switch at.Reason {
	case simulate.CannotBeJudged:
		if b.reference(at.Node, at.Reference).Verdict == collector.VerdictUnknown { // the collector may read more
			return collector.ConsequenceUnknown
		}
		return collector.ConsequenceStuck
	case simulate.InCycle, simulate.PatchRejected:
		return collector.ConsequenceStuck
	case simulate.NotAllListed, simulate.SharesUID, simulate.ContentsNotListed, simulate.ContentsUnlistable:
		return collector.ConsequenceUnknown
	case simulate.NothingBlocks, simulate.HeldByFinalizers, simulate.PodStillStopping, simulate.ContentsStillDeleting, simulate.GroupsUndiscoverable, simulate.LimitReached:
	}
	return collector.ConsequenceNone
}

func (b *Blockers) reason(at simulate.Obstacle) reason.Reason {
	switch at.Reason {
	case simulate.HeldByFinalizers:
		return b.model.HeldBy(at.Node)
	case simulate.PodStillStopping:
		return reason.GracePeriod.Of(b.model.Since(at.Node))
	case simulate.ContentsStillDeleting:
		return reason.ContentsRemain.Of(b.model.Since(at.Node))
	case simulate.InCycle:
		return reason.WaitsInCycle
	case simulate.CannotBeJudged:
		return reason.OwnerUndecidable.Of(b.UndecidableReference(at.Node, at.Reference))
	case simulate.LimitReached:
		return reason.OutOfScope
	case simulate.NotAllListed:
		return reason.DependentsUnknown
	case simulate.ContentsNotListed:
		return snapshot.ContentsUnknown(b.model.ContentsGaps(at.Node))
	case simulate.GroupsUndiscoverable, simulate.ContentsUnlistable:
		return snapshot.NotFinalized(b.model.FinalizationGaps(at.Node))
	case simulate.PatchRejected:
		return reason.PatchRejected
	case simulate.SharesUID:
		return snapshot.UIDContested(b.graph.Object(at.Node))
	case simulate.NothingBlocks:
	}
	return reason.NothingBlocks
}

// UndecidableReference returns the owner of the i-th reference that an object has in the
// model, a reference that cannot be judged.
func (b *Blockers) UndecidableReference(n graph.Node, i int) reason.Owner {
	return b.reference(n, i).Owner(b.model.Object(n).Owners[i])
}

func (b *Blockers) reference(n graph.Node, i int) collector.Judgement {
	return b.model.Judge().FindReference(n, b.model.Object(n).Owners[i])
}
