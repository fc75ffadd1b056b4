package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// examine doubts an object if it is in one of the shapes in which the order decides:
//
//   - An owner in foreground deletion does not wait for it, and may be gone or, if others hold it, solid
//     when the collector looks at the object (garbagecollector.go, processDeletingDependentsItem).
//   - It may stop blocking its owners before it is deleted, to break a cycle, so that these do not wait
//     for it any more (patch.go, unblockOwnerReferencesStrategicMergePatch).
//   - It blocks an owner, is held, and may lose that reference before it is deleted or not.
//   - It has both of the collector's finalizers: it orphans first, and whether the collector then waits for
//     dependents depends on what it sees next (graph_builder.go, processTransitions).
//   - One owner orphans it and another one goes: either may be first (garbagecollector.go, orphanDependents).
//   - Several references have one UID and go together, whatever they say (graph_builder.go, referencesDiffs).
//   - The API server rejects a change of it, as long as some references are left (docs/gc-semantics.md#metadata-validation).
//   - An owner cannot be looked up at times: an error, or a kind that is deleted itself (garbagecollector.go, isDangling).
//   - Its deletion is requested, and others delete it as well or it was terminating: the last request
//     decides about the finalizers (store.go, deletionFinalizersForGarbageCollection).
//   - It was terminating before, and the scan does not show what the controllers have missed or have done.
//   - The collector does not watch it: it looks for it where a dependent says (graph_builder.go, addDependentToOwners).
func (u *order) examine(n graph.Node) {
	o := u.graph.Object(n)
	if o.Contested {
		return
	}
	if held, certain := u.model.heldBack(n); held && !certain && u.deleted(n) {
		u.begin(n, completion)
	}
	rejected := func(e graph.Edge) bool { // also of an object that nobody else deletes, if it is not certain
		o, answer := u.graph.Object(e.Node), u.model.Admission(e.Node, "UPDATE")
		return collector.UpdateRejected(o) || !answer.Certain() || answer.Refused && (len(o.Owners) > 1 || u.deleted(e.Node))
	}
	if u.orphans(n) && (slices.Contains(o.Finalizers, object.ForegroundFinalizer) || slices.ContainsFunc(u.graph.Dependents(n), rejected)) {
		u.begin(n, completion)
	}
	u.examineRequests(n)
	switch {
	case !o.Terminating():
		u.examineOwners(n)
	case !u.starting:
		u.examineUnderWay(n)
	}
	// The collector does not know that it is terminating, and may delete it again.
	if o.Terminating() && u.graph.Virtual(n) && slices.ContainsFunc(u.graph.Owners(n), u.mayWait) && !u.kept(n) {
		u.begin(n, completion)
	}
}

// rejected reports whether the API server rejects, or admission refuses or may refuse, every change of an object's references.
func (u *order) rejected(n graph.Node) bool {
	return collector.UpdateRejected(u.graph.Object(n)) || u.mayRefuse(n)
}

// mayRefuse reports whether admission refuses the removal of references and finalizers of an object, or may.
func (u *order) mayRefuse(n graph.Node) bool {
	answer := u.model.Admission(n, "UPDATE")
	return answer.Refused || !answer.Certain()
}

// examineRequests doubts an object whose deletion is requested, if the collector or somebody else deletes it
// as well.
func (u *order) examineRequests(n graph.Node) {
	o, contained := u.graph.Object(n), len(u.containersOf(n)) > 0
	if contained && u.mayOrphan(n) { // or the namespace controller removes that finalizer first
		u.doubtDependents(n, deletion|unlinks, cause{})
	}
	left := contained && u.model.now[n] != nil && u.changesFinalizers(n)
	switch {
	case len(u.requests[n]) == 0:
	case (u.several || contained) && (left || o.HasCollectorFinalizer() || u.rejected(n)):
		u.begin(n, completion)
	case contained:
		u.begin(n, propagation)
	}
}

