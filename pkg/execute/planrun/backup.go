package planrun

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// backUpAll backs up everything that will be deleted or repaired, before the first step.
func (r *run) backUpAll(ctx context.Context) {
	nodes, writes := r.toBackUp()
	if len(nodes) == 0 {
		return
	}
	objects := make([]object.Identity, len(nodes))
	for i, n := range nodes {
		objects[i] = r.graph.Object(n).Identity
	}
	saved, failed, err := r.writeBackup(ctx, objects)
	for _, n := range nodes {
		o := saved[r.graph.UID(n)]
		why := cmp.Or(err, failed[r.graph.UID(n)])
		switch {
		case why != nil:
			for _, write := range writes[n] {
				r.backupErrors[write] = why
			}
		case o == nil:
			r.live.setGone(n)
		default:
			r.live.setBackedUp(n, o)
		}
	}
	result := reason.Of(reason.BackedUp{Saved: len(saved), Total: len(nodes), Repair: len(r.repaired) > 0})
	if err != nil {
		result = reason.NothingBackedUp(runner.FailureOf(err))
	}
	r.runner.Emit(event.Event{Event: event.Backup, Reason: result})
}

// toBackUp returns the objects that will be deleted or repaired. For each, writes has the
// objects that must not be written if the backup fails: those whose write causes the
// deletion or repair.
func (r *run) toBackUp() (nodes []graph.Node, writes map[graph.Node][]graph.Node) {
	writes = map[graph.Node][]graph.Node{}
	causes := make(map[string][]graph.Node, len(r.plan.Steps)) // by step ID
	var deleted []graph.Node                                   // by steps of this run
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		n := step.Transition().Node
		cause := []graph.Node{n}
		if r.ownership(i) != runner.Own {
			cause = causes[step.Follows]
			if cause == nil {
				cause = deleted
			}
		} else if step.Action == plan.ActionDelete || step.Requested {
			deleted = append(deleted, n)
		}
		causes[step.ID] = cause
		if step.BacksUp() {
			writes[n] = append(writes[n], cause...)
		}
	}
	uncertain := map[graph.Node]bool{} // any step may delete them
	for _, o := range r.plan.Outcomes {
		n := r.graph.Find(o.Object.UID)
		writes[n] = append(writes[n], causes[o.Follows]...)
		uncertain[n] = o.MayBeDeleted
	}
	for _, o := range r.plan.ObjectsToBackUp() {
		n := r.graph.Find(o.UID)
		if writes[n] == nil || uncertain[n] {
			writes[n] = append(writes[n], deleted...)
		}
		if writes[n] != nil && r.graph.Object(n) != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes, writes
}

func (r *run) writeBackup(ctx context.Context, objects []object.Identity) (saved map[types.UID]*object.Object, failed map[types.UID]error, err error) {
	if err := r.backingUp.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	defer r.backingUp.Release(1)
	return r.backup.Write(ctx, objects)
}

// backUp backs up the current state of the step's object. It returns nil if the step has
// to be evaluated again.
func (t *task) backUp(ctx context.Context, o *object.Object) *event.Result {
	if err := t.run.backupErrors[t.node]; err != nil {
		return runner.Failed(reason.BackupFailed(runner.FailureOf(err)))
	}
	saved, failed, err := t.run.writeBackup(ctx, []object.Identity{o.Identity})
	now := saved[o.UID]
	err = cmp.Or(err, failed[o.UID])
	switch {
	case err != nil && ctx.Err() != nil:
		return t.run.runner.Interrupted(ctx)
	case err != nil:
		return runner.Failed(reason.BackupFailed(runner.FailureOf(err)))
	case now == nil:
		t.run.live.setGone(t.node)
		return nil
	case t.run.live.setBackedUp(t.node, now):
		return nil
	}
	t.attempts++
	return t.rereadObject(ctx)
}
