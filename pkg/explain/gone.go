package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Gone explains an object that does not exist. at is what is known of it; its UID may be
// empty. history is what the cluster's Events report about objects of that kind and name. by is
// how a run of this program has deleted it, and nil if that is unknown.
func (e *Explainer) Gone(at object.Identity, history EventHistory, by *reason.DeletedByRun) *Answer {
	a := newAnswer(at)
	a.State = Gone
	if by != nil {
		a.DeletedBy = reason.Of(*by)
	}
	if at.UID != "" {
		a.ReferencedBy = e.referrers(e.graph.Dependents(e.graph.Find(at.UID)))
	} else {
		a.ReferencedBy = e.referrers(e.referencesTo(at))
	}
	a.Events = sortedEvents(history.Events)
	where, events := "", ", and no Event mentions it"
	if history.Unread != "" {
		events = ""
	}
	if at.Namespace != "" {
		where = " in namespace " + at.Namespace
	}
	what := at.String() + where
	if at.Kind == "" {
		what = "object with the UID " + string(at.UID)
	}
	switch n := objects(a.ReferencedBy); {
	case e.OnlyDeletions && at.Kind != "":
		a.say(collector.ConsequenceNone, "%s does not exist, so nothing holds it.", what)
		e.otherNamespaces(a)
		e.incomplete(a, "an object that this tool could not read may name it as its owner")
		return a
	case by != nil:
		a.say(collector.ConsequenceNone, "%s is gone: %s.", capitalized(what), by.Message())
		if at.UID == "" {
			a.next("If somebody has created it again since, it is unknown who deleted that one.")
		}
		a.suggest("undo that", plugin.Line("restore", by.Backup)...)
	case !a.HasTraces():
		a.say(collector.ConsequenceNone, "No %s exists, and nothing refers to it: no object names it as its owner%s.", what, events)
		a.next("Either it never existed, or its traces are gone. By default, Kubernetes keeps Events for an hour.")
		e.otherNamespaces(a)
		a.next("To get it back, use a manifest or a backup of your own, without owner references.")
		words := []string{"audit"}
		if at.Namespace != "" {
			words = append(words, "-n", at.Namespace)
		}
		a.suggest("find objects that will vanish next", plugin.Line(words...)...)
	case n > 0:
		a.say(collector.ConsequenceNone, "%s does not exist: %s still %s it as %s owner.", capitalized(what), reason.Count(n, "object"), plural(n, "names", "name"), plural(n, "its", "their"))
		a.next("It probably existed before, because references to it have a UID. Who deleted it, and when, is unknown.")
		e.suggestFirst(a)
	case at.Namespace != "" && slices.ContainsFunc(a.Events, func(e object.ClusterEvent) bool { return e.Reason == invalidNamespaceReason }):
		a.say(collector.ConsequenceNone, "%s is gone: the garbage collector reported that its owner is not in this namespace, and deletes such an object.", capitalized(what))
		a.next("Remove the owner reference from its manifest before you create it again.")
	default:
		a.say(collector.ConsequenceNone, "%s no longer exists: Events still mention it.", capitalized(what))
	}
	e.replacement(a)
	if by == nil && a.HasTraces() {
		a.suggest("restore it, if this tool deleted it; this lists the backups", plugin.Line("restore")...)
	}
	target := []string{"--uid", string(at.UID)}
	if at.Kind != "" {
		target = e.arguments(at)
	}
	a.suggest("find out who deleted it, from the API server's audit log", plugin.Line(slices.Concat([]string{"trace"}, target, []string{"--audit-log", "FILE"})...)...)
	if history.Unread != "" {
		a.Caveats = append(a.Caveats, "Its Events are not available: "+history.Unread+".")
	}
	e.incomplete(a, "an object that this tool could not read may name it as its owner")
	return a
}

// Unreadable explains an object that the API server cannot read from etcd, as its message says.
func (e *Explainer) Unreadable(at object.Identity, message string) *Answer {
	a := newAnswer(at)
	a.State = Unreadable
	a.ReferencedBy = e.referrers(e.referencesTo(at))
	a.say(collector.ConsequenceUnknown, "%s cannot be read: the API server cannot decrypt or decode what etcd has for it.", at)
	a.next("The API server says: "+message+".",
		"Nobody can read or change it, or delete it the usual way. Lists of its type fail, so its namespace cannot be deleted, either.",
		"If it is encrypted, restore the key or the KMS plugin: the object is not lost.")
	if n := objects(a.ReferencedBy); n > 0 {
		a.nextf("%s %s it as %s owner.", capitalized(reason.Count(n, "object")), plural(n, "names", "name"), plural(n, "its", "their"))
		a.next("The garbage collector leaves dependents alone while it cannot read their owner. After an unsafe deletion it deletes those without another owner.")
	}
	if m, _ := e.graph.View().Map(at.APIVersion, at.Kind); m.Type.Resource != "" {
		a.next("If it can never be read again, an unsafe deletion removes it at once, whatever its finalizers. This tool never does that. It takes the verbs delete and unsafe-delete-ignore-read-errors.")
		a.suggest("try the unsafe deletion; without &dryRun=All it is real and cannot be undone", "kubectl", "delete", "--raw",
			m.Type.Path(at.Namespace, at.Name)+"?ignoreStoreReadErrorWithClusterBreakingPotential=true&dryRun=All")
	}
	e.incomplete(a, "an object that this tool could not read may name it as its owner")
	return a
}

