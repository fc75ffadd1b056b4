package trace

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// deletion is the deletion of one subject, and what is found of its cause.
type deletion struct {
	*subject
	when     instant // of the first request; zero if it is in no log
	ended    instant
	actor    Deleter
	basis    *Basis // of the first request; nil if only a line tells of it
	verb     string
	policy   string
	doubt    reason.Doubt // why the first request may not have been executed; empty if it was
	ends     bool         // the first request ended it, too
	again    int
	inferred bool
	perhaps  bool // that it followed from its parent is not proven
	phantom  bool // that of an owner, which only the deletions of its dependents show
	also     []*reason.Reason
	// collection is that which the request deleted; nil for one object.
	collection *cascade
	unclear    *reason.Reason // why it is unknown who began it; nil if it is not
	raced      bool           // the garbage collector and the namespace controller asked at once, and nobody else

	// What it comes from. Of several candidates, decide finds the last one.
	candidates []*deletion
	decide     func(*deletion)
	waits      bool // for candidates that are to be settled first

	cascade *cascade // nil until it is settled
	parent  *deletion
	why     *reason.Reason
}

// cascade collects what came from one root.
type cascade struct {
	Cascade
	members []*deletion
	// Of a collection: the request, whether the log shows what was in it, and which file that is.
	asked  reason.Asked
	listed bool
	file   int32
}

func newCollection(r *Request, by *Deleter, gr schema.GroupResource) *cascade {
	return &cascade{Cascade: Cascade{
		Root: reason.InCollection(by.String()), By: *by, Verb: verbCollection, Policy: policyOf(r.Options), At: r.Received,
		Collection: &Collection{Resource: gr.String(), Namespace: r.Target.Namespace, LabelSelector: r.Target.LabelSelector, SelectorUnknown: r.Target.SelectorUnknown, FieldSelector: r.Target.FieldSelector},
	}}
}

// begin returns the deletion that the requests for s and the lines about them tell of; nil if none of them did
// anything. It is the first request that was executed that counts: a line of a controller also means the request that
// follows it.
func (s *subject) begin() *deletion {
	slices.SortStableFunc(s.asked, func(a, b asked) int { return a.when.compare(b.when) })
	marked := s.marked()
	var done, doubtful []*asked // by requests
	var line *asked             // the first
	for i := range s.asked {
		switch a := &s.asked[i]; {
		case a.basis == nil:
			line = cmp.Or(line, a)
		case a.result == Refused, !a.certain() && s.alive(a.answered):
		case a.certain():
			done = append(done, a)
		case a.marks(marked):
			doubtful = append(doubtful, a)
		}
	}
	var rivals []*asked // who may have begun it, too
	first := firstOf(done, marked)
	switch {
	case first == nil && line == nil && len(doubtful) == 0:
		return nil
	case first == nil && line == nil, first == nil && len(doubtful) > 0 && !line.when.before(doubtful[0].when):
		first, rivals = doubtful[0], doubtful
		if line != nil {
			rivals = append(slices.Clone(rivals), line)
		}
	case first == nil:
		first = line
	case line == nil:
	case first.by.Role == RoleManager:
		first.by = line.by
	case first.by.Role == RoleKubelet && !first.when.before(line.when):
		first = line
	case first.by.Role != line.by.Role && line.when.before(first.when): // the controller's request is not in the log, or was refused
		rivals = []*asked{line, first}
	}
	d := &deletion{subject: s, doubt: first.reason().Doubt, when: first.when, actor: *first.by, verb: first.verb, policy: first.policy, ends: first.ends, basis: first.basis, collection: first.collection}
	for _, a := range done {
		if a == first || a.basis == first.basis {
			continue
		}
		d.ended = later(d.ended, a.when)
		if a.by.Role != RoleKubelet {
			d.again++
			// Without UIDs, the second one may also have been for the next object of the name.
			order := first.answered.precedes(a.when) && (a.target != "" || first.target != "")
			if first.by.Role != RoleKubelet && a.by.key() != first.by.key() && a.marks(marked) && !order {
				rivals = append(rivals, a)
			}
		}
	}
	for _, a := range doubtful {
		if first.by.Role == RoleKubelet || a != first && a.by.key() != first.by.key() && !first.answered.precedes(a.when) && !slices.Contains(rivals, a) {
			rivals = append(rivals, a)
		}
	}
	switch {
	case len(rivals) == 1 && rivals[0] == first:
		d.perhaps, d.also = true, append(d.also, reason.PerhapsDone(first.reason()))
	case len(rivals) > 0:
		d.mayHaveAsked(first, rivals)
	case first.by.Role == RoleKubelet: // it says so itself
	case first.wasMarked, !first.marks(marked):
		d.unclear = reason.BegunBefore
	case first.byName && marked.IsZero() && first.by.asks():
		d.perhaps, d.doubt = true, reason.OtherObject
		d.also = append(d.also, reason.PerhapsDone(reason.Asked{By: first.by.String(), At: first.when.time(), Doubt: d.doubt}))
	}
	return d
}

