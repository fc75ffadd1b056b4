package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Possibilities returns the bounds of what may become of the objects instead, or nil if the
// actor is not ActorControllerManager.
func (c *Result) Possibilities() *Possibilities { return c.possibilities }

// Nondeterministic is Possibilities.Nondeterministic. It is also true if the simulation shows an
// order of events that the bounds exclude.
func (c *Result) Nondeterministic(n graph.Node) bool {
	p := c.possibilities
	if p == nil || p.at(n) < 0 {
		return false
	}
	may, left := p.may[p.at(n)], c.Model.Object(n)
	return c.MayBeDeleted(n) || left == nil && may&vanishes == 0 || left != nil && left.Terminating() && may&terminates == 0 || p.Nondeterministic(n)
}

// Nondeterministic reports whether what becomes of an object depends on the order in which the
// cluster's own collector processes objects and receives notifications.
func (p *Possibilities) Nondeterministic(n graph.Node) bool {
	if p == nil {
		return false
	}
	i := p.at(n)
	if i < 0 {
		return false
	}
	differ := p.may[i] ^ p.must[i]
	switch {
	case differ&(terminates|vanishes) != 0:
		return true
	case p.must[i]&vanishes != 0:
		return false
	}
	return p.finalizersDiffer(i) || p.referencesDiffer(i)
}

// MayBeDeleted reports whether another order of events deletes an object that stays in this
// result, or completes its deletion.
func (c *Result) MayBeDeleted(n graph.Node) bool {
	p := c.possibilities
	if p == nil {
		return false
	}
	i := p.at(n)
	left := c.Model.Object(n)
	if i < 0 || left == nil {
		return false
	}
	if left.Terminating() {
		return p.reached[i].object.Terminating() && p.may[i]&vanishes != 0
	}
	return p.may[i]&terminates != 0
}

// MayDelete reports whether there is an order in which an object is gone or terminating at the
// end, and MustDelete whether it is in every order.
func (p *Possibilities) MayDelete(n graph.Node) bool {
	i := p.at(n)
	return i >= 0 && p.may[i]&terminates != 0
}

// MustDelete is described at MayDelete.
func (p *Possibilities) MustDelete(n graph.Node) bool {
	i := p.at(n)
	return i >= 0 && p.must[i]&terminates != 0
}

// MustVanish reports whether an object is gone at the end in every order.
func (p *Possibilities) MustVanish(n graph.Node) bool {
	i := p.at(n)
	return i >= 0 && p.must[i]&vanishes != 0
}

// MayUnlink reports whether there is an order in which the object of a reference loses it, and
// MustUnlink whether it does in every order.
func (p *Possibilities) MayUnlink(e graph.Edge) bool {
	i := p.at(e.Node)
	return i >= 0 && p.mayLose(p.may, i, e.Index)
}

// MustUnlink is described at MayUnlink.
func (p *Possibilities) MustUnlink(e graph.Edge) bool {
	i := p.at(e.Node)
	return i >= 0 && p.mustLose(p.must, i, e.Index)
}

// UnlinkUncertain reports whether it depends on the order of events which references an object
// loses.
func (p *Possibilities) UnlinkUncertain(n graph.Node) bool {
	i := p.at(n)
	return i >= 0 && p.referencesDiffer(i)
}

// CompletionUncertain reports whether it depends on the order of events if an object is gone at
// the end.
func (p *Possibilities) CompletionUncertain(n graph.Node) bool {
	i := p.at(n)
	return i >= 0 && (p.may[i]^p.must[i])&vanishes != 0
}

// Reason returns why what becomes of an object is Nondeterministic. If that depends on other objects,
// it names the one at which this begins.
func (p *Possibilities) Reason(n graph.Node) reason.Reason {
	root := n
	for range maxPassed {
		switch own := p.ownReason(root); {
		case own != nil && root == n:
			return own
		case own != nil:
			return reason.DependsOn.Of(p.graph.Object(root).Identity)
		}
		if root = p.nondeterministicNeighbor(root); root == graph.None {
			break
		}
	}
	return reason.OrderMatters{}
}

// maxPassed limits how many objects Reason passes: the root may be in a cycle, or far away.
const maxPassed = 20

