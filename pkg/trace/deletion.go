package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// deletion is the deletion of one subject, and what is found of its cause.
type deletion struct {
	*subject
	when     time.Time // of the first request; zero if it is in no log
	ended    time.Time
	actor    Actor
	verb     string
	policy   string
	again    int
	inferred bool
	phantom  bool // that of an owner, which only the deletions of its dependents show
	also     []reason.Brief
	// collection is that which the request deleted; nil for one object.
	collection *cascade
	unclear    reason.Brief // why it is unknown who began it; nil if it is not
	raced      bool         // the garbage collector and the namespace controller asked at once, and nobody else

	// What it comes from. Of several candidates, decide finds the last one.
	candidates []*deletion
	decide     func(*deletion)
	follows    []*deletion // those that wait until this is settled
	pending    int

	cascade *cascade // nil until it is settled
	parent  *deletion
	why     reason.Brief
}

// cascade collects what came from one root.
type cascade struct {
	Cascade
	members []*deletion
}

func newCollection(r *Request, at place) *cascade {
	by := actorOf(r.User)
	why := reason.InCollection.Of(by.String())
	return &cascade{Cascade: Cascade{
		Root: reason.Nested{Reason: why}, By: by, Verb: verbCollection, Policy: policyOf(r.Options), At: r.Received,
		Collection: &Collection{Resource: at.GroupResource.String(), Namespace: at.namespace, LabelSelector: r.Target.LabelSelector, FieldSelector: r.Target.FieldSelector},
	}}
}

// begin returns the deletion that the events of s are about. It is the first request for it that counts:
// a line of the collector also means the request that follows it.
func (s *subject) begin() *deletion {
	slices.SortStableFunc(s.events, func(a, b event) int { return a.at.Compare(b.at) })
	first, line := -1, -1
	for i, e := range s.events {
		switch {
		case e.request == nil:
			if line < 0 {
				line = i
			}
		case first < 0, // a kubelet ends what somebody else began, by another clock
			s.events[first].actor.Role == RoleKubelet && e.actor.Role != RoleKubelet && e.at.Sub(s.events[first].at) < tolerance:
			first = i
		}
	}
	chosen := first
	var unclear reason.Brief
	switch {
	case first < 0:
		chosen = line
	case line < 0:
	case s.events[first].actor.Role == RoleManager:
		s.events[first].actor = s.events[line].actor
	case s.events[first].actor.Role == RoleKubelet && !s.events[line].at.After(s.events[first].at.Add(tolerance)):
		chosen = line
	case s.events[first].actor.Role != RoleCollector && s.events[line].at.Before(s.events[first].at.Add(-tolerance)):
		unclear = reason.SeveralAsked // the collector's request is not in the log, or was refused
	}
	b := s.events[chosen]
	d := &deletion{subject: s, when: b.at, actor: b.actor, verb: b.verb, policy: b.policy}
	rivals := map[Role]bool{b.actor.Role: true}
	for _, e := range s.events {
		if e.request == nil || e.request == b.request {
			continue
		}
		d.ended = e.at
		if e.actor.Role != RoleKubelet {
			d.again++
			dry := b.request != nil && b.request.Options == nil && b.actor.asks() // perhaps: the log has no options
			if e.actor.User != b.actor.User && (dry || b.request != nil && !e.at.After(b.request.Answered)) {
				unclear = reason.SeveralAsked
				rivals[e.actor.Role] = true
			}
		}
	}
	// The server that takes the first request sets the deletionTimestamp, which has no fractions of a second,
	// by the same clock.
	if earliest := d.when.Truncate(time.Second); b.marked || !s.begun.IsZero() && s.begun.Before(earliest) && (b.request != nil || s.begun.Before(earliest.Add(-tolerance))) {
		unclear = reason.BegunBefore
	}
	if unclear != nil && b.actor.Role == RoleKubelet {
		unclear = nil // it says so itself
	}
	d.collection, d.unclear = b.collection, unclear
	d.raced = unclear == reason.SeveralAsked && len(rivals) == 2 && rivals[RoleCollector] && rivals[RoleNamespace]
	return d
}

// byTime orders deletions by time, then by object.
func byTime(a, b *deletion) int {
	return cmp.Or(a.when.Compare(b.when), a.Compare(b.Identity), cmp.Compare(a.at.Resource, b.at.Resource))
}

// join makes a deletion part of a cascade.
func (d *deletion) join(c *cascade, parent *deletion, why reason.Brief) {
	d.cascade, d.parent, d.why = c, parent, why
	c.members = append(c.members, d)
}

// follow makes a deletion a consequence of another one.
func (d *deletion) follow(parent *deletion, why reason.Brief) { d.join(parent.cascade, parent, why) }

// root makes a deletion the first of its cascade.
func (d *deletion) root(why reason.Brief) {
	d.join(&cascade{Cascade: Cascade{
		Root: reason.Nested{Reason: why}, By: d.actor, Verb: d.verb, Policy: d.policy, At: d.when,
	}}, nil, why)
}

// unknown makes a deletion the first that is known of a cascade whose beginning is not.
func (d *deletion) unknown(why reason.Brief) {
	d.root(why)
	d.cascade.Unexplained = true
}

// as returns the deletion as the parameter of a reason.
func (d *deletion) as() reason.Deleted {
	return reason.Deleted{Object: d.Identity, By: d.actor.String(), At: d.when}
}

// orphans reports that the dependents were to stay. The two types are those whose default is that
// (DefaultGarbageCollectionPolicy in strategy.go of their registries).
func (d *deletion) orphans() bool {
	keeps := d.at.Group == "batch" && d.at.Resource == "jobs" || d.at.Group == "" && d.at.Resource == "replicationcontrollers"
	return d.policy == string(reason.Orphan) || d.policy == policyDefault && keeps
}

// goneBy returns the latest time when the object stopped to count as an owner; zero if that is unknown.
func (d *deletion) goneBy() time.Time {
	switch {
	case d.policy == string(reason.Foreground):
		return d.when // it waits from then on
	case !d.gone.IsZero():
		return d.gone
	case d.known && !d.held && d.at.GroupResource != pods:
		return d.when
	}
	return time.Time{}
}