// changesFinalizers reports whether the collector's finalizers on an object depend on the last request.
func (u *order) changesFinalizers(n graph.Node) bool {
	adds := func(p metav1.DeletionPropagation) bool { return p != metav1.DeletePropagationBackground }
	return u.graph.Object(n).HasCollectorFinalizer() || slices.ContainsFunc(u.requests[n], adds)
}

// examineUnderWay doubts a deletion that goes on by itself: a scan does not show what the controllers have
// missed, or have done.
func (u *order) examineUnderWay(n graph.Node) {
	o, requested := u.graph.Object(n), len(u.requests[n]) > 0
	if requested {
		u.examineContents(n)
		if u.released {
			for _, container := range u.containersOf(n) {
				u.examineContents(container)
			}
		}
	}
	blocks := func(e graph.Edge) bool { return u.graph.Reference(e).Blocks() }
	missed := !slices.ContainsFunc(u.graph.Dependents(n), blocks)
	if u.model.now[n] != nil { // otherwise the collector has missed that nothing blocks it, and may miss it again
		missed = o.IsNamespace() || !missed && u.model.Decide(n).Action != collector.ActionNone
	}
	switch {
	case requested && o.IsNamespace() && u.changesFinalizers(n): // the API server ignores the request until the contents are gone
		u.begin(n, completion)
		u.doubtDependents(n, deletion|unlinks, u.causes[n])
	case !requested && o.HasCollectorFinalizer() && missed:
		u.begin(n, completion)
	}
}

// examineContents doubts the contents of a Namespace or CustomResourceDefinition that was being deleted
// before.
func (u *order) examineContents(n graph.Node) {
	o := u.graph.Object(n)
	if !DeletesContents(o.Identity) || !o.Terminating() || !emptiesContents(o) {
		return
	}
	if u.released {
		u.begin(n, completion)
	}
	for _, member := range u.model.ContentsOf(n) {
		if u.model.now[member] != nil && (u.released || o.IsCRD() || u.contents.swept(n)) {
			u.begin(member, deletion|sweep)
		}
	}
}

