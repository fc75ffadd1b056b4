package execute

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// sight is what was read of an object that a step rests on but does not write:
// no precondition would notice that it is another by now.
type sight struct {
	examined // the judgements are nil where its references are those that the mirror knew
}

// read reads an object as it is now.
func (r *run) read(ctx context.Context, n graph.Node) (sight, error) {
	known := r.live.object(n)
	if known == nil { // a UID never comes back
		return sight{}, nil
	}
	now, err := r.server.Read(ctx, known.Identity)
	if err != nil || now == nil || now.UID != known.UID {
		return sight{}, err
	}
	if sameReferences(now.Owners, known.Owners) {
		return sight{examined{object: now}}, nil
	}
	whole, err := r.examine(ctx, known.Identity)
	return sight{whole}, err
}

// look reads objects again and answers where the step stands thereafter. No
// other answer comes in between, so the step is decided on these. What cannot be
// read ends a step that would be done; one that would not stays undone.
func (t *task) look(ctx context.Context, s evaluation, nodes []graph.Node) (evaluation, *end) {
	if t.asked == nil {
		t.asked = map[graph.Node]bool{}
	}
	met := map[graph.Node]sight{}
	for _, n := range nodes {
		t.asked[n] = true
		switch seen, err := t.sights.ask(ctx, n); {
		case err == nil:
			met[n] = seen
		case ctx.Err() != nil:
			return s, t.interrupted(ctx)
		case s.why == nil:
			return s, failed(reason.DependencyReadFailed{Object: t.graph.Object(n).Identity, Failure: failureOf(err)})
		}
	}
	t.live.mu.Lock()
	defer t.live.mu.Unlock()
	for n, seen := range met {
		t.live.observe(n, seen)
	}
	return t.live.evaluate(t.step, t.contents.any()), nil
}

// observe takes what was read of an object. Even if it is as it was, it is what was
// seen last, and outweighs what a lookup of the plan's found.
func (m *liveModel) observe(n graph.Node, a sight) {
	now := m.model.Object(n)
	switch {
	case now == nil:
	case a.object == nil:
		m.model.SetObserved(n, nil, nil)
	case a.judgements == nil && sameReferences(a.object.Owners, now.Owners):
		m.model.SetState(n, m.alike(n, a.object))
	case a.judgements == nil:
		m.take(n, unexamined(a.object))
	default:
		m.take(n, a.examined)
	}
}
