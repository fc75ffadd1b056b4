package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// queueFirstPass queues what the first pass processes.
//
// A collector that starts while a foreground deletion is under way processes the
// dependents that block it, but, unlike one that saw the deletion begin, it does not
// process the other dependents until their owner is gone. So those are deferred until
// there is nothing else to do, and an owner that nothing else holds goes before them.
// They are then deleted as their own finalizers ask, and not in the foreground.
func (s *simulation) queueFirstPass() {
	for n := range s.model.graph.Listed() {
		if o := s.model.now[n]; o != nil && o.DeletingDependents() {
			s.underWay[graph.Node(n)] = true
		}
	}
	for n := range s.model.now {
		node := graph.Node(n)
		switch {
		case !s.model.actsOn(node), !relevant(s.model.now[n]), s.bounds.Roots != nil && !s.bounds.Roots(node), s.unnoticed(node):
		case s.canDefer(node):
			s.postpone(node)
		default:
			s.enqueue(node)
		}
	}
}

// unnoticed reports whether nothing makes the cluster's own collector process an object: all of
// its bad owners are in foreground deletion and not watched, so they never complete it.
func (s *simulation) unnoticed(n graph.Node) bool {
	o := s.model.now[n]
	if !s.model.predictor.cluster() || o.Terminating() {
		return false
	}
	for i, v := range s.verdicts(n) {
		if v == collector.VerdictDangling || v == collector.VerdictWaiting && !s.model.graph.Virtual(s.model.graph.Find(o.Owners[i].UID)) {
			return false
		}
	}
	return true
}

// relevant reports whether the collector may act on an object at all.
func relevant(o *object.Object) bool {
	return o != nil && (o.HasCollectorFinalizer() || !o.Terminating() && len(o.Owners) > 0)
}

// enqueue adds a node to the next pass, because the decision on it may have changed.
func (s *simulation) enqueue(n graph.Node) {
	if !s.model.actsOn(n) || !s.withinBounds(n) || !s.queued.Add(n) {
		return
	}
	s.next = append(s.next, n)
	if !s.model.now[n].Terminating() {
		s.model.verdicts[n] = s.model.judged(n)
	}
}

func (s *simulation) withinBounds(n graph.Node) bool {
	return s.bounds.Within == nil || s.bounds.Within(n)
}

// take empties the queue. Nodes are ordered by identity, so the result does not depend
// on the order in which objects were listed.
func (s *simulation) take() []graph.Node {
	work := s.next
	s.next = nil
	for _, n := range work {
		s.queued.Remove(n)
	}
	slices.Sort(work)
	return work
}

// queuedDependents returns the queued dependents of an owner, once per reference.
func (s *simulation) queuedDependents(owner graph.Node) []graph.Node {
	var out []graph.Node
	for _, e := range s.model.graph.Dependents(owner) {
		if s.queued.Has(e.Node) {
			out = append(out, e.Node)
		}
	}
	return out
}

// canDefer reports whether an object would be deleted only because of waiting owners that
// it does not block and whose deletion began before the simulation.
func (s *simulation) canDefer(n graph.Node) bool {
	o, waits := s.model.now[n], false
	if o.Terminating() || !slices.ContainsFunc(s.model.graph.Owners(n), func(owner graph.Node) bool { return s.underWay[owner] }) {
		return false
	}
	for i, v := range s.verdicts(n) {
		switch {
		case v == collector.VerdictSolid, v == collector.VerdictDangling, v == collector.VerdictWaiting && deletedBefore(o, o.Owners[i], s.underWay[s.model.graph.Find(o.Owners[i].UID)]):
			return false
		case v == collector.VerdictWaiting:
			waits = true
		}
	}
	return waits
}

// deletedBefore reports whether an object is deleted before its waiting owner, whatever
// else exists: it blocks the owner, or the owner's deletion was not under way before the
// simulation, so that all dependents are processed first.
func deletedBefore(o *object.Object, owner object.Reference, underWay bool) bool {
	return !underWay || blocksOwner(o, owner)
}

// blocksOwner reports whether any reference with the owner's UID blocks its deletion.
func blocksOwner(o *object.Object, owner object.Reference) bool {
	return slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == owner.UID && r.Blocks() })
}

// postpone defers a node until nothing else is left to do.
func (s *simulation) postpone(n graph.Node) {
	s.deferred[n] = true
	for _, owner := range s.model.graph.Owners(n) {
		s.deferredOwners[owner] = true
	}
}

// requeueDeferred moves deferred nodes that still need an action to the queue.
func (s *simulation) requeueDeferred() {
	for n := range s.deferred {
		if s.model.Decide(n).Action != collector.ActionNone {
			s.enqueue(n)
		}
	}
	clear(s.deferred)
	clear(s.deferredOwners)
}
