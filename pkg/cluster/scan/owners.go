package scan

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// resolveOwners looks up the targets, the owners that no list showed, and the owners of the
// objects it found, up to the end of each chain.
func (l *scanner) resolveOwners(ctx context.Context) error {
	found := map[types.UID]*object.Object{}
	known := func(uid types.UID) *object.Object {
		if o := l.objects.Object(uid); o != nil {
			return o
		}
		return found[uid]
	}
	objects := l.objects.Objects()
	next := snapshot.Unique(append(l.unseenTargets(), l.view().Unverified(objects, known)...))
	for len(next) > 0 {
		answers, err := l.reader.LookupAll(ctx, l.view(), next, objects, known)
		if err != nil {
			return err
		}
		var fresh []*object.Object
		for _, a := range answers {
			l.lookups = append(l.lookups, a)
			if a.Object != nil && known(a.Object.UID) == nil {
				found[a.Object.UID] = a.Object
				fresh = append(fresh, a.Object)
			}
		}
		objects, next = fresh, l.view().Unverified(fresh, known)
	}
	return nil
}

// lookupGaps returns a gap for each type, namespace and reason of failed lookups, unless the type
// is a gap already.
func (l *scanner) lookupGaps() []snapshot.Gap {
	var out []snapshot.Gap
	view, seen := l.view(), map[snapshot.Gap]bool{}
	for _, a := range l.lookups {
		m, ok := view.Map(a.APIVersion, a.Kind)
		if !ok || a.Outcome != snapshot.Failed || view.GapAt(m.Type.GroupResource(), a.Namespace) != nil {
			continue
		}
		gap := snapshot.Gap{Group: m.Type.Group, Resource: m.Type.Resource, Namespace: a.Namespace, Reason: a.Reason}
		if !seen[gap] {
			seen[gap] = true
			gap.Name, gap.Message = a.Name, a.Message
			out = append(out, gap)
		}
	}
	return out
}

func (l *scanner) unseenTargets() []snapshot.Coordinates {
	if len(l.scope.Targets) == 0 {
		return nil
	}
	var out []snapshot.Coordinates
	at := map[snapshot.Coordinates]bool{}
	for _, o := range l.objects.Objects() {
		for _, id := range append([]object.Identity{o.Identity}, o.Aliases...) {
			at[snapshot.Coordinates{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}] = true
		}
	}
	for _, t := range l.scope.Targets {
		if !at[t] {
			out = append(out, t)
		}
	}
	return out
}

// dropContradictedLists treats a list as failed if it lacks an object that a lookup found and
// that is older than the list: other objects may be missing, too.
func (l *scanner) dropContradictedLists() {
	view, failed := l.view(), map[snapshot.Listing]bool{}
	for _, a := range l.lookups {
		if a.Object == nil || l.objects.Object(a.Object.UID) != nil {
			continue
		}
		m, ok := view.Map(a.Object.APIVersion, a.Object.Kind)
		if !ok {
			continue
		}
		for _, namespace := range slices.Compact([]string{"", a.Namespace}) {
			at := snapshot.Listing{Group: m.Type.Group, Resource: m.Type.Resource, Namespace: namespace}
			if failed[at] || !client.NotAfter(a.Object.ResourceVersion, l.versions[at]) {
				continue
			}
			failed[at] = true
			l.gaps = append(l.gaps, snapshot.Gap{
				Group: at.Group, Resource: at.Resource, Namespace: namespace, Reason: snapshot.Unreadable,
				Message: fmt.Sprintf("the list lacks %s, which a request for it alone found", a.Object),
			})
		}
	}
	l.listed = slices.DeleteFunc(l.listed, func(at snapshot.Listing) bool { return failed[at] })
}

// widerQueries returns the lists that extend a scan of namespaces. They may show owners whose UID
// is not where the reference says, and dependents that an object waits for.
func (l *scanner) widerQueries() []client.Query {
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
				continue // stays unverified wherever its UID is
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
	return slices.DeleteFunc(l.allQueries(), func(j client.Query) bool { return !kinds[j.Listing()] })
}

// hasCollectorFinalizer reports whether an object has a finalizer of the garbage collector. Its
// dependents count by UID in all namespaces, and the finalizer may only be removed once all of
// them were listed (docs/gc-semantics.md#graph, docs/differences.md#it-is-more-careful).
func (l *scanner) hasCollectorFinalizer() bool {
	bears := func(o *object.Object) bool {
		return slices.Contains(o.Finalizers, object.ForegroundFinalizer) || slices.Contains(o.Finalizers, object.OrphanFinalizer)
	}
	return slices.ContainsFunc(l.objects.Objects(), bears) || slices.ContainsFunc(l.lookups, func(a snapshot.Lookup) bool { return a.Object != nil && bears(a.Object) })
}
