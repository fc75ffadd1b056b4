package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// begin queues what the first pass looks at.
//
// A collector that starts while a foreground deletion is under way comes to the
// dependents that block it, but not, as one that saw it begin, to the others: to
// those it comes when their owner has gone. So here they are put off until there
// is nothing else to do, and an owner that nothing else holds goes before them.
// Then they are deleted as their own finalizers say, and not in the foreground.
func (s *simulation) begin() {
	for n := range s.model.graph.Listed() {
		if o := s.model.now[n]; o != nil && o.DeletingDependents() {
			s.underWay[graph.Node(n)] = true
		}
	}
	for n := range s.model.graph.Listed() {
		node := graph.Node(n)
		switch {
		case !candidate(s.model.now[n]), s.bounds.Roots != nil && !s.bounds.Roots(node):
		case s.canWait(node):
			s.deferred.add(s.model.graph, node)
		default:
			s.enqueue(node)
		}
	}
}

// canWait says whether a node would go only because owners wait which it does not
// block, and whose deletion was under way before.
func (s *simulation) canWait(n graph.Node) bool {
	o, waits := s.model.now[n], false
	if o.Terminating() || !slices.ContainsFunc(s.model.graph.Owners(n), func(owner graph.Node) bool { return s.underWay[owner] }) {
		return false
	}
	for i, v := range s.model.Verdicts(n) {
		switch {
		case v == collector.Solid, v == collector.Dangling, v == collector.Waiting && goesBefore(o, o.Owners[i], s.underWay[s.model.graph.Find(o.Owners[i].UID)]):
			return false
		case v == collector.Waiting:
			waits = true
		}
	}
	return waits
}

// goesBefore says whether an object goes before an owner that waits, whatever else
// there is: it blocks it, or that deletion was not under way before, so that all of
// its dependents are dealt with first.
func goesBefore(o *object.Object, owner object.Reference, underWay bool) bool {
	return !underWay || blocksOwner(o, owner)
}

// delay is what is put off, and the owners of that. The zero value is empty.
type delay struct {
	nodes  map[graph.Node]bool
	owners map[graph.Node]bool
}

func (d *delay) add(g *graph.Graph, n graph.Node) {
	if d.nodes == nil {
		d.nodes, d.owners = map[graph.Node]bool{}, map[graph.Node]bool{}
	}
	if d.nodes[n] {
		return
	}
	d.nodes[n] = true
	for _, owner := range g.Owners(n) {
		d.owners[owner] = true
	}
}

// requeueDeferred queues what was put off and is still to be done.
func (s *simulation) requeueDeferred() {
	for n := range s.deferred.nodes {
		if s.model.Decide(n).Action != collector.ActionNone {
			s.enqueue(n)
		}
	}
	s.deferred = delay{}
}

// hasDeferredDependent says whether a dependent was put off, so that an owner which stays
// when it is released must not be released before.
func (s *simulation) hasDeferredDependent(owner graph.Node) bool { return s.deferred.owners[owner] }
