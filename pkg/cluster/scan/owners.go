package scan

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// resolveOwners looks up the targets, the owners that no list showed, and the owners of the
// objects it found, up to the end of each chain.
func (sc *scanner) resolveOwners(ctx context.Context) error {
	found := map[types.UID]*object.Object{}
	known := func(uid types.UID) *object.Object {
		if o := sc.objects.Object(uid); o != nil {
			return o
		}
		return found[uid]
	}
	objects := sc.objects.Objects()
	next := snapshot.UniqueCoordinates(append(sc.unseenTargets(), sc.view().UnverifiedOwners(objects, known)...))
	for len(next) > 0 {
		next = sc.withinBudget(next, objects, known)
		answers, err := sc.lookupAll(ctx, next, objects, known)
		if err != nil {
			return err
		}
		var fresh []*object.Object
		for _, a := range answers {
			sc.lookups = append(sc.lookups, a)
			if a.Object != nil && known(a.Object.UID) == nil {
				found[a.Object.UID] = a.Object
				fresh = append(fresh, a.Object)
			}
		}
		objects, next = fresh, sc.view().UnverifiedOwners(fresh, known)
	}
	return nil
}

// lookupBudget limits how many owners are looked up in a scan because of the objects of one namespace, or of
// those without one. A namespace whose owners were deleted without their dependents may need thousands.
const lookupBudget = 5000

// withinBudget returns the coordinates that are within the budgets of namespaces, and adds a failed lookup for
// each of the others. The owners of the first objects come first, so that the next scan goes on where this
// one has led to deletions.
func (sc *scanner) withinBudget(next []snapshot.Coordinates, objects []*object.Object, known func(types.UID) *object.Object) []snapshot.Coordinates {
	if len(next) <= lookupBudget {
		return next
	}
	wanted := make(map[snapshot.Coordinates]bool, len(next)) // true once it is in a budget
	for _, c := range next {
		wanted[c] = false
	}
	for _, c := range sc.scope.Targets {
		wanted[c] = true
	}
	view, byNamespace := sc.view(), map[string][]*object.Object{}
	for _, o := range objects {
		byNamespace[o.Namespace] = append(byNamespace[o.Namespace], o)
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		used := 0
		for _, c := range view.UnverifiedOwners(byNamespace[namespace], known) {
			if taken, ok := wanted[c]; ok && !taken && used < lookupBudget {
				wanted[c] = true
				used++
			}
		}
	}
	if sc.overBudget == nil {
		sc.overBudget = map[snapshot.Coordinates]bool{}
	}
	return slices.DeleteFunc(next, func(c snapshot.Coordinates) bool {
		if wanted[c] {
			return false
		}
		sc.overBudget[c] = true
		sc.lookups = append(sc.lookups, snapshot.Lookup{
			Coordinates: c, Outcome: snapshot.Failed, Reason: snapshot.Unverified,
			Message: fmt.Sprintf("this tool looks up at most %d owners for the objects of one namespace", lookupBudget),
		})
		return true
	})
}

// concernsReferenceOnly reports whether a lookup fails because of what a reference says, such as
// any user may write into one. Nothing else is unknown then: the collector does not watch the owner's
// type, or such an object cannot be requested.
func concernsReferenceOnly(t snapshot.Type) bool { return !t.Watched() || !t.Can("get") }

// lookupGaps returns a gap for each type, namespace and reason of failed lookups, unless the type
// is a gap already.
func (sc *scanner) lookupGaps() []snapshot.Gap {
	var out []snapshot.Gap
	type group struct {
		snapshot.Listing
		snapshot.ErrorClass
	}
	view, seen := sc.view(), map[group]bool{}
	for _, a := range sc.lookups {
		m, ok := view.Map(a.APIVersion, a.Kind)
		if !ok || a.Outcome != snapshot.Failed || sc.overBudget[a.Coordinates] || concernsReferenceOnly(m.Type) || view.GapAt(m.Type.GroupResource(), a.Namespace) != nil {
			continue
		}
		key := group{snapshot.Listing{Group: m.Type.Group, Resource: m.Type.Resource, Namespace: a.Namespace}, a.Reason}
		if !seen[key] {
			seen[key] = true
			out = append(out, snapshot.Gap{
				Group: key.Group, Resource: key.Resource, Namespace: a.Namespace, Name: a.Name, Reason: a.Reason, Message: a.Message,
			})
		}
	}
	return out
}

