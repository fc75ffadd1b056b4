package simulate

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// deleters are the controllers besides the garbage collector that delete objects of a kind: once another
// object is gone (see Leader), at a time, or if there are too many older ones.
var deleters = map[schema.GroupKind]struct{ follower, expired, old string }{
	endpointsKind:                       {follower: "the endpoints controller"},                                         // endpoints_controller.go, syncService
	{Kind: "Secret"}:                    {follower: "the token controller", expired: "the cleaner of bootstrap tokens"}, // tokens_controller.go, syncSecret; tokencleaner.go, evalSecret
	object.Pod:                          {follower: "Pod garbage collection"},                                           // gc_controller.go, gcOrphaned, gcTerminated
	object.Volume:                       {follower: "its provisioner"},                                                  // pv_controller.go, reclaimVolume
	{Group: "batch", Kind: "Job"}:       {expired: "the TTL controller", old: "the CronJob controller"},                 // ttlafterfinished_controller.go, timeLeft; cronjob_controllerv2.go, removeOldestJobs
	{Group: "apps", Kind: "ReplicaSet"}: {old: "the Deployment controller"},                                             // deployment/sync.go, cleanupDeployment
	{Group: "networking.k8s.io", Kind: "IPAddress"}: {follower: "the API server"}, // ipallocator/cidrallocator.go, Release
}

// DeletedBy returns which other controller deletes an object that the garbage collector leaves alone, and when, as
// far as the object's Lifecycle and that of its controller tell, or nil. certain reports that nothing else has
// to happen first.
func (m *Model) DeletedBy(n graph.Node) (why *reason.Reason, certain bool) {
	o := m.graph.Object(n)
	by, l := deleters[o.GroupVersionKind().GroupKind()], o.Lifecycle
	leader, follows := Leader(o)
	missing := follows && m.missing(leader)
	switch {
	case by.follower != "" && follows && (missing || !o.IsPod()):
		return reason.Of(reason.DeletedWithLeader{Controller: by.follower, Leader: leader, Missing: missing}), missing
	case l == nil:
		return nil, false
	case l.Expires != nil:
		return reason.Of(reason.DeletedInTime{Controller: by.expired, After: *l.Expires}), true
	case l.TTL != nil && l.Ended == "":
		return reason.Of(reason.DeletedInTime{Controller: by.expired, TTL: *l.TTL}), false
	case o.IsPod() && l.Ended != "":
		return reason.OldestPodsDeleted, false
	}
	controller := m.controller(o)
	if by.old == "" || controller == nil || controller.Lifecycle == nil || l.Ended == "" && l.Revision >= controller.Lifecycle.Revision {
		return nil, false
	}
	if keeps, limited := controller.Lifecycle.Keeps[l.Ended]; limited {
		return reason.Of(reason.DeletedAsOld{Controller: by.old, Owner: controller.Identity, Keeps: keeps, Ended: l.Ended}), false
	}
	return nil, false
}

// missing reports whether an object is proven not to exist; without a UID, whether nothing has its name.
func (m *Model) missing(i object.Identity) bool {
	mapped, ok := m.graph.View().Map(i.APIVersion, i.Kind)
	if !ok || !m.graph.View().Listed(mapped.Type.GroupResource(), i.Namespace) {
		return false
	}
	for n := range m.graph.Listed() {
		if o := m.graph.Object(graph.Node(n)); o.ServedAs(i.APIVersion, i.Kind, i.Namespace, i.Name) && (i.UID == "" || o.UID == i.UID || o.Contested) {
			return false
		}
	}
	return true
}

// controller returns the controller that an object names, if it exists.
func (m *Model) controller(o *object.Object) *object.Object {
	if i := slices.IndexFunc(o.Owners, object.Reference.Controls); i >= 0 {
		return m.Object(m.graph.Find(o.Owners[i].UID))
	}
	return nil
}
