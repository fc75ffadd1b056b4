package simulate

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// DefinitionFinalizer is on a CustomResourceDefinition that is being deleted until its instances
// are gone (docs/gc-semantics.md#instances-of-a-crd). The API server adds and removes it.
const DefinitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// StateAfterDelete returns the state of an object after a DELETE with this policy and grace period in
// seconds, or nil if it is gone at once (docs/gc-semantics.md#delete-request). The empty policy leaves the
// collector's finalizers as they are, and a nil grace period is the object's own. now is the deletion
// timestamp unless there is one already.
//
// The grace period counts only for a Pod that a kubelet has to stop. If the kubelet is stopping it
// already, only a shorter period has an effect (docs/gc-semantics.md#graceful-pods). A Namespace is never
// gone at once, since its contents go first. A second DELETE of it changes nothing while it has contents.
func StateAfterDelete(o *object.Object, policy metav1.DeletionPropagation, seconds *int64, now time.Time) *object.Object {
	first, shortens := !o.Terminating(), shortensGracePeriod(o, seconds)
	if o.InGracePeriod() && !shortens || o.IsNamespace() && !first { // the API server ignores the policy
		return o
	}
	left := *o
	switch {
	case isEvent(o):
		left.Finalizers = o.ForeignFinalizers()
	case o.IsCRD() && first:
		if !slices.Contains(o.Finalizers, DefinitionFinalizer) {
			left.Finalizers = append(slices.Clone(o.Finalizers), DefinitionFinalizer)
		}
	default:
		left.Finalizers = finalizersFor(o.Finalizers, policy)
	}
	grace := int64(0)
	switch {
	case shortens:
		grace = *seconds
		left.Deleted = endOfGracePeriod(o, grace, now)
	case o.Running && first && seconds != nil:
		grace = *seconds
	case o.Running && first:
		grace = defaultGrace
	}
	left.GraceSeconds = &grace
	if first { // rest.BeforeDelete: the timestamp is when the grace period ends
		end := now.Add(time.Duration(grace) * time.Second)
		left.Deleted = &end
	}
	if len(left.Finalizers) == 0 && grace == 0 && !o.IsNamespace() {
		return nil
	}
	return &left
}

// shortensGracePeriod reports whether a DELETE with this grace period shortens that of a Pod
// which is stopping.
func shortensGracePeriod(o *object.Object, seconds *int64) bool {
	return o.InGracePeriod() && seconds != nil && *seconds < *o.GraceSeconds
}

// endOfGracePeriod returns the deletion timestamp of a stopping Pod whose grace period
// becomes shorter. It is not before now, unless the old one was: then the kubelet did not
// respond in time, and a shorter time does not change that.
func endOfGracePeriod(o *object.Object, seconds int64, now time.Time) *time.Time {
	end := o.Deleted.Add(time.Duration(seconds-*o.GraceSeconds) * time.Second)
	if end.Before(now) && !o.Deleted.Before(now) {
		end = now
	}
	return &end
}

// DefaultPolicy returns the policy of a DELETE that gives none
// (docs/gc-semantics.md#finalizers-after-a-delete).
func DefaultPolicy(i object.Identity) metav1.DeletionPropagation {
	switch gvk := i.GroupVersionKind(); {
	case gvk.GroupVersion().String() == "v1" && gvk.Kind == "ReplicationController",
		gvk.GroupVersion().String() == "batch/v1" && gvk.Kind == "Job":
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

// defaultGrace is the default grace period of a Pod in seconds. A scan does not read the
// Pod's own.
const defaultGrace = 30

// StateAfterPatch returns the state of an object after a change, or nil if it was terminating and
// the change removed its last finalizer (docs/gc-semantics.md#deletion-by-an-update). A
// Namespace still waits for its contents.
func StateAfterPatch(o *object.Object, c object.Change) *object.Object {
	left := c.Apply(*o)
	if left.Terminating() && len(left.Finalizers) == 0 && !left.InGracePeriod() && !o.IsNamespace() {
		return nil
	}
	return &left
}

// withoutDuplicates removes references that equal an earlier one, as the API server does on every
// update. It returns the same slice if there are none.
func withoutDuplicates(owners []object.Reference) []object.Reference {
	if len(owners) < 2 {
		return owners
	}
	type flags struct{ controllerSet, controls, blockSet, blocks bool }
	type key struct {
		object.Reference
		flags
	}
	seen, out := make(map[key]bool, len(owners)), make([]object.Reference, 0, len(owners))
	for _, r := range owners {
		k := key{r, flags{r.Controller != nil, r.Controls(), r.BlockOwnerDeletion != nil, r.Blocks()}}
		k.Controller, k.BlockOwnerDeletion = nil, nil
		if !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	if len(out) == len(owners) {
		return owners
	}
	return out
}

// finalizersFor removes the collector's finalizers and appends the one that the policy
// asks for, unless the set does not change. Without a policy, the first of the collector's
// finalizers stays (docs/gc-semantics.md#finalizers-after-a-delete).
func finalizersFor(finalizers []string, policy metav1.DeletionPropagation) []string {
	wanted := ""
	switch policy {
	case "":
		i := slices.IndexFunc(finalizers, isCollectors)
		if i < 0 {
			return finalizers
		}
		wanted = finalizers[i]
	case metav1.DeletePropagationForeground:
		wanted = object.ForegroundFinalizer
	case metav1.DeletePropagationOrphan:
		wanted = object.OrphanFinalizer
	case metav1.DeletePropagationBackground:
	}
	out := make([]string, 0, len(finalizers)+1)
	had := false
	for _, f := range finalizers {
		switch {
		case f == wanted:
			had = true
			out = append(out, f)
		case !isCollectors(f):
			out = append(out, f)
		}
	}
	switch {
	case wanted == "":
	case !had:
		out = append(out, wanted)
	case len(out) < len(finalizers): // the other one was removed, so this one moves to the end
		out = append(slices.DeleteFunc(out, func(f string) bool { return f == wanted }), wanted)
	}
	return out
}

func isCollectors(finalizer string) bool {
	return finalizer == object.ForegroundFinalizer || finalizer == object.OrphanFinalizer
}

// deleteFails reports whether the API server refuses every DELETE of an object that names a
// resourceVersion: a DELETE of an Event removes the collector's finalizers, and where those are
// the only ones, the API server compares a resourceVersion that it has not written.
func deleteFails(o *object.Object, b collector.Behavior) bool {
	return b.DeleteNamesResourceVersion && isEvent(o) && len(o.Finalizers) > 0 && len(o.ForeignFinalizers()) == 0
}

// isEvent reports whether an object is an Event, whose deletion ignores every policy.
func isEvent(o *object.Object) bool {
	gk := o.GroupVersionKind().GroupKind()
	return gk.Kind == "Event" && (gk.Group == "" || gk.Group == "events.k8s.io")
}
