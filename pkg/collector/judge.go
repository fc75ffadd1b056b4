package collector

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Reference judges the i-th reference of n, in the order of
// docs/gc-semantics.md#verdicts: can the kind be resolved, does the scope fit,
// what lives at the coordinates. The owner that a list showed there outweighs a
// gap; a gap outweighs everything that only the owner's absence would prove, as
// another object in its place, unless a lookup found that. What the lookup of
// another reference found yields to this reference's own
// (docs/gc-semantics.md#conflicting-claims). About a contested UID only that
// lookup counts.
func (j *Judge) Reference(e graph.Edge) Judgement {
	return j.judge(j.graph.Object(e.Node), j.graph.Reference(e), j.graph.Owners(e.Node)[e.Index])
}

// VerdictFor judges a reference as if n had it. It must lead to where one that n has
// leads, in the same version or in the one that View.Reversioned names: no look was
// had elsewhere.
func (j *Judge) VerdictFor(n graph.Node, r object.Reference) Judgement {
	return j.judge(j.graph.Object(n), r, j.graph.Find(r.UID))
}

// judge judges a reference whose UID is that of owner, which may be None.
func (j *Judge) judge(dependent *object.Object, r object.Reference, owner graph.Node) Judgement {
	holder := j.graph.Object(owner)
	m, c, mapped := j.view.CoordinatesOf(dependent.Namespace, r)
	out := Judgement{Mapping: m, Holder: holder}
	switch {
	case !mapped:
		return j.unmapped(out, dependent, r)
	case dependent.Namespace == "" && m.Type.Namespaced:
		out.Verdict, out.Cause = ScopeError, ClusterToNamespaced
		return out
	case holder != nil && holder.MatchesIdentity(r, dependent.Namespace) && (!j.graph.Virtual(owner) || j.view.Lookup(c) == nil):
		return alive(out)
	}
	return j.located(out, dependent, r, c)
}

// Object judges every reference of n, in their order.
func (j *Judge) Object(n graph.Node) []Judgement {
	return j.Append(make([]Judgement, 0, len(j.graph.Owners(n))), n)
}

// Append is Object for who judges many and keeps no judgement.
func (j *Judge) Append(to []Judgement, n graph.Node) []Judgement {
	for i := range j.graph.Owners(n) {
		to = append(to, j.Reference(graph.Edge{Node: n, Index: i}))
	}
	return to
}

// References judges a reference that n had when the snapshot was taken, wherever it stood
// among its references; the zero value where it had none such.
func (j *Judge) References(n graph.Node, r object.Reference) Judgement { return j.Each(n)(r) }

// few are so few references that looking through them is quicker than an index.
const few = 16

// Each is Of for who asks about many references of one object, which may have any
// number.
func (j *Judge) Each(n graph.Node) func(object.Reference) Judgement {
	owners := j.graph.Object(n).Owners
	find := func(r object.Reference) int { return slices.IndexFunc(owners, r.SameOwner) }
	if len(owners) > few {
		first := make(map[object.Reference]int, len(owners))
		for i, r := range slices.Backward(owners) {
			first[r.Flagless()] = i
		}
		find = func(r object.Reference) int {
			if i, ok := first[r.Flagless()]; ok {
				return i
			}
			return -1
		}
	}
	return func(r object.Reference) Judgement {
		if i := find(r); i >= 0 {
			return j.Reference(graph.Edge{Node: n, Index: i})
		}
		return Judgement{}
	}
}

// unmapped judges a reference whose kind leads nowhere. Where the group
// could not be discovered, nobody can say whether it does.
func (j *Judge) unmapped(out Judgement, dependent *object.Object, r object.Reference) Judgement {
	gvk := r.GroupVersionKind()
	out.Verdict = Unresolvable
	versions := j.view.Versions(gvk.Group, gvk.Kind)
	for _, t := range versions {
		out.Served = append(out.Served, t.APIVersion())
	}
	namespaced := len(versions) > 0 && versions[0].Namespaced
	switch gap := j.view.GroupGap(gvk.Group); {
	case gap != nil:
		out.Verdict, out.Cause, out.Gap, out.Served = Unknown, Unverified, gap, nil
	case dependent.Namespace == "" && namespaced:
		out.Cause = ClusterToNamespaced
	case len(versions) > 0:
		out.Cause = UnservedVersion
	case out.Holder != nil && !j.view.Serves(r.APIVersion):
		out.Cause = UnservedVersion
		out.Served = []string{out.Holder.APIVersion}
	default:
		out.Cause = UnknownKind
	}
	return out
}

// located judges a reference that leads to coordinates where its UID was not
// seen in a list.
func (j *Judge) located(out Judgement, dependent *object.Object, r object.Reference, c snapshot.Coordinates) Judgement {
	if !out.Mapping.Served {
		return absent(out, dependent, r)
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
	case lookup == nil: // one that is absent is fresher than any list
		resident = j.byCoordinates()[homeOf(out.Mapping, c)]
		if Contested(out.Holder) || Contested(resident) {
			return unverified(out)
		}
		if gr := out.Mapping.Type.GroupResource(); (resident == nil || resident.UID != r.UID) && !j.view.Listed(gr, c.Namespace) {
			out.Gap = j.view.GapAt(gr, c.Namespace)
			return unverified(out)
		}
	}
	if resident != nil && resident.UID == r.UID {
		out.Holder = resident
		return alive(out)
	}
	out.Resident = resident
	return absent(out, dependent, r)
}

func Contested(o *object.Object) bool { return o != nil && o.Contested }

// alive judges a reference whose owner lives where it says.
func alive(out Judgement) Judgement {
	out.Verdict = Solid
	if out.Holder.DeletingDependents() {
		out.Verdict, out.Cause = Waiting, Terminating
	}
	return out
}

// absent names why no object with the UID lives at the coordinates. Where
// several reasons fit, the first of the audit's order wins.
func absent(out Judgement, dependent *object.Object, r object.Reference) Judgement {
	out.Verdict = Dangling
	switch {
	case out.Holder != nil && out.Holder.Namespace != "" && out.Holder.Namespace != dependent.Namespace:
		out.Cause = CrossNamespace
	case out.Holder != nil && !named(out.Holder, out.Mapping.Type, r.Name):
		out.Cause = Mismatched
	case out.Resident != nil:
		out.Cause = Replaced
	default:
		out.Cause = Missing
	}
	return out
}

// named says whether the holder is of the type and has the name: if so and it
// is absent all the same, it went between list and lookup.
func named(holder *object.Object, t snapshot.Type, name string) bool {
	is := func(i object.Identity) bool {
		return i.Name == name && i.Kind == t.Kind && i.GroupVersionKind().Group == t.Group
	}
	return is(holder.Identity) || slices.ContainsFunc(holder.Aliases, is)
}

func unverified(out Judgement) Judgement {
	out.Verdict, out.Cause = Unknown, Unverified
	return out
}
