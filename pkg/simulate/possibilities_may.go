package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// mayHappen returns what may happen to an object, given what may happen to its neighbors.
func (p *Possibilities) mayHappen(may []fact, i int32) fact {
	r := &p.reached[i]
	out := may[i]
	set := func(f fact, when bool) {
		if when {
			out |= f
		}
	}
	set(collected, p.mayBeCollected(may, r, i))
	set(terminates, r.object.Terminating() || len(r.requested) > 0 || p.maySwept(may, r) || out&collected != 0)
	if out&terminates == 0 {
		return out
	}
	set(waits, p.mayHaveFinalizer(may, out, r, metav1.DeletePropagationForeground) || p.mayBeDeletedAgain(may, r) ||
		out&collected != 0 && len(r.dependents) > 0 && p.ownerMayWait(may, r) && !isEvent(r.object))
	set(orphans, p.mayHaveFinalizer(may, out, r, metav1.DeletePropagationOrphan))
	set(unblocked, out&collected != 0 && p.dependentWaits[i] && p.ownerMayWait(may, r))
	set(unblockedFirst, out&unblocked != 0 && p.dependentWaitsAnyway[i])
	set(releasable, r.listed && !p.lost(r) && p.every(releaseBlockers, i, len(r.dependents), func(k int) bool {
		e := r.dependents[k]
		b := p.at(e.Node)
		dependent := p.graph.Object(e.Node)
		return !p.graph.Reference(e).Blocks() || dependent.Contested || p.mayBeUnlinked(e) ||
			b >= 0 && (may[b]&unblocked != 0 || b != i && (may[b]&vanishes != 0 || p.mayLose(may, b, e.Index)))
	}))
	set(sweeps, p.sweepsContents(may, out, i))
	mustWait := p.must[i]&waits != 0 && !p.stripped(may, r, metav1.DeletePropagationForeground)
	set(vanishes, !p.held(r) && p.stops(r) && (!mustWait || out&releasable != 0) && (!r.keepsFinalizer() && !p.losesTrack(r) || p.sweptByNamespace(may, r)) &&
		!completionRejected(r.object) && p.mayFinalize(r, true) && p.contentsVanish(may, i))
	return out
}

// mayHaveFinalizer reports whether a deleted object may have the finalizer that a policy asks for,
// because of a request or because it had it before
// (docs/gc-semantics.md#finalizers-after-a-delete).
func (p *Possibilities) mayHaveFinalizer(may []fact, now fact, r *reachedObject, policy metav1.DeletionPropagation) bool {
	finalizer := object.ForegroundFinalizer
	if policy == metav1.DeletePropagationOrphan {
		finalizer = object.OrphanFinalizer
	}
	byDefault := slices.Contains(r.requested, "")
	switch {
	case isEvent(r.object):
		return false
	case slices.Contains(p.repeated[r.node], policy):
		return true
	case r.honorsPolicy() && (slices.Contains(r.requested, policy) || byDefault && DefaultPolicy(r.object.Identity) == policy):
		return true
	case !slices.Contains(r.object.Finalizers, finalizer):
		return false
	case r.object.Terminating():
		return !p.requestedFirst(r) || byDefault
	}
	return byDefault || len(r.requested) > 0 && !r.honorsPolicy() || p.sweptByDefinition(may, r) || now&collected != 0
}

// mayBeCollected reports whether there may be a time when all references of an object are bad
// that it has not lost.
func (p *Possibilities) mayBeCollected(may []fact, r *reachedObject, i int32) bool {
	if !p.mayBeResolvable(may, r, i) || r.object.Terminating() || p.requestedFirst(r) || deleteFails(r.object, p.behavior) {
		return false
	}
	if !p.every(collectedReferences, i, len(r.owners), func(k int) bool {
		return p.mayBeBad(may, r, k) || p.mayBeBadByUID(may, r, k) && p.mayOutlast(may, r, r.object.Owners[k].UID) || r.owners[k] >= 0 && may[r.owners[k]]&orphans != 0
	}) {
		return false
	}
	if !p.mayBeProcessed(i) {
		return false
	}
	for k := range r.owners {
		if p.mayBeBad(may, r, k) {
			return true
		}
	}
	return false
}

// startProcessing notes what makes the collector process objects before anything happens.
func (p *Possibilities) startProcessing() {
	p.processed = make([]processing, len(p.reached))
	for i := range p.reached {
		r, at := &p.reached[i], &p.processed[i]
		for k, v := range r.verdicts {
			at.mayStart = at.mayStart || p.mayStartWith(r, k)
			at.starts = at.starts || p.startsWith(r, k)
			at.bad = at.bad || resolvable(v) && v != collector.VerdictSolid
		}
		at.anyway = !r.resolvable || r.rejects || at.mayStart
	}
}

