package simulate

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// crdFinalizer is what the API server adds to a CustomResourceDefinition that
// is deleted, until its instances are gone (docs/gc-semantics.md#instances-of-a-crd).
const crdFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// Deleted is what the API server leaves of an object on a DELETE with that
// policy: nil when it is gone at once (docs/gc-semantics.md#delete-request). The
// empty policy leaves the collector's finalizers as they are. now becomes its
// deletion timestamp unless it has one.
//
// A Namespace is never gone at once, as its contents go first; until they have, a
// second DELETE of it changes nothing.
func Deleted(o *object.Object, policy metav1.DeletionPropagation, now time.Time) *object.Object {
	first := !o.Terminating()
	if o.Stopping() || o.IsNamespace() && !first { // the policy is ignored then
		return o
	}
	left := *o
	switch {
	case o.IsDefinition() && first:
		if !slices.Contains(o.Finalizers, crdFinalizer) {
			left.Finalizers = append(slices.Clone(o.Finalizers), crdFinalizer)
		}
	default:
		left.Finalizers = finalizersFor(o.Finalizers, policy)
	}
	grace := int64(0)
	if o.Running && first {
		grace = defaultGrace
	}
	left.GraceSeconds = &grace
	if first {
		left.Deleted = &now
	}
	if len(left.Finalizers) == 0 && grace == 0 && !o.IsNamespace() {
		return nil
	}
	return &left
}

// DefaultPolicy is what a DELETE without a policy means for an object: its type's
// own default (docs/gc-semantics.md#finalizers-after-a-delete).
func DefaultPolicy(i object.Identity) metav1.DeletionPropagation {
	switch gvk := i.GroupVersionKind(); {
	case gvk.GroupVersion().String() == "v1" && gvk.Kind == "ReplicationController",
		gvk.GroupVersion().String() == "batch/v1" && gvk.Kind == "Job":
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

// defaultGrace is what a Pod that does not say otherwise has to stop, in
// seconds: a look does not see what it says.
const defaultGrace = 30

// Patched is what the API server leaves of an object after a change: nil when
// it was terminating and has no finalizer then
// (docs/gc-semantics.md#deletion-by-an-update). A Namespace waits for its
// contents all the same.
func Patched(o *object.Object, c object.Change) *object.Object {
	left := c.Apply(*o)
	if left.Terminating() && len(left.Finalizers) == 0 && !left.Stopping() && !o.IsNamespace() {
		return nil
	}
	return &left
}

// finalizersFor drops the collector's finalizers and adds the one that the
// policy asks for at the end, unless the same set was there before. Without a
// policy the first of them that is there stays
// (docs/gc-semantics.md#finalizers-after-a-delete).
func finalizersFor(finalizers []string, policy metav1.DeletionPropagation) []string {
	wanted := ""
	switch policy {
	case "":
		i := slices.IndexFunc(finalizers, ours)
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
		case !ours(f):
			out = append(out, f)
		}
	}
	switch {
	case wanted == "":
	case !had:
		out = append(out, wanted)
	case len(out) < len(finalizers): // another of the two went, so the order is made anew
		out = append(slices.DeleteFunc(out, func(f string) bool { return f == wanted }), wanted)
	}
	return out
}

// ours says whether a finalizer is the collector's.
func ours(finalizer string) bool {
	return finalizer == object.ForegroundFinalizer || finalizer == object.OrphanFinalizer
}
