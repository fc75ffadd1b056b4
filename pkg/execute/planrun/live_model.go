package planrun

import (
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// liveModel is the state of all objects as the run knows it: what the plan was made
// from, updated with what was written, read and watched. It is safe for concurrent use.
// It makes no requests.
type liveModel struct {
	mu    sync.Mutex
	graph *graph.Graph
	model *simulate.Model
	// backedUp are the resourceVersions that equal the backup of an object: the one
	// that was backed up, or the one that writes of this run turned it into.
	backedUp map[graph.Node]string
	repairer *repair.Planner
	repairs  map[graph.Node]observation // the latest known references of an object, and the repair of each
}

func newLiveModel(j *collector.Judge, accepted snapshot.AcceptedGaps) *liveModel {
	return &liveModel{
		graph: j.Graph(), model: simulate.NewModel(j, simulate.Own.Accepting(accepted)), repairer: repair.New(j),
		backedUp: map[graph.Node]string{}, repairs: map[graph.Node]observation{},
	}
}

func (m *liveModel) object(n graph.Node) *object.Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.model.Object(n)
}

// setGone records that an object is proven to be gone.
func (m *liveModel) setGone(n graph.Node) { m.observe(n, observation{}) }

// setWritten records what a write of this run left of an object; nil: nothing. The
// references must be those that the write was meant to leave.
func (m *liveModel) setWritten(n graph.Node, before, left *object.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.model.Object(n) == nil: // a watch was faster, and a UID is never reused
		return
	case left == nil:
		m.model.SetState(n, nil)
		return
	}
	if v, ok := m.backedUp[n]; ok && v == before.ResourceVersion {
		m.backedUp[n] = left.ResourceVersion
	}
	m.model.SetState(n, m.withKnownIdentity(n, left))
}

// observe records the state of an object and the judgements on its references.
func (m *liveModel) observe(n graph.Node, now observation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observeLocked(n, now)
}

func (m *liveModel) observeLocked(n graph.Node, now observation) {
	o := now.object
	if o != nil {
		m.repairs[n] = now
		o = m.withKnownIdentity(n, o)
	}
	m.model.SetObserved(n, o, now.judgements)
}

// observeWatched records what a watch showed of an object, nil meaning gone. It reports
// whether the model did not know the object as gone before.
func (m *liveModel) observeWatched(n graph.Node, now *object.Object) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.observeState(n, observation{object: now})
}

// observeState is observe for what may come without judgements: references that the model knows
// keep theirs. An unchanged state is recorded too, as it is more recent than what a lookup of the
// plan found. It reports whether the model did not know the object as gone before.
func (m *liveModel) observeState(n graph.Node, now observation) bool {
	switch known := m.model.Object(n); {
	case known == nil: // a UID is never reused
		return false
	case now.object == nil || now.judgements != nil:
		m.observeLocked(n, now)
	case len(positions(now.object.Owners, known.Owners)) == len(now.object.Owners):
		m.model.SetState(n, m.withKnownIdentity(n, now.object))
	default:
		m.observeLocked(n, unverified(now.object))
	}
	return true
}

// updateVersion records the resourceVersion of o if nothing else that matters to the
// collector has changed, and reports whether that is so.
func (m *liveModel) updateVersion(n graph.Node, o *object.Object) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.model.Object(n)
	if known == nil || !unchanged(known, o) {
		return false
	}
	m.model.SetState(n, m.withKnownIdentity(n, o))
	return true
}

// setBackedUp is updateVersion for an object that was backed up as o.
func (m *liveModel) setBackedUp(n graph.Node, o *object.Object) bool {
	if !m.updateVersion(n, o) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.backedUp[n] = o.ResourceVersion
	return true
}

// isDue reports whether the collector would act on an object that is not terminating.
func (m *liveModel) isDue(n graph.Node) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.model.Object(n)
	return o != nil && !o.Terminating() && m.model.Decide(n).Action != collector.ActionNone
}

// blockedForNow returns what blocks the deletion of an object, if that ends without
// anybody's help: a Pod's grace period, or the deletion of contents.
func (m *liveModel) blockedForNow(n graph.Node) (why simulate.BlockReason, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.model.Object(n)
	if o == nil || !o.Terminating() || o.HasCollectorFinalizer() {
		return 0, false
	}
	root, ok := simulate.NewObstacles(m.model).RootCause(n)
	return root.Reason, ok && (root.Reason == simulate.PodStillStopping || root.Reason == simulate.ContentsStillDeleting)
}

// withKnownIdentity returns o under the names by which the graph knows it, which may
// differ in the API version.
func (m *liveModel) withKnownIdentity(n graph.Node, o *object.Object) *object.Object {
	known := m.graph.Object(n)
	out := *o
	out.Identity, out.Aliases, out.Contested = known.Identity, known.Aliases, known.Contested
	return &out
}

// positions returns the indexes in all of the references in sub, which is all without some
// of them. It ends before the first reference that all does not have in this order.
func positions(sub, all []object.Reference) []int {
	var out []int
	for i, r := range all {
		if len(out) < len(sub) && r.SameOwner(sub[len(out)]) {
			out = append(out, i)
		}
	}
	return out
}

// unchanged reports whether two states of an object are the same to the collector.
func unchanged(a, b *object.Object) bool {
	return a.Terminating() == b.Terminating() && a.InGracePeriod() == b.InGracePeriod() &&
		slices.Equal(a.Finalizers, b.Finalizers) && sameReferences(a.Owners, b.Owners)
}

func sameReferences(a, b []object.Reference) bool {
	return slices.EqualFunc(a, b, object.Reference.Equivalent)
}
