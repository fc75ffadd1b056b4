package trace

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// collected finds the owners whose deletion made the garbage collector delete an object. It deletes an
// object when the last of its owners is gone, or waits for it, so one owner that nothing is known of leaves
// the cause unknown: it may have been the last.
func (q *inquiry) collected(d *deletion) {
	refs := d.refs(d.when)
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
	var late []reason.Linked
	var unknown []object.Reference
	var solid bool // the last of the unknown ones exists where its reference leads
	perhaps := map[*deletion]*reason.Reason{}
	for i, j := range q.judgements(d.subject, refs) {
		if owner := q.absent(d, refs[i], j); owner != nil {
			absent = append(absent, *owner)
			continue
		}
		of, ambiguous := q.ownersDeletion(d, refs[i])
		switch {
		case ambiguous:
			d.decide = func(d *deletion) { d.unknown(reason.OwnerAmbiguous(refs[i])) }
			return
		case of == nil || of.phantom || of.seenAfter(d):
			unknown, solid = append(unknown, refs[i]), j.Verdict == collector.VerdictSolid
			continue
		case of == d || of.orphans():
			continue
		}
		is, since := d.linkTo(of, refs[i].UID)
		if is == linkYounger {
			late = append(late, linkedLate(of, since))
			continue
		}
		if doubt := q.doubtOf(d, of, refs[i], is); doubt != nil {
			perhaps[of] = doubt
		}
		if !slices.Contains(d.candidates, of) {
			d.candidates = append(d.candidates, of)
		}
	}
	switch {
	case len(unknown) == 1 && len(refs) == 1:
		q.ownerNotInLog(d, unknown[0], solid)
	case len(unknown) > 0:
		var known []reason.Deleted
		for _, of := range d.candidates {
			known = append(known, of.as())
		}
		d.candidates = nil
		d.decide = func(d *deletion) { d.unknown(reason.OwnerDeletionNotInLog(unknown, known)) }
	case len(d.candidates) > 0:
		d.decide = func(d *deletion) { d.lastOwner(perhaps) }
	case len(late) > 0:
		d.decide = func(d *deletion) { d.root(reason.LinkedLater(late)) }
	case len(absent) > 0:
		d.decide = func(d *deletion) { d.root(reason.OwnersAbsent(absent)) }
	default:
		d.decide = func(d *deletion) { d.unknown(reason.OwnersNotInEvidence) }
	}
}

// absent returns an owner of d if it never was where the reference leads: by the earlier scan, by a line, or because it is known to be
// in another namespace; else nil.
func (q *inquiry) absent(d *deletion, r object.Reference, j collector.Judgement) *reason.Owner {
	s := q.byUID[r.UID]
	if j.Verdict == collector.VerdictDangling && (j.UIDHolder != nil || s == nil || s.deletion == nil) {
		owner := j.Owner(r)
		return &owner
	}
	found := reason.Found{State: reason.StateInOtherNamespace}
	if line := d.said(r, OwnerElsewhere, d.when); line != nil {
		found.UIDHolder = &line.Owner
	} else if s != nil && s.real && s.Namespace != "" && s.Namespace != d.Namespace {
		found.UIDHolder = &s.Identity
	} else {
		return nil
	}
	if d.Namespace == "" {
		found.State = reason.StateNamespaced
	}
	owner := reason.NewOwner(r, found)
	return &owner
}

// seenAfter reports whether an owner whose deletion has to end first was seen after the deletion of a dependent.
func (d *deletion) seenAfter(dependent *deletion) bool {
	last, seen := d.lastSighting(instant{})
	return seen && d.policy != string(reason.Foreground) && d != dependent && dependent.when.before(last.when)
}

// doubtOf returns why the deletion of an owner may not be the cause of d; nil if it is.
func (q *inquiry) doubtOf(d, of *deletion, r object.Reference, is link) *reason.Reason {
	if is == linkUnproven {
		return reason.PerhapsLinkedLater(r)
	}
	if v := d.unlinked(of.when); v != nil {
		return reason.LostOwner(v.by.String(), v.when.time())
	}
	if w := q.unseenWrite(d); w != nil {
		return reason.PerhapsRelinked(w.by.String(), w.when.time())
	}
	last, seen := of.lastSighting(instant{})
	if of.policy != string(reason.Foreground) && seen && last.held && !of.gone.known() && last.deleted != 0 {
		return reason.OwnerHeld(r)
	}
	return nil
}

// unseenWrite returns the last write of d before its deletion whose result no log shows, if d was not seen after that; else nil.
func (q *inquiry) unseenWrite(d *deletion) (found *write) {
	last, seen := d.lastSighting(d.when)
	unseen := d.unseen
	if named, ok := q.written[d.address()]; ok {
		unseen = append(slices.Clone(unseen), named)
	}
	for i := range unseen {
		seenSince := seen && unseen[i].when.us <= last.when.us && last.when.us <= d.when.us
		if w := &unseen[i]; !seenSince && w.when.us < d.when.us && w.by.Role != RoleCollector {
			found = w
		}
	}
	return found
}

