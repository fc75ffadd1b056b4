package execute

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// reread reads the step's object again, with everything that its references lead
// to, so that the collector can decide on what is there now. Nil: it was read.
func (t *task) reread(ctx context.Context) *end {
	at := t.step.Object.Identity
	now, err := t.examine(ctx, at)
	switch {
	case err == nil:
		t.live.learn(t.node, now)
		t.changed, t.examined = true, true
		t.catchUp(ctx)
		return nil
	case ctx.Err() != nil:
		return t.interrupted(ctx)
	}
	return failed(reason.RereadFailed{Failure: failureOf(err), Changed: true})
}

// catchUp takes the resourceVersion that the step's object has by now, if nothing
// else is different. To ask after all its owners took time, in which a busy object
// changes again; the write is to come right after this.
func (t *task) catchUp(ctx context.Context) {
	if now, err := t.server.Read(ctx, t.step.Object.Identity); err == nil && now != nil {
		t.live.renew(t.node, now)
	}
}

// examined is an object as it was read with everything that its references lead
// to.
type examined struct {
	object     *object.Object // nil where it is gone
	judgements []collector.Judgement
	mends      []repair.Repair // nil unless the run is a repair
}

func (r *run) examine(ctx context.Context, at object.Identity) (examined, error) {
	s, err := r.server.Verify(ctx, at)
	if err == nil && r.plan.Mode == plan.Repair {
		err = r.relocatedOwners(ctx, s)
	}
	if err != nil {
		return examined{}, err
	}
	g := graph.New(s)
	if g.Listed() == 0 || g.Object(0).UID != at.UID {
		return examined{}, nil
	}
	judge := collector.NewJudge(g)
	out := examined{object: g.Object(0), judgements: judge.Object(0)}
	if r.plan.Mode == plan.Repair {
		out.mends = r.live.mender.Reconsider(g, judge).Object(0)
	}
	return out, nil
}

// unexamined is an object of whose references nothing is known.
func unexamined(o *object.Object) examined {
	out := examined{object: o, judgements: make([]collector.Judgement, len(o.Owners))}
	for i := range out.judgements {
		out.judgements[i] = collector.Judgement{Verdict: collector.Unknown, Cause: collector.Unverified}
	}
	out.mends = make([]repair.Repair, len(o.Owners))
	for i := range out.mends {
		out.mends[i] = unknownMend
	}
	return out
}
