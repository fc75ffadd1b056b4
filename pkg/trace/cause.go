package trace

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// inquiry finds the causes of deletions.
type inquiry struct {
	*Facts
	byPlace   map[object.Address][]*subject
	deletions []*deletion
	before    *collector.Judge // of the earlier scan; nil without one
	started   []instant
	collector []*Line // when the garbage collector worked, and when it did not
	// linked are the objects that refer to an owner, of those that were deleted or that lines are about.
	linked map[ownerKey][]*subject
}

// ownerKey is the UID of an owner, or what else a line has that lacks it.
type ownerKey struct {
	schema.GroupKind
	name, uid string
}

func keyOf(r object.Reference) ownerKey {
	if r.UID != "" {
		return ownerKey{uid: string(r.UID)}
	}
	return ownerKey{GroupKind: r.GroupVersionKind().GroupKind(), name: r.Name}
}

func newInquiry(f *Facts) *inquiry {
	q := &inquiry{Facts: f, byPlace: map[object.Address][]*subject{}, linked: map[ownerKey][]*subject{}}
	if f.scan != nil {
		q.before = collector.NewJudge(graph.New(f.scan))
	}
	q.arrange()
	for _, s := range q.subjects {
		if s.goneLine.known() && !s.gone.known() {
			s.gone = s.goneLine
		}
		slices.SortStableFunc(s.lines, func(a, b *Line) int { return a.Time.Compare(b.Time) })
		d := s.begin()
		if d == nil && len(s.lines) == 0 {
			continue
		}
		if d != nil {
			s.own().deletion = d
			q.contradicted(d)
			q.deletions = append(q.deletions, d)
		}
		for _, r := range s.refs(instant{}) {
			q.linked[keyOf(r)] = append(q.linked[keyOf(r)], s)
		}
	}
	q.infer()
	for _, d := range slices.Clone(q.deletions) {
		q.cause(d)
	}
	q.settle()
	return q
}

// contradicted makes a deletion unclear if its object was there afterwards.
func (q *inquiry) contradicted(d *deletion) {
	for i := range d.sightings {
		if v := &d.sightings[i]; d.basis != nil && d.unclear == nil && v.deleted == 0 && d.when.before(v.when) && v.when.file >= 0 {
			d.unclear = reason.Contradicted(reason.Asked{By: d.actor.String(), At: d.when.time(), Source: d.basis.Place.File}, reason.Asked{By: v.by.String(), At: v.when.time(), Source: q.sources[v.when.file].File})
			return
		}
	}
}

// cause finds what a deletion may come from.
func (q *inquiry) cause(d *deletion) {
	switch {
	case d.decide != nil: // inferred
	case d.raced:
		q.race(d)
	case d.unclear != nil:
		d.actor = Deleter{} // whoever sent the first request that is known: the reason names all
		d.decide = func(d *deletion) { d.unknown(d.unclear) }
	case d.actor.Role == RoleCollector:
		q.collected(d)
	case d.actor.Role == RoleNamespace:
		q.contents(d)
	case d.actor.Role == RolePodGC && d.node != "":
		q.podOfNode(d)
	case d.collection != nil:
		d.decide = func(d *deletion) { d.join(d.collection, nil, reason.InCollection(d.actor.String())) }
	default:
		d.decide = own
	}
}

// own makes the actor of a deletion the one who began it.
func own(d *deletion) {
	why, known := d.actor.decides(d.verb, d.resource.Resource)
	if d.actor.Role == RoleKubelet && slices.ContainsFunc(d.refs(d.when), func(r object.Reference) bool { return r.Kind == "Node" && r.Controls() }) {
		why, known = reason.StaticPodGone, true
	}
	if d.actor.Role == RoleKubelet && !known {
		d.actor = Deleter{} // it only confirms
	}
	if d.root(why); !known {
		d.cascade.Unexplained = true
	}
}

