package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// doubts returns what the order of events may change about an object: nothing, unless the actor is
// ActorControllerManager.
func (c *Result) doubts(n graph.Node) doubt {
	if c.order == nil {
		return 0
	}
	return c.order.doubts[n]
}

// Nondeterministic reports whether what becomes of an object depends on the order in which the
// cluster's own collector processes objects and receives notifications.
func (c *Result) Nondeterministic(n graph.Node) bool { return c.doubts(n)&differs != 0 }

// MayBeDeleted reports whether another order of events deletes an object that stays in this
// result, or completes its deletion.
func (c *Result) MayBeDeleted(n graph.Node) bool {
	left := c.Model.Object(n)
	if left == nil || left.Terminating() && !c.Model.graph.Object(n).Terminating() {
		return false
	}
	return c.doubts(n)&(deletion|completion) != 0
}

// MayDelete reports whether there is an order in which an object is gone or terminating at the
// end, and MustDelete whether it is in every order.
func (c *Result) MayDelete(n graph.Node) bool {
	return c.terminates(n) || c.doubts(n)&deletion != 0
}

// MustDelete is described at MayDelete.
func (c *Result) MustDelete(n graph.Node) bool {
	return c.terminates(n) && c.doubts(n)&deletion == 0
}

func (c *Result) terminates(n graph.Node) bool {
	o := c.Model.Object(n)
	return c.Model.graph.Object(n) != nil && (o == nil || o.Terminating())
}

// MustVanish reports whether an object is gone at the end in every order.
func (c *Result) MustVanish(n graph.Node) bool {
	return c.Model.graph.Object(n) != nil && c.Model.Object(n) == nil && !c.CompletionUncertain(n)
}

// CompletionUncertain reports whether it depends on the order of events if an object is gone at
// the end.
func (c *Result) CompletionUncertain(n graph.Node) bool {
	return c.doubts(n)&(deletion|completion) != 0
}

// MayUnlink reports whether there is an order in which the object of a reference loses it, and
// MustUnlink whether it does in every order.
func (c *Result) MayUnlink(e graph.Edge) bool {
	return c.unlinks(e) || c.doubts(e.Node)&(deletion|unlinks) != 0 && c.mayGo(e)
}

// MustUnlink is described at MayUnlink.
func (c *Result) MustUnlink(e graph.Edge) bool {
	return c.unlinks(e) && c.doubts(e.Node)&(deletion|unlinks) == 0
}

// unlinks reports whether an object that is left has lost a reference. All with one UID go together.
func (c *Result) unlinks(e graph.Edge) bool {
	o, uid := c.Model.Object(e.Node), c.Model.graph.Reference(e).UID
	return o != nil && !slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid })
}

// mayGo reports whether the owner of a reference is not certain to stay.
func (c *Result) mayGo(e graph.Edge) bool {
	owner := c.Model.graph.Owners(e.Node)[e.Index]
	return !c.order.group(e).solid || c.order.changes(owner) || c.doubts(owner) != 0
}

// UnlinkUncertain reports whether it depends on the order of events which references an object
// loses.
func (c *Result) UnlinkUncertain(n graph.Node) bool { return c.doubts(n)&unlinks != 0 }

// Doubtful returns the objects for which the order of events matters, in no particular order.
func (c *Result) Doubtful() []graph.Node {
	if c.order == nil {
		return nil
	}
	var out []graph.Node
	for n := range c.order.doubts {
		if c.Nondeterministic(n) {
			out = append(out, n)
		}
	}
	return out
}

// Reason returns why what becomes of an object is Nondeterministic. If that depends on other objects,
// it names the one at which this begins.
func (c *Result) Reason(n graph.Node) reason.Reason {
	o := c.Model.graph.Object(n)
	if o.Terminating() && c.Model.InUse(n, o.Finalizers...).UsersUnknown {
		return reason.UsersUnknown
	}
	switch at, known := c.order.causes[n]; {
	case !known:
		return reason.OrderMatters{}
	case at.root == n:
		return at.why
	default:
		return reason.DependsOn.Of(c.Model.graph.Object(at.root).Identity)
	}
}
