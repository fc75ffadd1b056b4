package simulate

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Bounds limit a simulation. The zero value limits nothing.
type Bounds struct {
	// Roots reports whether the first pass processes an object. Later passes process
	// whatever a transition may affect. Nil: all objects.
	Roots func(graph.Node) bool
	// Within reports whether the collector may act on an object. Nil: on all of them.
	Within func(graph.Node) bool
	// Deletes are requested before the first pass, in this order.
	Deletes []DeleteRequest
	// Removal is requested before the first pass, too. The zero value removes nothing.
	Removal FinalizerPatch
}

// FinalizerPatch is a patch by a user that removes a finalizer from a terminating object.
type FinalizerPatch struct {
	Node      graph.Node
	Finalizer string // empty: none
}

// DeleteRequest is a DELETE request by a user.
type DeleteRequest struct {
	Node         graph.Node
	Policy       metav1.DeletionPropagation
	GraceSeconds *int64 // nil: the object's own
}

// NoRoots is a value for Bounds.Roots that limits a simulation to the effects of
// Bounds.Deletes and Bounds.Removal.
func NoRoots(graph.Node) bool { return false }

// Transition is an action on one object.
type Transition struct {
	collector.Decision
	Requested   bool // from Bounds.Deletes or Bounds.Removal, so the decision is not the collector's
	Pass        int  // from 1; requested transitions are in the first
	Node        graph.Node
	StateBefore *object.Object      // before the action
	Verdicts    []collector.Verdict // on the references of that state; nil for a terminating object
	// OrphanedFrom is the owner that the node is orphaned from, or graph.None.
	OrphanedFrom graph.Node
	// Prerequisites are the transitions that must be complete before this one, in ascending
	// order: the last ones of the object, its owners and its dependents, and for a
	// Namespace or CustomResourceDefinition also those of its contents. A transition is
	// complete when its contents are deleted and its Pod has stopped.
	Prerequisites []int
	// CausedBy is the transition that caused this one, or -1.
	CausedBy int
}

// Prediction is what a simulation did. It is immutable, and so is the model in it.
type Prediction struct {
	Transitions []Transition // in an order in which they may be applied
	Model       *Model       // the final state
	// ContentsDeleted maps objects that other controllers delete to the transition that
	// made them do so: the contents of a Namespace or CustomResourceDefinition
	// (docs/gc-semantics.md#contents-of-a-namespace), and for Cluster the
	// Endpoints of a Service and the tokens of a ServiceAccount. They may be gone before a transition of their own. A Namespace or
	// CustomResourceDefinition whose deletion Bounds.Removal lets complete is among them, too.
	ContentsDeleted map[graph.Node]int
	// ContentsPending maps the contents of a Namespace that are not deleted yet, because a Pod
	// in it is left, to the transition that deleted the Namespace.
	ContentsPending map[graph.Node]int
	// StoppedPods are the transitions that delete a Pod which its kubelet has to stop.
	StoppedPods map[int]bool
	// Requested are the nodes of Bounds.Deletes and Bounds.Removal, whether or not the request
	// changed anything.
	Requested []graph.Node
	// FinalizersRemoved are the objects that other controllers removed finalizers from:
	// see FinalizerController.
	FinalizersRemoved graph.Set

	simulation *simulation
	order      *order // nil unless the predictor is Cluster
}

// Deletes reports whether an object is gone or terminating in the final state, or will be
// once the Pods in its namespace are gone.
func (c *Prediction) Deletes(n graph.Node) bool {
	_, pending := c.ContentsPending[n]
	o := c.Model.Object(n)
	return pending || o == nil || o.Terminating()
}

// Run simulates what a collector does with the scanned objects: it runs collection passes
// until a pass does nothing. Without Bounds.Roots, the collector of Cluster has just started, and
// the other controllers continue with the deletions that they find.
//
// A pass first orphans dependents of owners that ask for it, then decides on everything
// else. It processes dependents before their owners' finalizers are removed, except as
// queueFirstPass describes. A pass visits only objects that the previous one may have
// affected, so the cost is linear in objects, references and transitions.
func Run(j *collector.Judge, p Predictor, b Bounds) *Prediction { return runFrom(NewModel(j, p), b) }