// examineOwners doubts an object because of how its owners go.
func (u *order) examineOwners(n graph.Node) {
	o, references := u.graph.Object(n), u.references(n)
	if u.undecidable(n) {
		return
	}
	bad := 0
	var changing, orphaning, waiting, doubled bool
	for i := range references {
		r := &references[i]
		if r.bad() {
			bad++
		}
		changing = changing || u.changes(r.owner)
		orphaning = orphaning || u.orphans(r.owner)
		waiting = waiting || u.waits(r.owner)
		doubled = doubled || r.doubled && (u.changes(r.owner) || r.verdict != collector.VerdictSolid)
	}
	if !changing && (!u.starting || bad == 0) {
		return
	}
	d, kept, several := deletion, u.kept(n), len(references) > 1
	if kept {
		d = unlinks
	}
	for k := range o.Owners {
		if references[k].verdict == collector.VerdictUnknown {
			j := u.model.judge.Reference(graph.Edge{Node: n, Index: k})
			u.doubt(n, d, cause{n, reason.OwnerUndecidable(j.Owner(o.Owners[k]))})
			return
		}
		u.examineKind(n, k, d)
	}
	// The collector does not know the dependents of an owner that it does not watch.
	if orphaning && !kept && (several || u.graph.Virtual(n)) {
		u.doubt(n, deletion, cause{n, reason.Of(reason.OrderMatters{Orphaned: true})})
		return
	}
	// A dependent that waits for its own dependents, and not only because the object is deleted, may make it stop
	// blocking its owners before that (docs/gc-semantics.md#breaking-a-cycle).
	if u.deleted(n) && u.dependentMayWait(n) {
		u.unblocked[n] = true
	}
	// It may have lost the owner that waits before the other one goes. Then its own finalizer decides about its dependents.
	if waiting && several && u.orphans(n) {
		u.doubtDependents(n, deletion|unlinks, cause{})
	}
	for i := range references {
		u.examineOwner(n, &references[i], d)
	}
	// The collector looks for an object that it does not watch where the first dependent that it sees has it.
	namedOtherwise := func(e graph.Edge) bool {
		return !o.MatchesIdentity(u.graph.Reference(e), u.graph.Object(e.Node).Namespace)
	}
	switch {
	case u.graph.Virtual(n) && slices.ContainsFunc(u.graph.Dependents(n), namedOtherwise), doubled && changing,
		u.rejected(n) && several && (changing || bad > 1 || u.unblocked[n]), orphaning && bad > 0:
		u.begin(n, d)
	case several && changing && u.model.deletionRefused(n): // it loses a reference if another owner keeps it at that time
		u.begin(n, unlinks)
	case u.unblocked[n] && waiting && (u.several || several || len(u.containersOf(n)) > 0):
		u.begin(n, completion)
	case u.deleted(n) && len(u.requests[n]) > 0 && !orphaning:
		u.begin(n, propagation)
	}
	// It may have lost the reference before it is deleted, or stop blocking the owner right after that. It stops
	// only if a dependent waits at that time: in every order if that waits from the first, but one that is gone
	// at the end may be gone by then.
	first := func(n graph.Node) bool {
		requested := !u.several && slices.Contains(u.requests[n], metav1.DeletePropagationForeground)
		return requested || u.graph.Object(n).DeletingDependents()
	}
	waits := func(e graph.Edge) bool {
		waits := u.waits(e.Node) || DeletesContents(o.Identity) && u.deleted(e.Node)
		return waits && (u.model.now[e.Node] == nil || !first(e.Node))
	}
	if u.model.now[n] != nil && u.deleted(n) && (several || slices.ContainsFunc(u.graph.Dependents(n), waits)) {
		for i := range references {
			if r := &references[i]; (u.changes(r.owner) || u.starting) && u.waits(r.owner) && r.blocks {
				u.begin(r.owner, completion)
			}
		}
	}
}

// dependentMayWait reports whether a dependent of an object may wait for its own dependents, and not only because the object is
// deleted.
func (u *order) dependentMayWait(n graph.Node) bool {
	return slices.ContainsFunc(u.graph.Dependents(n), func(e graph.Edge) bool {
		o := u.graph.Object(e.Node)
		return int(e.Node) < u.graph.Listed() && (len(o.Owners) > 1 || o.HasCollectorFinalizer() || len(u.requests[e.Node]) > 0)
	})
}

// examineOwner doubts an object because of one owner.
func (u *order) examineOwner(n graph.Node, r *reference, d doubt) {
	w := u.graph.Object(r.owner)
	// The collector only notices that references are removed if the last one blocks
	// (graph_builder.go, referencesDiffs).
	if r.doubled && u.waits(r.owner) {
		u.begin(r.owner, completion)
	}
	if !u.waits(r.owner) || !u.changes(r.owner) && !u.starting {
		return
	}
	blocks := r.blocks && int(n) < u.graph.Listed()
	if blocks && !u.unblocked[n] && !u.graph.Virtual(r.owner) {
		return
	}
	underWay := u.starting && w.DeletingDependents()
	released := u.model.Object(r.owner) == nil || !u.model.Object(r.owner).DeletingDependents()
	switch {
	case underWay && u.graph.Virtual(r.owner) && len(u.references(n)) == 1 && len(u.graph.Dependents(n)) == 0 && len(u.graph.Dependents(r.owner)) == 1:
		return // nothing makes the collector look at it
	case released && (u.held(r.owner) || u.holds(n, r.owner)), !released && underWay:
	case released && !u.kept(n):
		d = propagation
	default:
		return
	}
	u.doubt(n, d, cause{n, reason.Of(reason.OrderMatters{
		Owner: &w.Identity, Released: true, OwnerHeld: len(w.ForeignFinalizers()) > 0, Unblocked: blocks, UnderWay: underWay && !blocks,
	})})
}

