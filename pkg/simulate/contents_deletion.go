package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// contentsDeletion is the deletion of a Namespace or CustomResourceDefinition, which is
// gone when its contents are.
type contentsDeletion struct {
	node       graph.Node
	transition int          // that deleted it, or none if that was in the simulation before SimulateRelease
	kept       []graph.Node // contents that were not gone at once
	left       int          // how many of kept are not gone yet
	pending    []graph.Node // contents that are deleted once kept is gone
	// continued reports that it was under way before the simulation, and transition is what it
	// may have waited for.
	continued bool
}

const none = -1

// contentsDeletions visits a deletion only when something that it waits for changes. The
// values of its maps are indexes of all.
type contentsDeletions struct {
	all      []contentsDeletion
	byNode   map[graph.Node][]int
	byMember map[graph.Node][]int
	empty    []int // those to check, since nothing of kept is left
}

func (c *contentsDeletions) clone() contentsDeletions {
	out := contentsDeletions{all: slices.Clone(c.all), byNode: clip(c.byNode), byMember: clip(c.byMember)}
	for i := range out.all {
		out.all[i].transition, out.all[i].continued = none, false
	}
	return out
}

func (c *contentsDeletions) add(d contentsDeletion, kept []graph.Node) {
	index := len(c.all)
	c.all = append(c.all, d)
	c.byNode[d.node] = append(c.byNode[d.node], index)
	c.keep(index, kept)
}

// keep adds contents that were not gone at once.
func (c *contentsDeletions) keep(index int, kept []graph.Node) {
	d := &c.all[index]
	d.kept, d.left = slices.Concat(d.kept, kept), len(kept)
	for _, member := range kept {
		c.byMember[member] = append(c.byMember[member], index)
	}
	if d.left == 0 {
		c.empty = append(c.empty, index)
	}
}

func (c *contentsDeletions) onStateChange(n graph.Node, gone bool) {
	if gone {
		for _, i := range c.byMember[n] {
			if c.all[i].left--; c.all[i].left == 0 {
				c.empty = append(c.empty, i)
			}
		}
		delete(c.byMember, n)
	}
	for _, i := range c.byNode[n] { // a finalizer that held it may have been removed
		if c.all[i].left == 0 {
			c.empty = append(c.empty, i)
		}
	}
}

// swept reports whether the contents of a Namespace are deleted, and not only its Pods.
func (c *contentsDeletions) swept(ns graph.Node) bool {
	return slices.ContainsFunc(c.byNode[ns], func(i int) bool { return len(c.all[i].pending) == 0 })
}

// contentsIndex finds objects by namespace and by type, and the Namespaces and
// CustomResourceDefinitions by name.
type contentsIndex struct {
	byNamespace, byType     map[string][]graph.Node
	namespaces, definitions map[string]graph.Node
}

// DeletesContents reports whether the deletion of an object deletes others: those in a
// Namespace, or the instances of a CustomResourceDefinition.
func DeletesContents(o object.Identity) bool { return o.IsNamespace() || o.IsCRD() }

// ContentsOf returns the objects that the deletion of n deletes. The name of a
// CustomResourceDefinition is that of its type: plural.group.
func (m *Model) ContentsOf(n graph.Node) []graph.Node {
	o := m.graph.Object(n)
	if o.IsNamespace() {
		return m.contents().byNamespace[o.Name]
	}
	return m.contents().byType[o.Name]
}

func newContentsIndex(g *graph.Graph) *contentsIndex {
	c := &contentsIndex{map[string][]graph.Node{}, map[string][]graph.Node{}, map[string]graph.Node{}, map[string]graph.Node{}}
	for n := range g.Listed() {
		node := graph.Node(n)
		o := g.Object(node)
		switch {
		case o.IsNamespace():
			c.namespaces[o.Name] = node
		case o.IsCRD():
			c.definitions[o.Name] = node
		}
		if o.Namespace != "" {
			c.byNamespace[o.Namespace] = append(c.byNamespace[o.Namespace], node)
		}
		if m, ok := g.View().Map(o.APIVersion, o.Kind); ok {
			t := m.Type.String()
			c.byType[t] = append(c.byType[t], node)
		}
	}
	return c
}

