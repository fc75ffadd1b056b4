package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// The accounts of the controllers that delete what a deletion takes along, if kube-controller-manager has one for each.
const (
	collectorAccount = "system:serviceaccount:kube-system:generic-garbage-collector"
	namespaceAccount = "system:serviceaccount:kube-system:namespace-controller"
)

// askAdmission asks the API server by dry run about all that the plan deletes, now or later, and about the references and
// finalizers that are removed, and plans again until each answer is known. It asks only where a webhook or a policy
// of the cluster may refuse, and not for a preview that sends no writes at all.
func askAdmission(ctx context.Context, j Job, now Planned) (Planned, error) {
	o := j.Options
	if now.Cluster == nil || j.Recreate != nil || o.DryRun == dryRunClient || len(now.Plan.Steps) == 0 || now.Snapshot.ShowsNoAdmission() {
		return now, ctx.Err()
	}
	var guards *health.Guards
	known := map[snapshot.Write]bool{}
	for {
		var writes []health.PlannedWrite
		for _, w := range plannedWrites(j, now) {
			key := snapshot.Write{UID: w.Object.UID, Operation: w.Operation}
			if _, answered := now.Snapshot.Answers[key]; !answered && !known[key] {
				known[key], writes = true, append(writes, w)
			}
		}
		if len(writes) == 0 {
			return now, ctx.Err()
		}
		if guards == nil {
			guards = health.NewGuards(ctx, now.Cluster, now.Snapshot)
		}
		answers := guards.Ask(ctx, writes, o.rate.pace())
		if len(answers) == 0 || ctx.Err() != nil {
			return now, ctx.Err()
		}
		seen, err := *now.Snapshot, error(nil)
		seen.Answers = maps.Clone(answers)
		maps.Copy(seen.Answers, now.Snapshot.Answers)
		now.Scanned = scanned(now.Cluster, &seen)
		if now.Plan, err = j.Plan(ctx, now.Scanned, o.AcceptedGaps); err != nil {
			return now, err
		}
	}
}

// plannedWrites returns the writes that a plan foresees and that admission is asked about. What this program does as the
// collector is tried when it does it. The API server deletes the instances of a CustomResourceDefinition without admission.
func plannedWrites(j Job, now Planned) (out []health.PlannedWrite) {
	g := now.Graph()
	add := func(of object.Identity, operation string, c object.Change, own bool, account string) {
		o := g.Object(g.Find(of.UID))
		if o == nil || o.Contested || int(g.Find(of.UID)) >= g.Listed() {
			return
		}
		if own || !j.Options.askAsControllers {
			account = ""
		}
		out = append(out, health.PlannedWrite{Object: o, Operation: operation, Change: c, Own: own, As: account})
	}
	for i := range now.Plan.Steps {
		if s := &now.Plan.Steps[i]; s.Patch != nil && j.LeavesRestToCollector {
			change := object.Change{}
			if o := g.Object(s.Patch.Node); s.Patch.StateBefore == o {
				change = s.Patch.Change
			} else if slices.Contains(o.Finalizers, s.Finalizer()) {
				change.RemoveFinalizer = s.Finalizer()
			}
			add(s.Object.Identity, "UPDATE", change, s.Requested, collectorAccount)
		}
	}
	for _, lost := range now.Plan.LostObjects {
		o := g.Object(g.Find(lost.Object.UID))
		itself := lost.By != nil && lost.By.Object.Identity == lost.Object
		switch {
		case o.Terminating() || lost.By != nil && lost.By.Object.IsCRD() && !itself:
		case lost.By != nil && lost.By.Object.IsNamespace() && !itself:
			add(lost.Object, "DELETE", object.Change{}, false, namespaceAccount)
		case !itself || j.LeavesRestToCollector:
			add(lost.Object, "DELETE", object.Change{}, itself && lost.By.Requested, collectorAccount)
		}
		if foreign := o.ForeignFinalizers(); len(foreign) > 0 {
			change := object.Change{}
			if o.Terminating() {
				change.RemoveFinalizer = foreign[0]
			}
			add(lost.Object, "UPDATE", change, false, collectorAccount)
		}
	}
	return out
}
