package trace

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var (
	pods        = schema.GroupResource{Resource: "pods"}
	namespaces  = schema.GroupResource{Resource: "namespaces"}
	nodes       = schema.GroupResource{Resource: "nodes"}
	definitions = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
)

// inquiry finds the causes of deletions.
type inquiry struct {
	*history
	deletions []*deletion
	before    *collector.Judge // of the earlier scan; nil without one
	// logs judges what logs show, as a file that may lack objects. It is made on first use.
	logs   *collector.Judge
	inLogs map[*subject]graph.Node
	// searched are the lines about owners that the collector did not find, by the owner.
	searched map[ownerKey][]search
}

type ownerKey struct {
	schema.GroupKind
	name, uid string
}

// search is a search for an owner on behalf of a dependent.
type search struct {
	at time.Time
	by *subject
}

func keyOf(l *Line) ownerKey {
	if l.Owner.UID != "" {
		return ownerKey{uid: string(l.Owner.UID)}
	}
	return ownerKey{GroupKind: l.Owner.GroupVersionKind().GroupKind(), name: l.Owner.Name}
}

func newInquiry(e Evidence) *inquiry {
	q := &inquiry{history: newHistory(e), searched: map[ownerKey][]search{}}
	if e.Before != nil {
		q.before = collector.NewJudge(graph.New(e.Before))
	}
	for _, s := range q.subjects {
		if len(s.events) > 0 {
			s.deletion = s.begin()
			q.deletions = append(q.deletions, s.deletion)
		}
		for _, l := range s.lines {
			if l.Says == OwnerNotFound {
				q.searched[keyOf(l)] = append(q.searched[keyOf(l)], search{l.Time, s})
			}
		}
	}
	q.infer()
	for _, d := range slices.Clone(q.deletions) {
		q.cause(d)
	}
	q.settle()
	return q
}

// cause finds what a deletion may come from.
func (q *inquiry) cause(d *deletion) {
	switch {
	case d.decide != nil: // inferred
	case d.raced:
		q.race(d)
	case d.unclear != nil:
		d.decide = func(d *deletion) { d.unknown(d.unclear) }
	case d.actor.Role == RoleCollector:
		q.collected(d)
	case d.actor.Role == RoleNamespace:
		q.contents(d)
	case d.actor.Role == RolePodGC && d.node != "":
		q.podOfNode(d)
	case d.collection != nil:
		d.decide = func(d *deletion) { d.join(d.collection, nil, reason.InCollection.Of(d.actor.String())) }
	default:
		d.decide = own
	}
}

// own makes the actor of a deletion the one who began it.
func own(d *deletion) {
	why, known := d.actor.decides(d.verb, d.at.Resource)
	if d.actor.Role == RoleKubelet && slices.ContainsFunc(d.owners, func(r object.Reference) bool { return r.Kind == "Node" && r.Controls() }) {
		why, known = reason.StaticPodGone, true
	}
	if d.root(why); !known {
		d.cascade.Unexplained = true
	}
}

// contents finds the Namespace whose deletion took along one of its objects.
func (q *inquiry) contents(d *deletion) {
	if of := q.lastDeletion(place{GroupResource: namespaces, name: d.at.namespace}, d); of != nil {
		d.candidates = []*deletion{of}
		d.decide = func(d *deletion) { d.follow(of, reason.NamespaceDeleted.Of(of.as())) }
		return
	}
	d.decide = func(d *deletion) { d.unknown(reason.NamespaceDeletionNotInLog.Of(d.at.namespace)) }
}

// race finds what both the garbage collector and the namespace controller deleted an object for, who asked at
// once. Usually the Namespace took its owner along, too.
func (q *inquiry) race(d *deletion) {
	q.collected(d)
	owners, decide := d.candidates, d.decide
	d.candidates = nil
	q.contents(d)
	if d.actor.Role == RoleNamespace {
		decide = d.decide
	}
	of := d.candidates
	d.candidates = slices.Concat(owners, of)
	d.decide = func(d *deletion) {
		if len(owners) == 0 || len(of) == 0 || slices.ContainsFunc(owners, func(o *deletion) bool { return o.cascade != of[0].cascade }) {
			d.unknown(d.unclear)
			return
		}
		d.candidates = owners
		decide(d)
	}
}

// podOfNode finds the Node whose deletion took along a Pod.
func (q *inquiry) podOfNode(d *deletion) {
	of := q.lastDeletion(place{GroupResource: nodes, name: d.node}, d)
	if d.decide = own; of != nil {
		d.candidates = []*deletion{of}
		d.decide = func(d *deletion) { d.follow(of, reason.NodeDeleted.Of(of.as())) }
	}
}