// refers reports whether an object had a reference to an owner when it was seen.
func (v *sighting) refers(owner types.UID) bool {
	return slices.ContainsFunc(v.owners, func(r object.Reference) bool { return r.UID == owner })
}

// linked returns the first sighting of an object with the reference to an owner that it had at a time: after the last one without it. It
// returns nil if it was not seen so. A line proves nothing here: before Kubernetes 1.27 whoever could name an owner could
// write lines of that log.
func (s *subject) linked(owner types.UID, until instant) (since *sighting, without instant) {
	for i := range s.sightings {
		switch v := &s.sightings[i]; {
		case v.when.us > until.us:
		case !v.refers(owner):
			since, without = nil, v.when
		case since == nil:
			since = v
		}
	}
	return since, without
}

// link is what is known of a reference of an object, compared with the deletion of the owner.
type link int

const (
	linkUnproven link = iota // it may have been written later
	linkOlder
	linkYounger
)

// linkTo compares the reference of d to an owner with the deletion of that.
func (d *deletion) linkTo(of *deletion, owner types.UID) (link, *sighting) {
	since, without := d.linked(owner, d.when)
	switch {
	case !of.when.known(), since != nil && since.when.precedes(of.when):
		return linkOlder, since
	case of.when.precedes(without), of.when.before(d.start(of.when.file)),
		since != nil && (since.creates || without.known()) && of.when.precedes(since.when):
		return linkYounger, since
	}
	return linkUnproven, since
}

// unlinked returns the first sighting after a time in which an object has lost a reference by somebody else than the collector; nil if
// there is none. Then it is not the deletion of the remaining owner that made it garbage.
func (d *deletion) unlinked(after instant) *sighting {
	for i := 1; i < len(d.sightings); i++ {
		v, before := &d.sightings[i], &d.sightings[i-1]
		lost := slices.ContainsFunc(before.owners, func(r object.Reference) bool { return !v.refers(r.UID) })
		if lost && after.precedes(v.when) && v.when.us <= d.when.us && v.by != nil && v.by.Role != RoleCollector {
			return v
		}
	}
	return nil
}

// linkedLate tells who wrote a reference to an owner after the deletion of that.
func linkedLate(of *deletion, since *sighting) reason.Linked {
	out := reason.Linked{Owner: of.as()}
	if since != nil {
		if out.Seen = since.when.time(); since.by != nil {
			out.By, out.Created = since.by.String(), since.creates
		}
	}
	return out
}

// ownersDeletion returns the deletion of an owner of d, if one is known that began before that of d: by its UID,
// and by its name alone where only a line without the UID tells of the reference. Then it must be the only
// one of that name.
func (q *inquiry) ownersDeletion(d *deletion, r object.Reference) (of *deletion, ambiguous bool) {
	inTime := func(of *deletion) bool { return of != nil && !d.when.before(of.since()) }
	if r.UID != "" {
		if s := q.byUID[r.UID]; s != nil && inTime(s.deletion) {
			return s.deletion, false
		}
		return nil, false
	}
	gr := q.types.resource(r.GroupVersionKind())
	for _, namespace := range slices.Compact([]string{d.Namespace, ""}) {
		named := q.byPlace[object.Address{Type: gr, Namespace: namespace, Name: r.Name}]
		if len(named) > manyNames {
			return nil, true
		}
		for _, s := range named {
			if inTime(s.deletion) {
				ambiguous = of != nil || s.several
				of = s.deletion
			}
		}
	}
	return of, ambiguous
}

// since returns when the deletion began at the earliest.
func (d *deletion) since() instant {
	if !d.when.known() && len(d.candidates) > 0 {
		return d.candidates[0].when
	}
	return d.when
}

// ownerNotInLog explains the deletion of an object whose only owner was deleted by nobody, as far as the log
// goes.
func (q *inquiry) ownerNotInLog(d *deletion, r object.Reference, solid bool) {
	notFound, remembered := d.said(r, OwnerNotFound, d.when), d.said(r, OwnerKnownAbsent, d.when)
	var culprit *subject
	if remembered != nil || notFound == nil && solid {
		culprit = q.culprit(d, r)
	}
	owner := q.byUID[r.UID]
	switch gone := owner != nil && owner.gone.known() && !d.when.before(owner.gone); {
	case gone, culprit == nil:
		q.unseen(d, r, remembered != nil && !gone)
	case !solid || remembered == nil:
		d.decide = func(d *deletion) { d.unknown(reason.PerhapsRemembered(r, culprit.Identity)) }
	case culprit.collectedBefore(d):
		d.candidates = []*deletion{culprit.deletion}
		d.decide = func(d *deletion) { d.follow(culprit.deletion, reason.OwnerRemembered(r, culprit.Identity)) }
	default:
		d.decide = func(d *deletion) { d.root(reason.OwnerRemembered(r, culprit.Identity)) }
	}
}