// examineKind doubts an object if the kind that a reference names may vanish before the collector has
// looked for the owner. Then the collector can never resolve the reference. It remembers that an owner is
// gone only under the identity that it has seen.
func (u *order) examineKind(n graph.Node, k int, d doubt) {
	o := u.graph.Object(n)
	r := o.Owners[k]
	crd, ok := u.model.contents().definitionOf(u.graph, r.APIVersion, r.Kind)
	if !ok || !u.containers[crd] {
		return
	}
	of := u.graph.Object(u.graph.Owners(n)[k])
	if of == nil || r.APIVersion != of.APIVersion || !of.MatchesIdentity(r, o.Namespace) {
		u.doubt(n, d, cause{n, reason.Of(reason.OrderMatters{Unserved: true})})
	}
}

// examineAdmission doubts an object if admission may answer a write of it otherwise than a dry run has shown, and what is in
// a Namespace beside an object that admission keeps: the API server deletes the objects of a type in the order of their
// names, and ends with the first that it may not delete (store.go, DeleteCollection).
func (u *order) examineAdmission(n graph.Node) {
	o := u.graph.Object(n)
	if o == nil || o.Contested {
		return
	}
	u.examineRefused(n)
	contents, refused := u.model.ContentsRefused(n), u.model.Decide(n).NoAction == collector.WriteRefused
	deletes, updates := u.model.Admission(n, "DELETE"), u.model.Admission(n, "UPDATE")
	if !deletes.Certain() && !o.Terminating() && (u.deleted(n) || contents || refused) {
		u.doubt(n, deletion|sweep, cause{n, reason.Of(deletes.Because)})
	}
	if !updates.Certain() && (u.model.now[n] != o || refused) {
		d := completion | sweep
		if !u.deleted(n) {
			d = unlinks | sweep
		}
		u.doubt(n, d, cause{n, reason.Of(updates.Because)})
	}
	ns, ok := u.model.contents().namespaces[o.Namespace]
	if !ok || !u.containers[ns] {
		return
	}
	if o.IsPod() && !deletes.Certain() && u.model.judge.Behavior().OrderedNamespaceDeletion {
		u.doubt(ns, sweep, cause{n, reason.Of(deletes.Because)})
		for _, member := range u.model.ContentsOf(ns) {
			if m := u.graph.Object(member); m.Terminating() && m.HasCollectorFinalizer() { // which the sweep removes
				u.doubt(member, completion|sweep, cause{n, reason.Of(deletes.Because)})
			}
		}
	}
	if !contents && (deletes.Certain() || !u.deleted(n)) {
		return
	}
	for _, sibling := range u.model.ContentsOf(ns) {
		if s := u.graph.Object(sibling); s.APIVersion == o.APIVersion && s.Kind == o.Kind && s.Name > o.Name && !s.Terminating() && len(u.requests[sibling]) == 0 {
			u.doubt(sibling, deletion|sweep, cause{n, reason.Of(deletes.Because)})
		}
	}
}

// examineRefused doubts an object that the collector tries again and again to delete, as admission refuses that or the patch
// that comes before: that patch comes only while a dependent waits, and the object does not block its owners after it.
func (u *order) examineRefused(n graph.Node) {
	references := u.references(n)
	waits := func(r reference) bool { return u.waits(r.owner) }
	switch {
	case !slices.ContainsFunc(references, waits), !u.dependentMayWait(n), u.graph.Object(n).Terminating():
	case u.mayRefuse(n):
		u.begin(n, deletion)
	case u.model.deletionRefused(n):
		u.begin(n, unlinks)
		for i := range references {
			if r := &references[i]; waits(*r) && r.blocks {
				u.begin(r.owner, completion)
			}
		}
	}
}
