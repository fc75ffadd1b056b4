package simulate_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// world is a model in which everybody else does his part as soon as he can: the
// kubelet stops Pods, the namespace controller empties namespaces, the API
// server deletes the instances of CustomResourceDefinitions
// (docs/gc-semantics.md#graceful-pods, #contents-of-a-namespace,
// #instances-of-a-crd).
type world struct {
	*simulate.Model
	begun  map[graph.Node]bool         // what is, or was, in a foreground deletion
	opened map[graph.Node][]graph.Node // what was deleted here and goes once its contents are gone
	pods   map[graph.Node]bool
}

func newWorld(m *simulate.Model) *world {
	w := &world{m, map[graph.Node]bool{}, map[graph.Node][]graph.Node{}, map[graph.Node]bool{}}
	w.remember()
	return w
}

func (w *world) decide(m simulate.Transition) collector.Decision {
	if m.Requested != graph.None {
		return w.HasOrphanedDependents(m.Requested, m.Node)
	}
	return w.Decide(m.Node)
}

func (w *world) remember() {
	for n := range w.Graph().Listed() {
		if o := w.Object(graph.Node(n)); o != nil && o.DeletingDependents() {
			w.begun[graph.Node(n)] = true
		}
	}
}

// remembering is what becomes of the decision of a look that would delete a
// node although owners wait for it: a collector that saw one of the dependents
// in a foreground deletion breaks the circle that this may have been, though
// somebody else holds that dependent by now and a look cannot know
// (docs/gc-semantics.md#breaking-a-cycle).
func (w *world) remembering(n graph.Node, d collector.Decision) collector.Decision {
	o := w.Object(n)
	saw := slices.ContainsFunc(w.Graph().Dependents(n), func(e graph.Edge) bool {
		dependent := w.Object(e.Node)
		return w.begun[e.Node] && dependent != nil &&
			slices.ContainsFunc(dependent.Owners, func(r object.Reference) bool { return r.UID == o.UID })
	})
	if d.Action != collector.ActionDelete || !saw || !slices.Contains(w.Verdicts(n), collector.Waiting) {
		return d
	}
	var blocking []int
	for i, r := range o.Owners {
		if r.Blocks() {
			blocking = append(blocking, i)
		}
	}
	if len(blocking) == 0 {
		return d
	}
	return collector.Decision{Action: collector.ActionUnblock, Change: object.Change{Unblock: blocking}}
}

// compareWithALook holds a decision against what somebody would decide who looks
// at everything anew. He may know less: see TestModelDecidesAsAFreshScanWould.
func (w *world) compareWithALook(t *rapid.T, m simulate.Transition, d collector.Decision) {
	if w.Object(m.Node) == nil {
		return
	}
	look := newWorld(modelOf(seen(w.Model)))
	there := func(n graph.Node) graph.Node {
		if n == graph.None {
			return n
		}
		return look.Graph().Find(w.Graph().UID(n))
	}
	node := m.Node
	m.Node, m.Requested = there(m.Node), there(m.Requested)
	if want := look.decide(m); want.NoAction != collector.ReferenceUnknown {
		if diff := cmp.Diff(w.remembering(node, want), d); diff != "" {
			t.Fatalf("%s (-look +model):\n%s", m.StateBefore, diff)
		}
	}
}

func (w *world) do(n graph.Node, d collector.Decision) {
	before := w.Object(n)
	w.Apply(n, d)
	if now := w.Object(n); d.Action == collector.ActionDelete && now != nil {
		switch before.Kind {
		case "Pod":
			w.pods[n] = true
		case "Namespace", "CustomResourceDefinition":
			w.open(n, before)
		}
	}
	for w.others() {
	}
	w.remember()
}

func (w *world) open(n graph.Node, container *object.Object) {
	w.opened[n] = nil
	for m := range w.Graph().Listed() {
		o := w.Object(graph.Node(m))
		switch {
		case o == nil:
		case container.Kind == "Namespace" && o.Namespace == container.Name,
			container.Kind != "Namespace" && o.APIVersion == "example.com/v1" && o.Kind == "Widget":
			w.opened[n] = append(w.opened[n], graph.Node(m))
			policy := metav1.DeletionPropagation("")
			if container.Kind == "Namespace" {
				policy = metav1.DeletePropagationBackground
			}
			if next := stopped(o); next != nil {
				w.SetState(graph.Node(m), stopped(simulate.Deleted(next, policy, st.Taken)))
			} else {
				w.SetState(graph.Node(m), nil)
			}
		}
	}
}

// others does one thing that is due, and says whether there was one.
func (w *world) others() bool {
	for n := range w.pods {
		if o := w.Object(n); o != nil && o.Stopping() {
			w.SetState(n, stopped(o))
			return true
		}
	}
	for n, members := range w.opened {
		o := w.Object(n)
		full := slices.ContainsFunc(members, func(m graph.Node) bool { return w.Object(m) != nil })
		if o == nil || full || !w.Complete() {
			continue
		}
		if o.Kind == "Namespace" && len(o.Finalizers) == 0 {
			w.SetState(n, nil)
			return true
		}
		if slices.Contains(o.Finalizers, cleanup) {
			w.SetState(n, simulate.Patched(o, object.Change{Release: cleanup}))
			return true
		}
	}
	return false
}

// stopped is a Pod when its kubelet is done with it.
func stopped(o *object.Object) *object.Object {
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
