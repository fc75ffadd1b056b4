package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// WithUnreadable returns a scan that has the object at these coordinates, which the API server could not read, and
// the UIDs that it may have. Nothing is known of the object but what references to it say: if they
// have several UIDs, the scan has it once for each. It has no owners and no finalizers, since an unsafe
// deletion ignores those that the real one may have.
func WithUnreadable(s *snapshot.Snapshot, at snapshot.Coordinates) (*snapshot.Snapshot, []types.UID) {
	view, placeholder := snapshot.NewView(s), object.Object{}
	placeholder.Identity = object.Identity{APIVersion: at.APIVersion, Kind: at.Kind, Namespace: at.Namespace, Name: at.Name}
	m, _ := view.Map(at.APIVersion, at.Kind)
	for _, t := range view.Versions(m.Type.Group, m.Type.Kind) {
		id := placeholder.Identity
		id.APIVersion = t.APIVersion()
		placeholder.Aliases = append(placeholder.Aliases, id)
	}
	seen := map[types.UID]bool{}
	for _, o := range s.Objects {
		seen[o.UID] = true // a reference may name the UID of another object
	}
	var uids []types.UID
	for _, o := range s.Objects {
		for _, r := range o.Owners {
			if placeholder.MatchesIdentity(r, o.Namespace) && !seen[r.UID] {
				seen[r.UID] = true
				uids = append(uids, r.UID)
			}
		}
	}
	if len(uids) == 0 {
		uids = []types.UID{""}
	}
	out := *s
	out.Objects = slices.Clone(s.Objects)
	out.Lookups = slices.DeleteFunc(slices.Clone(s.Lookups), func(l snapshot.Lookup) bool {
		return placeholder.ServedAs(l.APIVersion, l.Kind, l.Namespace, l.Name)
	})
	for _, uid := range uids {
		o := placeholder
		o.Aliases = slices.Clone(o.Aliases)
		for i := range o.Aliases {
			o.Aliases[i].UID = uid
		}
		o.UID = uid
		out.Objects = append(out.Objects, &o)
	}
	out.Normalize()
	return &out, uids
}

// Unsafe plans what the cluster's own garbage collector does after the unsafe deletion of the object with these UIDs,
// in a scan of WithUnreadable.
func Unsafe(j *collector.Judge, uids []types.UID, accepted snapshot.AcceptedGaps) *Plan {
	var deletes []simulate.Deletion
	for _, uid := range uids {
		deletes = append(deletes, simulate.Deletion{Node: j.Graph().Find(uid), Policy: metav1.DeletePropagationBackground, GraceSeconds: new(int64)})
	}
	o := DeleteOptions(collector.ActorControllerManager, deletes...)
	o.Mode, o.Accepted = UnsafeDeletion, accepted
	return New(j, o)
}
