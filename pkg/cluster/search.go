package cluster

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// widerQueries lists, in a look that was limited to namespaces, what may show the UIDs
// of owners that are not where their references say, and the dependents that an
// object waits for.
func (l *scanner) widerQueries() []Query {
	if l.scope.Namespaces == nil {
		return nil
	}
	view, kinds, homeless := l.view(), map[snapshot.Listing]bool{}, false
	for _, o := range l.objects.Objects() {
		for _, r := range o.Owners {
			if l.objects.Object(r.UID) != nil {
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
	if l.scope.Widen == WidenAll && (homeless || l.hasCollectorFinalizer()) {
		return l.allQueries()
	}
	return slices.DeleteFunc(l.allQueries(), func(j Query) bool { return !kinds[j.Listing()] })
}

// hasCollectorFinalizer says whether something seen bears a finalizer of the collector's: its
// dependents count by UID, wherever they live, and the finalizer may only go once all
// of them were seen (docs/gc-semantics.md#graph,
// docs/differences.md#it-is-more-careful).
func (l *scanner) hasCollectorFinalizer() bool {
	bears := func(o *object.Object) bool {
		return slices.Contains(o.Finalizers, object.ForegroundFinalizer) || slices.Contains(o.Finalizers, object.OrphanFinalizer)
	}
	return slices.ContainsFunc(l.objects.Objects(), bears) || slices.ContainsFunc(l.lookups, func(a snapshot.Lookup) bool { return a.Object != nil && bears(a.Object) })
}
