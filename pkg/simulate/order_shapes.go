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
//   - It owns itself, and may stop blocking itself, and whom else it blocks, before it is deleted.
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
	u.examineRequests(n)
	switch {
	case u.orphans[n] && (slices.Contains(o.Finalizers, object.ForegroundFinalizer) && !u.staysWithBoth(n) || u.hasRejectedDependent(n)):
		u.begin(n, completion)
	case o.Terminating() && !u.starting:
		u.examineUnderWay(n)
	}
	switch {
	case !o.Terminating():
		u.examineOwners(n)
	case u.graph.Virtual(n) && u.graph.KnownToCollector(n) && slices.ContainsFunc(u.graph.Owners(n), u.mayWait) && !u.kept(n):
		// The collector does not know that it is terminating, and may delete it again.
		u.begin(n, completion)
	}
}

// examineRequests doubts an object whose deletion is requested, among others, if the collector or
// somebody else deletes it as well.
func (u *order) examineRequests(n graph.Node) {
	o, of, contained := u.graph.Object(n), u.requests[n], len(u.containersOf(n)) > 0
	if contained && u.mayOrphan(n) && u.deleted(n) { // or the namespace controller removes that finalizer first
		u.doubtDependents(n, deletion|unlinks, cause{root: graph.None})
	}
	if len(of) > 0 && u.waits(n) && slices.Contains(u.graph.Owners(n), n) { // it may stop blocking itself first
		u.begin(n, completion)
	}
	differ := func(other metav1.DeletionPropagation) bool { return other != of[0] }
	left := contained && u.model.now[n] != nil
	switch {
	case len(of) == 0 || !u.several && !contained || !u.deleted(n):
	case o.HasCollectorFinalizer(), collector.UpdateRejected(o), slices.ContainsFunc(of, differ),
		left && slices.ContainsFunc(of, changesFinalizers):
		u.begin(n, completion)
	case contained:
		u.begin(n, propagation)
	}
}

func changesFinalizers(p metav1.DeletionPropagation) bool {
	return p == metav1.DeletePropagationOrphan || p == metav1.DeletePropagationForeground
}

