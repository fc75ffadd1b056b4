package trace

import (
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// collected finds the owners whose deletion made the garbage collector delete an object. It deletes an
// object when the last of its owners is gone, or waits for it, so one owner of which nothing is known leaves
// the cause unknown: it may have been the last.
func (q *inquiry) collected(d *deletion) {
	refs := d.refs()
	if len(refs) == 0 {
		d.decide = func(d *deletion) { d.unknown(reason.OwnersNotInEvidence) }
		return
	}
	for i, r := range refs { // some lines lack the kind
		if s := q.byUID[r.UID]; r.Kind == "" && s != nil {
			refs[i].Kind = s.Kind
		}
	}
	var absent []reason.Owner
	var unknown []object.Reference
	var solid bool // the last of the unknown ones exists where its reference leads
	for i, j := range q.judgements(d.subject) {
		switch l := d.said(refs[i], func(says LineKind) bool { return says == OwnerElsewhere }, d.when); {
		case j.Verdict == collector.VerdictDangling:
			absent = append(absent, j.Owner(refs[i]))
			continue
		case l != nil:
			absent = append(absent, reason.NewOwner(refs[i], reason.Found{State: reason.StateInOtherNamespace, UIDHolder: &l.Owner}))
			continue
		}
		of, ambiguous := q.ownersDeletion(d, refs[i])
		switch {
		case ambiguous:
			d.decide = func(d *deletion) { d.unknown(reason.OwnerAmbiguous.Of(refs[i])) }
			return
		case of == nil || of.phantom:
			unknown, solid = append(unknown, refs[i]), j.Verdict == collector.VerdictSolid
		case of != d && !of.orphans() && !slices.Contains(d.candidates, of):
			d.candidates = append(d.candidates, of)
		}
	}
	switch {
	case len(unknown) == 1 && len(refs) == 1:
		q.ownerNotInLog(d, unknown[0], solid)
	case len(unknown) > 0:
		d.candidates = nil
		d.decide = func(d *deletion) { d.unknown(reason.OwnerDeletionNotInLog.Of(unknown)) }
	case len(d.candidates) > 0:
		d.decide = lastOwner
	case len(absent) > 0:
		d.decide = func(d *deletion) { d.root(reason.OwnersAbsent.Of(absent)) }
	default:
		d.decide = func(d *deletion) { d.unknown(reason.OwnersNotInEvidence) }
	}
}

// ownersDeletion returns the deletion of an owner of d, if one is known that began before that of d: by its UID,
// and by its name alone where only a line without the UID tells of the reference. Then it must be the only
// one of that name.
func (q *inquiry) ownersDeletion(d *deletion, r object.Reference) (of *deletion, ambiguous bool) {
	inTime := func(of *deletion) bool { return of != nil && !of.since().After(d.when.Add(tolerance)) }
	if r.UID != "" {
		if s := q.byUID[r.UID]; s != nil && inTime(s.deletion) {
			return s.deletion, false
		}
		return nil, false
	}
	gr := q.types.resource(r.GroupVersionKind())
	for _, namespace := range slices.Compact([]string{d.Namespace, ""}) {
		n := q.byPlace[place{gr, namespace, r.Name}]
		if n == nil {
			continue
		}
		if len(n.subjects) > manyNames {
			return nil, true
		}
		for _, s := range n.subjects {
			if inTime(s.deletion) {
				ambiguous = of != nil || s.several
				of = s.deletion
			}
		}
	}
	return of, ambiguous
}

// since returns when the deletion began at the earliest.
func (d *deletion) since() time.Time {
	if d.when.IsZero() && len(d.candidates) > 0 {
		return d.candidates[0].when
	}
	return d.when
}

// ownerNotInLog explains the deletion of an object whose only owner was deleted by nobody, as far as the log
// goes.
func (q *inquiry) ownerNotInLog(d *deletion, r object.Reference, solid bool) {
	not := d.said(r, func(says LineKind) bool { return says == OwnerNotFound || says == OwnerKnownAbsent }, d.when)
	if s := q.byUID[r.UID]; not == nil || s != nil && !s.gone.IsZero() && !s.gone.After(d.when.Add(tolerance)) {
		q.unseen(d, r)
		return
	}
	culprit := q.culprit(d, not)
	switch {
	case culprit == nil:
		d.decide = func(d *deletion) { d.unknown(reason.OwnerNotFoundThen.Of(r)) }
	case !solid:
		d.decide = func(d *deletion) { d.unknown(reason.PerhapsRemembered.Of(r, culprit.Identity)) }
	case culprit.deletion != nil && !culprit.deletion.when.After(d.when.Add(tolerance)):
		d.candidates = []*deletion{culprit.deletion}
		d.decide = func(d *deletion) { d.follow(culprit.deletion, reason.OwnerRemembered.Of(r, culprit.Identity)) }
	default:
		d.decide = func(d *deletion) { d.root(reason.OwnerRemembered.Of(r, culprit.Identity)) }
	}
}

// said returns the last line of some kinds about an owner of s, until a time; nil if there is none.
func (s *subject) said(r object.Reference, is func(LineKind) bool, until time.Time) *Line {
	for _, l := range slices.Backward(s.lines) {
		if is(l.Says) && sameOwner(reference(l.Owner), r) && !l.Time.After(until.Add(tolerance)) {
			return l
		}
	}
	return nil
}

// culprit returns the object of another namespace on whose behalf the collector had looked for an owner that it
// remembered as absent; nil if it looked for it in the namespace of d as well. Before Kubernetes 1.20 it
// remembered the UID alone (absentOwnerCache in garbagecollector.go of 1.19).
func (q *inquiry) culprit(d *deletion, l *Line) *subject {
	if l.Says != OwnerKnownAbsent {
		return nil
	}
	var found *subject
	for _, s := range q.searched[keyOf(l)] {
		switch {
		case s.at.After(l.Time):
		case s.by.Namespace == d.Namespace:
			return nil
		case found == nil:
			found = s.by
		}
	}
	return found
}

// unseen makes a deletion follow that of its only owner, which is in no log. What came from one owner stays
// together.
func (q *inquiry) unseen(d *deletion, r object.Reference) {
	s := q.byUID[r.UID]
	if s == nil || !s.real {
		d.decide = func(d *deletion) { d.unknown(reason.OwnerNotFoundThen.Of(r)) }
		return
	}
	why := reason.OwnerDeletionNotInLog.Of([]object.Reference{r})
	if s.deletion != nil && !s.deletion.phantom {
		d.decide = func(d *deletion) { d.unknown(why) }
		return
	}
	if s.deletion == nil {
		s.deletion = &deletion{subject: s, inferred: true, phantom: true}
		s.deletion.decide = func(of *deletion) { of.unknown(reason.DeletionNotInLog) }
		q.deletions = append(q.deletions, s.deletion)
	}
	d.candidates = []*deletion{s.deletion}
	d.decide = func(d *deletion) { d.follow(s.deletion, why) }
}

// lastOwner makes a deletion follow that of its last owner. Owners whose deletions have one beginning need
// no order. For others it must be certain: more time between them than clocks may differ, and the last one did
// not orphan its dependents.
func lastOwner(d *deletion) {
	last := slices.MaxFunc(d.candidates, func(a, b *deletion) int { return a.since().Compare(b.since()) })
	for _, of := range d.candidates {
		if of.cascade == last.cascade {
			continue
		}
		gone := of.goneBy()
		if last.policy == "" && last.verb != "" || gone.IsZero() || gone.Add(tolerance).After(last.since()) {
			var owners []reason.Deleted
			for _, of := range d.candidates {
				owners = append(owners, of.as())
			}
			d.unknown(reason.LastOwnerUnknown.Of(owners))
			return
		}
	}
	if last.inferred {
		d.inferred = true
		d.also = append(d.also, reason.ParentWentAtTheLatest)
	}
	d.follow(last, reason.OwnerDeleted.Of(last.as(), last.policy == string(reason.Foreground)))
}

// settle decides on each deletion once those are decided that it may come from. Of a circle, none is.
func (q *inquiry) settle() {
	slices.SortFunc(q.deletions, byTime)
	var ready []*deletion
	for _, d := range q.deletions {
		for _, of := range d.candidates {
			of.follows = append(of.follows, d)
		}
		if d.pending = len(d.candidates); d.pending == 0 {
			ready = append(ready, d)
		}
	}
	for next := 0; ; {
		for len(ready) > 0 {
			d := ready[len(ready)-1]
			ready = ready[:len(ready)-1]
			d.decide(d)
			for _, after := range d.follows {
				if after.pending--; after.pending == 0 && after.cascade == nil {
					ready = append(ready, after)
				}
			}
		}
		for next < len(q.deletions) && q.deletions[next].cascade != nil {
			next++
		}
		if next == len(q.deletions) {
			return
		}
		d := q.deletions[next]
		d.decide = func(d *deletion) { d.unknown(reason.OwnersNotInEvidence) }
		ready = append(ready, d)
	}
}
