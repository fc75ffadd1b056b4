package audit

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
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
	Reason string // unescaped
}

// Of words what keeps a terminating object from going.
func (h *Hindrances) Of(n graph.Node) Hindrance {
	out := Hindrance{By: []object.Identity{}}
	for _, by := range h.model.Blocking(n) {
		out.By = append(out.By, h.graph.Object(by).Identity)
	}
	out.End, _ = h.obstacles.End(n)
	out.Reason = h.word(out.End)
	switch end := h.graph.Object(out.End.Node); {
	case len(out.By) == 0 || out.End.Node == n:
	case out.By[0] == end.Identity:
		out.Reason = fmt.Sprintf("waits for %s, which %s", end, out.Reason)
	default:
		out.Reason = fmt.Sprintf("waits for %s, and that in the end for %s, which %s", out.By[0], end, out.Reason)
	}
	return out
}

func (h *Hindrances) word(at collector.Obstacle) string {
	switch at.Why {
	case collector.HeldByFinalizers:
		return "is held by " + strings.Join(h.model.Object(at.Node).ForeignFinalizers(), ", ") + h.since(at.Node)
	case collector.StillStopping:
		return "has been stopping" + h.since(at.Node)
	case collector.StillEmptying:
		return "waits for what is in it to go" + h.since(at.Node)
	case collector.InCircle:
		return "waits in a circle: each object in it is being deleted in the foreground and blocks another, or itself"
	case collector.CannotBeJudged:
		return "cannot be judged: " + h.Culprit(at.Node, at.Reference)
	case collector.OutOfBounds:
		return "lies outside of what may be changed"
	case collector.NotAllSeen:
		return "keeps its finalizer, as not everything could be seen that may depend on it"
	case collector.HidesContents:
		return ContentsUnknown(h.model.ContentsGaps(at.Node))
	case collector.SharesUID:
		return "is left alone: " + snapshot.Contention(h.graph.Object(at.Node))
	case collector.NothingBlocks:
		return "is blocked by nothing: the collector has not come to it, or has lost it"
	}
	return "cannot end"
}

// ContentsUnknown words why an object that takes others along is not deleted, as what
// follows its name.
func ContentsUnknown(gaps []snapshot.Gap) string {
	const most = 3
	var names []string
	for i, g := range gaps {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(gaps)-most))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", g, g.Reason))
	}
	return "is not deleted, as its contents could not be listed: " + strings.Join(names, ", ")
}

// since is how long a deletion had been under way when the snapshot was taken.
func (h *Hindrances) since(n graph.Node) string {
	if o := h.graph.Object(n); o.Terminating() {
		return " for " + duration.HumanDuration(h.graph.Snapshot().Taken.Sub(*o.Deleted))
	}
	return ""
}

// Culprit words why the i-th reference that an object has in the model's state
// cannot be judged.
func (h *Hindrances) Culprit(n graph.Node, i int) string {
	r := h.model.Object(n).Owners[i]
	j := h.judge.Of(n, r)
	switch {
	case j.Withheld():
		return fmt.Sprintf("its reference to %s names a kind of lists, most likely by mistake", r)
	case j.Cause == collector.ClusterToNamespaced:
		return fmt.Sprintf("it is cluster-scoped, and its reference to %s names a namespaced kind", r)
	case j.Cause == collector.UnservedVersion:
		return fmt.Sprintf("its reference to %s names %s, a version that is not served", r, r.APIVersion)
	case j.Cause == collector.UnknownKind:
		return fmt.Sprintf("its reference to %s names a kind that is not served in %s", r, r.APIVersion)
	}
	return fmt.Sprintf("nobody can say whether its owner %s is there", r)
}
