package collector

import (
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Judge judges the owner references of a graph. It is immutable and safe for concurrent
// use.
type Judge struct {
	graph    *graph.Graph
	view     *snapshot.View
	behavior func() Behavior
	// byAddress indexes listed objects; see indexByAddress. It is built on first
	// use.
	byAddress func() map[object.Address]*object.Object
}

// NewJudge returns a Judge of the references of g.
func NewJudge(g *graph.Graph) *Judge {
	return &Judge{
		graph: g, view: g.View(),
		behavior:  sync.OnceValue(func() Behavior { return BehaviorOf(g.Snapshot().Server) }),
		byAddress: sync.OnceValue(func() map[object.Address]*object.Object { return indexByAddress(g) }),
	}
}

// Graph returns the graph whose references are judged.
func (j *Judge) Graph() *graph.Graph { return j.graph }

// Behavior returns the behavior of the server that the graph was scanned from.
func (j *Judge) Behavior() Behavior { return j.behavior() }

// Reference judges the reference that e stands for, as docs/gc-semantics.md#verdicts
// describes: can the kind be resolved, does the scope fit, what exists at the
// coordinates.
//
// An owner that a list showed at the coordinates outweighs a gap. A gap outweighs
// everything that only the owner's absence would prove, such as another object in its
// place, unless a lookup found that object, or a file shows the owner elsewhere. The lookup
// of this reference outweighs what another reference's lookup found
// (docs/gc-semantics.md#conflicting-claims). For a contested UID only the reference's own
// lookup counts.
//
// An owner that snapshot.LooksUp excludes never counts as absent. So what a user writes into one object
// cannot cause many requests or deletions.
//
// A cluster-scoped object has no namespace in which to look for a namespaced owner. If the collector
// does not watch the object, it looks in the namespace of any one of the object's dependents. What it
// finds there is unknown.
func (j *Judge) Reference(e graph.Edge) Judgement {
	out := j.judge(j.graph.Object(e.Node), j.graph.Reference(e), j.graph.Owners(e.Node)[e.Index])
	switch {
	case out.Verdict == VerdictScopeError && j.graph.Virtual(e.Node):
		out.Verdict = VerdictUnknown
	case out.Verdict == VerdictDangling && out.Mapping.Served && !snapshot.LooksUp(e.Index, j.graph.Reference(e)):
		return j.notLookedUp(e, out)
	}
	return out
}

// notLookedUp makes a dangling reference unknown, since scans do not look up all references.
func (j *Judge) notLookedUp(e graph.Edge, out Judgement) Judgement {
	_, c, _ := j.view.CoordinatesOf(j.graph.Object(e.Node).Namespace, j.graph.Reference(e))
	out.NameHolder = nil
	out.Lookup = &snapshot.Lookup{
		Coordinates: c, Outcome: snapshot.Failed, Reason: snapshot.Unverified,
		Message: snapshot.NotLookedUp,
	}
	return unverified(out)
}

// Resolves reports whether the reference that e stands for leads to its owner.
func (j *Judge) Resolves(e graph.Edge) bool { return j.Reference(e).Verdict.OwnerExists() }

// Hypothetical judges r as if n had it. It must lead to the same coordinates as a
// reference that n has, in the same version or in the one that View.WithServedVersion
// returns: nothing else was looked up.
func (j *Judge) Hypothetical(n graph.Node, r object.Reference) Judgement {
	return j.judge(j.graph.Object(n), r, j.graph.Find(r.UID))
}

// Object judges every reference of n, in their order.
func (j *Judge) Object(n graph.Node) []Judgement {
	return j.Append(make([]Judgement, 0, len(j.graph.Owners(n))), n)
}

// Append appends the judgements of n's references to a slice.
func (j *Judge) Append(to []Judgement, n graph.Node) []Judgement {
	for i := range j.graph.Owners(n) {
		to = append(to, j.Reference(graph.Edge{Node: n, Index: i}))
	}
	return to
}

// FindReference judges the reference of n that names the same owner as r. It returns the
// zero value if the snapshot shows none.
func (j *Judge) FindReference(n graph.Node, r object.Reference) Judgement {
	if i := slices.IndexFunc(j.graph.Object(n).Owners, r.SameOwner); i >= 0 {
		return j.Reference(graph.Edge{Node: n, Index: i})
	}
	return Judgement{}
}

// judge judges a reference whose UID is that of owner, which may be graph.None.
func (j *Judge) judge(dependent *object.Object, r object.Reference, owner graph.Node) Judgement {
	holder := j.graph.Object(owner)
	m, c, mapped := j.view.CoordinatesOf(dependent.Namespace, r)
	out := Judgement{Mapping: m, UIDHolder: holder}
	switch {
	case !mapped:
		return j.judgeUnmapped(out, dependent, r)
	case dependent.Namespace == "" && m.Type.Namespaced:
		out.Verdict, out.Cause = VerdictScopeError, CauseClusterToNamespaced
		return out
	case holder != nil && holder.MatchesIdentity(r, dependent.Namespace) && (!j.graph.Virtual(owner) || j.view.Lookup(c) == nil):
		return judgeExisting(out)
	}
	return j.judgeByCoordinates(out, dependent, r, c)
}

// judgeUnmapped judges a reference whose kind maps to no resource. If the group could
// not be discovered, that proves nothing.
func (j *Judge) judgeUnmapped(out Judgement, dependent *object.Object, r object.Reference) Judgement {
	gvk := r.GroupVersionKind()
	out.Verdict = VerdictUnresolvable
	versions := j.view.Versions(gvk.Group, gvk.Kind)
	for _, t := range versions {
		out.Served = append(out.Served, t.APIVersion())
	}
	namespaced := len(versions) > 0 && versions[0].Namespaced
	switch gap := j.view.GroupGap(gvk.Group); {
	case gap != nil:
		out.Verdict, out.Cause, out.Gap, out.Served = VerdictUnknown, CauseUnverified, gap, nil
	case dependent.Namespace == "" && namespaced:
		out.Cause = CauseClusterToNamespaced
	case len(versions) > 0:
		out.Cause = CauseUnservedVersion
	case out.UIDHolder != nil && !j.view.Serves(r.APIVersion):
		out.Cause = CauseUnservedVersion
		out.Served = []string{out.UIDHolder.APIVersion}
	default:
		out.Cause = CauseUnknownKind
	}
	return out
}

// judgeByCoordinates judges a reference by the object at its coordinates c, where no
// list showed one with the reference's UID.
func (j *Judge) judgeByCoordinates(out Judgement, dependent *object.Object, r object.Reference, c snapshot.Coordinates) Judgement {
	if !out.Mapping.Served {
		return judgeAbsent(out, dependent, r)
	}
	lookup := j.view.Lookup(c)
	var resident *object.Object
	switch {
	case !snapshot.ValidName(r.Name):
		out.Lookup = &snapshot.Lookup{Coordinates: c, Outcome: snapshot.Failed, Reason: snapshot.BadName, Message: "no object can have such a name"}
		return unverified(out)
	case lookup != nil && lookup.Outcome == snapshot.Found && lookup.Object != nil:
		resident = lookup.Object
	case lookup != nil && lookup.Outcome != snapshot.Absent:
		out.Lookup = lookup
		return unverified(out)
	case lookup == nil: // a lookup with outcome Absent is newer than any list
		resident = j.byAddress()[out.Mapping.Type.Address(c.Namespace, c.Name)]
		if contested(out.UIDHolder) || contested(resident) {
			return unverified(out)
		}
		if gr := out.Mapping.Type.GroupResource(); (resident == nil || resident.UID != r.UID) && !j.view.Listed(gr, c.Namespace) {
			out.Gap = j.view.GapAt(gr, c.Namespace)
			if out.Gap != nil && out.Gap.Reason == snapshot.NotInFile {
				return judgeInFile(out, dependent, r, c, resident)
			}
			return unverified(out)
		}
	}
	if resident != nil && resident.UID == r.UID {
		out.UIDHolder = resident
		return judgeExisting(out)
	}
	out.NameHolder = resident
	return judgeAbsent(out, dependent, r)
}

// judgeInFile judges a reference by a file that may lack objects. That proves that an owner is not at
// its coordinates c only if it shows the UID elsewhere: an object's namespace and name never change. An
// object with the owner's name and another UID may be older than the owner.
func judgeInFile(out Judgement, dependent *object.Object, r object.Reference, c snapshot.Coordinates, resident *object.Object) Judgement {
	if h := out.UIDHolder; h != nil && (h.Namespace != c.Namespace || h.Name != c.Name) {
		out.Gap = nil
		return judgeAbsent(out, dependent, r)
	}
	out.NameHolder = resident
	return unverified(out)
}

func contested(o *object.Object) bool { return o != nil && o.Contested }

// judgeExisting judges a reference whose owner exists at its coordinates.
func judgeExisting(out Judgement) Judgement {
	out.Verdict = VerdictSolid
	if out.UIDHolder.DeletingDependents() {
		out.Verdict, out.Cause = VerdictWaiting, CauseTerminating
	}
	return out
}

// judgeAbsent judges a reference whose owner does not exist at its coordinates.
func judgeAbsent(out Judgement, dependent *object.Object, r object.Reference) Judgement {
	out.Verdict = VerdictDangling
	switch {
	case out.UIDHolder != nil && out.UIDHolder.Namespace != "" && out.UIDHolder.Namespace != dependent.Namespace:
		out.Cause = CauseCrossNamespace
	case out.UIDHolder != nil && !named(out.UIDHolder, out.Mapping.Type, r.Name):
		out.Cause = CauseMismatched
	case out.NameHolder != nil:
		out.Cause = CauseReplaced
	default:
		out.Cause = CauseMissing
	}
	return out
}

// named reports whether the holder has the type and the name. If so, it was deleted
// between the list and the lookup.
func named(holder *object.Object, t snapshot.Type, name string) bool {
	is := func(i object.Identity) bool {
		return i.Name == name && i.Kind == t.Kind && i.GroupVersionKind().Group == t.Group
	}
	return is(holder.Identity) || slices.ContainsFunc(holder.Aliases, is)
}

func unverified(out Judgement) Judgement {
	out.Verdict, out.Cause = VerdictUnknown, CauseUnverified
	return out
}

// indexByAddress indexes the listed objects by address. To stay small, it
// contains only addresses of references, in their own or in a served version, that
// neither a list nor a lookup proves.
func indexByAddress(g *graph.Graph) map[object.Address]*object.Object {
	out := map[object.Address]*object.Object{}
	view := g.View()
	for n := graph.Node(0); g.Object(n) != nil; n++ {
		o := g.Object(n)
		for i, r := range o.Owners {
			owner := g.Object(g.Owners(n)[i])
			if owner != nil && owner.MatchesIdentity(r, o.Namespace) || owner == nil && !snapshot.LooksUp(i, r) {
				continue // in the second case, nothing proves absence: see Judge.Reference
			}
			r, _ = view.WithServedVersion(r)
			if m, c, ok := view.CoordinatesOf(o.Namespace, r); ok && view.Lookup(c) == nil {
				out[m.Type.Address(c.Namespace, c.Name)] = nil
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	add := func(i object.Identity, o *object.Object) {
		if m, ok := view.Map(i.APIVersion, i.Kind); ok {
			at := m.Type.Address(i.Namespace, i.Name)
			if _, wanted := out[at]; wanted {
				out[at] = o
			}
		}
	}
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		add(o.Identity, o)
		for _, alias := range o.Aliases {
			add(alias, o)
		}
	}
	return out
}