// marked returns when the deletion of s was requested, by the earliest deletionTimestamp; zero if none was seen.
func (s *subject) marked() (marked time.Time) {
	for i := range s.sightings {
		if at := s.sightings[i].deleted; at != 0 && (marked.IsZero() || int64(at) < marked.Unix()) {
			marked = time.Unix(int64(at), 0).UTC()
		}
	}
	return marked
}

// alive reports whether s was seen without a deletionTimestamp after a time.
func (s *subject) alive(after instant) bool {
	return slices.ContainsFunc(s.sightings, func(v sighting) bool { return v.deleted == 0 && after.before(v.when) })
}

// certain reports whether a request is known to have been executed.
func (a *asked) certain() bool { return a.result == Done && !a.mayBeDryRun }

// marks reports whether a deletion that began at that time may have begun with a. The server that takes the first request sets the
// deletionTimestamp, which has no fractions of a second, by the clock that the request is logged with.
func (a *asked) marks(at time.Time) bool {
	if at.IsZero() {
		return true
	}
	slack := time.Duration(0)
	if a.basis == nil {
		slack = tolerance
	}
	return !at.Before(a.when.time().Truncate(time.Second).Add(-slack)) && !at.After(a.answered.time().Add(slack))
}

// firstOf returns the first of these requests, which are sorted, that may have begun a deletion; nil without any. A kubelet ends what
// somebody else began, perhaps by another clock.
func firstOf(done []*asked, marked time.Time) *asked {
	var first *asked
	for _, a := range done {
		switch {
		case first == nil,
			!first.marks(marked) && a.marks(marked),
			first.by.Role == RoleKubelet && a.by.Role != RoleKubelet && !first.when.before(a.when):
			first = a
		}
	}
	return first
}

// reason returns a request as the parameter of a reason.
func (a *asked) reason() reason.Asked {
	out := reason.Asked{By: a.by.String(), At: a.when.time()}
	switch {
	case a.result == Unknown:
		out.Doubt, out.Code = reason.UnknownResult, a.basis.Code
	case a.mayBeDryRun:
		out.Doubt = reason.MayBeDryRun
	}
	return out
}

// mayHaveAsked makes it unknown which of several requests began a deletion.
func (d *deletion) mayHaveAsked(first *asked, rivals []*asked) {
	if !slices.Contains(rivals, first) && first.by.Role != RoleKubelet {
		rivals = append([]*asked{first}, rivals...)
	}
	roles := map[Role]bool{}
	var all []reason.Asked
	for _, a := range rivals {
		roles[a.by.Role] = true
		all = append(all, a.reason())
	}
	d.unclear = reason.MayHaveAsked(all)
	d.raced = len(roles) == 2 && roles[RoleCollector] && roles[RoleNamespace]
}

// byTime orders deletions by time, then by object.
func byTime(a, b *deletion) int {
	return cmp.Or(a.when.compare(b.when), a.Compare(b.Identity), cmp.Compare(a.resource.Resource, b.resource.Resource))
}

// join makes a deletion part of a cascade.
func (d *deletion) join(c *cascade, parent *deletion, why *reason.Reason) {
	d.cascade, d.parent, d.why = c, parent, why
	if parent != nil {
		d.perhaps = d.perhaps || parent.perhaps
	}
	c.members = append(c.members, d)
}

// follow makes a deletion a consequence of another one.
func (d *deletion) follow(parent *deletion, why *reason.Reason) { d.join(parent.cascade, parent, why) }

// root makes a deletion the first of its cascade.
func (d *deletion) root(why *reason.Reason) {
	d.join(&cascade{Cascade: Cascade{
		Root: why, By: d.actor, Verb: d.verb, Policy: d.policy, At: d.when.time(),
	}}, nil, why)
}

// unknown makes a deletion the first that is known of a cascade whose beginning is not.
func (d *deletion) unknown(why *reason.Reason) {
	d.root(why)
	d.cascade.Unexplained = true
}

// as returns the deletion as the parameter of a reason.
func (d *deletion) as() reason.Deleted {
	return reason.Deleted{Object: d.Identity, By: d.actor.String(), At: d.when.time(), Perhaps: d.doubt != ""}
}

// orphans reports that the dependents were to stay. Without a policy a finalizer may say so (shouldOrphanDependents in store.go of the
// generic registry), or the type.
func (d *deletion) orphans() bool {
	last, _ := d.lastSighting(d.when)
	return d.orphaned || d.policy == string(reason.Orphan) || d.policy == policyDefault && (last.orphans || d.keepsDependents())
}

// keepsDependents reports whether the type's default is to orphan (DefaultGarbageCollectionPolicy in strategy.go of the registries).
func (s *subject) keepsDependents() bool {
	return s.resource.Group == "batch" && s.resource.Resource == "jobs" || s.resource.Group == "" && s.resource.Resource == "replicationcontrollers"
}

// goneBy returns the latest time when the object stopped to count as an owner; zero if that is unknown.
func (d *deletion) goneBy() instant {
	last, seen := d.lastSighting(d.when)
	switch {
	case d.policy == string(reason.Foreground):
		return d.when // it waits from then on
	case d.gone.known():
		return d.gone
	case seen && !last.held && d.resource != pods:
		return d.when
	}
	return instant{}
}
