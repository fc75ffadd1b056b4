package cli

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// mostTried is how many steps are tried before any is done.
const mostTried = 20

// tryAgainstServer has the server rehearse steps that change references, where it may refuse them to
// who has the right to patch: to those who may not delete the object, or where an owner is
// to be blocked (the admission plugin OwnerReferencesPermissionEnforcement). The
// grants are those to delete each.
func (a *Operation) tryAgainstServer(ctx context.Context, samples []*plan.Step, grants []cluster.Grant) []refusal {
	trial := a.Current.Cluster.Writer(a.Current.Snapshot, true)
	var all sync.WaitGroup
	refused := make([]*refusal, len(samples))
	tried := 0
	for i, s := range samples {
		if len(grants[i].Refused) == 0 && !blocks(s) || tried == mostTried {
			continue
		}
		tried++
		all.Go(func() {
			_, err := trial.Patch(ctx, a.Current.Graph.Object(s.Move.Node), s.Move.Change)
			var failed *cluster.WriteError
			if !errors.As(err, &failed) || failed.Reason != snapshot.Forbidden {
				return // the run finds out
			}
			refused[i] = &refusal{reason.NotPermitted{
				Verb: "patch", Type: grants[i].Type.String(), Namespace: s.Object.Namespace,
				Failure: &reason.Failure{ErrorClass: string(failed.Reason), Detail: failed.Err.Error(), Hint: failed.Hint()},
			}, []object.Identity{s.Object.Identity}}
		})
	}
	all.Wait()
	var out []refusal
	for _, r := range refused {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// blocks says whether a reference that blocks its owner's deletion is led to another owner.
func blocks(s *plan.Step) bool {
	return slices.ContainsFunc(s.References, func(r plan.Reference) bool { return r.Becomes != nil && r.BlockOwnerDeletion })
}
