// Package scan reads the metadata of all monitored objects into a snapshot and looks up owners
// that no list showed. It decides when a 404 proves that an object is absent. What cannot be
// read becomes a gap. Results are sorted, never in the order of arrival.
package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Scope selects what a scan reads.
type Scope struct {
	// Namespaces limits the scan to namespaced types in these namespaces; cluster-scoped owners
	// are looked up one by one. Nil is the whole cluster.
	Namespaces []string
	// Targets are looked up by name if no list shows them.
	Targets []snapshot.Coordinates
	// Widen says where else to search for the UID of an owner that is not where its reference
	// says.
	Widen Widening
	// Labels keeps the labels of objects.
	Labels bool
	// Running marks the Pods that a kubelet has to stop. If that is unknown, every Pod that is
	// not terminating counts as running.
	Running bool
}

// Widening is how far a scan of namespaces may be extended.
type Widening int

// Values of Scope.Widen.
const (
	WidenKinds  Widening = iota // list the kinds of unresolved owners in all namespaces
	WidenAll                    // list everything if an owner is unresolved, or if the collector's finalizers are in use, as dependents elsewhere may count
	WidenAlways                 // list everything in any case
)

// NothingReadableError reports that no type could be listed.
type NothingReadableError struct {
	Gaps  []snapshot.Gap
	Asked string // the type of the only target, else empty
}

func (e *NothingReadableError) Error() string {
	first := e.Gaps[0]
	if !slices.ContainsFunc(e.Gaps, func(g snapshot.Gap) bool { return g.Reason != snapshot.Forbidden }) {
		what, where := "anything", ""
		if first.Namespace != "" {
			where = " in namespace " + first.Namespace
		}
		if e.Asked != "" {
			what, where = e.Asked, where+", or anything else"
		}
		return fmt.Sprintf("you may not read %s%s: the server forbids all %d types", what, where, len(e.Gaps))
	}
	return fmt.Sprintf("could not read anything: all of %d types failed, the first is %s (%s): %s", len(e.Gaps), first, first.Reason, first.Message)
}

type scanner struct {
	client    *client.Client
	lists     Lists // live; nil: the client makes them
	memo      *Memo
	scope     Scope
	discovery *discovery.Catalog
	now       func() time.Time

	objects  snapshot.Deduper
	listed   []snapshot.Listing
	versions map[snapshot.Listing]string // resourceVersions of the lists; empty for failed lists
	gaps     []snapshot.Gap
	lookups  []snapshot.Lookup

	reader     *ObjectReader
	overBudget map[snapshot.Coordinates]bool // see withinBudget
}

// Cluster scans. discovered is the result of an earlier discovery; if it is nil, Cluster discovers the types first. If a
// type vanishes between discovery and scan, such as that of a deleted CustomResourceDefinition, it
// repeats both once. Errors are those of discovery and Run.
func Cluster(ctx context.Context, c *client.Client, discovered *discovery.Catalog, scope Scope, now func() time.Time) (*snapshot.Snapshot, error) {
	if discovered == nil {
		var err error
		if discovered, err = discovery.Discover(ctx, c); err != nil {
			return nil, err
		}
	}
	s, err := Run(ctx, c, discovered, scope, now)
	if err != nil || !slices.ContainsFunc(s.Gaps, hasVanished) {
		return s, err
	}
	if err := client.Wait(ctx, vanishedPause); err != nil {
		return nil, err
	}
	later, err := discovery.Discover(ctx, c)
	if err != nil || slices.ContainsFunc(s.Gaps, func(g snapshot.Gap) bool {
		return hasVanished(g) && later.Serves(schema.GroupResource{Group: g.Group, Resource: g.Resource})
	}) {
		return s, ctx.Err() // a second scan would not show more
	}
	return Run(ctx, c, later, scope, now)
}

// vanishedPause is how long Cluster waits, as discovery lags some milliseconds behind a definition
// that was just deleted.
var vanishedPause = 500 * time.Millisecond

func hasVanished(g snapshot.Gap) bool {
	return g.Reason == snapshot.Vanished && g.Resource != snapshot.All
}

