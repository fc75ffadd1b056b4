package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
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
}

// Widening is how far a look that was limited to namespaces is widened.
type Widening int

// The widenings.
const (
	WidenKinds Widening = iota // list the kinds that bad references name, everywhere
	WidenAll                   // list everything, everywhere
)

// Blind says that not a single type could be read, so that there is no answer
// to give.
type Blind struct{ Gaps []snapshot.Gap }

func (e *Blind) Error() string {
	first := e.Gaps[0]
	return fmt.Sprintf("nothing could be read: all of %d types failed, the first is %s (%s): %s", len(e.Gaps), first, first.Reason, first.Message)
}

// look is one look under way.
type look struct {
	*Cluster
	scope Scope
	world *World

	seen    snapshot.Collection
	done    map[snapshot.Listing]bool
	listed  []snapshot.Listing
	gaps    []snapshot.Gap
	lookups []snapshot.Lookup

	probesMu sync.Mutex
	probes   map[probeKey]func() error
}

// Look lists every monitored type in scope and looks up the owners that no list
// showed. What cannot be read becomes a gap; the error is a *Blind when that is
// everything. now ends the look: ages are measured from it.
func (c *Cluster) Look(ctx context.Context, w *World, scope Scope, now func() time.Time) (*snapshot.Snapshot, error) {
	l := &look{
		Cluster: c, scope: scope, world: w, gaps: append([]snapshot.Gap(nil), w.Gaps...),
		done: map[snapshot.Listing]bool{}, probes: map[probeKey]func() error{},
	}
	if err := l.list(ctx, l.jobs(), false); err != nil {
		return nil, err
	}
	if len(l.listed) == 0 && len(l.gaps) > 0 {
		return nil, &Blind{Gaps: l.gaps}
	}
	if err := l.chase(ctx); err != nil {
		return nil, err
	}
	if err := l.list(ctx, l.wider(), true); err != nil {
		return nil, err
	}
	l.gaps = append(l.gaps, l.unanswered()...)
	s := l.snapshot()
	s.Taken = now().UTC().Truncate(time.Second)
	s.Sort()
	return s, nil
}

func (l *look) jobs() []job {
	var jobs []job
	for _, t := range l.world.Types {
		switch {
		case !t.Monitored():
		case l.scope.Namespaces == nil:
			jobs = append(jobs, job{of: t})
		case t.Namespaced:
			for _, ns := range l.scope.Namespaces {
				jobs = append(jobs, job{t, ns})
			}
		}
	}
	return jobs
}

// list runs the jobs that were not run yet and files what they bring. search
// says that they only look for lost owners.
func (l *look) list(ctx context.Context, jobs []job, search bool) error {
	var fresh []job
	for _, j := range jobs {
		if !l.done[j.listing()] {
			l.done[j.listing()] = true
			fresh = append(fresh, j)
		}
	}
	answers, err := l.listAll(ctx, fresh, l.scope.Labels)
	if err != nil {
		return err
	}
	for i, a := range answers {
		l.seen.Add(a.objects...)
		if a.err == nil {
			l.listed = append(l.listed, fresh[i].listing())
			continue
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

// chase asks for the targets and for every owner that is not proven, and then
// for the owners of what it found, to the end of the chain.
func (l *look) chase(ctx context.Context) error {
	found := map[types.UID]*object.Object{}
	known := func(uid types.UID) *object.Object {
		if o := l.seen.Object(uid); o != nil {
			return o
		}
		return found[uid]
	}
	next := l.unseenTargets()
	next = append(next, l.view().Unproven(l.seen.Objects(), known)...)
	for len(next) > 0 {
		view := l.view()
		answers, err := l.lookupAll(ctx, view, unique(next))
		if err != nil {
			return err
		}
		var fresh []object.Object
		for _, a := range answers {
			l.lookups = append(l.lookups, a)
			if a.Object != nil && known(a.Object.UID) == nil {
				found[a.Object.UID] = a.Object
				fresh = append(fresh, *a.Object)
			}
		}
		next = l.view().Unproven(fresh, known)
	}
	return nil
}

// unanswered are the gaps that failed lookups leave: one for each type,
// namespace and reason, unless the type is a gap already.
func (l *look) unanswered() []snapshot.Gap {
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
			gap.Message = fmt.Sprintf("asking for %s: %s", a.Name, a.Message)
			out = append(out, gap)
		}
	}
	return out
}

func (l *look) unseenTargets() []snapshot.Coordinates {
	if len(l.scope.Targets) == 0 {
		return nil
	}
	var out []snapshot.Coordinates
	at := map[snapshot.Coordinates]bool{}
	for i := range l.seen.Objects() {
		o := &l.seen.Objects()[i]
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

// wider lists, in a look that was limited to namespaces, what may show the UIDs
// of owners that are not where their references say.
func (l *look) wider() []job {
	if l.scope.Namespaces == nil {
		return nil
	}
	view, kinds, homeless := l.view(), map[snapshot.Listing]bool{}, false
	for i := range l.seen.Objects() {
		o := &l.seen.Objects()[i]
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
	var jobs []job
	for _, t := range l.world.Types {
		wanted := l.scope.Widen == WidenAll && homeless || kinds[snapshot.Listing{Group: t.Group, Resource: t.Resource}]
		if wanted && t.Monitored() {
			jobs = append(jobs, job{of: t})
		}
	}
	return jobs
}

// view is of what is known so far.
func (l *look) view() *snapshot.View { return snapshot.NewView(l.snapshot()) }

func (l *look) snapshot() *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Server: l.world.Server, Types: l.world.Types,
		Listed: l.listed, Gaps: l.gaps, Lookups: l.lookups, Objects: l.seen.Objects(),
	}
}

func unique(c []snapshot.Coordinates) []snapshot.Coordinates {
	seen := map[snapshot.Coordinates]bool{}
	out := c[:0]
	for _, at := range c {
		if !seen[at] {
			seen[at] = true
			out = append(out, at)
		}
	}
	return out
}