// noteOwner notes what a reference to an owner with a new fact makes the collector do.
func (p *Possibilities) noteOwner(may []fact, dependent int32, k int) bool {
	r, at := &p.reached[dependent], &p.processed[dependent]
	before := p.mayBeProcessed(dependent)
	at.becomesBad = at.becomesBad || p.becomesBad(may, r, k)
	at.ownerVanishes = at.ownerVanishes || r.owners[k] >= 0 && may[r.owners[k]]&vanishes != 0
	return p.mayBeProcessed(dependent) != before
}

// mayBeProcessed reports whether something makes the collector process an object: a reference
// becomes bad, an owner goes while another reference is bad, or it repeats what has failed.
func (p *Possibilities) mayBeProcessed(i int32) bool {
	at := &p.processed[i]
	return at.anyway || at.becomesBad || at.bad && at.ownerVanishes
}

// mayStartWith reports whether a collector that starts may process an object because of a
// reference: it does so if that is dangling. It only happens to process the dependents of an
// owner in foreground deletion, except those that block it.
func (p *Possibilities) mayStartWith(r *reachedObject, k int) bool {
	if !p.starting {
		return false
	}
	switch r.verdicts[k] {
	case collector.VerdictDangling, collector.VerdictUnknown:
		return true
	case collector.VerdictWaiting:
		if len(r.dependents) > 0 || r.owners[k] < 0 { // it may have been polled as an owner
			return true
		}
		owner := &p.reached[r.owners[k]]
		switch {
		case p.namedDifferently(owner.node):
			return true
		case !owner.listed:
			return false
		}
		// It orphans the dependents first, unless something else makes it process the owner.
		return !owner.object.Orphaning() || len(owner.dependents) > 1 || !owner.solid
	case collector.VerdictSolid:
		return p.namedDifferently(p.graph.Owners(r.node)[k])
	case collector.VerdictUnresolvable, collector.VerdictScopeError:
	}
	return false
}

// lost reports whether nothing blocks a foreground deletion that began before: the collector has
// missed that, and nothing makes it look again until it restarts.
func (p *Possibilities) lost(r *reachedObject) bool {
	return !p.starting && r.object.DeletingDependents() && !slices.ContainsFunc(r.dependents, func(e graph.Edge) bool { return p.graph.Reference(e).Blocks() })
}

// mayBeResolvable reports whether the collector can resolve the references of an object, at least
// once owners that orphan it have removed some.
func (p *Possibilities) mayBeResolvable(may []fact, r *reachedObject, i int32) bool {
	return r.resolvable || len(r.verdicts) > 0 && p.every(resolvableReferences, i, len(r.verdicts), func(k int) bool {
		return resolvable(r.verdicts[k]) || r.owners[k] >= 0 && may[r.owners[k]]&orphans != 0
	})
}

// resolvable reports whether the collector can resolve a reference, as far as is known.
func resolvable(v collector.Verdict) bool {
	return v != collector.VerdictUnresolvable && v != collector.VerdictScopeError
}

// oneRequested reports whether the deletion of one object is requested, and of no other.
func (p *Possibilities) oneRequested() bool { return len(p.requests)+len(p.repeated) == 1 }

// requestedFirst reports whether the deletion of an object is requested before anything else
// happens: also nothing that the collector repeats because the API server rejects it.
func (p *Possibilities) requestedFirst(r *reachedObject) bool {
	return p.oneRequested() && len(r.requested) > 0 && !r.rejects
}

// mayBeBad reports whether the owner of a reference may be absent or waiting.
func (p *Possibilities) mayBeBad(may []fact, r *reachedObject, k int) bool {
	return resolvable(r.verdicts[k]) && (r.verdicts[k] != collector.VerdictSolid || p.becomesBad(may, r, k))
}

// becomesBad reports whether the deletions may make a reference bad. An owner that orphans its
// dependents is solid until they have lost their references.
func (p *Possibilities) becomesBad(may []fact, r *reachedObject, k int) bool {
	owner := r.owners[k]
	switch {
	case owner < 0 || r.verdicts[k] == collector.VerdictDangling:
		return false
	case p.must[owner]&orphans != 0 && r.listed && may[owner]&waits == 0:
		return false
	}
	return may[owner]&vanishes != 0 || may[owner]&waits != 0 && !p.reached[owner].object.DeletingDependents()
}

// mayBeBadByUID is mayBeBad for any reference with the same UID: all are removed together.
func (p *Possibilities) mayBeBadByUID(may []fact, r *reachedObject, k int) bool {
	g := r.group(k)
	return g.startsBad || g.notDangling >= 0 && p.mayBeBad(may, r, g.notDangling)
}