// suggestFirst suggests to look at the first object that names one that is gone.
func (e *Explainer) suggestFirst(a *Answer) {
	first := a.ReferencedBy[0].Object
	a.suggest("see what happens to "+name(first, a.Object.Namespace), e.command("why", first)...)
}

// replacement mentions an object that has the same name and another UID.
func (e *Explainer) replacement(a *Answer) {
	for n := range e.graph.Listed() {
		if o := e.graph.Object(graph.Node(n)); a.Object.UID != "" && o.ServedAs(a.Object.APIVersion, a.Object.Kind, a.Object.Namespace, a.Object.Name) {
			a.nextf("Another %s exists now, created %s ago, with a different UID.", o, e.since(o.Created))
		}
	}
}

func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// otherNamespaces mentions objects of the same kind and name in other namespaces.
func (e *Explainer) otherNamespaces(a *Answer) {
	var in []string
	for n := range e.graph.Listed() {
		if i := e.graph.Object(graph.Node(n)).Identity; i.Kind == a.Object.Kind && i.Name == a.Object.Name && i.Namespace != a.Object.Namespace &&
			i.GroupVersionKind().Group == a.Object.GroupVersionKind().Group {
			in = append(in, i.Namespace)
		}
	}
	if len(in) > 0 {
		a.nextf("%s exists in %s %s.", a.Object, plural(len(in), "namespace", "the namespaces"), list(in))
	}
}

// HasTraces reports whether a backup, a reference or an Event mentions an object that is gone.
func (a *Answer) HasTraces() bool {
	return a.DeletedBy != nil || len(a.ReferencedBy) > 0 || len(a.Events) > 0
}

// objects returns how many objects have these references, which are sorted by object.
func objects(references []Referrer) int {
	return len(slices.CompactFunc(slices.Clone(references), func(a, b Referrer) bool { return a.Object == b.Object }))
}

// referencesTo returns the references to these coordinates whose UID no object has. An
// empty namespace matches any.
func (e *Explainer) referencesTo(at object.Identity) []graph.Edge {
	var out []graph.Edge
	group := at.GroupVersionKind().GroupKind()
	for n := range e.graph.Listed() {
		o := e.graph.Object(graph.Node(n))
		for i, r := range o.Owners {
			if r.Name != at.Name {
				continue
			}
			m, c, mapped := e.graph.View().CoordinatesOf(o.Namespace, r)
			kind := r.GroupVersionKind().GroupKind()
			if mapped {
				kind.Group, kind.Kind = m.Type.Group, m.Type.Kind
			}
			if kind != group || mapped && at.Namespace != "" && c.Namespace != at.Namespace || e.graph.Object(e.graph.Find(r.UID)) != nil {
				continue
			}
			out = append(out, graph.Edge{Node: graph.Node(n), Index: i})
		}
	}
	return out
}

func (e *Explainer) referrers(edges []graph.Edge) []Referrer {
	out := []Referrer{}
	for _, edge := range edges {
		out = append(out, Referrer{e.graph.Object(edge.Node).Identity, e.graph.Reference(edge)})
	}
	slices.SortStableFunc(out, func(a, b Referrer) int { return a.Object.Compare(b.Object) })
	return out
}

// previousIncarnations mentions references to an earlier object of the same name.
func (b *answerBuilder) previousIncarnations() {
	if b.answer.ReferencedBy = b.referrers(b.referencesTo(b.object.Identity)); len(b.answer.ReferencedBy) > 0 {
		first := b.answer.ReferencedBy[0].Object
		b.answer.suggest("see what happens to "+first.String()+", which refers to an earlier one", b.command("why", first)...)
	}
}

// invalidNamespaceReason is the reason of the Event that the garbage collector reports for
// an owner in another namespace (docs/gc-semantics.md#invalid-namespace-event).
const invalidNamespaceReason = "OwnerRefInvalidNamespace"

// events returns what the garbage collector itself has reported about an existing object, and Warnings about
// its deletion.
func (b *answerBuilder) events(history EventHistory) []object.ClusterEvent {
	out := slices.DeleteFunc(slices.Clone(history.Events), func(e object.ClusterEvent) bool {
		return e.Reason != invalidNamespaceReason || e.UID != "" && e.UID != string(b.object.UID)
	})
	if s := b.object.Status; s != nil {
		out = append(out, slices.DeleteFunc(slices.Clone(s.Warnings), func(e object.ClusterEvent) bool { return slices.Contains(out, e) })...)
	}
	return sortedEvents(out)
}

// sortedEvents returns the Events, the latest last.
func sortedEvents(history []object.ClusterEvent) []object.ClusterEvent {
	out := append([]object.ClusterEvent{}, history...)
	slices.SortStableFunc(out, func(a, b object.ClusterEvent) int { return a.Last.Compare(b.Last) })
	return out
}
