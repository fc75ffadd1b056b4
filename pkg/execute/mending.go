package execute

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// mended are references of an object as they were last judged, and what mends
// each.
type mended struct {
	owners []object.Reference
	mends  []repair.Repair
}

// unknownMend is that of a reference on which nobody can say anything.
var unknownMend = repair.Repair{Fix: repair.None, Found: reason.Found{State: reason.StateUnverified}}

// mends says whether a step is one of a repair, which package mend decides on and
// not the collector.
func mends(step *plan.Step) bool { return len(step.Mends) > 0 }

// mending is where a step of a repair stands: it is done while the same mends its
// references as when it was planned. An owner that a reference is to lead to must
// have been read again.
func (m *liveModel) mending(step *plan.Step, o *object.Object) (d collector.Decision, why reason.Reason, asks []graph.Node) {
	d = collector.Decision{Action: step.Action, UndecidableReference: -1}
	switch {
	case o == nil:
		return d, reason.ObjectGone{}, nil
	case o.Terminating() && !step.Mends[0].Chosen:
		return d, reason.AlreadyTerminating{}, nil
	}
	touched, left := step.Move.Change.Touched(), slices.Clone(o.Owners)
	for k, planned := range step.Mends {
		was := step.Move.StateBefore.Owners[touched[k]]
		i := slices.IndexFunc(left, was.SameOwner)
		if i < 0 {
			continue // somebody else mended it, or took it away
		}
		left[i] = object.Reference{} // a double of it is another
		now, same := m.mendOf(step.Move.Node, was, func(now repair.Repair) bool { return stands(step.Action, planned, now) })
		if !same {
			return d, changedMend(was, now), nil
		}
		if step.Action == collector.ActionUnlink {
			d.Change.Drop = append(d.Change.Drop, i)
			continue
		}
		owner := m.graph.Find(now.Becomes.UID)
		switch to := m.model.Object(owner); {
		case to == nil:
			return d, reason.NewOwnerGone{Owner: now.Becomes}, nil
		case to.Terminating():
			return d, reason.NewOwnerTerminating{Owner: now.Becomes}, nil
		}
		d.Change.Rewrite = append(d.Change.Rewrite, object.Rewrite{Index: i, Reference: now.Becomes})
		asks = append(asks, owner)
	}
	if d.Change.Empty() {
		return d, reason.AlreadyDone{}, nil
	}
	slices.Sort(d.Change.Drop)
	slices.SortFunc(d.Change.Rewrite, func(a, b object.Rewrite) int { return a.Index - b.Index })
	return d, nil, asks
}

// mendOf is what mends a reference by the last judgement on it: of several that are
// the same, one that fits, if there is one.
func (m *liveModel) mendOf(n graph.Node, r object.Reference, fits func(repair.Repair) bool) (now repair.Repair, found bool) {
	known, read := m.mended[n]
	if !read {
		known = mended{m.graph.Object(n).Owners, m.mender.Object(n)}
		m.mended[n] = known
	}
	now = unknownMend
	for i, owner := range known.owners {
		if owner.SameOwner(r) {
			if now = known.mends[i]; fits(now) {
				return now, true
			}
		}
	}
	return now, false
}

// stands says whether a step still does what it was planned for. A reference is
// as dead as before if its owner was replaced once more.
func stands(action collector.Action, planned, now repair.Repair) bool {
	if planned.Chosen {
		return true
	}
	if action == collector.ActionUnlink {
		return now.Fix == repair.Unlink || now.Fix == repair.Relink && planned.Fix == repair.Relink
	}
	return planned.Same(now)
}

func changedMend(r object.Reference, now repair.Repair) reason.Reason {
	if now.Fix == repair.None {
		return reason.OwnerNotRepairable{Owner: r, Found: now.Found}
	}
	return reason.RepairedOtherwise{Owner: r, Fix: string(now.Fix)}
}