// definitionOf returns the CustomResourceDefinition of a kind.
func (c *contentsIndex) definitionOf(g *graph.Graph, apiVersion, kind string) (crd graph.Node, ok bool) {
	m, ok := g.View().Map(apiVersion, kind)
	if !ok {
		return graph.None, false
	}
	crd, ok = c.definitions[m.Type.String()]
	return crd, ok
}

// containersOf returns the Namespace and the CustomResourceDefinition of an object.
func (m *Model) containersOf(n graph.Node) []graph.Node {
	if int(n) >= m.graph.Listed() {
		return nil
	}
	var out []graph.Node
	o := m.graph.Object(n)
	if ns, ok := m.contents().namespaces[o.Namespace]; ok {
		out = append(out, ns)
	}
	if crd, ok := m.contents().definitionOf(m.graph, o.APIVersion, o.Kind); ok {
		out = append(out, crd)
	}
	return out
}

// applySideEffects applies what other components do about an object that a transition
// deleted: the kubelet stops a Pod, the namespace controller deletes the contents of a
// Namespace, the API server the instances of a CustomResourceDefinition.
func (s *simulation) applySideEffects(transition int, n graph.Node) {
	switch o := s.model.now[n]; {
	case o.InGracePeriod():
		s.result.StoppedPods[transition] = true
		s.model.SetState(n, s.model.afterKubelet(o))
	case DeletesContents(o.Identity):
		s.deleteContents(transition, n)
	}
}

// deleteContents deletes the contents of n. A Namespace's are deleted in the background,
// which removes the collector's finalizers, and since 1.33 the Pods go first, and the others
// once no Pod is left (docs/gc-semantics.md#contents-of-a-namespace). A
// CustomResourceDefinition's keep theirs (docs/gc-semantics.md#instances-of-a-crd).
func (s *simulation) deleteContents(transition int, n graph.Node) {
	d := contentsDeletion{node: n, transition: transition}
	contents := s.model.ContentsOf(n)
	if s.model.now[n].IsNamespace() && s.model.judge.Behavior().OrderedNamespaceDeletion {
		contents, d.pending = s.podsFirst(contents)
		if slices.ContainsFunc(contents, s.model.deletionRefused) { // with that error, it goes on (deleteAllContent)
			contents, d.pending = slices.Concat(contents, d.pending), nil
		}
	}
	kept := s.deleteMembers(&d, contents, n)
	if len(kept) == 0 {
		kept = s.deleteMembers(&d, d.pending, n)
		d.pending = nil
	}
	s.contentsDeletions.add(d, kept)
}

// continueDeletions applies what other components do about the objects that were terminating
// before the simulation.
func (s *simulation) continueDeletions() {
	for n := range s.model.graph.Listed() {
		node := graph.Node(n)
		o := s.model.graph.Object(node)
		if !o.Terminating() || s.model.now[n] == nil || o.Contested {
			continue
		}
		if emptiesContents(o) {
			s.deleteContents(none, node)
		}
		s.controllers.enqueue(node)
	}
}

// emptiesContents reports whether the contents of a terminating object are deleted: not those
// of a CustomResourceDefinition once its finalizer is gone.
func emptiesContents(o *object.Object) bool {
	return o.IsNamespace() || o.IsCRD() && slices.Contains(o.Finalizers, DefinitionFinalizer)
}

// podsFirst separates Pods from other objects.
func (s *simulation) podsFirst(contents []graph.Node) (pods, others []graph.Node) {
	for _, member := range contents {
		if s.model.graph.Object(member).IsPod() {
			pods = append(pods, member)
		} else {
			others = append(others, member)
		}
	}
	return pods, others
}

// deleteMembers deletes contents of d.node because of other objects, and returns those that
// are not gone at once.
func (s *simulation) deleteMembers(d *contentsDeletion, members []graph.Node, because ...graph.Node) (kept []graph.Node) {
	policy := metav1.DeletionPropagation("")
	if s.model.now[d.node].IsNamespace() {
		policy = metav1.DeletePropagationBackground
	}
	causes := s.release.causesOf(because...)
	for _, member := range members {
		now := s.model.now[member]
		if now == nil || now.Contested {
			continue
		}
		if refused := policy != "" && s.model.deletionRefused(member); refused { // instances are deleted without admission
			kept = append(kept, member)
			continue
		}
		if d.transition != none {
			s.result.ContentsDeleted[member] = d.transition
			s.last[member] = int32(d.transition)
		}
		s.release.add(member, causes)
		if now = s.model.afterKubelet(now); now != nil {
			now = s.model.afterKubelet(StateAfterDelete(now, policy, nil, s.model.taken))
		}
		s.model.SetState(member, now)
		if now != nil {
			kept = append(kept, member)
			s.deletedBy[member] = d.node
			if s.release != nil && s.begunByRun(d.node) {
				s.release.addHeld(s, member) // it may have been terminating before
			}
		}
	}
	return kept
}

