package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// mustHappen returns what must happen to an object, given what must happen to its neighbors.
func (p *Possibilities) mustHappen(must []fact, i int32) fact {
	r := &p.reached[i]
	out := must[i]
	set := func(f fact, when bool) {
		if when {
			out |= f
		}
	}
	set(collected, p.mustBeCollected(must, r, i))
	set(terminates, r.object.Terminating() || len(r.requested) > 0 || p.maySwept(must, r) || out&collected != 0)
	set(releasable, p.mustBeReleasable(must, r, i))
	set(orphaned, p.mustBeOrphaned(r, i))
	set(unblocked, p.mustBeUnblocked(must, r, i))
	if out&terminates == 0 {
		return out
	}
	set(waits, p.mustWait(must, out, r))
	set(orphans, p.mustOrphan(out, r))
	set(sweeps, p.sweepsContents(must, out, i))
	completes := p.sweptByNamespace(must, r) || !r.interrupted() && !r.keepsFinalizer() &&
		(p.may[i]&waits == 0 || out&releasable != 0) && (p.may[i]&orphans == 0 || out&orphaned != 0) && p.may[i]&(waits|orphans) != waits|orphans
	set(vanishes, !p.held(r) && p.stops(r) && completes && !completionRejected(r.object) && p.mayFinalize(r, false) && p.contentsVanish(must, i))
	return out
}

// mustBeCollected reports whether the collector deletes an object because its owners go or wait,
// one after the other, in whatever order. In the end every reference that it has left is bad.
func (p *Possibilities) mustBeCollected(must []fact, r *reachedObject, i int32) bool {
	if !r.resolvable || r.unverified || p.mayBeUnserved(r) || r.object.Terminating() || deleteFails(r.object, p.behavior) || p.may[i]&unblocked != 0 && r.rejects {
		return false
	}
	if !p.every(collectedReferences, i, len(r.owners), func(k int) bool { return p.staysBad(must, r, i, k) }) {
		return false
	}
	if p.processed[i].starts {
		return true
	}
	for _, owner := range r.owners { // something must make the collector process it
		if owner < 0 {
			continue
		}
		of := &p.reached[owner]
		if must[owner]&vanishes != 0 || must[owner]&waits != 0 && !of.object.DeletingDependents() ||
			must[owner]&terminates != 0 && p.goesUnlessItWaits(of) && !of.object.Terminating() {
			return true
		}
	}
	return false
}

// startsWith reports whether a collector that starts processes an object because of a reference.
func (p *Possibilities) startsWith(r *reachedObject, k int) bool {
	return p.mayStartWith(r, k) && (r.verdicts[k] == collector.VerdictDangling ||
		r.verdicts[k] == collector.VerdictWaiting && r.owners[k] >= 0 && r.listed && p.reached[r.owners[k]].listed && !p.reached[r.owners[k]].object.Orphaning() && r.group(k).blocks)
}

// staysBad reports whether a reference becomes bad, and stays so until the object is processed.
func (p *Possibilities) staysBad(must []fact, r *reachedObject, i int32, k int) bool {
	owner := r.owners[k]
	if owner >= 0 && p.may[owner]&orphans != 0 {
		return false // the reference may be removed
	}
	// The collector judges one after the other, and the owner may go in between. Then it removes
	// all references with the UID, as one is still solid.
	if g := r.group(k); g.size > 1 && g.notDangling >= 0 && (owner >= 0 || !g.sameVerdicts) {
		return false
	}
	switch {
	case r.verdicts[k] == collector.VerdictDangling:
		return true
	case owner < 0:
		return false
	}
	of := &p.reached[owner]
	switch {
	case p.mayBecomeUnknown(r, k):
		return false
	case must[owner]&vanishes != 0, must[owner]&terminates != 0 && p.goesUnlessItWaits(of):
		return true
	case !of.listed || must[owner]&waits == 0 || p.stripped(p.may, of, metav1.DeletePropagationForeground):
		return false
	case p.may[owner]&releasable == 0: // it waits forever
		return true
	}
	return p.blocksUntilProcessed(r, i, k)
}

