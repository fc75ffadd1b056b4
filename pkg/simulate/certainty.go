package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
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

// Uncertainty is Possibilities.Uncertainty.
func (c *Result) Uncertainty(n graph.Node) (Uncertainty, graph.Node) {
	return c.possibilities.Uncertainty(n)
}

// Reason returns why what becomes of an object is Nondeterministic.
func (p *Possibilities) Reason(n graph.Node) reason.Reason {
	uncertainty, other := p.Uncertainty(n)
	of := p.graph.Object(other)
	switch uncertainty {
	case OwnerUnverified:
		for i, j := range p.model.judge.Object(n) {
			if !j.Verdict.Decidable() {
				return reason.OwnerUndecidable{Owner: j.Owner(of.Owners[i])}
			}
		}
	case DependsOnOther:
		return reason.DependsOn{Object: of.Identity}
	case OrderDecides, OwnerReleased, OwnerReleasedAfterUnblocking, OtherOwnerOrphans:
	}
	out := reason.OrderMatters{}
	if of != nil {
		out.Owner = &of.Identity
	}
	switch uncertainty {
	case OtherOwnerOrphans:
		out.Orphaned = true
	case OwnerReleased, OwnerReleasedAfterUnblocking:
		out.Released, out.OwnerHeld = true, len(of.ForeignFinalizers()) > 0
		out.Unblocked = uncertainty == OwnerReleasedAfterUnblocking
		out.UnderWay = p.releasesEarlier(&p.reached[p.at(n)], p.at(other))
	case OwnerUnverified, OrderDecides, DependsOnOther:
	}
	return out
}

// releasesEarlier reports whether an owner's foreground deletion was under way before, and the
// object does not block it.
func (p *Possibilities) releasesEarlier(r *reachedObject, owner int32) bool {
	of := p.reached[owner].object
	return p.starting && of.DeletingDependents() && !slices.ContainsFunc(r.object.Owners, func(o object.Reference) bool { return o.UID == of.UID && o.Blocks() })
}

// Uncertainty returns why an object is Nondeterministic, and the other object.
func (p *Possibilities) Uncertainty(n graph.Node) (Uncertainty, graph.Node) {
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
		case owner < 0 || owner == i || p.may[owner]&waits == 0 || p.may[i]&unblocked == 0 && r.group(k).blocks:
		case p.Nondeterministic(p.reached[owner].node) && !p.releasesEarlier(r, owner):
		case p.may[i]&unblocked != 0:
			return OwnerReleasedAfterUnblocking, p.reached[owner].node
		default:
			return OwnerReleased, p.reached[owner].node
		}
	}
	for _, owner := range r.owners {
		if owner >= 0 && owner != i && p.Nondeterministic(p.reached[owner].node) {
			return DependsOnOther, p.reached[owner].node
		}
	}
	var neighbors []int32
	for _, e := range r.dependents {
		neighbors = append(neighbors, p.at(e.Node))
	}
	for _, others := range [][]int32{neighbors, r.containers, r.contents} {
		first := graph.None
		for _, other := range others {
			if other < 0 || other == i || !p.Nondeterministic(p.reached[other].node) {
				continue
			}
			if n := p.reached[other].node; first == graph.None || p.model.compare(n, first) < 0 {
				first = n
			}
		}
		if first != graph.None {
			return DependsOnOther, first
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
func (p *Possibilities) finalizersDiffer(i int32) bool {
	r := &p.reached[i]
	if p.may[i]&waits != 0 && p.must[i]&releasable == 0 {
		stays := p.must[i]&waits != 0 && p.may[i]&releasable == 0 && !p.stripped(p.may, r, metav1.DeletePropagationForeground)
		if !stays {
			return true
		}
	}
	return p.may[i]&orphans != 0 && p.must[i]&orphaned == 0
}

func (p *Possibilities) referencesDiffer(i int32) bool {
	for k := range p.reached[i].owners {
		if p.mayLose(p.may, i, k) != p.mustLose(p.must, i, k) {
			return true
		}
	}
	return false
}
