package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// IsOf reports whether a scan shows a witness of a backup, which proves that it is of the same cluster.
func IsOf(h backup.Header, seen *snapshot.Snapshot) bool {
	return slices.ContainsFunc(seen.Objects, func(o *object.Object) bool { return isWitness(o) && slices.Contains(h.Witnesses, o.UID) })
}

// isWitness reports whether the UID of an object identifies the cluster for users who may not read Namespace
// kube-system. Kubernetes creates these objects in every namespace.
func isWitness(o *object.Object) bool {
	return o.IsServiceAccount() && o.Name == "default" || o.APIVersion == "v1" && o.Kind == "ConfigMap" && o.Name == "kube-root-ca.crt"
}

// witnesses returns the UIDs of the witnesses in the namespaces that a plan changes.
func witnesses(seen *snapshot.Snapshot, p *plan.Plan) (uids []types.UID) {
	changed := map[string]bool{}
	for _, o := range p.ObjectsToBackUp() {
		changed[o.Namespace] = true
	}
	for _, o := range seen.Objects {
		if isWitness(o) && changed[o.Namespace] && len(uids) < maxWitnesses {
			uids = append(uids, o.UID)
		}
	}
	return uids
}

const maxWitnesses = 50

// warnOfUndo warns of what a plan deletes and the user may not create again, and returns it.
func warnOfUndo(ctx context.Context, o *MutatingOptions, now Planned) (denied []object.Identity) {
	if o.NoBackup || now.Cluster == nil {
		return nil
	}
	var kinds []string
	for _, g := range read.ReviewAccess(ctx, now.Cluster, now.Snapshot, now.Plan.RightsToUndo()) {
		if len(g.Refused) > 0 {
			denied, kinds = append(denied, g.Refused...), append(kinds, escape.Word(g.Refused[0].Kind))
		}
	}
	if slices.Sort(kinds); len(kinds) > 0 {
		fmt.Fprintf(o.Scan.Err, "note: you may not create these kinds, so your undo lacks them unless a controller creates them: %s\n", wording.List(slices.Compact(kinds), maxNamedLeft))
	}
	return denied
}

// undo returns the command that undoes the run, introduced by what it cannot do.
func (o *runOutcome) undo() string {
	lead, words, permitted := "Undo", []string{"restore", o.backup}, []string(nil)
	for i := range o.plan.Steps {
		if s := &o.plan.Steps[i]; s.Requested && !slices.Contains(o.denied, s.Object.Identity) {
			permitted = append(permitted, strings.ToLower(s.Object.Kind)+"/"+s.Object.Name)
		}
	}
	switch {
	case len(o.denied) == 0:
	case len(permitted) == 0:
		lead = "Undo, for somebody who may create these objects"
	case len(permitted) <= maxNamedRights: // controllers create the rest
		words = append(words, permitted...)
	}
	if o.unidentified {
		words = append(words, "--to-another-cluster")
	}
	if o.plan.Mode.Cascades() && len(o.blocked) > 0 && o.gone < len(o.plan.LostObjects) {
		lead = "A deletion that is blocked cannot be undone until it has ended. Then"
	}
	if d := o.plan.Data(); d.Lost+d.Unknown > 0 {
		lead += fmt.Sprintf(" (objects, not the data of %s)", wording.Count(d.Lost+d.Unknown, "volume"))
	}
	return lead + ": " + escape.Short(o.job.Options.Scan.Suggest(words...), 4000)
}
