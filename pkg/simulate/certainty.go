package simulate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Nondeterministic reports whether what becomes of an object depends on the order in which the
// cluster's own collector processes objects and receives notifications.
func (c *Result) Nondeterministic(n graph.Node) bool {
	p := c.possibilities
	if p == nil {
		return false
	}
	i := p.at(n)
	if i < 0 {
		return false
	}
	differ := p.may[i] ^ p.must[i]
	left := c.Model.Object(n)
	switch {
	case c.MayBeDeleted(n), left == nil && p.may[i]&vanishes == 0, left != nil && left.Terminating() && p.may[i]&terminates == 0:
		return true // the simulation shows an order that the bounds exclude
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

// Uncertainty explains why what becomes of an object is nondeterministic.
type Uncertainty int

// The explanations. Each is about another object, if there is one.
const (
	// OwnerUnverified means that the scan does not show whether an owner exists.
	OwnerUnverified Uncertainty = iota
	// OrderDecides means that no other object can be named.
	OrderDecides
	// OwnerReleased means that the owner is in foreground deletion and does not wait for the
	// object, so it may be processed too late to be deleted as the other dependents are.
	OwnerReleased
	// OwnerReleasedAfterUnblocking is the same for an object that has stopped blocking the
	// owner, to break a cycle.
	OwnerReleasedAfterUnblocking
	// OtherOwnerOrphans means that an owner is lost while another one orphans the object.
	OtherOwnerOrphans
	// DependsOnOther means that the outcome for the other object is nondeterministic.
	DependsOnOther
)

// Uncertainty returns why an object is Nondeterministic, and the other object.
func (c *Result) Uncertainty(n graph.Node) (Uncertainty, graph.Node) {
	p := c.possibilities
	i := p.at(n)
	r := &p.reached[i]
	if r.unverified {
		return OwnerUnverified, n
	}
	for _, owner := range r.owners {
		if owner >= 0 && p.may[owner]&orphans != 0 {
			for other := range r.owners {
				if p.mayBeBad(p.may, r, other) && r.owners[other] != owner {
					return OtherOwnerOrphans, p.graph.Owners(n)[other]
				}
			}
		}
	}
	for k, owner := range r.owners {
		switch {
		case owner < 0 || owner == i || p.may[owner]&waits == 0 || p.may[i]&unblocked == 0 && blocksByUID(r.object, r.object.Owners[k].UID) || c.Nondeterministic(p.reached[owner].node):
		case p.may[i]&unblocked != 0:
			return OwnerReleasedAfterUnblocking, p.reached[owner].node
		default:
			return OwnerReleased, p.reached[owner].node
		}
	}
	for _, owner := range r.owners {
		if owner >= 0 && owner != i && c.Nondeterministic(p.reached[owner].node) {
			return DependsOnOther, p.reached[owner].node
		}
	}
	for _, e := range r.dependents {
		if at := p.at(e.Node); at >= 0 && at != i && c.Nondeterministic(e.Node) {
			return DependsOnOther, e.Node
		}
	}
	for _, others := range [][]int32{r.containers, r.contents} {
		for _, other := range others {
			if c.Nondeterministic(p.reached[other].node) {
				return DependsOnOther, p.reached[other].node
			}
		}
	}
	return OrderDecides, graph.None
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
func (p *possibilities) finalizersDiffer(i int32) bool {
	r := &p.reached[i]
	if p.may[i]&waits != 0 && p.must[i]&releasable == 0 {
		stays := p.must[i]&waits != 0 && p.may[i]&releasable == 0 && !p.stripped(p.may, r, metav1.DeletePropagationForeground)
		if !stays {
			return true
		}
	}
	return p.may[i]&orphans != 0 && p.must[i]&orphaned == 0
}

func (p *possibilities) referencesDiffer(i int32) bool {
	for k := range p.reached[i].owners {
		if p.mayLose(p.may, i, k) != p.mustLose(p.must, i, k) {
			return true
		}
	}
	return false
}
