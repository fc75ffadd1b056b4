package execute

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// attempts bounds how often a step is tried on an object that keeps changing:
// enough that the unrelated changes of a busy one do not starve it.
const attempts = 20

// task is one step under way.
type task struct {
	*run
	step  *plan.Step
	index int
	node  graph.Node

	tries           int
	changed         bool                // it was found to be another than the mirror knew
	examined        bool                // it was read anew, with its owners, after every write but the first
	asked           map[graph.Node]bool // what was read again since the last write
	counted         bool                // who depends on it was seen again
	contentsChecked bool                // what goes along with it was listed again since the last write
}

// take does the step, or sees the cluster's own collector do it.
func (t *task) take(ctx context.Context) *end {
	if !t.mine(t.index) {
		return t.waitForController(ctx)
	}
	e := t.perform(ctx)
	if e.status == event.Done && t.watches() {
		return t.waitForGone(ctx)
	}
	return e
}

// perform does the step, if it still is what the collector would do.
func (t *task) perform(ctx context.Context) *end {
	for {
		s, e := t.stand(ctx)
		if e == nil {
			e = t.try(ctx, s)
		}
		if e != nil {
			return e
		}
	}
}

// stand answers where the step stands once all that it rests on is known anew,
// or ends it.
func (t *task) stand(ctx context.Context) (evaluation, *end) {
	s := t.live.stand(t.step, t.contents.any())
	for {
		var e *end
		unasked := t.unasked(s)
		switch {
		case ctx.Err() != nil:
			e = t.interrupted(ctx)
		case len(unasked) > 0:
			s, e = t.look(ctx, s, unasked)
		case s.unknown && !t.examined:
			e = t.reread(ctx)
			s = t.live.stand(t.step, t.contents.any())
		case s.why != nil:
			e = t.undone(s)
		case t.options.RequireUnchanged && !s.exact:
			e = failed(reason.ChangedSincePlanned{})
		default:
			if why := t.unfinishedDependents(s); why != nil {
				return s, skipped(why)
			}
			return s, nil
		}
		if e != nil {
			return s, e
		}
	}
}

func (t *task) unasked(s evaluation) []graph.Node {
	var out []graph.Node
	for _, n := range s.asks {
		if !t.asked[n] {
			out = append(out, n)
		}
	}
	return out
}

func (t *task) undone(s evaluation) *end {
	if t.changed && s.object != nil {
		return skipped(reason.ObjectChanged{Because: reason.Nested{Reason: s.why}})
	}
	return skipped(s.why)
}

// try does what has to come before the write, or the write itself. It answers
// nil where the step has to be looked at again.
func (t *task) try(ctx context.Context, s evaluation) *end {
	switch {
	case t.tries == attempts:
		return failed(reason.KeepsChanging{Attempts: attempts})
	case t.keeper != nil && t.step.BacksUp() && (!s.saved || t.unsaved[t.node] != nil):
		return t.save(ctx, s.object)
	case s.decision.Action == collector.ActionRemoveFinalizer && !t.counted:
		return t.consult(ctx)
	case s.decision.Action == collector.ActionDelete && !s.object.Terminating() && simulate.DeletesContents(s.object.Identity) && !t.contentsChecked:
		return t.checkContents(ctx, s.object)
	}
	return t.write(ctx, s)
}
