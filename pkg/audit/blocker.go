package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Blockers words what keeps deletions from ending in one state of a model.
// It is not safe for concurrent use.
type Blockers struct {
	graph     *graph.Graph
	judge     *collector.Judge
	model     *simulate.Model
	obstacles *simulate.ObstacleChain
}

// NewBlockers prepares to word the model's present state, which must not
// change meanwhile.
func NewBlockers(j *collector.Judge, m *simulate.Model) *Blockers {
	return &Blockers{graph: m.Graph(), judge: j, model: m, obstacles: simulate.NewObstacles(m)}
}

// Blocker is what keeps one deletion from ending.
type Blocker struct {
	By     []object.Identity // the dependents that block it; empty where there are none
	End    simulate.Obstacle
	Reason reason.Reason
}

// Of returns what keeps a terminating object from going.
func (h *Blockers) Of(n graph.Node) Blocker {
	out := Blocker{By: []object.Identity{}}
	for _, by := range h.model.Blocking(n) {
		out.By = append(out.By, h.graph.Object(by).Identity)
	}
	out.End, _ = h.obstacles.RootCause(n)
	out.Reason = h.reason(out.End)
	if len(out.By) > 0 && out.End.Node != n {
		out.Reason = reason.BlockedByDependents{By: out.By[0], RootCause: h.graph.Object(out.End.Node).Identity, Because: reason.Nested{Reason: out.Reason}}
	}
	return out
}

func (h *Blockers) reason(at simulate.Obstacle) reason.Reason {
	switch at.Why {
	case simulate.HeldByFinalizers:
		return reason.HeldByFinalizers{Finalizers: h.model.Object(at.Node).ForeignFinalizers(), Since: h.since(at.Node)}
	case simulate.PodStillStopping:
		return reason.GracePeriod{Since: h.since(at.Node)}
	case simulate.ContentsStillDeleting:
		return reason.ContentsRemain{Since: h.since(at.Node)}
	case simulate.InCycle:
		return reason.WaitsInCycle{}
	case simulate.CannotBeJudged:
		return reason.OwnerUndecidable{Owner: h.UndecidableReference(at.Node, at.Reference)}
	case simulate.LimitReached:
		return reason.OutOfScope{}
	case simulate.NotAllListed:
		return reason.DependentsUnknown{}
	case simulate.ContentsNotListed:
		return snapshot.ContentsUnknown(h.model.ContentsGaps(at.Node))
	case simulate.SharesUID:
		return snapshot.Contention(h.graph.Object(at.Node))
	case simulate.NothingBlocks:
	}
	return reason.NothingBlocks{}
}

// since returns how long a deletion had been under way when the snapshot was taken.
func (h *Blockers) since(n graph.Node) reason.Since {
	if o := h.graph.Object(n); o.Terminating() {
		return reason.Since{Deleted: *o.Deleted, Scanned: h.graph.Snapshot().Taken}
	}
	return reason.Since{}
}

// UndecidableReference returns the owner that the i-th reference names which an object has in the
// model's state, where that reference cannot be judged.
func (h *Blockers) UndecidableReference(n graph.Node, i int) reason.Owner {
	r := h.model.Object(n).Owners[i]
	return h.judge.References(n, r).Owner(r)
}
