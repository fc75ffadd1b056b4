package e2e

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nondeterministicDeletion says of a part that collect deleted under faults whether the cluster's own
// collector, too, comes to either end: the reference has the UID of an owner that is
// orphaned, and names another, which is not there. Who sees that owner drops the
// reference first, and the object stays; who does not, deletes it. See
// docs/differences.md.
//
// It is not the program that says so, but the drawing, what was there before, and
// the proxy: that owner was orphaning, and a list of its type went wrong; no other
// owner of the part was ever there; and undisturbed it stays, without any reference.
func (o *faultScenario) nondeterministicDeletion(role string, before, undisturbed ending) bool {
	n := o.number(role)
	end := undisturbed[role]
	if o.command != "collect" || roleOf(n) != role || end.Gone || end.Terminating || len(end.Owners) > 0 {
		return false
	}
	released := false
	for _, c := range o.parts[n].claims {
		switch {
		case !o.refutable(n, c):
			return false
		case c.uid >= 0 && !o.solid(n, c) && before[roleOf(c.uid)].orphaning() && o.hidden(c.uid):
			released = true
		case c.uid >= 0 || c.name >= 0:
			return false
		}
	}
	return released
}

// refutable reports whether a client can prove that the owner of a reference does not
// exist: its kind is known, and not namespaced if the dependent is cluster-scoped.
func (o *faultScenario) refutable(n int, c claim) bool {
	namespaced, known := o.kinds(c)
	return known && (o.parts[n].space != nowhere || !namespaced)
}

// orphaning reports whether an object is being deleted and orphans its dependents first.
func (c condition) orphaning() bool {
	return !c.Gone && c.Terminating && slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents)
}