// lastDeletion returns the deletion of what had a name last, before something else was deleted because of
// it; nil if that is not certain: if the log shows that another object had the name in between.
func (q *inquiry) lastDeletion(at place, then *deletion) *deletion {
	n := q.byPlace[at]
	if n == nil || len(n.subjects) > manyNames {
		return nil
	}
	var last *deletion
	for _, s := range n.subjects {
		if d := s.deletion; d != nil && !d.when.After(then.when.Add(tolerance)) && (last == nil || d.when.After(last.when)) {
			last = d
		}
	}
	if last == nil || last.several || then.created.After(last.when.Add(tolerance)) ||
		at.GroupResource == namespaces && q.createdWithin(at.name, last.when.Add(tolerance), then.when) ||
		n.createdWithin(last.when, then.when) {
		return nil
	}
	return last
}

// infer adds deletions that no log shows: of objects that were seen, and whose namespace or
// CustomResourceDefinition was deleted later. They went then at the latest.
func (q *inquiry) infer() {
	for _, s := range q.subjects {
		if s.deletion != nil || !s.real || !s.known && s.created.IsZero() && s.gone.IsZero() || s.several {
			continue
		}
		if of := q.nextDeletion(place{GroupResource: definitions, name: s.at.GroupResource.String()}, s); of != nil && s.at.Group != "" {
			q.inferred(s, of, reason.DefinitionDeleted.Of(of.as()))
			continue
		}
		of := q.nextDeletion(place{GroupResource: namespaces, name: s.at.namespace}, s)
		if of == nil || s.at.namespace == "" {
			continue
		}
		emptied := slices.Concat(q.emptied[place{namespace: s.at.namespace}], q.emptied[place{s.at.GroupResource, s.at.namespace, ""}])
		if slices.ContainsFunc(emptied, func(t time.Time) bool { return !t.Before(of.when) }) {
			q.inferred(s, of, reason.NamespaceDeleted.Of(of.as()))
		}
	}
}

// nextDeletion returns the first deletion of what had a name, after an object was seen. If only its end was seen, it is
// the last one before that.
func (q *inquiry) nextDeletion(at place, s *subject) *deletion {
	if !s.known && s.created.IsZero() {
		return q.lastDeletion(at, &deletion{subject: s, when: s.gone})
	}
	n := q.byPlace[at]
	if n == nil || len(n.subjects) > manyNames {
		return nil
	}
	var next *deletion
	for _, holder := range n.subjects {
		if d := holder.deletion; d != nil && !d.when.Before(s.lastSeen) && !d.when.Before(s.created) && (next == nil || d.when.Before(next.when)) {
			next = d
		}
	}
	return next
}

// inferred adds a deletion that is in no log.
func (q *inquiry) inferred(s *subject, of *deletion, why reason.Brief) {
	d := &deletion{subject: s, inferred: true, also: []reason.Brief{reason.WentAtTheLatest}, candidates: []*deletion{of}}
	d.decide = func(d *deletion) { d.follow(of, why) }
	s.deletion = d
	q.deletions = append(q.deletions, d)
}

// judgements returns what the rules say about the references of a subject: in the earlier scan if it has
// them, else in what the logs show.
func (q *inquiry) judgements(s *subject) []collector.Judgement {
	if s.before != graph.None && slices.EqualFunc(s.owners, q.Before.Objects[s.before].Owners, object.Reference.Equal) {
		return q.before.Object(s.before)
	}
	if q.logs == nil {
		q.makeLogs()
	}
	if n, ok := q.inLogs[s]; ok {
		return q.logs.Object(n)
	}
	return make([]collector.Judgement, len(s.refs()))
}

// makeLogs makes a scan of what the logs show. As it may lack objects, it proves that an owner is not where a
// reference leads only if it shows the owner elsewhere.
func (q *inquiry) makeLogs() {
	s := &snapshot.Snapshot{Gaps: []snapshot.Gap{{Group: snapshot.All, Resource: snapshot.All, Reason: snapshot.NotInFile}}}
	if q.Before != nil {
		s.Server = q.Before.Server
	}
	of := map[*object.Object]*subject{}
	for _, from := range q.subjects {
		if from.real && from.UID != "" && from.Kind != "" {
			o := &object.Object{Identity: from.Identity, Created: from.created, Owners: from.refs()}
			s.Objects, of[o] = append(s.Objects, o), from
		}
	}
	s.Types = q.types.all()
	s.Normalize()
	g := graph.New(s)
	q.inLogs = make(map[*subject]graph.Node, len(of))
	for n, o := range s.Objects {
		q.inLogs[of[o]] = graph.Node(n)
	}
	q.logs = collector.NewJudge(g)
}

// refs returns the owner references of a subject: from its metadata, else from the lines about it, not all of
// which have the UID.
func (s *subject) refs() []object.Reference {
	if s.known {
		return s.owners
	}
	var out []object.Reference
	for _, l := range s.lines {
		r := reference(l.Owner)
		i := slices.IndexFunc(out, func(o object.Reference) bool { return sameOwner(o, r) })
		switch {
		case i < 0:
			out = append(out, r)
		case out[i].UID == "" || out[i].Kind == "" && r.UID != "":
			out[i] = r
		}
	}
	return out
}

// sameOwner reports whether two references may name one owner, as far as they have its UID.
func sameOwner(a, b object.Reference) bool {
	return a.UID == b.UID && a.UID != "" || (a.UID == "" || b.UID == "") && a.Name == b.Name
}
