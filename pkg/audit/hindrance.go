package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Hindrances words what keeps deletions from ending in one state of a model.
// It is not safe for concurrent use.
type Hindrances struct {
	graph     *graph.Graph
	judge     *collector.Judge
	model     *collector.Model
	obstacles *collector.Obstacles
}

// NewHindrances prepares to word the model's present state, which must not
// change meanwhile.
func NewHindrances(j *collector.Judge, m *collector.Model) *Hindrances {
	return &Hindrances{graph: m.Graph(), judge: j, model: m, obstacles: collector.NewObstacles(m)}
}

// Hindrance is what keeps one deletion from ending.
type Hindrance struct {
	By     []object.Identity // the dependents that block it; empty where there are none
	End    collector.Obstacle
	Reason reason.Reason
}

// Of returns what keeps a terminating object from going.
func (h *Hindrances) Of(n graph.Node) Hindrance {
	out := Hindrance{By: []object.Identity{}}
	for _, by := range h.model.Blocking(n) {
		out.By = append(out.By, h.graph.Object(by).Identity)
	}
	out.End, _ = h.obstacles.End(n)
	out.Reason = h.reason(out.End)
	if len(out.By) > 0 && out.End.Node != n {
		out.Reason = reason.BlockedByDependents{By: out.By[0], RootCause: h.graph.Object(out.End.Node).Identity, Because: reason.Nested{Reason: out.Reason}}
	}
	return out
}

func (h *Hindrances) reason(at collector.Obstacle) reason.Reason {
	switch at.Why {
	case collector.HeldByFinalizers:
		return reason.HeldByFinalizers{Finalizers: h.model.Object(at.Node).ForeignFinalizers(), Since: h.since(at.Node)}
	case collector.StillStopping:
		return reason.GracePeriod{Since: h.since(at.Node)}
	case collector.StillEmptying:
		return reason.ContentsRemain{Since: h.since(at.Node)}
	case collector.InCircle:
		return reason.WaitsInCycle{}
	case collector.CannotBeJudged:
		return reason.OwnerUndecidable{Owner: h.Culprit(at.Node, at.Reference)}
	case collector.OutOfBounds:
		return reason.OutOfScope{}
	case collector.NotAllSeen:
		return reason.DependentsUnknown{}
	case collector.HidesContents:
		return snapshot.ContentsUnknown(h.model.ContentsGaps(at.Node))
	case collector.SharesUID:
		return snapshot.Contention(h.graph.Object(at.Node))
	case collector.NothingBlocks:
	}
	return reason.NothingBlocks{}
}

// since returns how long a deletion had been under way when the snapshot was taken.
func (h *Hindrances) since(n graph.Node) reason.Since {
	if o := h.graph.Object(n); o.Terminating() {
		return reason.Since{Deleted: *o.Deleted, Scanned: h.graph.Snapshot().Taken}
	}
	return reason.Since{}
}

// Culprit returns the owner that the i-th reference names which an object has in the
// model's state, where that reference cannot be judged.
func (h *Hindrances) Culprit(n graph.Node, i int) reason.Owner {
	r := h.model.Object(n).Owners[i]
	return h.judge.Of(n, r).Owner(r)
}
