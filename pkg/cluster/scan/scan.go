package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
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
	WidenAll                    // list everything, also if a finalizer of the garbage collector may wait for dependents elsewhere
	WidenAlways                 // list everything in any case
)

// NothingReadableError reports that no type could be listed.
type NothingReadableError struct{ Gaps []snapshot.Gap }

func (e *NothingReadableError) Error() string {
	first := e.Gaps[0]
	return fmt.Sprintf("nothing could be read: all of %d types failed, the first is %s (%s): %s", len(e.Gaps), first, first.Reason, first.Message)
}

type scanner struct {
	client    *client.Client
	scope     Scope
	discovery *discovery.Result

	objects  snapshot.Deduper
	done     map[snapshot.Listing]bool
	listed   []snapshot.Listing
	versions map[snapshot.Listing]string // resourceVersions of the lists
	gaps     []snapshot.Gap
	lookups  []snapshot.Lookup

	reader *ObjectReader
}

// Run lists every monitored type in scope and looks up the owners that no list showed. What
// cannot be read becomes a gap; if nothing can be read, the error is a *NothingReadableError. now
// is called at the end of the scan.
func Run(ctx context.Context, c *client.Client, w *discovery.Result, scope Scope, now func() time.Time) (*snapshot.Snapshot, error) {
	l := newScan(c, w, scope)
	if err := l.list(ctx, l.scopeQueries(), false); err != nil {
		return nil, err
	}
	if len(l.listed) == 0 && len(l.gaps) > 0 {
		return nil, &NothingReadableError{Gaps: l.gaps}
	}
	if l.scope.Widen == WidenAlways {
		if err := l.list(ctx, l.allQueries(), true); err != nil {
			return nil, err
		}
	}
	if err := l.resolveOwners(ctx); err != nil {
		return nil, err
	}
	if err := l.list(ctx, l.widerQueries(), true); err != nil {
		return nil, err
	}
	l.dropContradictedLists()
	if err := l.markRunning(ctx); err != nil {
		return nil, err
	}
	l.gaps = append(l.gaps, l.lookupGaps()...)
	s := l.snapshot()
	s.Taken = now().UTC().Truncate(time.Second)
	s.Sort()
	return s, nil
}

// newScan returns a scanner that counts memory separately.
func newScan(c *client.Client, w *discovery.Result, scope Scope) *scanner {
	c = c.WithOwnMemory()
	return &scanner{
		client: c, scope: scope, reader: &ObjectReader{client: c, labels: scope.Labels, probes: map[probeKey]func() error{}}, discovery: w, gaps: append([]snapshot.Gap(nil), w.Gaps...),
		done: map[snapshot.Listing]bool{}, versions: map[snapshot.Listing]string{},
	}
}

func (l *scanner) scopeQueries() []client.Query {
	if l.scope.Namespaces == nil {
		return l.allQueries()
	}
	var jobs []client.Query
	for _, t := range l.discovery.Types {
		if t.Monitored() && t.Namespaced {
			for _, ns := range l.scope.Namespaces {
				jobs = append(jobs, client.Query{Type: t, Namespace: ns})
			}
		}
	}
	return jobs
}

// allQueries returns the lists of all monitored types in all namespaces.
func (l *scanner) allQueries() []client.Query {
	var jobs []client.Query
	for _, t := range l.discovery.Types {
		if t.Monitored() {
			jobs = append(jobs, client.Query{Type: t})
		}
	}
	return jobs
}

// list runs the queries that were not run yet and adds their results. search is true for lists
// that only serve to find owners.
func (l *scanner) list(ctx context.Context, jobs []client.Query, search bool) error {
	var fresh []client.Query
	for _, j := range jobs {
		if !l.done[j.Listing()] {
			l.done[j.Listing()] = true
			fresh = append(fresh, j)
		}
	}
	answers, err := l.listResults(ctx, fresh)
	if err != nil {
		return err
	}
	found := 0
	for _, a := range answers {
		found += len(a.Objects)
	}
	l.objects.Grow(found)
	for _, i := range byKind(fresh) {
		a := answers[i]
		l.objects.Add(a.Objects...)
		if a.Err == nil {
			l.listed = append(l.listed, fresh[i].Listing())
			l.versions[fresh[i].Listing()] = a.ResourceVersion
			continue
		}
		var full *client.MemoryError
		if errors.As(a.Err, &full) {
			return full
		}
		at := fresh[i].Listing()
		gap := snapshot.Gap{Group: at.Group, Resource: at.Resource, Namespace: at.Namespace}
		gap.Reason, gap.Message = client.Classify(a.Err)
		if search {
			gap.Namespace = snapshot.All
		}
		l.gaps = append(l.gaps, gap)
	}
	return nil
}

// listResults returns the results in the order of the queries. Lists made by discovery are used
// again.
func (l *scanner) listResults(ctx context.Context, jobs []client.Query) ([]client.ListResult, error) {
	out := make([]client.ListResult, len(jobs))
	var left []client.Query
	var places []int
	for i, j := range jobs {
		a := l.discovery.Announced.ListFor(j)
		if a == nil {
			left, places = append(left, j), append(places, i)
			continue
		}
		out[i] = *a
		for _, o := range a.Objects {
			if !l.scope.Labels {
				o.Labels = nil
			}
		}
	}
	answers, err := l.client.ListAll(ctx, left, l.scope.Labels)
	for k, i := range places {
		out[i] = answers[k]
	}
	return out, err
}

// byKind returns the indexes of the queries in the order of their objects
// (object.Identity.Compare). Servers send lists nearly in that order, so little is left to sort.
func byKind(jobs []client.Query) []int {
	places := make([]int, len(jobs))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Or(strings.Compare(jobs[a].Type.Kind, jobs[b].Type.Kind), strings.Compare(jobs[a].Namespace, jobs[b].Namespace))
	})
	return places
}

// view returns a view of what is known so far.
func (l *scanner) view() *snapshot.View { return snapshot.NewView(l.snapshot()) }

func (l *scanner) snapshot() *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Server: l.discovery.Server, Types: l.discovery.Types,
		Listed: l.listed, Gaps: l.gaps, Lookups: l.lookups, Objects: l.objects.Objects(),
	}
}
