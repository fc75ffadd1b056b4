package execute

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
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
	waiting map[graph.Node][]*waiter
}

type waiter struct {
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
		r.options.Watcher.Follow(watching, objects, r.witness)
	}()
	return func() {
		cancel()
		<-over
	}
}

// witness takes what was seen of an object.
func (r *run) witness(uid types.UID, now *object.Object) {
	n := r.graph.Find(uid)
	if r.graph.Object(n) == nil || !r.live.witness(n, now) {
		return
	}
	r.waiters.tell(n, now)
	if now != nil {
		return
	}
	for _, along := range r.contents.within(n) { // a namespace or definition goes only when nothing is left in it
		r.live.gone(along)
		r.waiters.tell(along, nil)
	}
}

func (o *onlookers) tell(n graph.Node, now *object.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting[n] = slices.DeleteFunc(o.waiting[n], func(w *waiter) bool {
		if w.satisfied(now) {
			close(w.over)
			return true
		}
		return false
	})
}
