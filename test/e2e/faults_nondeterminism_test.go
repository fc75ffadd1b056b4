package e2e

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nondeterministicDeletion reports whether the real collector, too, might delete or keep a part
// that collect deleted under faults. This is so if a reference of the part has the UID of an
// owner that is being orphaned, together with a name that does not exist: a collector that knows
// the owner's dependents first removes the reference, and the object stays; one that does not
// deletes the object. See docs/differences.md.
//
// The decision does not rely on the program. It uses the blueprint, the state before the run, and
// the proxy: the owner was orphaning, and a list of its type failed; no other owner of the part
// ever existed; and without faults the part stays and has no references.
func (o *faultScenario) nondeterministicDeletion(role string, before, baseline graphState) bool {
	n := o.partNumber(role)
	end := baseline[role]
	if o.command != "collect" || roleOf(n) != role || end.Gone || end.Terminating || len(end.Owners) > 0 {
		return false
	}
	released := false
	for _, c := range o.parts[n].refs {
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

// refutable reports whether a client can prove that the owner of a reference does not exist: its
// kind is known, and not namespaced if the dependent is cluster-scoped.
func (o *faultScenario) refutable(n int, c partRef) bool {
	namespaced, known := o.kinds(c)
	return known && (o.parts[n].namespace != clusterScoped || !namespaced)
}

// orphaning reports whether an object is being deleted and orphans its dependents first.
func (c partState) orphaning() bool {
	return !c.Gone && c.Terminating && slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents)
}
