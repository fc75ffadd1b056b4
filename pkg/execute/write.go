package execute

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// write sends what the collector would do, bound to the state that this was
// decided on. A write that was begun is seen to its end.
func (t *task) write(ctx context.Context, s evaluation) *end {
	left, err := t.send(ctx, s.object, s.decision)
	t.tries++
	t.asked, t.contentsChecked = nil, false
	switch {
	case err == nil:
		return t.settle(ctx, s, left)
	case classOf(err) == snapshot.Conflict && t.frozen(t.node):
		return failed(reason.ChangedSincePlanned{})
	case classOf(err) == snapshot.Conflict:
		return t.reread(ctx)
	case classOf(err) == snapshot.Gone:
		t.live.gone(t.node)
		return nil // decided again: there is nothing to do
	}
	return failed(reason.WriteFailed{Failure: failureOf(err)})
}

// frozen says whether an object may only be written in the state that the plan was
// made from: not where the run itself has set it in motion.
func (r *run) frozen(n graph.Node) bool {
	return r.options.RequireUnchanged && !r.live.wroteTo(n) && !r.contents.takes(n)
}

func (r *run) send(ctx context.Context, o *object.Object, d collector.Decision) (*object.Object, error) {
	if d.Action == collector.ActionDelete {
		return r.server.Delete(ctx, o, d.Policy)
	}
	return r.server.Patch(ctx, o, d.Change)
}

// settle moves the mirror on by what a write left.
func (t *task) settle(ctx context.Context, s evaluation, left *object.Object) *end {
	wanted := s.object.Owners
	if s.decision.Action != collector.ActionDelete {
		wanted = s.decision.Change.Apply(*s.object).Owners
	}
	if left != nil && !sameReferences(left.Owners, wanted) { // an admission webhook's doing
		now, err := t.examine(ctx, s.object.Identity)
		if err != nil {
			now = unexamined(left)
		}
		t.live.learn(t.node, now)
	} else {
		t.live.wrote(t.node, s.object, left)
	}
	if s.decision.Action == collector.ActionDelete {
		t.contents.begin(t.index)
	}
	if s.decision.Action != collector.ActionDelete && s.decision.Action != collector.ActionRemoveFinalizer {
		return done(nil)
	}
	return t.waitForDeletion(ctx, s.object)
}

// waitForDeletion waits until others have let an object go that is foretold to go, and
// whose deletion nothing of the collector's holds up: what follows must not come
// before that.
func (t *task) waitForDeletion(ctx context.Context, before *object.Object) *end {
	why, lingers := t.live.lingers(t.node)
	if !lingers || t.options.RequestedOnly || !t.goes.Has(t.node) || t.contents.waits(t.node, t.index) {
		return done(nil)
	}
	var waits reason.Reason = reason.ContentsRemain{}
	if why == simulate.PodStillStopping {
		waits = reason.WaitsForKubelet{}
	}
	t.tell.of(t.step, event.Waiting, "", waits)
	var err error
	t.unslotted(func() { err = t.server.WaitForGone(ctx, before.Identity) })
	switch {
	case ctx.Err() != nil:
		t.cut.Store(true)
		return done(reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: waits}})
	case err != nil:
		failure := failureOf(err)
		return done(reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: waits}, Failure: &failure})
	}
	t.live.gone(t.node)
	for _, n := range t.contents.within(t.node) { // a namespace or definition goes only when nothing is left in it
		t.live.gone(n)
	}
	return done(nil)
}
