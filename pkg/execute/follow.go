package execute

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Watcher sees what others do with objects.
type Watcher interface {
	// Follow tells what becomes of objects until the context ends: of each as it is
	// now, and again whenever it changes; nil is gone or replaced. It tells one at
	// a time.
	Follow(ctx context.Context, objects []object.Identity, tell func(types.UID, *object.Object))
}

// onlookers wait for what the cluster's own collector is to do.
type onlookers struct {
	mu      sync.Mutex
	waiting map[graph.Node][]*onlooker
}

type onlooker struct {
	satisfied func(*object.Object) bool // nil: gone
	over      chan struct{}
}

// follow keeps the mirror to what others do with everything that the plan touches,
// until the answer is called.
func (r *run) follow(ctx context.Context) (stop func()) {
	var objects []object.Identity
	known := graph.NewSet(r.graph)
	for _, o := range r.plan.Outcomes {
		if known.Add(r.graph.Find(o.Object.UID)) {
			objects = append(objects, o.Object)
		}
	}
	for i := range r.plan.Steps {
		if o := r.plan.Steps[i].Object; known.Add(r.graph.Find(o.UID)) {
			objects = append(objects, o.Identity)
		}
	}
	watching, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.options.Others.Follow(watching, objects, r.witness)
	}()
	return func() {
		cancel()
		<-over
	}
}

// witness takes what was seen of an object.
func (r *run) witness(uid types.UID, now *object.Object) {
	n := r.graph.Find(uid)
	if r.graph.Object(n) == nil || !r.mirror.witness(n, now) {
		return
	}
	r.onlookers.tell(n, now)
	if now != nil {
		return
	}
	for _, along := range r.along.within(n) { // a namespace or definition goes only when nothing is left in it (7.1, 7.4)
		r.mirror.gone(along)
		r.onlookers.tell(along, nil)
	}
}

func (o *onlookers) tell(n graph.Node, now *object.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting[n] = slices.DeleteFunc(o.waiting[n], func(w *onlooker) bool {
		if w.satisfied(now) {
			close(w.over)
			return true
		}
		return false
	})
}

// until answers when an object is as it is to be, and false if the context ends
// before.
func (r *run) until(ctx context.Context, n graph.Node, satisfied func(*object.Object) bool) bool {
	w := &onlooker{satisfied, make(chan struct{})}
	r.onlookers.mu.Lock()
	if satisfied(r.mirror.object(n)) { // witnessed before the onlookers are told, so nothing is missed
		r.onlookers.mu.Unlock()
		return true
	}
	r.onlookers.waiting[n] = append(r.onlookers.waiting[n], w)
	r.onlookers.mu.Unlock()
	over := false
	r.unslotted(func() {
		select {
		case <-w.over:
			over = true
		case <-ctx.Done():
		}
	})
	return over
}

// await sees a step done by the cluster's own collector.
func (t *task) await(ctx context.Context) *end {
	if !t.begun() {
		return skipped("not waited for: what it follows was not done")
	}
	t.tell.of(t.step, event.Waiting, "", "for the cluster's own collector")
	if !t.until(ctx, t.node, did(t.step)) {
		t.cut.Store(true)
		return skipped("the cluster's own collector did not come to it before the run ended")
	}
	return t.seenOff(ctx)
}

// begun says whether the step that this one follows was done: without it, it is
// not to be.
func (t *task) begun() bool {
	before, known := t.ids[t.step.Follows]
	return !known || before >= t.index || t.report.Results[before].Status == event.Done
}

// seenOff waits until an object is gone that is foretold to go, once the last
// step on it was taken.
func (t *task) seenOff(ctx context.Context) *end {
	if !t.goes.Has(t.node) || t.last[t.node] != t.index {
		return done("")
	}
	if !t.until(ctx, t.node, func(o *object.Object) bool { return o == nil }) {
		t.cut.Store(true)
		return done("still there")
	}
	return done("")
}

// did says by an object whether a step on it was taken.
func did(step *plan.Step) func(*object.Object) bool {
	before := step.Move.Before
	meant := func(o *object.Object, indices []int, still func(object.Reference) bool) bool {
		for _, i := range indices {
			if slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.SameOwner(before.Owners[i]) && still(r) }) {
				return true
			}
		}
		return false
	}
	return func(o *object.Object) bool {
		if o == nil {
			return true
		}
		switch step.Action {
		case collector.Remove:
			return o.Terminating()
		case collector.Detach:
			return !meant(o, step.Move.Change.Drop, func(object.Reference) bool { return true })
		case collector.Unblock:
			return o.Terminating() || !meant(o, step.Move.Change.Unblock, object.Reference.Blocks)
		case collector.FreeFinalizer:
			return !slices.Contains(o.Finalizers, step.Move.Change.Release)
		case collector.Leave, collector.OrphanChildren:
		}
		return true
	}
}

// witness takes what a watch showed of an object, and says whether that is news.
func (m *mirror) witness(n graph.Node, now *object.Object) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.model.Object(n)
	switch {
	case known == nil: // a UID never comes back
		return false
	case now == nil:
		m.model.Learn(n, nil, nil)
	case fewer(known.Owners, now.Owners):
		m.model.Become(n, m.alike(n, now))
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
