package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// emptying is a namespace or CustomResourceDefinition that a move deleted, and
// that goes when everything in it has gone.
type emptying struct {
	node graph.Node
	move int          // that deleted it
	kept []graph.Node // what its deletion alone did not let go
	left int          // how many of those are not gone
	over bool
}

// emptyings are all of them. Each is looked at when what it waits for has changed, and
// not in every pass.
type emptyings struct {
	of      map[graph.Node][]*emptying // by what is emptied
	holding map[graph.Node][]*emptying // by what keeps it from being empty
	ripe    []*emptying                // nothing is left in them
}

func newContentsDeletions() emptyings {
	return emptyings{of: map[graph.Node][]*emptying{}, holding: map[graph.Node][]*emptying{}}
}

func (e *emptyings) add(w *emptying) {
	e.of[w.node] = append(e.of[w.node], w)
	for _, member := range w.kept {
		e.holding[member] = append(e.holding[member], w)
	}
	if w.left = len(w.kept); w.left == 0 {
		e.ripe = append(e.ripe, w)
	}
}

// heed is told of every node whose state is another.
func (e *emptyings) heed(n graph.Node, gone bool) {
	if gone {
		for _, w := range e.holding[n] {
			if w.left--; w.left == 0 {
				e.ripe = append(e.ripe, w)
			}
		}
		delete(e.holding, n)
	}
	for _, w := range e.of[n] { // it may be rid of what else held it
		if w.left == 0 {
			e.ripe = append(e.ripe, w)
		}
	}
}

// contents answers what is in namespaces, and which objects are of which type.
type contents struct {
	residents, instances map[string][]graph.Node
}

// DeletesContents reports whether the deletion of an object is that of others, too.
func DeletesContents(o object.Identity) bool { return o.IsNamespace() || o.IsDefinition() }

func takesAlong(o *object.Object) bool { return DeletesContents(o.Identity) }

// inside are the objects that the deletion of n takes along: the residents of a
// namespace, or the instances of a CustomResourceDefinition, which is named
// after their resource: plural.group.
func (s *simulation) inside(n graph.Node) []graph.Node {
	if s.contents == nil {
		s.contents = contentsOf(s.model.graph)
	}
	o := s.model.now[n]
	if o.IsNamespace() {
		return s.contents.residents[o.Name]
	}
	return s.contents.instances[o.Name]
}

func contentsOf(g *graph.Graph) *contents {
	c := &contents{map[string][]graph.Node{}, map[string][]graph.Node{}}
	for n := range g.Listed() {
		node := graph.Node(n)
		o := g.Object(node)
		if o.Namespace != "" {
			c.residents[o.Namespace] = append(c.residents[o.Namespace], node)
		}
		if m, ok := g.View().Map(o.APIVersion, o.Kind); ok {
			t := m.Type.String()
			c.instances[t] = append(c.instances[t], node)
		}
	}
	return c
}

// others lets them do their part about an object that a move deleted: the
// kubelet stops a Pod, the namespace controller deletes what is in a namespace,
// the API server the instances of a CustomResourceDefinition. A move is over
// when they have.
func (s *simulation) others(move int, n graph.Node) {
	switch o := s.model.now[n]; {
	case o.Stopping():
		s.course.StoppedPods[move] = true
		s.model.SetState(n, settled(o))
	case takesAlong(o):
		s.deleteContents(move, n)
	}
}

// deleteContents deletes what is in an object: in a namespace in the Background, which
// strips the collector's finalizers
// (docs/gc-semantics.md#contents-of-a-namespace); of a CustomResourceDefinition
// with whatever finalizers there are (docs/gc-semantics.md#instances-of-a-crd).
func (s *simulation) deleteContents(move int, n graph.Node) {
	policy := metav1.DeletionPropagation("")
	if s.model.now[n].IsNamespace() {
		policy = metav1.DeletePropagationBackground
	}
	w := &emptying{node: n, move: move}
	for _, member := range s.inside(n) {
		now := s.model.now[member]
		if now == nil || now.Contested {
			continue
		}
		s.course.ContentsDeleted[member] = move
		s.owe(member, n)
		s.last[member] = int32(move)
		if now = settled(now); now != nil {
			now = settled(Deleted(now, policy, s.model.taken))
		}
		s.model.SetState(member, now)
		if now != nil {
			w.kept = append(w.kept, member)
			s.home[member] = n
		}
	}
	s.open.add(w)
}

// release lets go of what has become empty, in the order of their moves. Where not
// everything was seen, who can say what has?
func (s *simulation) release() {
	ripe := s.open.ripe
	s.open.ripe = nil
	if !s.model.whole {
		return
	}
	slices.SortStableFunc(ripe, func(a, b *emptying) int { return a.move - b.move })
	for _, w := range ripe {
		w.over = w.over || s.contentsGone(w)
	}
}

func (s *simulation) contentsGone(w *emptying) bool {
	o := s.model.now[w.node]
	switch {
	case o == nil:
		return true
	case o.IsNamespace() && len(o.Finalizers) > 0:
		return false
	}
	for _, member := range w.kept {
		s.ends[w.node] = append(s.ends[w.node], int(s.last[member]))
	}
	if o.IsNamespace() {
		s.model.SetState(w.node, nil)
	} else {
		s.model.SetState(w.node, Patched(o, object.Change{Release: crdFinalizer}))
	}
	return true
}

// settled is an object whose kubelet, if it waits for one, has stopped it.
func settled(o *object.Object) *object.Object {
	if o == nil || !o.Stopping() {
		return o
	}
	left, none := *o, int64(0)
	left.GraceSeconds, left.Running = &none, false
	if len(left.Finalizers) == 0 {
		return nil
	}
	return &left
}