// runFrom is Run from the state of a model, which becomes the final state.
func runFrom(m *Model, b Bounds) *Prediction {
	m.requested = len(b.Deletes) > 0 || b.Removal.Finalizer != ""
	s := &simulation{
		model: m, bounds: b, last: make([]int32, len(m.now)), queued: graph.NewSet(m.graph),
		underWay: map[graph.Node]bool{}, deletedBy: map[graph.Node]graph.Node{}, contentsEnd: map[graph.Node][]int{},
		contentsDeletions: contentsDeletions{byNode: map[graph.Node][]int{}, byMember: map[graph.Node][]int{}},
	}
	if m.predictor.cluster() {
		s.controllers = newFinalizerControllers(s)
	}
	s.start()
	if b.Roots == nil && m.predictor.cluster() {
		s.continueDeletions()
	}
	s.queueFirstPass()
	return s.runPasses(s.request())
}

type simulation struct {
	model  *Model
	bounds Bounds
	result *Prediction
	last   []int32 // per node, its last transition, or -1
	// earlier are the transitions before SimulateRelease.
	earlier []Transition

	next     []graph.Node        // the next pass processes these
	queued   graph.Set           // the same nodes
	underWay map[graph.Node]bool // owners whose foreground deletion began before the simulation
	// deferred are processed when nothing else is left to do.
	deferred, deferredOwners map[graph.Node]bool

	controllers *finalizerControllers // nil for Own
	release     *releaseState         // nil except in SimulateRelease

	contentsDeletions contentsDeletions
	deletedBy         map[graph.Node]graph.Node // the Namespace or CustomResourceDefinition of what its deletion left
	contentsEnd       map[graph.Node][]int      // per Namespace or CustomResourceDefinition, the transitions that emptied it
	goneNodes         []graph.Node              // Nodes that are gone, and whose Pods are left
}

// start makes the simulation follow the changes of its model.
func (s *simulation) start() {
	s.result = &Prediction{
		Model: s.model, ContentsDeleted: map[graph.Node]int{}, StoppedPods: map[int]bool{},
		FinalizersRemoved: graph.NewSet(s.model.graph), simulation: s,
	}
	for n := range s.last {
		s.last[n] = -1
	}
	s.deferred, s.deferredOwners = map[graph.Node]bool{}, map[graph.Node]bool{}
	s.model.simulation = s
}

// runPasses runs passes until nothing is left to do. before is the number of passes that were
// done before.
func (s *simulation) runPasses(before int) *Prediction {
	for pass := before + 1; s.hasWork(); pass++ {
		s.pass(pass)
	}
	s.model.simulation = nil
	s.result.ContentsPending = s.pendingContents()
	if s.model.predictor.cluster() {
		s.result.order = newOrder(s)
	}
	return s.result
}

// hasWork lets the API server and the other controllers act, and reports whether there
// is anything to do in another pass.
func (s *simulation) hasWork() bool {
	for {
		s.completeContentsDeletions()
		switch {
		case s.controllers != nil && s.controllers.processQueue():
			continue
		case len(s.next) > 0:
			return true
		}
		s.requeueDeferred()
		if len(s.next) == 0 && !s.releaseHeld() {
			return false
		}
	}
}

// verdicts returns Model.Verdicts for a transition, which has none for a terminating
// object. It keeps what the references were judged, since that is needed again and again.
func (s *simulation) verdicts(n graph.Node) []collector.Verdict {
	if s.model.now[n].Terminating() {
		return nil
	}
	s.model.verdicts[n] = s.model.judged(n)
	return s.model.Verdicts(n)
}

// onStateChange reacts to a change of a node from the state old.
func (s *simulation) onStateChange(n graph.Node, old *object.Object) {
	s.contentsDeletions.onStateChange(n, s.model.now[n] == nil)
	if s.model.now[n] == nil && old != nil && old.IsNode() {
		s.goneNodes = append(s.goneNodes, n)
	}
	if s.release != nil {
		s.release.onStateChange(s, n, old)
	}
	if s.controllers != nil {
		s.controllers.onStateChange(n, old)
	}
}

// clone returns a simulation that continues from the end of s. s must have ended, so
// its queues are empty.
func (s *simulation) clone() *simulation {
	out := &simulation{
		model: s.model.clone(), bounds: s.bounds, last: make([]int32, len(s.last)), queued: graph.NewSet(s.model.graph),
		underWay: s.underWay, contentsDeletions: s.contentsDeletions.clone(),
		deletedBy: maps.Clone(s.deletedBy), contentsEnd: map[graph.Node][]int{},
		goneNodes: slices.Clone(s.goneNodes),
	}
	if s.controllers != nil {
		out.controllers = newFinalizerControllers(out)
	}
	return out
}

// clip returns a copy of m whose slices can be appended to without affecting those of m.
func clip[K comparable, V any](m map[K][]V) map[K][]V {
	out := make(map[K][]V, len(m))
	for k, v := range m {
		out[k] = slices.Clip(v)
	}
	return out
}