// contents finds the Namespace whose deletion took along one of its objects.
func (q *inquiry) contents(d *deletion) {
	if of := q.lastDeletion(object.Address{Type: namespaces, Name: d.Namespace}, d); of != nil {
		d.candidates = []*deletion{of}
		// What was there before the deletion of the Namespace, and is deleted now, is of this Namespace: it has to be empty before
		// another one of the name can be.
		if !d.existedBefore(of.when) {
			d.perhaps, d.also = true, append(d.also, reason.PerhapsAnotherNamespace)
		}
		d.decide = func(d *deletion) { d.follow(of, reason.NamespaceDeleted(of.as())) }
		return
	}
	d.decide = func(d *deletion) { d.unknown(reason.NamespaceDeletionNotInLog(d.Namespace)) }
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

// existedBefore reports whether s was there before a time.
func (s *subject) existedBefore(at instant) bool {
	return s.first.precedes(at) || s.start(at.file).before(at)
}

// quarantine is how long after the deletion of a Node the Pod garbage collector deletes its Pods at the latest: it waits for 40 seconds, and looks every
// 20 (quarantineTime and gcCheckPeriod in gc_controller.go).
const quarantine = 2 * time.Minute

// podOfNode finds the Node whose deletion took along a Pod.
func (q *inquiry) podOfNode(d *deletion) {
	of := q.lastDeletion(object.Address{Type: nodes, Name: d.node}, d)
	if d.decide = own; of != nil {
		d.candidates = []*deletion{of}
		if d.when.us-of.when.us > quarantine.Microseconds() || !d.existedBefore(of.when) {
			d.perhaps, d.also = true, append(d.also, reason.PerhapsTerminated)
		}
		d.decide = func(d *deletion) { d.follow(of, reason.NodeDeleted(of.as())) }
	}
}

// lastDeletion returns the deletion of what had a name last, before something else was deleted because of
// it; nil if that is not certain: if the log shows that another object had the name in between.
func (q *inquiry) lastDeletion(at object.Address, then *deletion) *deletion {
	named := q.byPlace[at]
	if len(named) > manyNames {
		return nil
	}
	var last *deletion
	other := false // was seen, and nothing shows when it went
	for _, s := range named {
		switch d := s.deletion; {
		case d == nil:
			other = other || s.real && s.UID != "" && !s.gone.known()
		case !then.when.before(d.when) && (last == nil || d.when.us > last.when.us):
			last = d
		}
	}
	if other && last != nil && last.UID != "" {
		return nil
	}
	if last == nil || last.several || last.when.before(then.start(last.when.file)) ||
		at.Type == namespaces && anyBetween(q.created[at.Name], last.when.add(tolerance), then.when) ||
		createdBetween(named, last.when, then.when) {
		return nil
	}
	return last
}

// anyBetween reports whether one of these times, which are sorted, is between two others.
func anyBetween(times []instant, from, to instant) bool {
	i, _ := slices.BinarySearchFunc(times, from.us+1, func(t instant, us int64) int { return cmp.Compare(t.us, us) })
	return i < len(times) && times[i].us < to.us
}

// infer adds deletions that no log shows: of objects that were seen, and whose namespace or
// CustomResourceDefinition was deleted later. They went then at the latest.
func (q *inquiry) infer() {
	for _, s := range q.subjects {
		if s.deletion != nil || !s.real || len(s.sightings) == 0 && s.created == 0 && !s.gone.known() || s.several {
			continue
		}
		of := q.nextDeletion(object.Address{Type: namespaces, Name: s.Namespace}, s)
		definition := q.nextDeletion(object.Address{Type: definitions, Name: s.resource.String()}, s)
		if definition != nil && s.resource.Group != "" && (of == nil || s.Namespace == "" || definition.when.us < of.when.us) {
			q.inferred(s, definition, reason.DefinitionDeleted(definition.as()))
			continue
		}
		if of == nil || s.Namespace == "" {
			continue
		}
		emptied := slices.Concat(q.emptied[object.Address{Namespace: s.Namespace}], q.emptied[object.Address{Type: s.resource, Namespace: s.Namespace}])
		if slices.ContainsFunc(emptied, func(t instant) bool { return t.us >= of.when.us }) {
			q.inferred(s, of, reason.NamespaceDeleted(of.as()))
		}
	}
}

// nextDeletion returns the first deletion of what had a name, after an object was seen. If only its end was seen, it is
// the last one before that.
func (q *inquiry) nextDeletion(at object.Address, s *subject) *deletion {
	if len(s.sightings) == 0 && s.created == 0 {
		return q.lastDeletion(at, &deletion{subject: s, when: s.gone})
	}
	named := q.byPlace[at]
	if len(named) > manyNames {
		return nil
	}
	var next *deletion
	for _, holder := range named {
		if d := holder.deletion; d != nil && d.when.us >= s.last && d.when.us >= s.created && (next == nil || d.when.us < next.when.us) {
			next = d
		}
	}
	return next
}

// inferred adds a deletion that is in no log.
func (q *inquiry) inferred(s *subject, of *deletion, why *reason.Reason) {
	d := &deletion{subject: s, inferred: true, perhaps: true, also: []*reason.Reason{reason.WentAtTheLatest}, candidates: []*deletion{of}}
	d.decide = func(d *deletion) { d.follow(of, why) }
	s.own().deletion = d
	q.deletions = append(q.deletions, d)
}

// judgements returns what the rules say about some references of a subject, if the earlier scan has these.
func (q *inquiry) judgements(s *subject, refs []object.Reference) []collector.Judgement {
	if s.before != graph.None && slices.EqualFunc(refs, q.scan.Objects[s.before].Owners, object.Reference.Equal) {
		return q.before.Object(s.before)
	}
	return make([]collector.Judgement, len(refs))
}

// refs returns the owner references that a subject had at a time, or last if that is unknown: from its metadata, and from later lines
// about it, some without the UID.
func (s *subject) refs(at instant) (out []object.Reference) {
	last, seen := s.lastSighting(at)
	out = slices.Clone(last.owners)
	for _, l := range s.lines {
		r := reference(l.Owner)
		i := slices.IndexFunc(out, func(o object.Reference) bool { return sameOwner(o, r) })
		switch {
		case seen && l.Time.Before(last.when.time()):
		case l.Says == RemovesReference && i >= 0:
			out = slices.Delete(out, i, i+1)
		case l.Says == RemovesReference && r.UID == "" && !seen:
			out = nil
		case r.Name == "" && r.UID == "", l.Says == RemovesReference:
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
