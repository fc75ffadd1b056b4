package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Certainty is in which orders of events something happens. All are alike, unless the
// predictor is Cluster.
type Certainty uint8

// The certainties.
const (
	Never Certainty = iota
	Perhaps
	Always
)

func certainty(happens, doubted bool) Certainty {
	switch {
	case doubted:
		return Perhaps
	case happens:
		return Always
	}
	return Never
}

// Terminates returns whether an object is gone or terminating at the end.
func (c *Prediction) Terminates(n graph.Node) Certainty {
	o := c.Model.Object(n)
	return certainty(c.Model.graph.Object(n) != nil && (o == nil || o.Terminating()), c.doubts(n)&deletion != 0)
}

// Vanishes returns whether an object is gone at the end.
func (c *Prediction) Vanishes(n graph.Node) Certainty {
	gone := c.Model.graph.Object(n) != nil && c.Model.Object(n) == nil
	return certainty(gone, c.doubts(n)&(deletion|completion) != 0)
}

// Unlinks returns whether the object of a reference is left without it. All references with one UID go together.
func (c *Prediction) Unlinks(e graph.Edge) Certainty {
	o, uid := c.Model.Object(e.Node), c.Model.graph.Reference(e).UID
	unlinked := o != nil && !slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid })
	return certainty(unlinked, c.doubts(e.Node)&(deletion|unlinks) != 0)
}

// doubts returns what the order of events may change about an object.
func (c *Prediction) doubts(n graph.Node) doubt {
	if c.order == nil {
		return 0
	}
	return c.order.doubts[n]
}

// Nondeterministic reports whether what becomes of an object depends on the order in which the
// cluster's own collector processes objects and receives notifications.
func (c *Prediction) Nondeterministic(n graph.Node) bool { return c.doubts(n)&differs != 0 }

// Doubtful returns the objects that are Nondeterministic, in no particular order.
func (c *Prediction) Doubtful() []graph.Node {
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
func (c *Prediction) Reason(n graph.Node) *reason.Reason {
	o := c.Model.graph.Object(n)
	if o.Terminating() && c.Model.InUse(n, o.Finalizers...).UsersUnknown {
		return reason.UsersUnknown
	}
	switch at, known := c.order.causes[n]; {
	case !known:
		return reason.Of(reason.OrderMatters{})
	case at.root == n:
		return at.why
	default:
		return reason.DependsOn(c.Model.graph.Object(at.root).Identity)
	}
}