// mayOutlast reports whether an object may still have a reference that is bad after it has lost
// those with a UID: then that reference was solid.
func (p *Possibilities) mayOutlast(may []fact, r *reachedObject, lost types.UID) bool {
	for other := range r.owners {
		if r.object.Owners[other].UID != lost && r.verdicts[other] != collector.VerdictDangling && p.mayBeBad(may, r, other) {
			return true
		}
	}
	return false
}

// mayLose reports whether an object may lose a reference: to an owner that orphans it, or to a
// bad one while another reference is solid.
func (p *Possibilities) mayLose(may []fact, i int32, k int) bool {
	r := &p.reached[i]
	if r.owners[k] >= 0 && may[r.owners[k]]&orphans != 0 {
		return true
	}
	if !p.mayBeResolvable(may, r, i) || r.object.Terminating() || p.requestedFirst(r) || !p.mayBeBadByUID(may, r, k) || !p.mayBeProcessed(i) {
		return false
	}
	if r.rejects && p.staysRejected(may, r) {
		return false
	}
	other := r.undangling[0]
	if other == k {
		other = r.undangling[1]
	}
	return other >= 0 || r.undangling[0] == k && r.group(k).size > 1
}

// staysRejected reports whether the API server rejects the patch of an object even if that removes
// every reference that may be bad.
func (p *Possibilities) staysRejected(may []fact, r *reachedObject) bool {
	controllers, invalid := 0, 0
	for i := range r.groups {
		if g := &r.groups[i]; !p.mayBeBadByUID(may, r, g.first) {
			controllers += g.controllers
			invalid += g.invalid
		}
	}
	return r.rejectsCounted(controllers, invalid)
}

func (p *Possibilities) ownerMayWait(may []fact, r *reachedObject) bool {
	for k, owner := range r.owners {
		if r.verdicts[k] == collector.VerdictWaiting || owner >= 0 && may[owner]&waits != 0 {
			return true
		}
	}
	return false
}

// maySwept reports whether a Namespace or CustomResourceDefinition deletes the object.
func (p *Possibilities) maySwept(may []fact, r *reachedObject) bool {
	return slices.ContainsFunc(r.containers, func(c int32) bool { return may[c]&p.sweptBy(c, r) != 0 })
}

// sweptBy returns the fact about a container that deletes the object: Pods go first.
func (p *Possibilities) sweptBy(container int32, r *reachedObject) fact {
	if p.reached[container].object.IsNamespace() && r.object.GroupVersionKind().GroupKind() == object.Pod {
		return terminates
	}
	return sweeps
}

func (p *Possibilities) sweptByDefinition(facts []fact, r *reachedObject) bool {
	return slices.ContainsFunc(r.containers, func(c int32) bool { return p.reached[c].object.IsCRD() && facts[c]&sweeps != 0 })
}

func (p *Possibilities) sweptByNamespace(facts []fact, r *reachedObject) bool {
	return slices.ContainsFunc(r.containers, func(c int32) bool {
		return p.reached[c].object.IsNamespace() && facts[c]&p.sweptBy(c, r) != 0
	})
}

// stripped reports whether a request may remove the finalizer that this policy asks for from a
// terminating object.
func (p *Possibilities) stripped(may []fact, r *reachedObject, policy metav1.DeletionPropagation) bool {
	return len(r.requested) > 0 && !r.requestedOnly(policy) || len(p.repeated[r.node]) > 0 || p.sweptByNamespace(may, r)
}

// sweepsContents reports whether the contents of a Namespace or CustomResourceDefinition are
// deleted: those of a Namespace once its Pods are gone.
func (p *Possibilities) sweepsContents(facts []fact, now fact, i int32) bool {
	r := &p.reached[i]
	if now&terminates == 0 || !p.mayDeleteContents(r) {
		return false
	}
	return r.object.IsCRD() || !p.behavior.OrderedNamespaceDeletion || p.every(sweepPods, i, len(r.contents), func(k int) bool {
		member := r.contents[k]
		return p.reached[member].object.GroupVersionKind().GroupKind() != object.Pod || facts[member]&vanishes != 0
	})
}

// mayFinalize reports whether the namespace controller can complete the deletion of an object,
// if that is a Namespace. Where that is uncertain, it returns otherwise.
func (p *Possibilities) mayFinalize(r *reachedObject, otherwise bool) bool {
	held, certain := p.model.heldBack(r.node)
	return !held || p.released || !certain && otherwise
}

// contentsVanish reports whether the contents of a Namespace or CustomResourceDefinition, if
// the object is one, are gone at some time.
func (p *Possibilities) contentsVanish(facts []fact, i int32) bool {
	r := &p.reached[i]
	return p.every(vanishContents, i, len(r.contents), func(k int) bool { return facts[r.contents[k]]&vanishes != 0 })
}
