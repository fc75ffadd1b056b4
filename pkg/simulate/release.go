package simulate

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Release is what happens after a simulation, once nothing holds the objects that it left terminating
// and the Pods of deleted Nodes are gone.
type Release struct {
	Result Prediction
	// DeletionsBegun are the objects whose deletion begins only then, in that order.
	DeletionsBegun []graph.Node
	// Causes maps those to the objects that had to be released before their deletion began, and objects
	// whose deletion was under way to those that had to be before it completed. They are ordered by identity.
	// Objects with equal lists share one list. An object without an entry depends on no
	// release: the collector deletes it anyway once it processes it.
	Causes map[graph.Node][]graph.Node
	// Members maps what controllers delete by inventories to the objects that have these.
	Members map[graph.Node]graph.Node
}

type releaseState struct {
	release  *Release
	held     []graph.Node                // terminating, and not released yet
	emptying []graph.Node                // held until their inventories are gone
	unread   []graph.Node                // members of inventories that labels or annotations may keep
	emptied  map[graph.Node]bool         // their controllers have deleted what their inventories list
	end      *Prediction                 // of the simulation
	released map[graph.Node]bool         // objects whose foreign finalizers were removed
	causes   map[graph.Node][]graph.Node // as Release.Causes, for everything that changed; see attribute
	lists    map[string][]graph.Node     // the lists in causes, without duplicates
}

// SimulateRelease continues the simulation from its end. It removes foreign finalizers
// from what is terminating, and from what is deleted in turn, until nothing changes any
// more. c does not change.
func (c *Prediction) SimulateRelease() *Release {
	s := c.simulation.clone()
	s.start()
	s.release = &releaseState{
		release:  &Release{Causes: map[graph.Node][]graph.Node{}, Members: map[graph.Node]graph.Node{}},
		end:      c,
		released: map[graph.Node]bool{}, emptied: map[graph.Node]bool{}, causes: map[graph.Node][]graph.Node{}, lists: map[string][]graph.Node{},
	}
	changed := slices.Concat(c.Requested, c.FinalizersRemoved.Nodes())
	for i := range c.Transitions {
		if t := &c.Transitions[i]; !t.StateBefore.Terminating() || t.Action != collector.ActionUnlink { // others hold that anyway
			changed = append(changed, t.Node)
		}
	}
	for n := range c.ContentsDeleted {
		changed = append(changed, n)
	}
	for _, d := range s.contentsDeletions.all { // what is in it may hold it, since before the run, too
		if s.begunByRun(d.node) {
			changed = append(changed, d.kept...)
		}
	}
	slices.Sort(changed)
	for _, n := range slices.Compact(changed) {
		s.release.addHeld(s, n)
	}
	for _, n := range c.Requested { // what contains it may wait for it
		if o := c.Model.graph.Object(n); o.Terminating() && (!c.Model.Changed(n) || emptiesContents(o)) {
			s.continueContainers(n)
		}
	}
	s.earlier = slices.Concat(c.simulation.earlier, c.Transitions)
	s.release.release.Result = *s.runPasses(0)
	return s.release.release
}

// begunByRun reports whether the deletion of an object was requested, or was not under way before.
func (s *simulation) begunByRun(n graph.Node) bool {
	requested := func(d DeleteRequest) bool { return d.Node == n }
	return !s.model.graph.Object(n).Terminating() || slices.ContainsFunc(s.bounds.Deletes, requested)
}

func (r *releaseState) addHeld(s *simulation, n graph.Node) {
	o := s.model.Object(n)
	if o == nil || !o.Terminating() || r.released[n] {
		return
	}
	if r.end.Model.Object(n).Terminating() || heldByOthers(o) { // the collector alone holds what it begins to delete
		r.held = append(r.held, n)
	}
}

// heldByOthers reports whether others than the collector have to act before a terminating object is gone.
func heldByOthers(o *object.Object) bool {
	return len(o.ForeignFinalizers()) > 0 || o.InGracePeriod() || DeletesContents(o.Identity)
}

func (r *releaseState) onStateChange(s *simulation, n graph.Node, old *object.Object) {
	now := s.model.now[n]
	if r.released[n] && now != nil && releaseRejected(old) && !releaseRejected(now) { // the finalizers can be removed only now
		delete(r.released, n)
		r.addHeld(s, n)
	}
	if old == nil || now != nil && (old.Terminating() || !now.Terminating()) {
		return
	}
	if !old.Terminating() {
		r.release.DeletionsBegun = append(r.release.DeletionsBegun, n)
		r.addHeld(s, n)
		if r.end.deletedNow(n) {
			return
		}
	} else if !r.end.Model.Object(n).Terminating() { // its deletion began after the simulation
		return
	}
	if causes := r.causes[n]; len(causes) > 0 {
		r.release.Causes[n] = causes
	}
}

// deletedNow reports whether the collector deletes an object as soon as it processes it, whether or not
// anything that holds others is released.
func (c *Prediction) deletedNow(n graph.Node) bool {
	_, pending := c.ContentsPending[n]
	return !pending && c.Model.Decide(n).Action == collector.ActionDelete && !slices.Contains(c.Model.Verdicts(n), collector.VerdictWaiting)
}

