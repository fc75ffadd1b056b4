package cluster

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// wider lists, in a look that was limited to namespaces, what may show the UIDs
// of owners that are not where their references say, and the dependents that an
// object waits for.
func (l *scan) wider() []job {
	if l.scope.Namespaces == nil {
		return nil
	}
	view, kinds, homeless := l.view(), map[snapshot.Listing]bool{}, false
	for _, o := range l.seen.Objects() {
		for _, r := range o.Owners {
			if l.seen.Object(r.UID) != nil {
				continue
			}
			m, at, ok := view.CoordinatesOf(o.Namespace, r)
			if found := view.Lookup(at); ok && found != nil && found.Object != nil && found.Object.UID == r.UID {
				continue
			}
			if ok && view.GapAt(m.Type.GroupResource(), at.Namespace) != nil {
				continue // it stays unverified, wherever its UID may be
			}
			homeless = true
			if ok {
				kinds[snapshot.Listing{Group: m.Type.Group, Resource: m.Type.Resource}] = true
			}
		}
	}
	if l.scope.Widen == WidenAll && (homeless || l.awaiting()) {
		return l.everything()
	}
	return slices.DeleteFunc(l.everything(), func(j job) bool { return !kinds[j.listing()] })
}

// awaiting says whether something seen bears a finalizer of the collector's: its
// dependents count by UID, wherever they live, and the finalizer may only go once all
// of them were seen (docs/gc-semantics.md#graph,
// docs/differences.md#it-is-more-careful).
func (l *scan) awaiting() bool {
	bears := func(o *object.Object) bool {
		return slices.Contains(o.Finalizers, object.ForegroundFinalizer) || slices.Contains(o.Finalizers, object.OrphanFinalizer)
	}
	return slices.ContainsFunc(l.seen.Objects(), bears) || slices.ContainsFunc(l.lookups, func(a snapshot.Lookup) bool { return a.Object != nil && bears(a.Object) })
}