func (sc *scanner) unseenTargets() []snapshot.Coordinates {
	if len(sc.scope.Targets) == 0 {
		return nil
	}
	var out []snapshot.Coordinates
	at := map[snapshot.Coordinates]bool{}
	for _, o := range sc.objects.Objects() {
		for _, id := range append([]object.Identity{o.Identity}, o.Aliases...) {
			at[snapshot.Coordinates{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}] = true
		}
	}
	for _, t := range sc.scope.Targets {
		if !at[t] {
			out = append(out, t)
		}
	}
	return out
}

// dropContradictedLists treats a list as failed if it lacks an object that a lookup found and
// that is older than the list: other objects may be missing, too.
func (sc *scanner) dropContradictedLists() {
	view, failed := sc.view(), map[snapshot.Listing]bool{}
	for _, a := range sc.lookups {
		if a.Object == nil || sc.objects.Object(a.Object.UID) != nil {
			continue
		}
		m, ok := view.Map(a.Object.APIVersion, a.Object.Kind)
		if !ok {
			continue
		}
		for _, at := range listingsOf(m.Type, a.Namespace) {
			if failed[at] || !sc.lacks(at, a.Object) {
				continue
			}
			failed[at] = true
			sc.gaps = append(sc.gaps, snapshot.Gap{
				Group: at.Group, Resource: at.Resource, Namespace: at.Namespace, Reason: snapshot.Unreadable,
				Message: fmt.Sprintf("the list lacks %s, which a request for it alone found", a.Object),
			})
		}
	}
	sc.listed = slices.DeleteFunc(sc.listed, func(at snapshot.Listing) bool { return failed[at] })
}

// lacks reports whether a list succeeded and is not older than the state of an object, which it
// does not have. o is not among the objects.
func (sc *scanner) lacks(at snapshot.Listing, o *object.Object) bool {
	if sc.lists != nil { // they may have returned a part of their objects
		if there := sc.lists.Find(at, o.Namespace, o.Name); there != nil && there.UID == o.UID {
			return false
		}
	}
	return client.NotAfter(o.ResourceVersion, sc.versions[at])
}

// listingsOf returns the lists that show the objects of a type in a namespace, which may be empty.
func listingsOf(t snapshot.Type, namespace string) []snapshot.Listing {
	out := []snapshot.Listing{{Group: t.Group, Resource: t.Resource}}
	if namespace != "" {
		out = append(out, snapshot.Listing{Group: t.Group, Resource: t.Resource, Namespace: namespace})
	}
	return out
}

// widerQueries returns the lists that extend a scan of namespaces. They may show owners whose UID
// is not where the reference says, and dependents that an object waits for.
func (sc *scanner) widerQueries() []client.Query {
	if sc.scope.Namespaces == nil {
		return nil
	}
	view, kinds, unresolved := sc.view(), map[snapshot.Listing]bool{}, false
	for _, o := range sc.objects.Objects() {
		for _, r := range o.Owners {
			if sc.objects.Object(r.UID) != nil {
				continue
			}
			m, at, ok := view.CoordinatesOf(o.Namespace, r)
			if found := view.Lookup(at); ok && found != nil && found.Object != nil && found.Object.UID == r.UID {
				continue
			}
			if ok && view.GapAt(m.Type.GroupResource(), at.Namespace) != nil {
				continue // stays unverified wherever its UID is
			}
			unresolved = true
			if ok {
				kinds[snapshot.Listing{Group: m.Type.Group, Resource: m.Type.Resource}] = true
			}
		}
	}
	if sc.scope.Widen == WidenAll && (unresolved || sc.needsAllDependents()) {
		return sc.queries(nil)
	}
	return slices.DeleteFunc(sc.queries(nil), func(q client.Query) bool { return !kinds[q.Listing()] })
}

// needsAllDependents reports whether an object has a finalizer of the garbage collector, whether it is
// terminating or not. Its dependents count by UID in all namespaces, and the finalizer may only be
// removed once all of them were listed (docs/gc-semantics.md#graph, docs/differences.md#it-is-more-careful).
func (sc *scanner) needsAllDependents() bool {
	hasFinalizer := func(o *object.Object) bool { return o != nil && len(o.ForeignFinalizers()) < len(o.Finalizers) }
	return slices.ContainsFunc(sc.objects.Objects(), hasFinalizer) ||
		slices.ContainsFunc(sc.lookups, func(a snapshot.Lookup) bool { return hasFinalizer(a.Object) })
}