// ownReason is Reason if that is no other object; nil if it is.
func (p *Possibilities) ownReason(n graph.Node) reason.Reason {
	i := p.at(n)
	r := &p.reached[i]
	if r.unverified {
		for k, j := range p.model.judge.Object(n) {
			if !j.Verdict.Decidable() && j.Verdict != collector.VerdictScopeError {
				return reason.OwnerUndecidable.Of(j.Owner(r.object.Owners[k]))
			}
		}
		return reason.OrderMatters{} // it depends on which dependent the collector sees first: see describe
	}
	if r.object.Terminating() && slices.ContainsFunc(r.object.Finalizers, func(f string) bool { return knownFinalizers[f].protects }) {
		if _, certain := p.model.UsersOf(n); !certain {
			return reason.UsersUnknown
		}
	}
	if p.mayBeUnserved(r) {
		return reason.OrderMatters{Unserved: true}
	}
	if lost, orphaned := p.orphanedAfterLoss(r); orphaned {
		out := reason.OrderMatters{Orphaned: true}
		if of := p.graph.Object(lost); of != nil {
			out.Owner = &of.Identity
		}
		return out
	}
	for k, owner := range r.owners {
		if owner < 0 || owner == i || p.may[owner]&waits == 0 || p.may[i]&unblocked == 0 && r.group(k).blocks {
			continue
		}
		of, underWay := &p.reached[owner], p.releasesEarlier(r, k)
		if underWay || !p.Nondeterministic(of.node) {
			return reason.OrderMatters{
				Owner: &of.object.Identity, Released: true, OwnerHeld: len(of.object.ForeignFinalizers()) > 0,
				Unblocked: p.may[i]&unblocked != 0, UnderWay: underWay,
			}
		}
	}
	return nil
}

// orphanedAfterLoss returns an owner that is lost while another one orphans the object.
func (p *Possibilities) orphanedAfterLoss(r *reachedObject) (lost graph.Node, found bool) {
	for _, owner := range r.owners {
		if owner < 0 || p.may[owner]&orphans == 0 {
			continue
		}
		for k, other := range r.owners {
			if other != owner && p.mayBeBad(p.may, r, k) {
				return p.graph.Owners(r.node)[k], true
			}
		}
	}
	return graph.None, false
}

// releasesEarlier reports whether the foreground deletion of a reference's owner was under way
// before, and the object does not block it.
func (p *Possibilities) releasesEarlier(r *reachedObject, k int) bool {
	return p.starting && p.reached[r.owners[k]].object.DeletingDependents() && !r.group(k).blocks
}

// nondeterministicNeighbor returns an object that the outcome for another one depends on, or
// graph.None: the first owner, or else the first in order among its dependents, what contains it,
// or its contents.
func (p *Possibilities) nondeterministicNeighbor(n graph.Node) graph.Node {
	i := p.at(n)
	r := &p.reached[i]
	uncertain := func(other int32) bool {
		return other >= 0 && other != i && p.Nondeterministic(p.reached[other].node)
	}
	if k := slices.IndexFunc(r.owners, uncertain); k >= 0 {
		return p.reached[r.owners[k]].node
	}
	dependents := make([]int32, len(r.dependents))
	for k, e := range r.dependents {
		dependents[k] = p.at(e.Node)
	}
	for _, others := range [][]int32{dependents, r.containers, r.contents} {
		first := graph.None
		for _, other := range others {
			if uncertain(other) && (first == graph.None || p.model.compare(p.reached[other].node, first) < 0) {
				first = p.reached[other].node
			}
		}
		if first != graph.None {
			return first
		}
	}
	return graph.None
}

// Reached returns the objects that the requested deletions can reach, in no particular order.
func (c *Result) Reached() []graph.Node {
	if c.possibilities == nil {
		return nil
	}
	out := make([]graph.Node, len(c.possibilities.reached))
	for i := range out {
		out[i] = c.possibilities.reached[i].node
	}
	return out
}

// finalizersDiffer reports whether a finalizer of the collector may stay on an object that
// does not vanish, and may not.
func (p *Possibilities) finalizersDiffer(i int32) bool {
	r := &p.reached[i]
	if p.may[i]&waits != 0 && p.must[i]&releasable == 0 {
		stays := p.must[i]&waits != 0 && p.may[i]&releasable == 0 && !p.stripped(p.may, r, metav1.DeletePropagationForeground)
		if !stays {
			return true
		}
	}
	return p.may[i]&orphans != 0 && p.must[i]&orphaned == 0 || p.mayBeDeletedAgain(p.may, r)
}

// mayBeDeletedAgain reports whether the collector may delete a terminating object that it does not
// watch, and so does not know to be terminating, with a policy that changes its finalizers: Foreground
// if an owner waits, or else Orphan if the object has both finalizers.
func (p *Possibilities) mayBeDeletedAgain(may []fact, r *reachedObject) bool {
	if r.listed || !r.object.Terminating() || !p.ownerMayWait(may, r) && !(r.object.Orphaning() && r.object.DeletingDependents()) {
		return false
	}
	for k := range r.owners {
		if !p.mayBeBad(may, r, k) {
			return false
		}
	}
	return len(r.owners) > 0
}

func (p *Possibilities) referencesDiffer(i int32) bool {
	for k := range p.reached[i].owners {
		if p.mayLose(p.may, i, k) != p.mustLose(p.must, i, k) {
			return true
		}
	}
	return false
}
