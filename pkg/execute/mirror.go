package execute

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

// liveModel is the state of everything as this run knows it: what the plan was made
// from, moved on by what was written and by what was read anew. It is safe for
// concurrent use; no request is made while it is locked.
type liveModel struct {
	mu    sync.Mutex
	graph *graph.Graph
	model *simulate.Model
	// saved is the resourceVersion in which an object is known to be as it was
	// saved: the one that was saved, or what writes of this run made of it.
	saved map[graph.Node]string
	// mended are references as they were read anew; those of all other objects are as
	// the graph shows them.
	mended map[graph.Node]mended
	mender *repair.Planner
	// touched are the objects that this run wrote: what becomes of them thereafter
	// it has set in motion itself.
	touched map[graph.Node]bool
}

func newMirror(g *graph.Graph, accepted snapshot.AcceptedGaps) *liveModel {
	judge := collector.NewJudge(g)
	return &liveModel{
		graph: g, model: simulate.NewApplyModel(g, judge, accepted), mender: repair.New(g, judge),
		saved: map[graph.Node]string{}, mended: map[graph.Node]mended{}, touched: map[graph.Node]bool{},
	}
}

func (m *liveModel) object(n graph.Node) *object.Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.model.Object(n)
}

// gone notes that an object is proven to be gone.
func (m *liveModel) gone(n graph.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model.SetObserved(n, nil, nil)
}

// wrote notes what a write of this run left of an object, nil where that is
// nothing. Its references are those that the write was to leave.
func (m *liveModel) wrote(n graph.Node, before, left *object.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.touched[n] = true
	switch {
	case m.model.Object(n) == nil: // a watch was faster: a UID never comes back
		return
	case left == nil:
		m.model.SetState(n, nil)
		return
	}
	if v, ok := m.saved[n]; ok && v == before.ResourceVersion {
		m.saved[n] = left.ResourceVersion
	}
	m.model.SetState(n, m.alike(n, left))
}

func (m *liveModel) wroteTo(n graph.Node) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.touched[n]
}

// learn takes what was read of an object and found out about its references.
func (m *liveModel) learn(n graph.Node, now examined) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(n, now)
}

func (m *liveModel) take(n graph.Node, now examined) {
	o := now.object
	if o != nil {
		m.mended[n] = mended{o.Owners, now.mends}
		o = m.alike(n, o)
	}
	m.model.SetObserved(n, o, now.judgements)
}

// renew takes the resourceVersion of what was read of an object if nothing else
// that matters is different, and says whether so.
func (m *liveModel) renew(n graph.Node, o *object.Object) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.model.Object(n)
	if now == nil || !unchanged(now, o) {
		return false
	}
	m.model.SetState(n, m.alike(n, o))
	return true
}

// keep is renew for an object that was saved as o.
func (m *liveModel) keep(n graph.Node, o *object.Object) bool {
	if !m.renew(n, o) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saved[n] = o.ResourceVersion
	return true
}

// witness takes what a watch showed of an object, and says whether that is news.
func (m *liveModel) witness(n graph.Node, now *object.Object) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.model.Object(n)
	switch {
	case known == nil: // a UID never comes back
		return false
	case now == nil:
		m.model.SetObserved(n, nil, nil)
	case fewer(known.Owners, now.Owners):
		m.model.SetState(n, m.alike(n, now))
	default:
		m.take(n, unexamined(now))
	}
	return true
}

// fewer says whether the later references are the earlier ones, without some.
func fewer(earlier, later []object.Reference) bool {
	for _, r := range earlier {
		if len(later) > 0 && r.SameOwner(later[0]) {
			later = later[1:]
		}
	}
	return len(later) == 0
}

// alike is an object as it was read, under the names by which the mirror knows
// it.
func (m *liveModel) alike(n graph.Node, o *object.Object) *object.Object {
	known := m.graph.Object(n)
	next := *o
	next.Identity, next.Aliases, next.Contested = known.Identity, known.Aliases, known.Contested
	return &next
}

// unchanged says whether two sights of an object are the same to the collector.
func unchanged(a, b *object.Object) bool {
	return a.Terminating() == b.Terminating() && a.Stopping() == b.Stopping() &&
		slices.Equal(a.Finalizers, b.Finalizers) && sameReferences(a.Owners, b.Owners)
}

func sameReferences(a, b []object.Reference) bool {
	return slices.EqualFunc(a, b, func(x, y object.Reference) bool {
		return x.SameOwner(y) && x.Blocks() == y.Blocks()
	})
}

// lingers says what a deletion that this run began or let go on waits for, where
// that comes by itself: the end of a grace period, or of what is in it.
func (m *liveModel) lingers(n graph.Node) (why simulate.BlockReason, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.model.Object(n)
	if left == nil || !left.Terminating() || left.Finishing() {
		return 0, false
	}
	end, ok := simulate.NewObstacles(m.model).RootCause(n)
	return end.Why, ok && (end.Why == simulate.PodStillStopping || end.Why == simulate.ContentsStillDeleting)
}