// mayBecomeUnknown reports whether the kind of a reference may be no longer served when the
// collector looks for the owner, because its CustomResourceDefinition is deleted. The collector
// remembers that the owner is gone only under the identity that it has seen.
func (p *Possibilities) mayBecomeUnknown(r *reachedObject, k int) bool {
	of, ref := &p.reached[r.owners[k]], r.object.Owners[k]
	return (ref.APIVersion != of.object.APIVersion || !of.object.MatchesIdentity(ref, r.object.Namespace)) &&
		slices.ContainsFunc(of.containers, func(c int32) bool { return p.reached[c].object.IsCRD() && p.may[c]&vanishes != 0 })
}

// goesUnlessItWaits reports whether an object that is deleted is gone at once or soon, unless it
// is in foreground deletion. Either way, references to it are bad from then on.
func (p *Possibilities) goesUnlessItWaits(r *reachedObject) bool {
	return r.listed && !p.held(r) && p.stops(r) && !DeletesContents(r.object.Identity)
}

// blocksUntilProcessed reports whether an owner in foreground deletion waits until the
// collector has processed the object. It does not once the references stop blocking: since
// 1.34, the DELETE after that is refused, and the owner may be released before it is repeated
// (docs/gc-semantics.md#breaking-a-cycle).
func (p *Possibilities) blocksUntilProcessed(r *reachedObject, i int32, k int) bool {
	return r.listed && r.group(k).blocks && (p.may[i]&unblockedFirst == 0 || !p.behavior.DeleteNamesResourceVersion)
}

// mustWait reports whether an object is in foreground deletion in every order.
func (p *Possibilities) mustWait(must []fact, now fact, r *reachedObject) bool {
	switch {
	case !r.listed || p.stripped(p.may, r, metav1.DeletePropagationForeground) || r.object.Orphaning():
		return false
	case r.object.DeletingDependents():
		return true
	case !r.honorsPolicy():
		return false
	case len(r.requested) > 0:
		return p.deletedByRequest(r)
	case now&collected == 0 || !p.keepsDependent(r):
		return false
	}
	waiting := false
	for k, owner := range r.owners {
		if r.verdicts[k] == collector.VerdictDangling {
			continue
		}
		waiting = true
		if owner < 0 || must[owner]&waits == 0 || p.may[owner]&releasable != 0 && !p.blocksUntilProcessed(r, p.at(r.node), k) {
			return false
		}
	}
	return waiting
}

// mustOrphan reports whether an object orphans its dependents in every order.
func (p *Possibilities) mustOrphan(now fact, r *reachedObject) bool {
	switch {
	case !r.listed || p.stripped(p.may, r, metav1.DeletePropagationOrphan):
		return false
	case r.object.Orphaning():
		return true
	case len(r.requested) > 0:
		return r.honorsPolicy() && p.deletedByRequest(r)
	}
	return now&collected != 0 && r.dormant(object.OrphanFinalizer) && !p.ownerMayWait(p.may, r)
}

// deletedByRequest reports whether a requested object is deleted by that request, and by nothing
// else before.
func (p *Possibilities) deletedByRequest(r *reachedObject) bool {
	return p.requestedFirst(r) || p.may[p.at(r.node)]&collected == 0 && !p.maySwept(p.may, r)
}

// keepsDependent reports whether an object has a dependent until the collector deletes it.
func (p *Possibilities) keepsDependent(r *reachedObject) bool {
	return slices.ContainsFunc(r.dependents, func(e graph.Edge) bool {
		at := p.at(e.Node)
		if at < 0 || p.may[at]&vanishes == 0 && !p.mayLose(p.may, at, e.Index) {
			return true
		}
		dependent := &p.reached[at]
		return (p.oneRequested() || len(p.requests)+len(p.repeated) == 0 && !p.mayLose(p.may, at, e.Index)) && len(dependent.requested) == 0 && len(dependent.containers) == 0 &&
			dependent.resolvable && dependent.verdicts[e.Index] == collector.VerdictSolid
	})
}