// Run lists every monitored type in scope and looks up the owners that no list showed. What
// cannot be read becomes a gap; if nothing can be read, the error is a *NothingReadableError. now
// is called at the end of the scan, and when the Pods past their grace period are selected.
func Run(ctx context.Context, c *client.Client, discovered *discovery.Catalog, scope Scope, now func() time.Time) (*snapshot.Snapshot, error) {
	return newScan(c, discovered, scope, now).run(ctx)
}

// Lists are kept up to date. Their objects are shared and stay unchanged.
type Lists interface {
	// ListAll returns the results in the order of the queries. The error is the context's.
	ListAll(ctx context.Context, queries []client.Query, labels bool) ([]client.ListResult, error)
	// Find returns the object that a list has at a place now, or nil. It may not be among those that
	// ListAll returned.
	Find(at snapshot.Listing, namespace, name string) *object.Object
}

// Live is a copy of lists that is kept up to date.
type Live struct {
	Lists Lists
	Memo  *Memo // what scans request in addition, for the next one
	// Part reports that the lists return only a part of their objects, for some decisions: on objects whose
	// dependents are all in it. With each object, it has all of its owners that a list has.
	Part bool
}

// RunLive is Run on lists that are kept up to date, instead of new ones. Snapshot.Listed describes the
// whole copy, even if the snapshot has only a part of the objects.
func RunLive(ctx context.Context, live Live, c *client.Client, discovered *discovery.Catalog, scope Scope, now func() time.Time) (*snapshot.Snapshot, error) {
	sc := newScan(c, discovered, scope, now)
	sc.lists, sc.memo = live.Lists, live.Memo
	if !live.Part {
		live.Memo.begin()
	}
	s, err := sc.run(ctx)
	if err == nil {
		s.Part = live.Part
	}
	return s, err
}

func (sc *scanner) run(ctx context.Context) (*snapshot.Snapshot, error) {
	if err := sc.list(ctx, sc.queries(sc.scope.Namespaces), false); err != nil {
		return nil, err
	}
	if len(sc.listed) == 0 && len(sc.gaps) > 0 {
		nothing := &NothingReadableError{Gaps: sc.gaps}
		if of := sc.scope.Targets; len(of) == 1 {
			m, _ := sc.view().Map(of[0].APIVersion, of[0].Kind)
			nothing.Asked = m.Type.String()
		}
		return nil, nothing
	}
	if sc.scope.Widen == WidenAlways && sc.scope.Namespaces != nil {
		if err := sc.list(ctx, sc.queries(nil), true); err != nil {
			return nil, err
		}
	}
	if err := sc.resolveOwners(ctx); err != nil {
		return nil, err
	}
	if err := sc.list(ctx, sc.widerQueries(), true); err != nil {
		return nil, err
	}
	sc.dropContradictedLists()
	if err := cmp.Or(sc.markRunning(ctx), sc.readNamespaceStatuses(ctx), sc.readPodNodes(ctx)); err != nil {
		return nil, err
	}
	sc.gaps = append(sc.gaps, sc.lookupGaps()...)
	return sc.finish(), nil
}

// Contents lists what the deletion of a Namespace or CustomResourceDefinition also deletes. Types
// are discovered again, since one may have been added after the scan. Types that could not be
// listed are gaps, see snapshot.View.ContentsGaps. Owners are not looked up.
func Contents(ctx context.Context, c *client.Client, of object.Identity) (*snapshot.Snapshot, error) {
	discovered, err := discovery.Discover(ctx, c)
	if err != nil {
		return nil, err
	}
	sc := newScan(c, discovered, Scope{}, time.Now)
	var queries []client.Query
	switch {
	case of.IsNamespace():
		queries = sc.queries([]string{of.Name})
	case of.IsCRD():
		queries = slices.DeleteFunc(sc.queries(nil), func(q client.Query) bool { return q.Type.String() != of.Name })
	}
	if err := sc.list(ctx, queries, false); err != nil {
		return nil, err
	}
	return sc.finish(), nil
}

