package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// request makes the transitions of Bounds.Deletes and Bounds.Removal, and returns how many passes
// that is. A request that changes nothing makes no transition, and none is sent for an object with a
// contested UID. Side effects come after the last request. If all objects are terminating, the
// deletions of what contains them continue, which may have waited for them: a Namespace's other
// contents go once its last Pod was forced out.
func (s *simulation) request() int {
	var requests []Transition
	for _, d := range s.bounds.Deletes {
		requests = append(requests, Transition{
			Node: d.Node, Decision: collector.Decision{Action: collector.ActionDelete, Policy: d.Policy, GraceSeconds: d.GraceSeconds},
		})
	}
	if r := s.bounds.Removal; r.Finalizer != "" {
		requests = append(requests, Transition{
			Node: r.Node, Decision: collector.Decision{Action: collector.ActionRemoveFinalizer, Change: object.Change{RemoveFinalizer: r.Finalizer}},
		})
	}
	beginning := func(t Transition) bool { o := s.model.Object(t.Node); return o != nil && !o.Terminating() }
	continued := len(s.contentsDeletions.all)
	if !slices.ContainsFunc(requests, beginning) && slices.ContainsFunc(requests, s.effective) {
		for _, t := range requests {
			s.continueContainers(t.Node)
		}
	}
	for _, t := range requests {
		s.result.Requested = append(s.result.Requested, t.Node)
		if s.effective(t) {
			t.Requested, t.Pass, t.StateBefore, t.Verdicts = true, 1, s.model.Object(t.Node), s.verdicts(t.Node)
			t.OrphanedFrom, t.Prerequisites, t.CausedBy = graph.None, s.prerequisites(t.Node, t.Decision), -1
			s.apply(t)
		}
	}
	requested := len(s.result.Transitions)
	s.attributeContents(continued, requested-1)
	// Definitions come before Namespaces, whatever the order of the requests. An instance in both may be in foreground
	// deletion until the namespace controller deletes it in the background, so the collector looks at its dependents.
	for _, namespaces := range []bool{false, true} {
		for i := range requested {
			t := &s.result.Transitions[i]
			now := s.model.now[t.Node]
			if t.Action == collector.ActionDelete && now != nil && now.IsNamespace() == namespaces && s.last[t.Node] == int32(i) {
				s.applySideEffects(i, t.Node)
			}
		}
	}
	return min(requested, 1)
}

// effective reports whether a request changes its object.
func (s *simulation) effective(t Transition) bool {
	before := s.model.Object(t.Node)
	if before == nil || before.Contested || int(t.Node) >= s.model.graph.Listed() {
		return false
	}
	if t.Action == collector.ActionRemoveFinalizer {
		return before.Terminating() && slices.Contains(before.Finalizers, t.Change.RemoveFinalizer)
	}
	after := StateAfterDelete(before, t.Policy, t.GraceSeconds, s.model.taken)
	return after == nil || !before.Terminating() || !slices.Equal(before.Finalizers, after.Finalizers) || shortensGracePeriod(before, t.GraceSeconds)
}

// continueContainers continues the deletions of what contains an object and of what it contains, unless
// it has done so before.
func (s *simulation) continueContainers(n graph.Node) {
	for _, container := range append(s.model.containersOf(n), n) {
		o := s.model.graph.Object(container)
		underWay := o.Terminating() && s.model.now[container] != nil && !o.Contested && emptiesContents(o)
		if underWay && len(s.contentsDeletions.byNode[container]) == 0 {
			s.deleteContents(none, container)
		}
	}
}

// attributeContents records that the contents still left of the deletions from index from on wait for a
// transition.
func (s *simulation) attributeContents(from, transition int) {
	for i := range s.contentsDeletions.all[from:] {
		d := &s.contentsDeletions.all[from+i]
		d.transition, d.continued = transition, true
	}
}

// transition records a decision on a node and applies it. orphanedFrom is the owner that
// the node is orphaned from, or graph.None.
func (s *simulation) transition(pass int, n graph.Node, d collector.Decision, orphanedFrom graph.Node) {
	t := Transition{
		Decision: d, Pass: pass, Node: n, StateBefore: s.model.now[n], Verdicts: s.verdicts(n),
		OrphanedFrom: orphanedFrom, Prerequisites: s.prerequisites(n, d),
	}
	t.CausedBy = s.follows(t)
	if s.release != nil {
		s.release.attribute(s, &t)
	}
	if index := s.apply(t); d.Action == collector.ActionDelete && s.model.now[n] != nil {
		s.applySideEffects(index, n)
	}
}

// apply appends a transition to the result, applies it to the model, and returns its
// index.
func (s *simulation) apply(t Transition) int {
	index := len(s.result.Transitions)
	s.result.Transitions = append(s.result.Transitions, t)
	s.last[t.Node] = int32(index)
	s.model.Apply(t.Node, t.Decision)
	return index
}

// prerequisites returns the transitions whose effects a decision depends on, and those
// that depend on what it changes.
func (s *simulation) prerequisites(n graph.Node, d collector.Decision) []int {
	out := s.appendNearby(nil, n)
	if by, ok := s.deletedBy[n]; ok {
		out = s.appendNearby(out, by)
	}
	if d.Action == collector.ActionDelete && DeletesContents(s.model.now[n].Identity) {
		for _, member := range s.model.ContentsOf(n) {
			out = s.appendNearby(out, member)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// appendNearby appends the last transitions of a node, its owners and its dependents.
func (s *simulation) appendNearby(out []int, n graph.Node) []int {
	add := func(of graph.Node) {
		if of >= 0 && int(of) < len(s.last) && s.last[of] >= 0 {
			out = append(append(out, int(s.last[of])), s.contentsEnd[of]...)
		}
	}
	add(n)
	for _, owner := range s.model.graph.Owners(n) {
		add(owner)
	}
	for _, e := range s.model.graph.Dependents(n) {
		add(e.Node)
	}
	return out
}

// follows returns the last transition of the object, or of an owner that a dangling or
// waiting reference names.
func (s *simulation) follows(t Transition) int {
	out := int(s.last[t.Node])
	if t.OrphanedFrom != graph.None {
		return max(out, int(s.last[t.OrphanedFrom]))
	}
	for i, v := range t.Verdicts {
		owner := s.model.graph.Find(t.StateBefore.Owners[i].UID)
		if v.IsDanglingOrWaiting() && owner >= 0 && int(owner) < len(s.last) {
			out = max(out, int(s.last[owner]))
		}
	}
	return out
}