// releaseHeld removes foreign finalizers from everything that is held, and reports
// whether there was anything.
func (s *simulation) releaseHeld() bool {
	if s.release == nil {
		return false
	}
	any, r := s.deletePodsOfGoneNodes(), s.release
	r.held, r.emptying = append(r.held, r.emptying...), nil
	for len(r.held) > 0 {
		n := r.held[0]
		r.held = r.held[1:]
		o := s.model.Object(n)
		if o == nil || !o.Terminating() || r.released[n] {
			continue
		}
		if in := s.model.ActiveInventory(n); in != nil {
			if !r.emptied[n] {
				r.emptied[n], any = true, true
				s.deleteInventory(n, in)
			}
			if in.Waits && s.inventoryLeft(n, in) {
				r.emptying = append(r.emptying, n)
				continue
			}
		}
		r.released[n], any = true, true
		left := podStopped(o)
		if left != nil && !releaseRejected(o) && !s.model.Admission(n, "UPDATE").Refused && slices.ContainsFunc(left.Finalizers, othersRemove) {
			released := *left
			released.Finalizers = slices.DeleteFunc(slices.Clone(left.Finalizers), othersRemove)
			left = StateAfterPatch(&released, object.Change{})
		}
		s.model.SetState(n, left)
	}
	return any
}

// othersRemove reports whether a release removes this finalizer. The collector removes its own, and the
// API server removes that of a CustomResourceDefinition with the last instance.
func othersRemove(finalizer string) bool {
	return finalizer != object.ForegroundFinalizer && finalizer != object.OrphanFinalizer && finalizer != DefinitionFinalizer
}

// deletePodsOfGoneNodes deletes what kube-controller-manager deletes a while after a Node is gone: each
// of its Pods, without a grace period (docs/gc-semantics.md#pods-of-a-node). It reports whether
// there was any.
func (s *simulation) deletePodsOfGoneNodes() bool {
	causes := map[string][]graph.Node{} // by the name of the Node
	for i := range s.goneNodes {
		node := s.goneNodes[i : i+1 : i+1]
		by := s.release.causesOf(node...)
		if by == nil {
			by = node
		}
		causes[s.model.graph.Object(node[0]).Name] = by
	}
	any := false
	for n := range s.model.graph.Listed() {
		pod := graph.Node(n)
		if now := s.model.now[pod]; len(causes) > 0 && now != nil && now.Node != nil && causes[now.Node.Name] != nil && !now.Contested && !s.model.deletionRefused(pod) {
			any = true
			s.release.add(pod, causes[now.Node.Name])
			s.model.SetState(pod, StateAfterDelete(now, "", new(int64), s.model.taken))
		}
	}
	s.goneNodes = nil
	return any
}

// releaseRejected reports whether the API server rejects every update that removes a finalizer of
// another controller, because of the owner references.
func releaseRejected(o *object.Object) bool {
	return collector.UpdateRejected(&object.Object{Owners: o.Owners})
}

// attribute records which releases cause a transition: an object is deleted because of
// the owners that it loses, and a foreground deletion completes because of the dependents
// that blocked it. It costs one step per reference. A reference that was dangling in the
// snapshot is no cause: its owner never existed during the simulation.
func (r *releaseState) attribute(s *simulation, t *Transition) {
	var by []graph.Node
	switch {
	case t.OrphanedFrom != graph.None:
		by = []graph.Node{t.OrphanedFrom}
	case !t.StateBefore.Terminating():
		for i, v := range s.model.judged(t.Node) {
			if t.Verdicts[i].IsDanglingOrWaiting() && v != collector.VerdictDangling {
				by = append(by, s.model.graph.Find(t.StateBefore.Owners[i].UID))
			}
		}
	default:
		for _, e := range s.model.graph.Dependents(t.Node) {
			if s.model.graph.Reference(e).Blocks() {
				by = append(by, e.Node)
			}
		}
	}
	r.add(t.Node, r.causesOf(by...))
}

// add adds causes to those of n. It does nothing without a release.
func (r *releaseState) add(n graph.Node, causes []graph.Node) {
	if r == nil {
		return
	}
	if all := r.union(r.causes[n], causes); len(all) > 0 {
		r.causes[n] = all
	}
}

// causesOf returns which releases cause what follows from a change of these objects. Without a
// release, it returns nil.
func (r *releaseState) causesOf(objects ...graph.Node) []graph.Node {
	if r == nil {
		return nil
	}
	lists := make([][]graph.Node, len(objects))
	for i, n := range objects {
		if lists[i] = r.causes[n]; r.released[n] {
			lists[i] = []graph.Node{n}
		}
	}
	return r.union(lists...)
}

// union returns the sorted nodes of all lists. It returns a list itself where the others are
// empty or the same, so the cost of a chain is linear.
func (r *releaseState) union(lists ...[]graph.Node) []graph.Node {
	var different [][]graph.Node
	for _, list := range lists {
		if last := len(different) - 1; len(list) > 0 && (last < 0 || !identical(different[last], list)) {
			different = append(different, list)
		}
	}
	switch len(different) {
	case 0:
		return nil
	case 1:
		return different[0]
	}
	all := slices.Concat(different...)
	slices.Sort(all)
	all = slices.Compact(all)
	key := fmt.Sprint(all)
	if earlier, known := r.lists[key]; known {
		return earlier
	}
	r.lists[key] = all
	return all
}

// identical reports whether two lists share their memory.
func identical(a, b []graph.Node) bool { return len(a) == len(b) && &a[0] == &b[0] }