// newScan returns a scanner that counts memory separately.
func newScan(c *client.Client, discovered *discovery.Catalog, scope Scope, now func() time.Time) *scanner {
	c = c.WithOwnMemory().ForServer(discovered.Server)
	reader := NewObjectReader(c, nil)
	reader.labels = scope.Labels
	return &scanner{
		client: c, scope: scope, discovery: discovered, now: now, gaps: slices.Concat(discovered.Gaps, c.Gaps()),
		reader: reader, versions: map[snapshot.Listing]string{},
	}
}

func (sc *scanner) queries(namespaces []string) []client.Query {
	return Queries(sc.discovery.Types, namespaces)
}

// Queries returns the lists of the monitored types that are in these namespaces, or of all
// monitored types if namespaces is nil.
func Queries(types []snapshot.Type, namespaces []string) []client.Query {
	queries := make([]client.Query, 0, len(types)*max(len(namespaces), 1))
	for _, t := range types {
		switch {
		case !t.Monitored():
		case namespaces == nil:
			queries = append(queries, client.Query{Type: t})
		case t.Namespaced:
			for _, ns := range namespaces {
				queries = append(queries, client.Query{Type: t, Namespace: ns})
			}
		}
	}
	return queries
}

// list runs the queries that were not run yet and adds their results. search is true for lists
// that only serve to find owners.
func (sc *scanner) list(ctx context.Context, queries []client.Query, search bool) error {
	fresh := make([]client.Query, 0, len(queries))
	var made []client.Query // by discovery, whose result is used again
	var earlier []client.ListResult
	for _, q := range queries {
		if _, done := sc.versions[q.Listing()]; done {
			continue
		}
		sc.versions[q.Listing()] = ""
		var a *client.ListResult
		if sc.lists == nil { // live ones are newer
			a = sc.discovery.Announcements(q)
		}
		if a == nil {
			fresh = append(fresh, q)
			continue
		}
		made, earlier = append(made, q), append(earlier, *a)
		for _, o := range a.Objects {
			if !sc.scope.Labels {
				o.Labels = nil
			}
		}
	}
	answers, err := sc.listAll(ctx, fresh, sc.scope.Labels)
	if err != nil {
		return err
	}
	fresh, answers = append(fresh, made...), append(answers, earlier...)
	found := 0
	for _, a := range answers {
		found += len(a.Objects)
	}
	sc.objects.Grow(found)
	for _, i := range byKind(fresh) {
		a, at := answers[i], fresh[i].Listing()
		sc.objects.Add(a.Objects...)
		if a.Err == nil {
			sc.listed = append(sc.listed, at)
			sc.versions[at] = a.ResourceVersion
			continue
		}
		var full *client.MemoryError
		if errors.As(a.Err, &full) {
			return full
		}
		gap := client.GapOf(fresh[i], a.Err)
		if search {
			gap.Namespace = snapshot.All
		}
		sc.gaps = append(sc.gaps, gap)
	}
	return nil
}

func (sc *scanner) listAll(ctx context.Context, queries []client.Query, labels bool) ([]client.ListResult, error) {
	if sc.lists != nil {
		return sc.lists.ListAll(ctx, queries, labels)
	}
	return sc.client.ListAll(ctx, queries, labels)
}

// byKind returns the indexes of the queries in the order of their objects
// (object.Identity.Compare). Servers send lists nearly in that order, so little is left to sort.
func byKind(queries []client.Query) []int {
	places := make([]int, len(queries))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Or(strings.Compare(queries[a].Type.Kind, queries[b].Type.Kind), strings.Compare(queries[a].Namespace, queries[b].Namespace))
	})
	return places
}

// finish returns the sorted snapshot of a scan that ends now.
func (sc *scanner) finish() *snapshot.Snapshot {
	s := sc.snapshot()
	s.Taken = sc.now().UTC().Truncate(time.Second)
	s.Normalize()
	return s
}

// view returns a view of what is known so far.
func (sc *scanner) view() *snapshot.View { return sc.discovery.Mapper.View(sc.snapshot()) }

func (sc *scanner) snapshot() *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Server: sc.discovery.Server, Types: sc.discovery.Types,
		Listed: sc.listed, Gaps: sc.gaps, Lookups: sc.lookups, Objects: sc.objects.Objects(),
	}
}
