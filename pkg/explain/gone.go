package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// Gone explains an object that is not there: what is known of it is in at, whose
// UID may be empty. told is what the Events say about objects of that kind and name.
func (v *Explainer) Gone(at object.Identity, told EventHistory) *Answer {
	a := newAnswer(at)
	a.State = Gone
	a.ReferencedBy = v.namedBy(at)
	a.Events = sorted(told.Events)
	where, events := "", ", and no Event mentions it"
	if told.Unread != "" {
		events = ""
	}
	if at.Namespace != "" {
		where = " in namespace " + at.Namespace
	}
	what := at.String() + where
	if at.Kind == "" {
		what = "object with the UID " + string(at.UID)
	}
	switch n := v.namers(a.ReferencedBy); {
	case !a.Traced():
		a.say(collector.ConsequenceNone, fmt.Sprintf("No %s exists, and nothing refers to it: no object names it as its owner%s.", what, events))
		a.next("Either it never existed, or it was deleted without a trace. Events are kept for an hour, unless the cluster is configured otherwise.")
		v.elsewhere(a)
	case n > 0:
		a.say(collector.ConsequenceNone, fmt.Sprintf("%s no longer exists: %s still %s it as %s owner.", upper(what), count(n, "object"), plural(n, "names", "name"), plural(n, "its", "their")))
		a.next("So it most likely existed: a reference names a UID, and only a created object has one. A reference does not say who deleted its owner, or when.")
		first := a.ReferencedBy[0].Object
		a.remedy("see what happens to "+name(first, at.Namespace), v.gc("why", first)...)
	default:
		a.say(collector.ConsequenceNone, fmt.Sprintf("%s no longer exists: Events still mention it.", upper(what)))
	}
	v.successor(a)
	if a.Traced() {
		a.remedy("restore it, if this tool deleted it: backups are in ~/.kube/gc-backup", plugin.Line("restore", "BACKUP")...)
	}
	a.unread(told)
	v.incomplete(a, "an object that names it may not have been read")
	return a
}

// successor tells of an object that has the place of one with another UID.
func (v *Explainer) successor(a *Answer) {
	for n := range v.graph.Listed() {
		if o := v.graph.Object(graph.Node(n)); a.Object.UID != "" && o.At(a.Object.APIVersion, a.Object.Kind, a.Object.Namespace, a.Object.Name) {
			a.next(fmt.Sprintf("Another %s exists now, created %s ago, with a different UID.", o, v.since(o.Created)))
		}
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// elsewhere names objects of the same kind and name in other namespaces.
func (v *Explainer) elsewhere(a *Answer) {
	var in []string
	for n := range v.graph.Listed() {
		if i := v.graph.Object(graph.Node(n)).Identity; i.Kind == a.Object.Kind && i.Name == a.Object.Name && i.Namespace != a.Object.Namespace &&
			i.GroupVersionKind().Group == a.Object.GroupVersionKind().Group {
			in = append(in, i.Namespace)
		}
	}
	if len(in) > 0 {
		a.next(fmt.Sprintf("One of that name exists in %s %s.", plural(len(in), "namespace", "the namespaces"), listed(in)))
	}
}

// unread says that the Events could not be read.
func (a *Answer) unread(told EventHistory) {
	if told.Unread != "" {
		a.Caveats = append(a.Caveats, "Its Events are unknown: "+told.Unread+".")
	}
}

// Traced says whether anything tells of an object that is gone.
func (a *Answer) Traced() bool { return len(a.ReferencedBy) > 0 || len(a.Events) > 0 }

func (v *Explainer) namers(by []Referrer) int {
	seen := map[object.Identity]bool{}
	for _, n := range by {
		seen[n.Object] = true
	}
	return len(seen)
}

// namedBy are the references that name an object which is not there: by its UID,
// or where that is not known by kind, name and namespace.
func (v *Explainer) namedBy(at object.Identity) []Referrer {
	if at.UID != "" {
		return v.namersOf(v.graph.Dependents(v.graph.Find(at.UID)))
	}
	return v.namersOf(v.claims(at))
}

// claims are the references that lead to a place, and to no object. Where the
// namespace is not known, it may be any.
func (v *Explainer) claims(at object.Identity) []graph.Edge {
	var out []graph.Edge
	group := at.GroupVersionKind().GroupKind()
	for n := range v.graph.Listed() {
		o := v.graph.Object(graph.Node(n))
		for i, r := range o.Owners {
			if r.Name != at.Name {
				continue
			}
			m, c, mapped := v.graph.View().CoordinatesOf(o.Namespace, r)
			kind := r.GroupVersionKind().GroupKind()
			if mapped {
				kind.Group, kind.Kind = m.Type.Group, m.Type.Kind
			}
			if kind != group || mapped && at.Namespace != "" && c.Namespace != at.Namespace || v.graph.Object(v.graph.Find(r.UID)) != nil {
				continue
			}
			out = append(out, graph.Edge{Node: graph.Node(n), Index: i})
		}
	}
	return out
}

func (v *Explainer) namersOf(edges []graph.Edge) []Referrer {
	out := []Referrer{}
	for _, e := range edges {
		out = append(out, Referrer{v.graph.Object(e.Node).Identity, *audit.ReferenceOf(v.graph.Reference(e))})
	}
	slices.SortStableFunc(out, func(a, b Referrer) int { return a.Object.Compare(b.Object) })
	return out
}

// predecessors tells of references to an earlier object in this one's place.
func (s *subject) predecessors() {
	if s.ReferencedBy = s.namersOf(s.claims(s.object.Identity)); len(s.ReferencedBy) > 0 {
		n := s.namers(s.ReferencedBy)
		s.next(fmt.Sprintf("An earlier %s no longer exists: %s still %s that one as %s owner, not this one.", s.object, count(n, "object"), plural(n, "names", "name"), plural(n, "its", "their")))
	}
}

// namespaceNotice is what the collector itself reports of a reference that leads
// into another namespace (docs/gc-semantics.md#invalid-namespace-event).
const namespaceNotice = "OwnerRefInvalidNamespace"

// notices are what the collector itself has reported of an object that is there.
func (s *subject) notices(told EventHistory) []Event {
	return sorted(slices.DeleteFunc(slices.Clone(told.Events), func(e Event) bool {
		return e.Reason != namespaceNotice || e.UID != "" && e.UID != string(s.object.UID)
	}))
}

// sorted are the Events, the latest last.
func sorted(told []Event) []Event {
	out := append([]Event{}, told...)
	slices.SortStableFunc(out, func(a, b Event) int { return a.Last.Compare(b.Last) })
	return out
}
