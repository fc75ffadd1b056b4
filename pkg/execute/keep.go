package execute

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// saveAll has everything saved that the plan deletes, takes along or mends, before
// anything is done.
func (r *run) saveAll(ctx context.Context) {
	nodes, leans := r.lost()
	if len(nodes) == 0 {
		return
	}
	objects := make([]object.Identity, len(nodes))
	for i, n := range nodes {
		objects[i] = r.graph.Object(n).Identity
	}
	kept, err := r.keep(ctx, objects)
	saved := 0
	for i, n := range nodes {
		switch {
		case err != nil:
			r.unsave(leans[n], err)
		case kept[i].Err != nil:
			r.unsave(leans[n], kept[i].Err)
		case kept[i].Object == nil:
			r.live.gone(n)
		default:
			saved++
			r.saved(n, kept[i].Object)
		}
	}
	var came reason.Reason = reason.BackedUp{Saved: saved, Total: len(nodes), Repair: r.plan.Mode == plan.Repair}
	if err != nil {
		came = reason.NothingBackedUp{Failure: failureOf(err)}
	}
	r.tell.say(event.Event{Event: event.Backup, Reason: came})
}

func (r *run) unsave(nodes []graph.Node, err error) {
	for _, n := range nodes {
		r.unsaved[n] = err
	}
}

// lost are the nodes that go or are mended, and for each those whose write must not
// be sent before it is saved: itself, and what takes it along; for what the cluster
// does on account of steps of this run, these.
func (r *run) lost() (nodes []graph.Node, leans map[graph.Node][]graph.Node) {
	leans = map[graph.Node][]graph.Node{}
	by := make(map[string][]graph.Node, len(r.plan.Steps)) // by step, what this run deletes for it
	var own []graph.Node                                   // what this run deletes at all
	add := func(n graph.Node, on []graph.Node) {
		if leans[n] == nil {
			nodes = append(nodes, n)
		}
		leans[n] = append(leans[n], on...)
	}
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		if step.Move == nil {
			continue
		}
		on := []graph.Node{step.Move.Node}
		if !r.mine(i) {
			on = by[step.Follows]
			if on == nil {
				on = own
			}
		} else if step.Action == collector.ActionDelete {
			own = append(own, step.Move.Node)
		}
		by[step.ID] = on
		if step.BacksUp() {
			add(step.Move.Node, on)
		}
	}
	for _, o := range r.plan.Outcomes {
		on, taken := by[o.Follows]
		if n := r.graph.Find(o.Object.UID); taken && r.graph.Object(n) != nil {
			add(n, on)
		}
	}
	return nodes, leans
}

// keep is the Keeper's, one call at a time. It answers one for each object.
func (r *run) keep(ctx context.Context, objects []object.Identity) ([]Written, error) {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	kept, err := r.keeper.Write(ctx, objects)
	if err == nil && len(kept) != len(objects) {
		err = errors.New("the backup does not answer for every object")
	}
	return kept, err
}

// saved notes in which state an object was saved, and says whether that is the
// state that the mirror knows. If it is not, the object is saved again before it
// is deleted.
func (r *run) saved(n graph.Node, o *object.Object) bool {
	known := r.live.object(n)
	if r.frozen(n) && (known == nil || known.ResourceVersion != o.ResourceVersion) {
		return false
	}
	return r.live.keep(n, o)
}

// save saves the step's object as it is now. Nil: the step is to be looked at
// again.
func (t *task) save(ctx context.Context, o *object.Object) *end {
	if err := t.unsaved[t.node]; err != nil {
		return failed(reason.BackupFailed{Failure: failureOf(err)})
	}
	if t.frozen(t.node) {
		return failed(reason.ChangedSincePlanned{})
	}
	kept, err := t.keep(ctx, []object.Identity{o.Identity})
	if err == nil {
		err = kept[0].Err
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return t.interrupted(ctx)
	case err != nil:
		return failed(reason.BackupFailed{Failure: failureOf(err)})
	case kept[0].Object == nil:
		t.live.gone(t.node)
		return nil
	case t.saved(t.node, kept[0].Object):
		return nil
	}
	t.tries++
	return t.reread(ctx)
}