// mustBeReleasable reports whether all dependents that block an object's foreground deletion go
// or stop blocking, and the collector notices.
func (p *Possibilities) mustBeReleasable(must []fact, r *reachedObject, i int32) bool {
	if !r.listed || p.lost(r) || !p.model.complete() || r.rejected(object.ForegroundFinalizer) {
		return false
	}
	return p.every(releaseBlockers, i, len(r.dependents), func(k int) bool {
		e := r.dependents[k]
		if !p.graph.Reference(e).Blocks() {
			return true
		}
		b := p.at(e.Node)
		if b < 0 || b == i {
			return false
		}
		notices := p.reached[b].group(e.Index).lastBlocks
		switch {
		case must[b]&vanishes != 0:
			return notices || !p.mayLose(p.may, b, e.Index)
		case must[b]&unblocked != 0:
			return notices
		}
		return notices && p.mustLose(must, b, e.Index)
	})
}

// mustLose reports whether an object loses a reference to an owner that goes or waits, since
// another owner stays.
func (p *Possibilities) mustLose(must []fact, i int32, k int) bool {
	r := &p.reached[i]
	owner, uid := r.owners[k], r.object.Owners[k].UID
	if r.rejectedWithout(k) {
		return false
	}
	if owner >= 0 && must[owner]&orphans != 0 && r.listed && r.verdicts[k] != collector.VerdictDangling {
		return true
	}
	if !r.resolvable || r.unverified || p.mayBeUnserved(r) || p.may[i]&terminates != 0 {
		return false
	}
	if p.starting && r.group(k).startsDangling && p.keptByOther(i, "") {
		return true
	}
	if owner < 0 {
		return false
	}
	if p.mayBecomeUnknown(r, k) {
		return false
	}
	// What was under way before a collector starts is no event: it only processes the object then
	// if it starts with it.
	of, starts := &p.reached[owner], p.processed[i].starts
	goes := r.verdicts[k] != collector.VerdictDangling && (must[owner]&vanishes != 0 ||
		must[owner]&terminates != 0 && p.goesUnlessItWaits(of) && (starts || !of.object.Terminating()) ||
		must[owner]&waits != 0 && of.listed && !p.stripped(p.may, of, metav1.DeletePropagationForeground) && p.blocksUntilProcessed(r, i, k) && (starts || !of.object.DeletingDependents()))
	return goes && p.keptByOther(i, uid)
}

// keptByOther reports whether an owner of an object exists in every order that has another UID.
func (p *Possibilities) keptByOther(i int32, uid types.UID) bool {
	r := &p.reached[i]
	kept, known := p.kept[i]
	if !known {
		for k, owner := range r.owners {
			if r.verdicts[k] == collector.VerdictSolid && (owner < 0 || p.may[owner]&(vanishes|waits|orphans) == 0) {
				of := r.object.Owners[k].UID
				if kept[0] == "" {
					kept[0] = of
				} else if of != kept[0] {
					kept[1] = of
					break
				}
			}
		}
		p.kept[i] = kept
	}
	return kept[0] != "" && kept[0] != uid || kept[1] != ""
}

// mustBeOrphaned reports whether the collector can remove the references of every dependent.
func (p *Possibilities) mustBeOrphaned(r *reachedObject, i int32) bool {
	if !r.listed || !p.model.complete() || r.rejected(object.OrphanFinalizer) {
		return false
	}
	return p.every(orphanedDependents, i, len(r.dependents), func(k int) bool {
		dependent := p.at(r.dependents[k].Node)
		return dependent >= 0 && !p.reached[dependent].rejectedWithout(r.dependents[k].Index)
	})
}

// mustBeUnblocked reports whether the collector breaks a cycle at an object: the only owner is
// in foreground deletion because of a request for one of the object's dependents.
func (p *Possibilities) mustBeUnblocked(must []fact, r *reachedObject, i int32) bool {
	if !p.oneRequested() || len(r.object.Owners) != 1 || !r.resolvable || !r.listed || r.object.Terminating() || r.rejects {
		return false
	}
	owner := r.owners[0]
	if owner < 0 || must[owner]&waits == 0 || p.reached[owner].object.DeletingDependents() || !r.group(0).blocks {
		return false
	}
	return slices.ContainsFunc(r.dependents, func(e graph.Edge) bool {
		at := p.at(e.Node)
		return at >= 0 && p.reached[at].requestedOnly(metav1.DeletePropagationForeground) && must[at]&waits != 0
	})
}
