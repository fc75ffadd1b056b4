package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Scope says what a look is to see.
type Scope struct {
	// Namespaces limits the look to the namespaced types in these; cluster-scoped
	// owners are then looked up one by one. Nil is the whole cluster.
	Namespaces []string
	// Targets are asked for by name besides, where no list shows them.
	Targets []snapshot.Coordinates
	// Widen says where to search for the UID of an owner that is not where its
	// reference says, when the namespaces alone do not show it.
	Widen Widening
	// Labels keeps the objects' labels.
	Labels bool
	// Running asks which of the listed Pods a kubelet has to stop before they go.
	// Where that cannot be told, every Pod that is not terminating counts as one.
	Running bool
}

// Widening is how far a look that was limited to namespaces is widened.
type Widening int

// The widenings.
const (
	WidenKinds  Widening = iota // list the kinds that bad references name, everywhere
	WidenAll                    // list everything, everywhere; and where a finalizer of the collector's may wait for dependents elsewhere, too
	WidenAlways                 // list everything, everywhere, whatever is seen
)

// NothingReadableError says that not a single type could be read, so that there is no answer
// to give.
type NothingReadableError struct{ Gaps []snapshot.Gap }

func (e *NothingReadableError) Error() string {
	first := e.Gaps[0]
	return fmt.Sprintf("nothing could be read: all of %d types failed, the first is %s (%s): %s", len(e.Gaps), first, first.Reason, first.Message)
}

// scan is one look under way.
type scan struct {
	*Cluster
	scope Scope
	world *Discovery

	seen     snapshot.Deduper
	done     map[snapshot.Listing]bool
	listed   []snapshot.Listing
	versions map[snapshot.Listing]string // the resourceVersions of these lists
	gaps     []snapshot.Gap
	lookups  []snapshot.Lookup

	// origin is the scan on which a lookup by itself rests; nil in a scan.
	origin *snapshot.Snapshot

	probesMu sync.Mutex
	probes   map[probeKey]func() error
}

// Scan lists every monitored type in scope and looks up the owners that no list
// showed. What cannot be read becomes a gap; the error is a *Blind when that is
// everything. now ends the look: ages are measured from it.
func (c *Cluster) Scan(ctx context.Context, w *Discovery, scope Scope, now func() time.Time) (*snapshot.Snapshot, error) {
	l := c.newScan(w, scope)
	if err := l.list(ctx, l.jobs(), false); err != nil {
		return nil, err
	}
	if len(l.listed) == 0 && len(l.gaps) > 0 {
		return nil, &NothingReadableError{Gaps: l.gaps}
	}
	if l.scope.Widen == WidenAlways {
		if err := l.list(ctx, l.everything(), true); err != nil {
			return nil, err
		}
	}
	if err := l.resolveOwners(ctx); err != nil {
		return nil, err
	}
	if err := l.list(ctx, l.wider(), true); err != nil {
		return nil, err
	}
	l.contradict()
	if err := l.markRunning(ctx); err != nil {
		return nil, err
	}
	l.gaps = append(l.gaps, l.unanswered()...)
	s := l.snapshot()
	s.Taken = now().UTC().Truncate(time.Second)
	s.Sort()
	return s, nil
}

// newScan prepares to list what the world serves, with memory of its own.
func (c *Cluster) newScan(w *Discovery, scope Scope) *scan {
	return &scan{
		Cluster: c.withMemory(), scope: scope, world: w, gaps: append([]snapshot.Gap(nil), w.Gaps...),
		done: map[snapshot.Listing]bool{}, versions: map[snapshot.Listing]string{}, probes: map[probeKey]func() error{},
	}
}

func (l *scan) jobs() []job {
	if l.scope.Namespaces == nil {
		return l.everything()
	}
	var jobs []job
	for _, t := range l.world.Types {
		if t.Monitored() && t.Namespaced {
			for _, ns := range l.scope.Namespaces {
				jobs = append(jobs, job{of: t, namespace: ns})
			}
		}
	}
	return jobs
}

// everything are the lists of all monitored types, everywhere.
func (l *scan) everything() []job {
	var jobs []job
	for _, t := range l.world.Types {
		if t.Monitored() {
			jobs = append(jobs, job{of: t})
		}
	}
	return jobs
}

// list runs the jobs that were not run yet and files what they bring. search
// says that they only look for lost owners.
func (l *scan) list(ctx context.Context, jobs []job, search bool) error {
	var fresh []job
	for _, j := range jobs {
		if !l.done[j.listing()] {
			l.done[j.listing()] = true
			fresh = append(fresh, j)
		}
	}
	answers, err := l.answers(ctx, fresh)
	if err != nil {
		return err
	}
	found := 0
	for _, a := range answers {
		found += len(a.objects)
	}
	l.seen.Grow(found)
	for _, i := range byKind(fresh) {
		a := answers[i]
		l.seen.Add(a.objects...)
		if a.err == nil {
			l.listed = append(l.listed, fresh[i].listing())
			l.versions[fresh[i].listing()] = a.version
			continue
		}
		var full *MemoryError
		if errors.As(a.err, &full) {
			return full
		}
		at := fresh[i].listing()
		gap := snapshot.Gap{Group: at.Group, Resource: at.Resource, Namespace: at.Namespace}
		gap.Reason, gap.Message = classify(a.err)
		if search {
			gap.Namespace = snapshot.All
		}
		l.gaps = append(l.gaps, gap)
	}
	return nil
}

// answers are those to the jobs, in their order. What discovery had listed to prove itself
// is not listed again.
func (l *scan) answers(ctx context.Context, jobs []job) ([]answer, error) {
	out := make([]answer, len(jobs))
	var left []job
	var places []int
	for i, j := range jobs {
		a := l.world.announced.of(j)
		if a == nil {
			left, places = append(left, j), append(places, i)
			continue
		}
		out[i] = *a
		for _, o := range a.objects {
			if !l.scope.Labels {
				o.Labels = nil
			}
		}
	}
	answers, err := l.listAll(ctx, left, l.scope.Labels)
	for k, i := range places {
		out[i] = answers[k]
	}
	return out, err
}

// byKind are the places of jobs in the order of their objects (object.Identity.Compare):
// a server sends a list nearly in that order, so that little is left to sort.
func byKind(jobs []job) []int {
	places := make([]int, len(jobs))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Or(strings.Compare(jobs[a].of.Kind, jobs[b].of.Kind), strings.Compare(jobs[a].namespace, jobs[b].namespace))
	})
	return places
}

// view is of what is known so far.
func (l *scan) view() *snapshot.View { return snapshot.NewView(l.snapshot()) }

func (l *scan) snapshot() *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Server: l.world.Server, Types: l.world.Types,
		Listed: l.listed, Gaps: l.gaps, Lookups: l.lookups, Objects: l.seen.Objects(),
	}
}
