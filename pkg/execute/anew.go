package execute

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// anew reads the step's object again, with everything that its references lead
// to, so that the collector can decide on what is there now. Nil: it was read.
func (t *task) anew(ctx context.Context) *end {
	at := t.step.Object.Identity
	o, judgements, err := t.examine(ctx, at)
	switch {
	case err == nil:
		t.mirror.learn(t.node, o, judgements)
		t.changed, t.examined = true, true
		t.catchUp(ctx)
		return nil
	case ctx.Err() != nil:
		return t.interrupted()
	}
	return failing("it changed, and could not be read again", err)
}

// catchUp takes the resourceVersion that the step's object has by now, if nothing
// else is different. To ask after all its owners took time, in which a busy object
// changes again; the write is to come right after this.
func (t *task) catchUp(ctx context.Context) {
	if now, err := t.server.Read(ctx, t.step.Object.Identity); err == nil && now != nil {
		t.mirror.renew(t.node, now)
	}
}

// examine answers an object as it is now with judgements on its references, or
// nil where it is gone.
func (r *run) examine(ctx context.Context, at object.Identity) (*object.Object, []collector.Judgement, error) {
	s, err := r.server.Examine(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	g := graph.New(s)
	if g.Listed() == 0 || g.Object(0).UID != at.UID {
		return nil, nil, nil
	}
	return g.Object(0), collector.NewJudge(g).Object(0), nil
}

// undecided are judgements on references of which nothing is known.
func undecided(o *object.Object) []collector.Judgement {
	out := make([]collector.Judgement, len(o.Owners))
	for i := range out {
		out[i] = collector.Judgement{Verdict: collector.Unknown, Cause: collector.Unverified}
	}
	return out
}