// completeContentsDeletions deletes the contents of Namespaces that have no Pods any more,
// and completes the deletions of what has become empty, in the order of their transitions.
// After an incomplete scan nothing is known to be empty.
func (s *simulation) completeContentsDeletions() {
	c := &s.contentsDeletions
	for _, i := range c.takeEmpty() {
		if d := c.all[i]; d.left == 0 && s.model.now[d.node] != nil {
			c.all[i].pending = nil
			c.keep(i, s.deleteMembers(&d, d.pending, d.kept...))
		}
	}
	empty := c.takeEmpty()
	if len(empty) > 0 && !s.model.complete() {
		return
	}
	for _, i := range empty {
		s.complete(c.all[i])
	}
}

// takeEmpty empties the list of deletions to check and returns it, sorted.
func (c *contentsDeletions) takeEmpty() []int {
	empty := c.empty
	c.empty = nil
	slices.Sort(empty)
	return slices.Compact(empty)
}

// pendingContents returns the objects that would be deleted with another one once the Pods
// beside them are gone, with the transition that deleted that one.
func (s *simulation) pendingContents() map[graph.Node]int {
	out := map[graph.Node]int{}
	for _, d := range s.contentsDeletions.all {
		for _, member := range d.pending {
			if now := s.model.now[member]; now != nil && !now.Contested && !now.Terminating() && d.transition != none && !d.continued && !s.model.deletionRefused(member) {
				out[member] = d.transition
			}
		}
	}
	return out
}

// complete removes an empty Namespace or CustomResourceDefinition, unless finalizers or gaps
// hold it.
func (s *simulation) complete(d contentsDeletion) {
	o := s.model.now[d.node]
	if o == nil || !emptiesContents(o) || completionRejected(o) || s.model.late(d.node, DefinitionFinalizer) ||
		o.IsNamespace() && (len(o.Finalizers) > 0 || s.heldBack(d.node)) {
		return
	}
	for _, member := range d.kept {
		s.contentsEnd[d.node] = append(s.contentsEnd[d.node], int(s.last[member]))
	}
	if d.continued {
		s.result.ContentsDeleted[d.node] = d.transition
	}
	s.release.add(d.node, s.release.causesOf(d.kept...))
	if o.IsNamespace() {
		s.model.SetState(d.node, nil)
	} else {
		s.model.SetState(d.node, StateAfterPatch(o, object.Change{RemoveFinalizer: DefinitionFinalizer}))
	}
}

// completionRejected reports whether the API server rejects the update that completes the deletion
// of a Namespace or CustomResourceDefinition, because of its owner references.
func completionRejected(o *object.Object) bool {
	return DeletesContents(o.Identity) && releaseRejected(o)
}

// heldBack reports whether the namespace controller cannot complete the deletion of an empty
// Namespace, or may be unable to.
func (s *simulation) heldBack(n graph.Node) bool {
	held, _ := s.model.heldBack(n)
	return held && (s.release == nil || !s.release.released[n])
}

// afterKubelet returns the state of an object after its kubelet, if it waits for one, has
// stopped it. A Pod whose grace period was over at the time of the scan is taken to stay,
// because its kubelet does not respond.
func (m *Model) afterKubelet(o *object.Object) *object.Object {
	if o == nil || m.Overdue(o) {
		return o
	}
	return podStopped(o)
}

// Overdue reports whether an object is a Pod whose grace period was over at the time of the scan.
func (m *Model) Overdue(o *object.Object) bool { return o.Overdue(m.taken) }

// podStopped returns the state of an object after its kubelet, if it waits for one, has
// stopped it.
func podStopped(o *object.Object) *object.Object {
	if o == nil || !o.InGracePeriod() {
		return o
	}
	left, none := *o, int64(0)
	left.GraceSeconds, left.Running = &none, false
	if len(left.Finalizers) == 0 {
		return nil
	}
	return &left
}
