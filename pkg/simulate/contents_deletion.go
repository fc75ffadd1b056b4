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
	transition int          // that deleted it
	kept       []graph.Node // contents that were not gone at once
	left       int          // how many of kept are not gone yet
	complete   bool
}

// contentsDeletions visits a deletion only when something that it waits for changes. The
// values of its maps are indexes of all.
type contentsDeletions struct {
	all      []contentsDeletion
	byNode   map[graph.Node][]int
	byMember map[graph.Node][]int
	empty    []int // those to check, since none of their contents are left
}

func (c *contentsDeletions) clone() contentsDeletions {
	return contentsDeletions{all: slices.Clone(c.all), byNode: clip(c.byNode), byMember: clip(c.byMember)}
}

func (c *contentsDeletions) add(d contentsDeletion) {
	d.left = len(d.kept)
	index := len(c.all)
	c.all = append(c.all, d)
	c.byNode[d.node] = append(c.byNode[d.node], index)
	for _, member := range d.kept {
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

// contentsIndex finds objects by namespace and by type.
type contentsIndex struct{ byNamespace, byType map[string][]graph.Node }

// DeletesContents reports whether the deletion of an object deletes others: those in a
// Namespace, or the instances of a CustomResourceDefinition.
func DeletesContents(o object.Identity) bool { return o.IsNamespace() || o.IsCRD() }

// contentsOf returns the objects that the deletion of n deletes. The name of a
// CustomResourceDefinition is that of its type: plural.group.
func (s *simulation) contentsOf(n graph.Node) []graph.Node {
	if s.contents == nil {
		s.contents = newContentsIndex(s.model.graph)
	}
	o := s.model.now[n]
	if o.IsNamespace() {
		return s.contents.byNamespace[o.Name]
	}
	return s.contents.byType[o.Name]
}

func newContentsIndex(g *graph.Graph) *contentsIndex {
	c := &contentsIndex{map[string][]graph.Node{}, map[string][]graph.Node{}}
	for n := range g.Listed() {
		node := graph.Node(n)
		o := g.Object(node)
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

// applySideEffects applies what other components do about an object that a transition
// deleted: the kubelet stops a Pod, the namespace controller deletes the contents of a
// Namespace, the API server the instances of a CustomResourceDefinition.
func (s *simulation) applySideEffects(transition int, n graph.Node) {
	switch o := s.model.now[n]; {
	case o.InGracePeriod():
		s.result.StoppedPods[transition] = true
		s.model.SetState(n, podStopped(o))
	case DeletesContents(o.Identity):
		s.deleteContents(transition, n)
	}
}

// deleteContents deletes the contents of n. A Namespace's are deleted in the background,
// which removes the collector's finalizers
// (docs/gc-semantics.md#contents-of-a-namespace); a CustomResourceDefinition's keep theirs
// (docs/gc-semantics.md#instances-of-a-crd).
func (s *simulation) deleteContents(transition int, n graph.Node) {
	policy := metav1.DeletionPropagation("")
	if s.model.now[n].IsNamespace() {
		policy = metav1.DeletePropagationBackground
	}
	d := contentsDeletion{node: n, transition: transition}
	for _, member := range s.contentsOf(n) {
		now := s.model.now[member]
		if now == nil || now.Contested {
			continue
		}
		s.result.ContentsDeleted[member] = transition
		s.attribute(member, n)
		s.last[member] = int32(transition)
		if now = podStopped(now); now != nil {
			now = podStopped(StateAfterDelete(now, policy, s.model.taken))
		}
		s.model.SetState(member, now)
		if now != nil {
			d.kept = append(d.kept, member)
			s.deletedBy[member] = n
		}
	}
	s.contentsDeletions.add(d)
}

// completeContentsDeletions completes the deletions of what has become empty, in the
// order of their transitions. After an incomplete scan nothing is known to be empty.
func (s *simulation) completeContentsDeletions() {
	c := &s.contentsDeletions
	empty := c.empty
	c.empty = nil
	if !s.model.complete {
		return
	}
	slices.SortStableFunc(empty, func(a, b int) int { return c.all[a].transition - c.all[b].transition })
	for _, i := range empty {
		c.all[i].complete = c.all[i].complete || s.complete(c.all[i])
	}
}

// complete removes an empty Namespace or CustomResourceDefinition, unless finalizers hold
// it, and reports whether it did.
func (s *simulation) complete(d contentsDeletion) bool {
	o := s.model.now[d.node]
	switch {
	case o == nil:
		return true
	case o.IsNamespace() && len(o.Finalizers) > 0:
		return false
	}
	for _, member := range d.kept {
		s.contentsEnd[d.node] = append(s.contentsEnd[d.node], int(s.last[member]))
	}
	if o.IsNamespace() {
		s.model.SetState(d.node, nil)
	} else {
		s.model.SetState(d.node, StateAfterPatch(o, object.Change{RemoveFinalizer: crdFinalizer}))
	}
	return true
}

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
