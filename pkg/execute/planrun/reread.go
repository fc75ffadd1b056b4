package planrun

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// observation is the state of an object and what follows for each of its references.
type observation struct {
	object     *object.Object // nil: gone
	judgements []collector.Judgement
	repairs    []repair.Repair // nil if the plan does not repair the object
}

// unverified returns the observation of an object whose references were not looked up.
func unverified(o *object.Object) observation {
	return observation{
		object:     o,
		judgements: slices.Repeat([]collector.Judgement{{Verdict: collector.VerdictUnknown, Cause: collector.CauseUnverified}}, len(o.Owners)),
		repairs:    slices.Repeat([]repair.Repair{unknownRepair}, len(o.Owners)),
	}
}

// verify reads an object and everything that its references name.
func (r *run) verify(ctx context.Context, n graph.Node, at object.Identity) (observation, error) {
	s, err := r.server.Verify(ctx, at)
	if err == nil && r.repaired[n] {
		err = r.readRelocatedOwners(ctx, s)
	}
	if err != nil {
		return observation{}, err
	}
	g := graph.New(s)
	if g.Listed() == 0 || g.Object(0).UID != at.UID {
		return observation{}, nil
	}
	judge := collector.NewJudge(g)
	out := observation{object: g.Object(0), judgements: judge.Object(0)}
	if r.repaired[n] {
		out.repairs = r.live.repairer.Reconsider(judge).Object(0)
	}
	return out, nil
}

// readRelocatedOwners adds to the lookups of s the owners that are served in another API
// group than a reference names, such as Deployments of extensions/v1beta1. They cannot be
// read at the coordinates in the reference, but the scan has found them elsewhere.
func (r *run) readRelocatedOwners(ctx context.Context, s *snapshot.Snapshot) error {
	view := snapshot.NewView(s)
	for _, o := range s.Objects {
		for _, ref := range o.Owners {
			_, mapped := view.Map(ref.APIVersion, ref.Kind)
			_, versioned := view.WithServedVersion(ref)
			known := r.graph.Object(r.graph.Find(ref.UID))
			if mapped || versioned || known == nil {
				continue
			}
			now, err := r.server.Read(ctx, known.Identity)
			if err != nil {
				return err
			}
			if now != nil {
				s.Lookups = append(s.Lookups, snapshot.Lookup{
					Coordinates: snapshot.Coordinates{APIVersion: known.APIVersion, Kind: known.Kind, Namespace: known.Namespace, Name: known.Name},
					Outcome:     snapshot.Found, Object: now,
				})
			}
		}
	}
	slices.SortFunc(s.Lookups, func(a, b snapshot.Lookup) int { return a.Compare(b.Coordinates) })
	return nil
}

// rereadObject verifies the step's object. It returns nil if the step has to be evaluated
// again.
func (t *task) rereadObject(ctx context.Context) *event.Result {
	at := t.step.Object.Identity
	now, err := t.run.verify(ctx, t.node, at)
	switch {
	case ctx.Err() != nil && err != nil:
		return t.run.runner.Interrupted(ctx)
	case err != nil:
		return runner.Failed(reason.Of(reason.RereadFailed{Failure: runner.FailureOf(err), Changed: true}))
	}
	t.run.live.observe(t.node, now)
	t.changed, t.verified = true, true
	// Reading the owners took time. Without a new resourceVersion, the next write to a
	// busy object would be another conflict.
	if now, err := t.run.server.Read(ctx, at); err == nil && now != nil {
		t.run.live.updateVersion(t.node, now)
	}
	return nil
}

// rereadDependencies reads objects that the step depends on but does not write, so that
// no precondition detects their changes. It returns the evaluation of the step on what
// was read, with no other update of the model in between. What cannot be read fails a
// step that would be done, and does not matter to a step that would be skipped.
func (t *task) rereadDependencies(ctx context.Context, e evaluation, nodes []graph.Node) (evaluation, *event.Result) {
	if t.reread == nil {
		t.reread = map[graph.Node]bool{}
	}
	read := map[graph.Node]observation{}
	for _, n := range nodes {
		t.reread[n] = true
		switch now, err := t.run.reads.do(ctx, n); {
		case err == nil:
			read[n] = now
		case ctx.Err() != nil:
			return e, t.run.runner.Interrupted(ctx)
		case e.skip == nil:
			return e, runner.Failed(reason.Of(reason.DependencyReadFailed{Object: t.run.graph.Object(n).Identity, Failure: runner.FailureOf(err)}))
		}
	}
	return t.run.live.evaluate(t.step, read, t.run.contents.deleting.Load()), nil
}

// read returns the current state of an object, with judgements only if its references
// are not as the model knows them.
func (r *run) read(ctx context.Context, n graph.Node) (observation, error) {
	known := r.live.object(n)
	if known == nil { // a UID is never reused
		return observation{}, nil
	}
	now, err := r.server.Read(ctx, known.Identity)
	switch {
	case err != nil || now == nil || now.UID != known.UID:
		return observation{}, err
	case sameReferences(now.Owners, known.Owners):
		return observation{object: now}, nil
	}
	return r.verify(ctx, n, known.Identity)
}
