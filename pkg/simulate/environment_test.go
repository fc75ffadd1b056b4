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

// environment is a model in which the other components act as soon as they can: the
// kubelet stops Pods, the namespace controller empties namespaces, the API server deletes
// the instances of CustomResourceDefinitions
// (docs/gc-semantics.md#graceful-pods, #contents-of-a-namespace,
// #instances-of-a-crd).
type environment struct {
	*simulate.Model
	begun  map[graph.Node]bool         // is or was in foreground deletion
	opened map[graph.Node][]graph.Node // deleted Namespaces and CustomResourceDefinitions with their contents
	// podsFirst are the deleted Namespaces that may still have Pods, so that nothing else in
	// them was deleted.
	podsFirst map[graph.Node]bool
	pods      map[graph.Node]bool
}

func newEnvironment(m *simulate.Model) *environment {
	w := &environment{m, map[graph.Node]bool{}, map[graph.Node][]graph.Node{}, map[graph.Node]bool{}, map[graph.Node]bool{}}
	w.remember()
	return w
}

func (w *environment) decide(m simulate.Transition) collector.Decision {
	if m.OrphanedFrom != graph.None {
		return w.DecideOrphan(m.OrphanedFrom, m.Node)
	}
	return w.Decide(m.Node)
}

func (w *environment) remember() {
	for n := range w.Graph().Listed() {
		if o := w.Object(graph.Node(n)); o != nil && o.DeletingDependents() {
			w.begun[graph.Node(n)] = true
		}
	}
}

// withHistory corrects the decision of a fresh scan to delete an object that owners wait
// for. A collector that once saw a dependent in foreground deletion takes this for a cycle
// and breaks it, although a fresh scan may no longer show that
// (docs/gc-semantics.md#breaking-a-cycle).
func (w *environment) withHistory(n graph.Node, d collector.Decision) collector.Decision {
	o := w.Object(n)
	saw := slices.ContainsFunc(w.Graph().Dependents(n), func(e graph.Edge) bool {
		dependent := w.Object(e.Node)
		return w.begun[e.Node] && dependent != nil &&
			slices.ContainsFunc(dependent.Owners, func(r object.Reference) bool { return r.UID == o.UID })
	})
	if d.Action != collector.ActionDelete || !saw || !slices.Contains(w.Verdicts(n), collector.VerdictWaiting) {
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

// compareWithFreshScan compares a decision with that on a fresh scan, which may know less:
// see TestModelDecidesAsAFreshScanWould.
func (w *environment) compareWithFreshScan(t *rapid.T, m simulate.Transition, d collector.Decision) {
	if w.Object(m.Node) == nil {
		return
	}
	fresh := newEnvironment(modelOf(snapshotOf(w.Model)))
	there := func(n graph.Node) graph.Node {
		if n == graph.None {
			return n
		}
		return fresh.Graph().Find(w.Graph().UID(n))
	}
	node := m.Node
	m.Node, m.OrphanedFrom = there(m.Node), there(m.OrphanedFrom)
	if want := fresh.decide(m); want.NoAction != collector.ReferenceUnknown {
		if diff := cmp.Diff(w.withHistory(node, want), d); diff != "" {
			t.Fatalf("%s (-fresh +model):\n%s", m.StateBefore, diff)
		}
	}
}

func (w *environment) do(n graph.Node, d collector.Decision) {
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

func (w *environment) open(n graph.Node, parent *object.Object) {
	w.opened[n] = nil
	for m := range w.Graph().Listed() {
		o := w.Object(graph.Node(m))
		switch {
		case o == nil:
		case parent.Kind == "Namespace" && o.Namespace == parent.Name,
			parent.Kind != "Namespace" && o.APIVersion == "example.com/v1" && o.Kind == "Widget":
			w.opened[n] = append(w.opened[n], graph.Node(m))
		}
	}
	if parent.Kind != "Namespace" {
		w.empty(w.opened[n], "")
		return
	}
	w.podsFirst[n] = true
	w.empty(slices.DeleteFunc(slices.Clone(w.opened[n]), func(m graph.Node) bool { return w.Object(m).Kind != "Pod" }), metav1.DeletePropagationBackground)
}

func (w *environment) empty(members []graph.Node, policy metav1.DeletionPropagation) {
	for _, m := range members {
		if next := stopped(w.Object(m)); next != nil {
			next = simulate.StateAfterDelete(next, policy, nil, st.Taken)
			w.SetState(m, stopped(next))
		} else {
			w.SetState(m, nil)
		}
	}
}

// others lets another component act once, and reports whether one did.
func (w *environment) others() bool {
	for n := range w.pods {
		if o := w.Object(n); o != nil && stopped(o) != o {
			w.SetState(n, stopped(o))
			return true
		}
	}
	for n, waits := range w.podsFirst {
		if waits && !slices.ContainsFunc(w.opened[n], func(m graph.Node) bool { o := w.Object(m); return o != nil && o.Kind == "Pod" }) {
			w.podsFirst[n] = false
			w.empty(w.opened[n], metav1.DeletePropagationBackground)
			return true
		}
	}
	for n, members := range w.opened {
		o := w.Object(n)
		full := slices.ContainsFunc(members, func(m graph.Node) bool { return w.Object(m) != nil })
		if o == nil || full || w.podsFirst[n] || !w.Complete("") || collector.UpdateRejected(&object.Object{Owners: o.Owners}) {
			continue
		}
		if o.Kind == "Namespace" && len(o.Finalizers) == 0 {
			w.SetState(n, nil)
			return true
		}
		if slices.Contains(o.Finalizers, cleanup) {
			w.SetState(n, simulate.StateAfterPatch(o, object.Change{RemoveFinalizer: cleanup}))
			return true
		}
	}
	return false
}

// stopped returns the state of a Pod that its kubelet has stopped. The kubelet of a Pod whose
// grace period was over at the time of the scan does not respond.
func stopped(o *object.Object) *object.Object {
	if o == nil || !o.InGracePeriod() || st.Taken.After(*o.Deleted) {
		return o
	}
	left, none := *o, int64(0)
	left.GraceSeconds, left.Running = &none, false
	if len(left.Finalizers) == 0 {
		return nil
	}
	return &left
}