// examineUnderWay doubts a deletion that goes on by itself.
func (u *order) examineUnderWay(n graph.Node) {
	o, now := u.graph.Object(n), u.model.now[n]
	if len(u.requests[n]) > 0 {
		if o.IsNamespace() && (o.HasCollectorFinalizer() || slices.ContainsFunc(u.requests[n], changesFinalizers)) {
			// The API server ignores the request until the contents are gone, which a scan does not show.
			u.begin(n, completion)
			u.doubtDependents(n, deletion|unlinks, u.own(n))
		}
		u.examineContents(n)
		if u.released {
			for _, container := range u.containersOf(n) {
				u.examineContents(container)
			}
		}
	}
	blocking := func(e graph.Edge) bool { return u.graph.Reference(e).Blocks() }
	lost := o.DeletingDependents() && !slices.ContainsFunc(u.graph.Dependents(n), blocking)
	switch {
	case now == nil: // the collector has missed that nothing blocks it, and may miss it again
		if lost && len(u.requests[n]) == 0 {
			u.begin(n, completion)
		}
		return
	case o.IsNamespace() && o.DeletingDependents() && now != o: // a scan does not show whether its contents are gone already
		u.begin(n, completion)
	case !lost && u.model.Decide(n).Action != collector.ActionNone:
		u.begin(n, completion)
	}
	missed := func(n graph.Node) bool {
		return !u.model.Changed(n) && !u.graph.Object(n).Terminating() && u.model.Decide(n).Action != collector.ActionNone
	}
	for _, e := range u.graph.Dependents(n) {
		if o.DeletingDependents() && !u.graph.Virtual(n) && blocking(e) && missed(e.Node) {
			u.begin(e.Node, deletion)
		}
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
	// It keeps its Namespace from deleting other contents.
	isHeldPod := func(n graph.Node) bool {
		o := u.model.Object(n)
		return o != nil && o.IsPod() && o.Terminating() && (u.model.Overdue(o) || len(o.ForeignFinalizers()) > 0)
	}
	contents := u.model.contentsOf(n)
	goesOn := u.released || o.IsCRD() || !slices.ContainsFunc(contents, isHeldPod)
	for _, member := range contents {
		switch of := u.graph.Object(member); {
		case u.model.now[member] == nil:
		case of.Terminating() && u.released:
			u.begin(member, completion)
		case !of.Terminating() && goesOn:
			u.begin(member, deletion|sweep)
		}
	}
}

// staysWithBoth reports whether a collector that starts loses track of the foreground deletion of an
// object that also orphans its dependents, and nothing makes it look again.
func (u *order) staysWithBoth(n graph.Node) bool {
	goes := func(e graph.Edge) bool { return u.deleted(e.Node) }
	alone := len(u.graph.Owners(n)) == 0 && len(u.containersOf(n)) == 0 && !slices.ContainsFunc(u.graph.Dependents(n), goes)
	return u.starting && losesTrack(u.graph, n) && alone
}

// hasRejectedDependent reports whether an owner may be unable to orphan a dependent.
func (u *order) hasRejectedDependent(n graph.Node) bool {
	return slices.ContainsFunc(u.graph.Dependents(n), func(e graph.Edge) bool { return collector.UpdateRejected(u.graph.Object(e.Node)) })
}

// examineOwners doubts an object because of how its owners go.
func (u *order) examineOwners(n graph.Node) {
	o := u.graph.Object(n)
	if len(o.Owners) == 0 || u.undecidable(n) || len(u.requests[n]) > 0 && !u.several && !collector.UpdateRejected(o) {
		return
	}
	groups := u.references(n).groups
	bad, changing, waiting := 0, 0, 0
	var wakes, orphaning, goes, doubled bool
	for i := range groups {
		g := &groups[i]
		change, orphans := u.change(g), u.orphans[g.owner]
		wakes, orphaning = wakes || u.changes(g.owner), orphaning || orphans
		goes = goes || (change || g.bad) && !orphans
		doubled = doubled || g.size > 1 && (change && !orphans || g.mixed)
		if g.bad {
			bad++
		}
		if change {
			changing++
		}
		if change && u.waits(g.owner) {
			waiting++
		}
	}
	if !wakes && !orphaning && (!u.starting || bad == 0) {
		return
	}
	d, kept := deletion, u.kept(n)
	if kept {
		d = unlinks
	}
	for k := range o.Owners {
		if u.verdict(n, k) == collector.VerdictUnknown {
			j := u.model.judge.Reference(graph.Edge{Node: n, Index: k})
			u.doubt(n, d, cause{n, reason.OwnerUndecidable.Of(j.Owner(o.Owners[k]))})
			return
		}
		u.examineKind(n, k)
	}
	for i := range groups {
		// The collector does not know the dependents of an owner that it does not watch.
		if g := &groups[i]; orphaning && !kept && (g.bad || u.change(g) && !u.orphans[g.owner] || g.mixed || u.graph.Virtual(n)) {
			lost := reason.OrderMatters{Orphaned: true}
			if of := u.graph.Object(g.owner); of != nil {
				lost.Owner = &of.Identity
			}
			u.doubt(n, deletion, cause{n, lost})
			return
		}
	}
	if slices.ContainsFunc(u.graph.Dependents(n), func(e graph.Edge) bool { return u.mayUnblock(n, e.Node) }) {
		u.unblocked[n] = true
	}
	for i := range groups {
		u.examineOwner(n, &groups[i], d)
	}
	// The collector looks for an object that it does not watch where the first dependent that it sees has it.
	namedOtherwise := func(e graph.Edge) bool {
		return !o.MatchesIdentity(u.graph.Reference(e), u.graph.Object(e.Node).Namespace)
	}
	switch now := u.model.now[n]; {
	case u.graph.Virtual(n) && slices.ContainsFunc(u.graph.Dependents(n), namedOtherwise), doubled && !kept && changing > 0,
		collector.UpdateRejected(o) && (changing+bad > 1 || u.unblocked[n]),
		orphaning && kept && bad > 0: // nothing may make the collector look at what is left
		u.begin(n, d)
	case u.graph.Virtual(n) && u.deleted(n) && (now != nil && now.HasCollectorFinalizer() || waiting > 0 && len(u.graph.Dependents(n)) > 0),
		u.unblocked[n] && waiting > 0 && (u.several || len(groups) > 1):
		u.begin(n, completion)
	case !kept && waiting > 0 && changing > 1, goes && u.deleted(n) && len(u.requests[n]) > 0:
		u.begin(n, propagation)
	}
	// It may have lost the reference before it is deleted, or stop blocking the owner right after that. It stops
	// only if a dependent waits at that time: one that is gone at the end may be gone by then.
	waits := func(e graph.Edge) bool {
		contained := DeletesContents(o.Identity) && u.deleted(e.Node) && len(u.graph.Dependents(e.Node)) > 0
		gone := u.model.now[e.Node] == nil
		return int(e.Node) < u.graph.Listed() && (u.waits(e.Node) || contained) && (gone || !u.unblocked[n])
	}
	mayUnblock := (u.collected[n] || u.several && len(u.requests[n]) > 0) && slices.ContainsFunc(u.graph.Dependents(n), waits)
	if u.model.now[n] != nil && u.deleted(n) && (kept || changing > 1 || mayUnblock) {
		for i := range groups {
			if g := &groups[i]; (u.change(g) || u.starting) && u.waits(g.owner) && g.blocks {
				u.begin(g.owner, completion)
			}
		}
	}
}

// change reports whether the owner of a group stops keeping the object.
func (u *order) change(g *ownerGroup) bool {
	return (g.verdict != collector.VerdictDangling || g.mixed) && u.changes(g.owner)
}

// examineOwner doubts an object because of one owner.
func (u *order) examineOwner(n graph.Node, g *ownerGroup, d doubt) {
	o, w := u.graph.Object(n), u.graph.Object(g.owner)
	// The collector only notices that references are removed if the last one blocks
	// (graph_builder.go, referencesDiffs). That of an object that owns itself may stop blocking before.
	ownsItself := slices.Contains(u.graph.Owners(n), n)
	if g.size > 1 && u.waits(g.owner) && g.blocks && (!g.lastBlocks || ownsItself) {
		u.begin(g.owner, completion)
	}
	if !u.waits(g.owner) || !u.change(g) && !u.starting {
		return
	}
	blocks := g.blocks && int(n) < u.graph.Listed()
	if blocks && !u.unblocked[n] && !u.graph.Virtual(g.owner) {
		return
	}
	underWay := u.starting && w.DeletingDependents()
	released := u.model.Object(g.owner) == nil || !u.model.Object(g.owner).DeletingDependents()
	switch {
	case underWay && u.graph.Virtual(g.owner) && len(o.Owners) == 1 && len(u.graph.Dependents(n)) == 0 && len(u.graph.Dependents(g.owner)) == 1:
		return // nothing makes the collector look at it
	case released && (u.held(g.owner) || u.holds(n, g.owner)), !released && underWay:
	case released && !u.kept(n):
		d = propagation
	default:
		return
	}
	u.doubt(n, d, cause{n, reason.OrderMatters{
		Owner: &w.Identity, Released: true, OwnerHeld: len(w.ForeignFinalizers()) > 0, Unblocked: blocks, UnderWay: underWay && !blocks,
	}})
}

// mayUnblock reports whether the references of an owner may stop blocking its own owners before it is
// deleted, because a dependent waits for its own dependents, and not only because the owner is deleted
// (docs/gc-semantics.md#breaking-a-cycle).
func (u *order) mayUnblock(owner, dependent graph.Node) bool {
	if !u.collected[owner] && !(u.several && len(u.requests[owner]) > 0) || int(dependent) >= u.graph.Listed() || !u.mayWait(dependent) {
		return false
	}
	return len(u.requests[dependent]) > 0 || slices.Contains(u.graph.Object(dependent).Finalizers, object.ForegroundFinalizer) ||
		slices.ContainsFunc(u.graph.Owners(dependent), func(other graph.Node) bool {
			return other != owner && u.mayWait(other)
		})
}

// examineKind doubts an object if the kind that a reference names may vanish before the collector has
// looked for the owner: now, or once it turns out that the kind may (see spread). Then the collector can
// never resolve the reference. It remembers that an owner is gone only under the identity that it has seen.
func (u *order) examineKind(n graph.Node, k int) {
	if len(u.containers) == 0 {
		return
	}
	o := u.graph.Object(n)
	r := o.Owners[k]
	crd, ok := u.model.contents().definitionOf(u.graph, r.APIVersion, r.Kind)
	if !ok || !u.containers[crd] {
		return
	}
	of := u.graph.Object(u.graph.Owners(n)[k])
	looks := u.verdict(n, k) == collector.VerdictDangling || of != nil && (r.APIVersion != of.APIVersion || !of.MatchesIdentity(r, o.Namespace))
	switch {
	case !looks:
	case u.model.Object(crd) == nil || u.doubts[crd]&completion != 0:
		u.doubtKind(n)
	default:
		u.ofKind[crd] = append(u.ofKind[crd], n)
	}
}

// doubtKind doubts an object because the kind of an owner may vanish.
func (u *order) doubtKind(n graph.Node) {
	d := deletion
	if u.kept(n) {
		d = unlinks
	}
	u.doubt(n, d, cause{n, reason.OrderMatters{Unserved: true}})
}