// collectedBefore reports whether the collector deleted s before d, or at that time.
func (s *subject) collectedBefore(d *deletion) bool {
	return s.deletion != nil && s.deletion != d && s.deletion.actor.Role == RoleCollector && !d.when.before(s.deletion.when)
}

// said returns the last line of a kind about an owner of s, until a time; nil if there is none.
func (s *subject) said(r object.Reference, kind LineKind, until instant) *Line {
	for _, l := range slices.Backward(s.lines) {
		if l.Says == kind && sameOwner(reference(l.Owner), r) && !until.before(instant{l.Time.UnixMicro(), until.file}) {
			return l
		}
	}
	return nil
}

// culprit returns the object of another namespace on whose behalf the collector had looked for an owner in vain, before it deleted d;
// nil if it looked for it in the namespace of d as well. Before Kubernetes 1.20 it remembered the UID alone
// (absentOwnerCache in garbagecollector.go of 1.19).
func (q *inquiry) culprit(d *deletion, r object.Reference) (found *subject) {
	for _, s := range q.linked[keyOf(r)] {
		looked := s.said(r, OwnerNotFound, d.when)
		switch {
		case looked == nil && !s.collectedBefore(d):
		case s.Namespace != d.Namespace:
			found = cmp.Or(found, s)
		case looked != nil:
			return nil
		}
	}
	return found
}

// unseen makes a deletion follow that of its only owner, which is in no log. What came from one owner stays
// together, unless that may be there still.
func (q *inquiry) unseen(d *deletion, r object.Reference, mayBeThere bool) {
	s := q.byUID[r.UID]
	why := reason.OwnerDeletionNotInLog([]object.Reference{r}, nil)
	if mayBeThere || s == nil || !s.real || s.deletion != nil && !s.deletion.phantom {
		d.decide = func(d *deletion) { d.unknown(why) }
		return
	}
	if s.deletion == nil {
		s.own().deletion = &deletion{subject: s, inferred: true, phantom: true}
		s.deletion.decide = func(of *deletion) { of.unknown(reason.DeletionNotInLog) }
		q.deletions = append(q.deletions, s.deletion)
	}
	d.candidates = []*deletion{s.deletion}
	d.decide = func(d *deletion) { d.follow(s.deletion, why) }
}

// lastOwner makes a deletion follow that of its last owner. Owners whose deletions have one beginning need
// no order. For others it must be certain: more time between them than clocks may differ, and the last one did
// not orphan its dependents. perhaps has those that may not have been owners then, and why.
func (d *deletion) lastOwner(perhaps map[*deletion]*reason.Reason) {
	last := slices.MaxFunc(d.candidates, func(a, b *deletion) int { return a.since().compare(b.since()) })
	for _, of := range d.candidates {
		if of.cascade == last.cascade {
			continue
		}
		if last.policy == "" && last.verb != "" || !of.goneBy().before(last.since()) {
			var owners []reason.Deleted
			for _, of := range d.candidates {
				owners = append(owners, of.as())
			}
			d.unknown(reason.LastOwnerUnknown(owners))
			return
		}
		// Whoever asked for the deletion of the last one may have ended a deletion in the foreground, which had begun before.
		if last.ends && last.policy != policyDefault && !d.perhaps {
			d.perhaps = true
			d.also = append(d.also, reason.PerhapsLast(of.as()))
		}
	}
	if last.inferred {
		d.inferred = true
		d.also = append(d.also, reason.ParentWentAtTheLatest)
	}
	if why := perhaps[last]; why != nil && last.cascade.By.asks() {
		d.perhaps = true
		d.also = append(d.also, why)
	}
	d.follow(last, reason.OwnerDeleted(last.as(), last.policy == string(reason.Foreground)))
}

// settle decides on each deletion once those are decided that it may come from. Of a circle, the first one has no cause.
func (q *inquiry) settle() {
	slices.SortFunc(q.deletions, byTime)
	var stack []*deletion
	for _, d := range q.deletions {
		for stack = append(stack, d); len(stack) > 0; {
			top := stack[len(stack)-1]
			open := slices.DeleteFunc(slices.Clone(top.candidates), func(of *deletion) bool { return of.cascade != nil })
			switch {
			case top.cascade != nil:
			case len(open) == 0:
				top.decide(top)
			case top.waits:
				top.unknown(reason.OwnersNotInEvidence)
			default:
				top.waits = true
				stack = append(stack, open...)
				continue
			}
			stack = stack[:len(stack)-1]
		}
	}
}
